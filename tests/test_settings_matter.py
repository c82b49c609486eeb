"""A setting nobody reads does not exist: for each there is a test showing that it changes what memhook does."""

from __future__ import annotations

import logging
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from memhook.core.grading import EDGES, MOST_UNSURE
from memhook.engine import engine as engine_module
from memhook.hooks.runner import Runner
from memhook.paths import user_paths
from memhook.settings import setting_keys
from memhook.store.embedding import multilingual
from memhook.store.embedding.encoder import Embedder
from tests.cli import test_distill
from tests.daemon import test_server
from tests.engine import test_following
from tests.fake_embedder import HashEmbedder
from tests.fake_encoder import Dictionary
from tests.hooks import (
    conftest,
    test_action,
    test_capture,
    test_cues,
    test_prompt,
    test_receipts,
    test_runner,
    test_session_budget,
    test_session_start,
    test_stop,
)
from tests.hooks.conftest import Assistant
from tests.hooks.test_prompt import FACT, QUESTION, configure, urns
from tests.store.test_ledger import INJECTION

real_embedder, runner, assistant = conftest.real_embedder, conftest.runner, conftest.assistant

LONG = f"{FACT} {' '.join(f'On day {day} shard {day} was looked at.' for day in range(30))} That was the end of it."


def test_preview_chars_is_the_length_of_a_preview(assistant: Assistant, home: Path) -> None:
    assistant.remembers(LONG)
    configure(home, "hooks.best_chars = 0")
    assert 100 < shown_chars(assistant, "a") <= 200 + len("… ") + len(" …")
    configure(home, "hooks.best_chars = 0\npreview_chars = 60")
    assert shown_chars(assistant, "b") <= 60 + len("… ") + len(" …")


def test_best_chars_is_how_much_of_the_best_memory_is_shown(assistant: Assistant, home: Path) -> None:
    steps = LONG.replace("shard", "`shard`")
    assistant.remembers(steps)
    assert shown_chars(assistant, "a") == len(steps)
    configure(home, "hooks.best_chars = 500")
    assert 300 < shown_chars(assistant, "b") <= 500 + len("… ") + len(" …")
    configure(home, "hooks.best_chars = 0")
    assert shown_chars(assistant, "c") <= 200 + len("… ") + len(" …")


def test_of_the_best_memory_half_as_much_is_shown_where_memhook_is_unsure(assistant: Assistant, home: Path) -> None:
    steps = LONG.replace("shard", "`shard`")
    assistant.remembers(steps)
    unsure = next(one for one in VAGUER_AND_VAGUER if relevance(assistant, one)["grade"] == "unsure")
    assert 375 < shown_chars(assistant, "a", unsure) <= 750 + len("… ") + len(" …")
    configure(home, 'hooks.relevance = "eager"')
    assert relevance(assistant, unsure)["grade"] == "sure"
    assert shown_chars(assistant, "b", unsure) == len(steps)


def relevance(assistant: Assistant, prompt: str) -> dict[str, Any]:
    found: dict[str, Any] = assistant.calls("why", prompt=prompt)["relevance"]
    return found


def shown_chars(assistant: Assistant, session: str, prompt: str = QUESTION) -> int:
    lines = assistant.prompts(prompt, session=session).split("\n")
    return len("\n".join(line.removeprefix("  ") for line in lines if line.startswith("  ")))


def test_detail_is_how_much_of_a_memory_is_shown(assistant: Assistant, home: Path) -> None:
    assistant.remembers(LONG, tags=["db"])
    assert "Tags: db" not in assistant.prompts(QUESTION, session="a")
    configure(home, 'hooks.detail = "full"')
    assert "That was the end of it.\n  Tags: db\n" in assistant.prompts(QUESTION, session="b")
    configure(home, 'hooks.detail = "cascade"\nmax_tokens = 350')
    cascaded = assistant.prompts(QUESTION, session="c")
    assert FACT in cascaded
    assert "That was the end of it." not in cascaded


