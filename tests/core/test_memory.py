from __future__ import annotations

import pytest

from memhook.core.memory import derived_title, shortened


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
