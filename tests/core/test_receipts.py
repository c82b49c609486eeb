"""Whether an answer went by a memory."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from types import MappingProxyType

from memhook.core import receipts
from memhook.core.memory import Memory
from memhook.core.terms import terms

DAY = datetime(2026, 2, 14, tzinfo=UTC)
RARE: Mapping[str, int] = MappingProxyType({})


def memory(title: str, content: str) -> Memory:
    return Memory("k3v9x2m4p7qa", title, content, content, DAY, DAY)


def was_used(one: Memory, known: str, answer: str, frequencies: Mapping[str, int] = RARE) -> bool:
    return receipts.was_used(one, receipts.words_in(known), answer, frequencies, 40)


RULE = memory("Second reviewer", "Any change in `settings.prod.toml` needs `make audit-trail` and a second review.")
PROSE = memory("Ledger", "Reconciliation fails on replica lag: read from the primary, raise the timeout.")


def test_a_command_that_only_the_memory_had_counts() -> None:
    assert was_used(RULE, "raise the limit in production", "I changed the limit and ran `make audit-trail` as asked.")


def test_what_was_said_before_counts_for_nothing() -> None:
    answer = "I edited settings.prod.toml and ran make audit-trail."
    assert was_used(RULE, "raise the limit in production", answer)
    assert not was_used(RULE, "edit settings.prod.toml and run make audit-trail", answer)


def test_many_of_its_words_together_count_and_a_few_do_not() -> None:
    answer = "It fails because of replica lag, so I read from the primary now and raise the timeout."
    assert was_used(PROSE, "the ledger job is red", answer)
    assert not was_used(PROSE, "the ledger job is red", "I fixed the typo in the job and raised an issue.")


def test_what_many_memories_of_the_project_have_counts_for_nothing() -> None:
    answer = "It fails because of replica lag, so I read from the primary now and raise the timeout."
    vocabulary = dict.fromkeys(terms(PROSE.content), 11)
    assert not was_used(PROSE, "the ledger job is red", answer, vocabulary)


def test_the_value_that_was_asked_for_counts_and_another_one_does_not() -> None:
    port = memory("Export", "The nightly export listens on port 2587.")
    prompt = "which port does the nightly export listen on?"
    assert was_used(port, prompt, "It listens on 2587.")
    assert not was_used(port, prompt, "It listens on 2525.")
    assert not was_used(port, "why is the build red?", "Line 2587 of the log says that a test failed.")


def test_of_a_short_memory_most_of_what_was_not_said_before_is_enough() -> None:
    deploy = memory("Deploys", "Deploys hang at 40 % without the VPN. Connect first, then run `make deploy`.")
    prompt = "why does the deploy hang at 40 % without the vpn?"
    assert was_used(deploy, prompt, "Connect the VPN, then `make deploy`.")
    assert not was_used(deploy, prompt, "It hangs because of the network: look at the log.")


def test_the_longer_the_answer_the_less_a_word_in_it_says() -> None:
    note = memory("Cache", "Warm the cache of the catalogue before the sale starts.")
    answer = "I will warm the catalogue before the sale."
    assert was_used(note, "what is left to do?", answer)
    assert not was_used(note, "what is left to do?", f"{answer} {' '.join(f'Step {n} is done.' for n in range(400))}")


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
    common = dict.fromkeys(terms(digest.content), 7)
    assert not was_used(digest, "make the upload faster", answer, common)


def test_another_command_of_the_same_tool_is_not_the_one_of_the_memory() -> None:
    note = memory("Services", "Start all of them with `npm run dev` in the root folder of the checkout.")
    tools = {"npm": 9, "run": 9}
    assert was_used(note, "how do I start?", "In the root folder: npm run dev", tools)
    assert not was_used(note, "how do I stop?", "pkill node, then npm run dev:agent if you need it.", tools)