def test_relevance_is_how_sure_memhook_must_be(assistant: Assistant, home: Path) -> None:
    assistant.imports(*(f"{FACT} Seen {number} times." for number in range(5)))
    chances = {one: relevance(assistant, one)["chance"] for one in VAGUER_AND_VAGUER}
    numbers: set[tuple[int, ...]] = set()
    for level, edges in EDGES.items():
        configure(home, f'hooks.relevance = "{level}"')
        shown = [len(urns(assistant.prompts(one, session=f"{level} {one}"))) for one in chances]
        expected = [0 if one < edges.unsure else 5 if one >= edges.sure else MOST_UNSURE for one in chances.values()]
        assert shown == expected
        numbers.add(tuple(shown))
    assert len(numbers) == len(EDGES)
    assert {one for some in numbers for one in some} == {0, MOST_UNSURE, 5}


def test_the_number_of_memories_bounds_an_answer(assistant: Assistant, home: Path) -> None:
    assistant.imports(*(f"{FACT} Seen {number} times." for number in range(4)))
    assert len(urns(assistant.prompts(QUESTION, session="a"))) == 4
    configure(home, "hooks.max_memories = 2")
    assert len(urns(assistant.prompts(QUESTION, session="b"))) == 2


VAGUER_AND_VAGUER = (
    "where does reconciliation read from?",
    "is the ledger job reading from the right database?",
    "what do we know about replicas?",
    "why is the job late, is a database behind?",
    "how far behind is the copy of the database?",
    "which database do nightly jobs read from?",
    "the accounts do not match",
    "the books are wrong again",
    "data is stale",
    "what lags?",
    "how long is a sync delay?",
    "primary or secondary?",
)


def test_the_half_life_is_how_fast_a_memory_grows_old(assistant: Assistant, home: Path) -> None:
    month_ago = (datetime.now(UTC) - timedelta(days=30)).isoformat()
    assistant.remembers(FACT, created=month_ago)

    def recency() -> float:
        return float(assistant.calls("search", query=QUESTION)["results"][0]["score_parts"]["recency"])

    assert recency() == pytest.approx(0.5, abs=0.001)
    configure(home, "pack.half_life_days = 10")
    assert recency() == pytest.approx(0.125, abs=0.001)


def test_the_store_is_where_its_uri_says(assistant: Assistant, home: Path, tmp_path: Path) -> None:
    assistant.remembers(FACT)
    configure(home, f'store.uri = "{tmp_path}/elsewhere"')
    assert assistant.prompts(QUESTION) == ""
    assistant.remembers(FACT)
    assert (tmp_path / "elsewhere" / "memories.lance").is_dir()
    assert FACT in assistant.prompts(QUESTION)


