from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memhook.core.memory import Origin
from memhook.core.rendering import END, PROMPT_HEADING, SESSION_HEADING
from memhook.supply import digests
from memhook.supply.digests import Exchange, digest, typed
from tests.core.secret_samples import samples

ASKED = "Why does the ledger import fail on the replica every Monday morning?"
ENDED = (
    "The import reads from the replica, which lags by up to 30 seconds after the weekly vacuum. "
    "I changed `import_ledger` to read from the primary and raised the statement timeout to 40 seconds."
)
WHEN = datetime(2026, 2, 21, 9, 30, tzinfo=UTC)
EXCHANGE = Exchange(ASKED, ENDED, "claude", "5f2c", 3, WHEN, "example.org/team/ledger")
BLOCK = (
    f"{PROMPT_HEADING}\nMaybe outdated.\n- **Ledger** (general) urn:memhook:k3v9x2m4p7qa\n  Read the primary.\n{END}"
)


def asking(text: str) -> Exchange:
    return replace(EXCHANGE, asked=text)


def ending(text: str) -> Exchange:
    return replace(EXCHANGE, ended=text)


def kept(exchange: Exchange) -> str:
    record = digest(exchange).record
    return record["content"] if record else ""


def test_a_digest_says_what_was_asked_how_it_ended_when_and_where() -> None:
    assert digest(EXCHANGE).record == {
        "title": ASKED,
        "content": f"{ASKED}\n\n{ENDED}",
        "project": "example.org/team/ledger",
        "session": "claude/5f2c#3",
        "quote": ASKED,
        "source": "session in claude",
        "origin": Origin.CAPTURED.value,
        "created": "2026-02-21T09:30:00+00:00",
    }


def test_both_sides_are_cut_at_a_sentence() -> None:
    content = kept(replace(EXCHANGE, asked=f"{ASKED} " * 9, ended=f"{ENDED} " * 9))
    asked, ended = content.split("\n\n")
    assert len(asked) <= digests.ASKED_CHARS
    assert asked.endswith("?")
    assert len(ended) <= digests.ENDED_CHARS
    assert ended.endswith(".")


@pytest.mark.parametrize(
    ("exchange", "problem"),
    [
        (asking("commit and push it, please"), digests.TOO_FEW_WORDS),
        (ending("Done."), digests.TOO_SHORT),
        (ending(""), digests.TOO_SHORT),
        (asking(f"{ASKED} #private"), digests.IS_PRIVATE),
        (replace(EXCHANGE, is_subagent=True), digests.SUBAGENT),
        (
            asking("<command-name>/x</command-name>\n<command-args>all of it</command-args>"),
            digests.NOBODY_TYPED_IT,
        ),
        (
            asking("<system-reminder>The ledger was changed by a linter</system-reminder>"),
            digests.NOBODY_TYPED_IT,
        ),
        (asking("Implement the following plan:\n\n# Plan\n1. Read the primary"), digests.NOBODY_TYPED_IT),
        (asking("This session is being continued from a previous conversation"), digests.NOBODY_TYPED_IT),
        (asking("/review the changes of the last three days"), digests.NOBODY_TYPED_IT),
        (ending(f"{ENDED}\n- see urn:memhook:k3v9x2m4p7qa"), digests.OWN_LINES),
        (asking("The database user is app and the password is kitten, use them"), digests.SECRETS),
        (ending(f"{ENDED} Log in as admin / kitten to see it."), digests.SECRETS),
        (ending(f"{ENDED} It answers to Tr0ub4dor&3 from now on."), digests.SECRETS),
        (ending(f"{ENDED} Das Kennwort steht darunter."), digests.SECRETS),
        (ending(f"{ENDED} The token was [masked:github-token]."), digests.SECRETS),
        (ending(f"{ENDED} The PIN of the vault is 4921."), digests.SECRETS),
        (ending(f"{ENDED} Scan otpauth://totp/x?secret=LMPMDGTURJIVQRFKOTHM."), digests.SECRETS),
    ],
)
def test_an_exchange_that_is_not_kept_says_why(exchange: Exchange, problem: str) -> None:
    entry = digest(exchange)
    assert (entry.record, entry.problem) == (None, problem)


