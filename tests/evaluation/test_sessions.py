"""Sessions with an embedder one can compute by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from memhook.core.memory import Draft
from memhook.evaluation.policies import Plan, policy_of
from memhook.evaluation.report import evaluated
from memhook.evaluation.sets import EvaluationSet, Query
from memhook.paths import user_paths
from memhook.settings import Settings
from memhook.store.embedding.encoder import Embedder
from tests.fake_embedder import HashEmbedder

TEXTS = {
    "vpn": "Deploys hang at 40 percent when the VPN tunnel is down. Connect the tunnel first.",
    "reset": "Integration tests need make db-reset. The code E1207 means the reset was forgotten.",
    "money": "Amounts are integers in cents. Never use float columns for money.",
}
NO_START = Settings(hooks={"session_start": {"max_memories": 0}})


def query(number: int, name: str) -> Query:
    prompts = {
        "vpn": "deploys hang, is the VPN tunnel down?",
        "reset": "integration tests fail with E1207 reset",
        "": "yes, go on",
    }
    needs = {"vpn": "Connect the tunnel first", "reset": "E1207 means", "": ""}[name]
    return Query(str(number), prompts[name], (name,) if name else (), "direct" if name else "ack", "", needs)


def model(_name: str, _models: Path) -> Embedder:
    return HashEmbedder()


def report(*names: str, lengths: tuple[int, ...], settings: Settings | None = None) -> dict[str, Any]:
    drafts = {name: Draft(text, id=f"{name:a>12}") for name, text in TEXTS.items()}
    of = EvaluationSet("small", drafts, tuple(query(number, name) for number, name in enumerate(names)))
    plan = Plan(settings or Settings(), {"preview": policy_of("preview")}, (), None, session_prompts=lengths)
    return evaluated([of], plan, user_paths(), lambda *_: None, model)


def test_what_the_start_shows_counts_for_every_prompt_and_is_not_paid_again() -> None:
    found = report("vpn", "reset", "", lengths=(1, 3))["sessions"]
    for one in found.values():
        assert (one["found"], one["carried"], one["prompt_tokens"]) == (1.0, 1.0, 0.0)
        assert one["start_tokens"] == one["tokens"] > 0
    assert found["1"]["tokens"] == found["3"]["tokens"]
    assert found["3"]["carried_per_1000_tokens"] == pytest.approx(2000 / found["3"]["tokens"], abs=0.001)


def test_a_session_of_one_prompt_without_a_start_is_what_the_prompt_alone_gets() -> None:
    whole = report("vpn", "reset", "", "", lengths=(1,), settings=NO_START)
    found = whole["sessions"]["1"]
    assert (found["sessions"], found["start_tokens"]) == (4, 0.0)
    assert (found["found"], found["carried"]) == (whole["found"], whole["carried"])
    assert found["tokens"] == pytest.approx(whole["tokens_answerable"] / 2, abs=0.1)


def test_what_an_earlier_prompt_brought_counts_and_is_not_paid_again() -> None:
    alone = report("vpn", lengths=(1,), settings=NO_START)["sessions"]["1"]
    twice = report("vpn", "vpn", lengths=(2,), settings=NO_START)["sessions"]["2"]
    assert (twice["found"], twice["carried"]) == (1.0, 1.0)
    assert twice["tokens"] == alone["tokens"]


def test_a_rest_too_short_for_a_session_is_left_out_unless_there_is_nothing_else() -> None:
    found = report("vpn", "reset", "", lengths=(2, 20))["sessions"]
    assert [(found[length]["sessions"], found[length]["prompts"]) for length in ("2", "20")] == [(1, 2.0), (1, 3.0)]
    assert "sessions" not in report("vpn", lengths=())
