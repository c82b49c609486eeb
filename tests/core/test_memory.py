from __future__ import annotations

import pytest

from memhook.core.memory import derived_summary, derived_title, id_of, renewed_summary, shortened


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
        ("#42 tracks the leak", "#42 tracks the leak"),
        ("```", "```"),
        ("", ""),
    ],
)
def test_a_title_is_the_first_line_that_says_something(content: str, title: str) -> None:
    assert derived_title(content) == title


@pytest.mark.parametrize(
    ("content", "summary"),
    [
        ("Never allocate in the tick. It stalls.", "Never allocate in the tick."),
        ("Never allocate in the tick\nIt stalls", "Never allocate in the tick"),
        ("Commits: ticket first, e.g. `AB-12 fix`. Else it is lost.", "Commits: ticket first, e.g. `AB-12 fix`."),
        ("Ask for it on the 7. September. Then wait.", "Ask for it on the 7. September."),
        ("Dr. Okonjo owns the rules. Ask her.", "Dr. Okonjo owns the rules."),
        ("Builds are kept for ca. 5 days. Then gone.", "Builds are kept for ca. 5 days."),
        ("部署之前必须 VPN。否则停在百分之四十。", "部署之前必须 VPN。"),
        (
            "When it stops:\n\n1. Look at the log.\n2. Restart it.\n\nMore.",
            "When it stops: 1. Look at the log. 2. Restart it.",
        ),
        ("Who holds locks:\n```sql\nselect 1;\n```\nDone.", "Who holds locks: select 1; Done."),
        ("## Staff\n\n| ward | min. |\n|---|---|\n| A | 3 |\n\nNights are doubled.", "Nights are doubled."),
        ("## Staff\n\n| ward | min. beds |\n|---|---|\n| A | 3 |", "## Staff | ward | min. beds | | A | 3 |"),
        (
            "The job reads the replica, which\nlags behind at night. Wait.",
            "The job reads the replica, which lags behind at night.",
        ),
        ("Deploy:\n## Next", "Deploy:"),
        ("", ""),
    ],
)
def test_a_summary_is_the_first_sentence_that_says_something(content: str, summary: str) -> None:
    assert derived_summary(content) == summary


def test_a_summary_that_was_derived_up_to_the_first_full_stop_is_derived_anew() -> None:
    content = "Commits: ticket first, e.g. `AB-12 fix`. Else it is lost."
    assert renewed_summary("Commits: ticket first, e.g.", content) == derived_summary(content)
    assert renewed_summary("The ticket comes first.", content) == "The ticket comes first."


@pytest.mark.parametrize(
    "reference", ["urn:memhook:k3v9x2m4p7qa", " urn:memhook:k3v9x2m4p7qa\n", "URN:Memhook:K3V9X2M4P7QA", "k3v9x2m4p7qa"]
)
def test_a_urn_is_the_same_in_letters_of_any_case(reference: str) -> None:
    assert id_of(reference) == "k3v9x2m4p7qa"
    assert id_of("My-Alias") == "My-Alias"
