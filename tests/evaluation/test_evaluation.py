"""With an embedder one can compute by hand; what the real model makes of the small set is in tests/cli."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from memhook.errors import EmbeddingError
from memhook.evaluation.policies import Detail, Plan, Prompted, policy_of
from memhook.evaluation.report import evaluated
from memhook.evaluation.sets import Query, read_set
from memhook.paths import user_paths
from memhook.settings import Hooks, Settings
from memhook.store.embedding.encoder import Embedder
from tests.fake_embedder import HashEmbedder

SMALL_SET = read_set(Path(__file__).parents[1] / "small_set")


def model(_name: str, _models: Path) -> Embedder:
    return HashEmbedder()


def no_model(name: str, _models: Path) -> Embedder:
    raise EmbeddingError(f"The model {name} is missing.")


def plan(**options: Any) -> Plan:
    given = {"settings": Settings(), "policies": {"preview": policy_of("preview")}, "budgets": (500, 2000)}
    return Plan(**{**given, "part_limit": None, **options})


def report(queries: Sequence[Query] = SMALL_SET.queries, load: Any = model, **options: Any) -> dict[str, Any]:
    return evaluated([replace(SMALL_SET, queries=tuple(queries))], plan(**options), user_paths(), lambda *_: None, load)


def without_times(found: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in found.items() if name != "latency_ms"}


def test_two_runs_give_the_same_numbers_whether_or_not_vectors_were_kept() -> None:
    first = without_times(report(has_baselines=True))
    assert without_times(report(has_baselines=True)) == first
    user_paths().evaluation_vectors.unlink()
    assert without_times(report(has_baselines=True)) == first


def test_nothing_is_left_behind_but_the_vectors(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    report()
    assert list(temporary.iterdir()) == []
    assert [path.name for path in home.rglob("*") if path.is_file()] == ["vectors.sqlite3"]


def test_an_interrupted_run_leaves_nothing_either(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))

    def interrupted(what: str, done: int, _total: int) -> None:
        if what == "asking" and done == 3:
            raise KeyboardInterrupt

    before = set(tmp_path.iterdir())
    with pytest.raises(KeyboardInterrupt):
        evaluated([SMALL_SET], plan(), user_paths(), interrupted, model)
    assert not [path for path in set(tmp_path.iterdir()) - before if path.name.startswith("memhook-eval")]


def test_each_policy_is_judged_on_the_same_prompts() -> None:
    names: tuple[Detail, ...] = ("preview", "cascade", "full", "pack")
    found = report(
        policies={name: policy_of(name) for name in names},
        settings=Settings(preview_chars=60, hooks=Hooks(best_chars=0)),
    )
    assert list(found["policies"]) == list(names)
    assert found["budgets"] == found["policies"]["preview"]
    texts = [found["policies"][name]["2000"]["text_recall"] for name in ("preview", "full")]
    assert texts[0] < texts[1]
    assert all(one["over_budget"] == 0 for policy in found["policies"].values() for one in policy.values())


def test_the_ranking_is_judged_before_and_the_budget_after_the_decision_to_speak() -> None:
    """A policy that is always silent loses everything but the ranking."""
    found = report(policies={"silent": lambda _asked, _budget: ()})
    assert found["recall"]["20"] > 0.9
    assert found["budgets"]["500"]["gold_recall"] == 0.0
    assert (found["kept"], found["silent"]) == (0.0, 1.0)


def test_a_policy_gets_only_what_the_hook_found_worth_showing() -> None:
    seen: list[Prompted] = []

    def watching(asked: Prompted, _budget: int) -> Sequence[str]:
        seen.append(asked)
        return ()

    report(policies={"watching": watching}, budgets=(), settings=Settings(hooks={"relevance": "strict"}))
    strict = sum(len(asked.recalled.worth_showing) for asked in seen)
    seen.clear()
    report(policies={"watching": watching}, budgets=(), settings=Settings(hooks={"relevance": "eager"}))
    assert strict < sum(len(asked.recalled.worth_showing) for asked in seen)
    assert not any(asked.prompt == "continue" for asked in seen)


def test_within_the_namespace_only_its_own_and_the_global_memories_are_found() -> None:
    seen: dict[str, set[str]] = {}

    def watching(asked: Prompted, _budget: int) -> Sequence[str]:
        found = {one.memory.namespace for one in asked.recalled.worth_showing}
        ids = {one.memory for one in asked.recalled.rest}
        found |= {memory.namespace for memory in asked.around.library.store.by_ids(sorted(ids)).values()}
        seen.setdefault(asked.around.project.id, set()).update(found)
        return ()

    report(policies={"watching": watching}, budgets=(), within_namespace=True)
    assert {project: names - {"general"} for project, names in seen.items()} == {
        "robot": {"robot"},
        "shop": {"shop"},
        "site": {"site"},
    }
    assert "general" in seen["shop"]


def test_the_users_own_namespaces_do_not_narrow_the_evaluation() -> None:
    narrowed = Settings(namespaces=("nowhere",))
    assert without_times(report(settings=narrowed)) == without_times(report())


def test_baselines_stand_beside_the_ranking() -> None:
    found = report(has_baselines=True)
    rankings = {name: one["recall"] for name, one in found["baselines"].items() if "recall" in one}
    assert list(rankings) == ["bm25", "vectors", "rrf"]
    assert all(recall["10"] > 0.8 for recall in rankings.values())
    assert "baselines" not in report()


def test_simple_methods_show_whole_memories_in_memhooks_place() -> None:
    found = report(has_baselines=True)
    simple = found["baselines"]
    for name in ("vectors_top_5", "rrf_top_5"):
        assert (simple[name]["spoken"], simple[name]["silent"]) == (1.0, 0.0)
        assert simple[name]["found"] > 0.8
    once = simple["everything_once"]
    assert (once["found"], once["tokens_answerable"]) == (1.0, once["tokens_unanswerable"])
    assert simple["rrf_top_5"]["tokens_answerable"] < once["tokens_answerable"]


def test_the_two_nearest_are_as_often_silent_as_memhook() -> None:
    others = sum(not query.gold and query.kind != "adversarial" for query in SMALL_SET.queries)
    found = report(has_baselines=True, settings=Settings(hooks={"relevance": "eager"}))
    nearest = found["baselines"]["two_nearest"]
    assert nearest["silent"] == pytest.approx(found["silent"], abs=0.5 / others)
    assert nearest["tokens_answerable"] < found["baselines"]["vectors_top_5"]["tokens_answerable"]
    never = report(has_baselines=True, policies={"silent": lambda _asked, _budget: ()})
    assert never["baselines"]["two_nearest"]["silent"] == 1.0


def test_the_share_of_framing_is_that_of_the_blocks_that_were_emitted() -> None:
    assert 0.1 < report()["framing_share"] < 0.9
    assert report(policies={"silent": lambda _asked, _budget: ()})["framing_share"] is None


def test_without_a_model_words_alone_are_measured(caplog: pytest.LogCaptureFixture) -> None:
    found = report(load=no_model, has_baselines=True)
    assert found["model"] == ""
    assert found["recall"]["10"] > 0.8
    assert list(found["baselines"]) == ["bm25", "everything_once"]
    assert "search by words alone" in caplog.text


def test_memories_with_the_same_text_are_one_and_either_id_is_gold() -> None:
    twins = {**SMALL_SET.drafts, "twin": replace(SMALL_SET.drafts["uv"], id="", aliases=())}
    query = Query("1", "uv and a lock file for Python projects", ("twin",), "question", "")
    found = evaluated(
        [replace(SMALL_SET, drafts=twins, queries=(query,))], plan(), user_paths(), lambda *_: None, model
    )
    assert found["recall"]["5"] == 1.0


def test_a_set_without_prompts_to_answer_has_no_recall() -> None:
    unanswerable = [query for query in SMALL_SET.queries if not query.gold]
    found = report(unanswerable)
    assert found["recall"] == {"5": None, "10": None, "20": None}
    assert found["kept"] is None
    assert found["budgets"]["500"]["gold_recall"] is None
