from __future__ import annotations

import pytest

from memhook.core.memory import derived_title, id_of, shortened


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("deploys are frozen", "deploys are frozen"),
        ("deploys are frozen on Fridays", "deploys are frozen…"),
        ("deploys are frozen o", "deploys are frozen o"),
        ("deploys are frozen: on", "deploys are frozen:…"),
        ("see https://example.com/a/b", "see https://example…"),
        ("部署之前必须 VPN，否则进度会停在百分之四十。如果", "部署之前必须 VPN，否则进度会停在百…"),
    ],
)
def test_a_text_is_cut_at_a_word_unless_little_would_be_left(text: str, expected: str) -> None:
    assert shortened(text, 20) == expected


@pytest.mark.parametrize(
    ("content", "title"),
    [
        ("```ts\n// the only way to call it\nawait api.get()\n```", "// the only way to call it"),
        ("---\n\n## Retention\n7 days", "Retention"),
        ("- Colours come from tokens.css\n- Icons from lucide", "- Colours come from tokens.css"),
        ("```", "```"),
        ("", ""),
    ],
)
def test_a_title_is_the_first_line_that_says_something(content: str, title: str) -> None:
    assert derived_title(content) == title


@pytest.mark.parametrize(
    "reference", ["urn:memhook:k3v9x2m4p7qa", " urn:memhook:k3v9x2m4p7qa\n", "URN:Memhook:K3V9X2M4P7QA", "k3v9x2m4p7qa"]
)
def test_a_urn_is_the_same_in_letters_of_any_case(reference: str) -> None:
    assert id_of(reference) == "k3v9x2m4p7qa"
    assert id_of("My-Alias") == "My-Alias"