def test_six_words_are_enough() -> None:
    assert kept(asking("why does the ledger import fail?"))


def test_what_says_behind_the_cut_that_it_is_a_password_is_not_kept() -> None:
    before = "It is slow. " * (digests.ENDED_CHARS // 12 - 2)
    assert digest(ending(f"{before}The vault opens with kitten. That one is the password.")).problem == digests.SECRETS


def test_a_prompt_without_spaces_between_words_is_long_enough() -> None:
    assert kept(asking("为什么账本导入每周一早上在副本上失败"))


def test_words_that_only_name_a_login_or_a_version_are_kept() -> None:
    for text in (
        "The login page now shows the user's avatar, see src/pages/Login2.tsx and GPT-4o's notes.",
        "Fixed in 5b5815c218ff8017487bd647d4dde351beacf6de, which users get with V4.4.2.",
    ):
        assert text in kept(ending(f"{text} {ENDED}"))


def test_what_the_client_and_its_hooks_added_is_removed_from_what_was_typed() -> None:
    added = "<system-reminder>\nA hook said something.\n</system-reminder>"
    assert typed(f"{added}\n{ASKED}\n<ide_opened_file>ledger.py</ide_opened_file>") == ASKED
    assert (
        typed("Render <my-element> and <hook-context> in one line")
        == "Render <my-element> and <hook-context> in one line"
    )


@pytest.mark.parametrize("heading", [PROMPT_HEADING, SESSION_HEADING, "## Relevant memories (memhook)"])
@pytest.mark.parametrize("mark", ["", "> ", "    ", "  > | "])
def test_a_block_of_memhooks_is_removed_however_it_is_quoted(heading: str, mark: str) -> None:
    block = "\n".join(mark + line for line in BLOCK.replace(PROMPT_HEADING, heading).split("\n"))
    assert kept(asking(f"{block}\n{ASKED}")) == f"{ASKED}\n\n{ENDED}"
    assert kept(ending(f"{ENDED}\n{block}")) == f"{ASKED}\n\n{ENDED}"


@pytest.mark.parametrize(
    "quoted", [BLOCK.replace("\n", "\\n"), BLOCK.replace(":", "\\:"), BLOCK[30:], f"```\n{BLOCK}\n```"]
)
def test_a_block_that_cannot_be_cut_out_leaves_nothing_of_itself(quoted: str) -> None:
    assert "Read the primary" not in kept(ending(f"{ENDED} {quoted}"))


def test_code_and_output_that_the_assistant_quotes_are_left_out() -> None:
    assert (
        kept(ending(f"{ENDED}\n```\nERROR 57014 canceling statement\n```\nAll green."))
        == f"{ASKED}\n\n{ENDED}\nAll green."
    )


def test_no_secret_of_any_kind_is_kept_wherever_it_is_planted() -> None:
    every = list(samples(11, 3))
    assert len({sample.provider for sample in every}) >= 50
    leaked = [
        sample.provider
        for sample in every
        for exchange in (
            asking(f"{ASKED} {sample.text}"),
            asking(f"{sample.text}\n{ASKED}"),
            ending(f"{ENDED} {sample.text}"),
            ending(f"{sample.text}\n{ENDED}"),
            ending(f"{ENDED[:90] * 6} {sample.text} {ENDED}"),
        )
        if sample.secret[:12] in kept(exchange)
    ]
    assert leaked == []


@given(st.text(), st.text())
def test_any_text_gives_a_record_or_a_reason(asked: str, ended: str) -> None:
    entry = digest(replace(EXCHANGE, asked=asked, ended=ended))
    assert (entry.record is None) == bool(entry.problem)