def test_the_model_is_the_configured_one_as_soon_as_its_vectors_are_complete(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def loaded(model: str, _models: Path) -> Future[Embedder]:
        embedder: Future[Embedder] = Future()
        embedder.set_result(HashEmbedder(model))
        return embedder

    monkeypatch.setattr(engine_module, "loading_embedder", loaded)
    assistant = Assistant(Runner(user_paths()), tmp_path)
    assistant.remembers(FACT)
    configure(home, 'embedding.model = "another"')
    before = assistant.calls("status")
    assistant.runner.keep_house()
    assert (before["model"], before["configured_model"]) == ("granite-embedding-30m-english", "another")
    assert assistant.calls("status")["model"] == "another"
    assert list(assistant.runner.engine._embedders) == ["another"]  # the one before needs no memory any more


def test_languages_says_when_the_encoder_for_others_than_english_is_there(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def loaded(model: str, _models: Path) -> Future[Embedder]:
        embedder: Future[Embedder] = Future()
        embedder.set_result(Dictionary() if model == multilingual.ID else HashEmbedder(model))
        return embedder

    monkeypatch.setattr(engine_module, "loading_embedder", loaded)
    assistant = Assistant(Runner(user_paths()), tmp_path)
    assistant.remembers(FACT)

    def loads_for(prompt: str) -> bool:
        assistant.prompts(prompt)
        assistant.runner.keep_house()
        return multilingual.ID in assistant.runner.engine._embedders

    assert not loads_for("why is the table slow?")
    assert loads_for("warum ist die Tabelle so langsam?")
    configure(home, 'embedding.languages = "english"')
    assert not loads_for("warum ist die Tabelle so langsam?")
    configure(home, 'embedding.languages = "all"')
    assert loads_for("why is the table slow?")


def test_the_ledger_is_kept_for_so_many_days(runner: Runner, home: Path) -> None:
    now = datetime.now(UTC)
    runner.engine.accounts.record(replace(INJECTION, at=now - timedelta(days=10)))

    def is_kept() -> bool:
        assert runner.engine.accounts.ledger is not None
        return bool(runner.engine.accounts.ledger.events())

    runner.engine.keep_house(now)
    assert is_kept()
    configure(home, "ledger.keep_days = 9")
    runner.engine.keep_house(now + timedelta(hours=2))
    assert not is_kept()


def test_a_bad_variable_of_a_budget_costs_only_itself_and_the_log_says_so(
    assistant: Assistant, home: Path, caplog: pytest.LogCaptureFixture
) -> None:
    assistant.remembers(LONG)
    configure(home, "preview_chars = 60\nhooks.best_chars = 0\n")
    assistant.environment = {"MEMHOOK_MAX_TOKENS": "many"}
    with caplog.at_level(logging.WARNING, logger="memhook"):
        context = assistant.prompts(QUESTION)
    assert "the primary" in context
    assert max(map(len, context.split("\n")[3:])) <= 70
    assert "max_tokens must be a whole number from 1 to 100000, not 'many'" in caplog.text
    assert "the environment" in caplog.text
    assert assistant.calls("status")["max_tokens"] == 4000


SHOWN_BY: dict[str, Callable[..., Any]] = {
    "enabled": test_runner.test_switched_off_means_silent,
    "max_tokens": test_prompt.test_the_budget_bounds_the_whole_text_and_takes_effect_at_once,
    "session_max_tokens": (test_session_budget.test_a_session_that_has_used_its_budget_up_gets_nothing_and_why_says_so),
    "preview_chars": test_preview_chars_is_the_length_of_a_preview,
    "namespaces": test_runner.test_namespaces_narrow_what_surfaces,
    "hooks.detail": test_detail_is_how_much_of_a_memory_is_shown,
    "hooks.best_chars": test_best_chars_is_how_much_of_the_best_memory_is_shown,
    "hooks.relevance": test_relevance_is_how_sure_memhook_must_be,
    "hooks.max_memories": test_the_number_of_memories_bounds_an_answer,
    "hooks.capture": test_capture.test_capturing_can_be_switched_off,
    "hooks.actions": test_action.test_actions_switches_memories_at_tool_calls,
    "hooks.notice": test_receipts.test_the_notice_can_be_switched_off,
    "hooks.session_start.max_tokens": test_session_start.test_a_start_is_bounded_in_tokens_everything_included,
    "hooks.session_start.max_memories": (
        test_session_start.test_pinned_memories_come_first_and_at_most_so_many_as_configured
    ),
    "capture.enabled": test_stop.test_nothing_is_written_before_the_user_has_agreed,
    "capture.instruction": test_cues.test_the_instruction_can_be_switched_off,
    "capture.cues": test_cues.test_cues_can_be_switched_off,
    "capture.follow": test_following.test_following_can_be_switched_off,
    "capture.exclude": test_stop.test_an_excluded_or_paused_project_keeps_nothing,
    "distill.command": test_distill.test_a_command_gets_the_request_on_stdin_with_memhook_off,
    **dict.fromkeys(
        ("distill.url", "distill.model", "distill.key_variable"),
        test_distill.test_facts_whose_span_is_in_the_digest_are_captured_with_it,
    ),
    "pack.half_life_days": test_the_half_life_is_how_fast_a_memory_grows_old,
    "store.uri": test_the_store_is_where_its_uri_says,
    "embedding.model": test_the_model_is_the_configured_one_as_soon_as_its_vectors_are_complete,
    "embedding.languages": test_languages_says_when_the_encoder_for_others_than_english_is_there,
    "daemon.idle_minutes": test_server.test_an_idle_daemon_ends_by_itself,
    "ledger.keep_days": test_the_ledger_is_kept_for_so_many_days,
}


def test_every_setting_is_shown_to_change_behaviour() -> None:
    assert tuple(SHOWN_BY) == setting_keys()
