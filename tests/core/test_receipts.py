"""Whether an answer went by a memory."""

from __future__ import annotations

from datetime import UTC, datetime

from memhook.core.memory import Memory
from memhook.core.receipts import was_used

DAY = datetime(2026, 2, 14, tzinfo=UTC)


def memory(title: str, content: str) -> Memory:
    return Memory("k3v9x2m4p7qa", title, content, content, DAY, DAY)


RULE = memory("Second reviewer", "Any change in `settings.prod.toml` needs `make audit` and a second review.")
PROSE = memory("Ledger", "Reconciliation fails on replica lag: read from the primary, raise the timeout.")


def test_a_command_that_only_the_memory_had_counts() -> None:
    assert was_used(RULE, "raise the limit in production", "I changed the limit and ran `make audit` as asked.")


def test_what_the_prompt_had_already_counts_for_nothing() -> None:
    prompt = "edit settings.prod.toml and run make audit"
    assert not was_used(RULE, prompt, "I edited settings.prod.toml and ran make audit.")


def test_many_of_its_words_together_count_and_a_few_do_not() -> None:
    answer = "It fails because of replica lag, so I read from the primary now and raise the timeout."
    assert was_used(PROSE, "the ledger job is red", answer)
    assert not was_used(PROSE, "the ledger job is red", "I fixed the typo in the job and raised an issue.")


def test_the_value_that_was_asked_for_counts_and_another_one_does_not() -> None:
    port = memory("Export", "The nightly export listens on port 2587.")
    prompt = "which port does the nightly export listen on?"
    assert was_used(port, prompt, "It listens on 2587.")
    assert not was_used(port, prompt, "It listens on 2525.")
    assert not was_used(port, "why is the build red?", "Line 2587 of the log says that a test failed.")


def test_single_words_of_a_long_memory_that_a_long_answer_has_anyway_do_not_count() -> None:
    digest = memory(
        "Why did the login test fail?",
        "The login test failed because the cookie was written after the redirect. The helper in the session store "
        "waits for the cookie now, and the retry in the browser driver is gone. The build's report shows slow steps.",
    )
    answer = (
        "The store of the build has a session per browser. I wrote a helper that waits for the driver, shows a report "
        "with the retry of each step, and redirects the slow test; the cookie of the login stays."
    )
    assert not was_used(digest, "make the upload faster", answer)


def test_a_longer_command_is_not_the_shorter_one() -> None:
    note = memory("Services", "Start all of them with `npm run dev` in the root folder of the checkout.")
    assert was_used(note, "how do I start?", "In the root folder: npm run dev")
    assert not was_used(note, "how do I stop?", "pkill node, then npm run dev:agent if you need it.")
