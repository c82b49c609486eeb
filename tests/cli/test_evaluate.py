"""The whole command on a small set, with the real model."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from memhook.files.durable import made_folder
from memhook.paths import user_paths
from tests.cli.conftest import Cli, Engine

SMALL_SET = str(Path(__file__).parents[1] / "small_set")


@pytest.fixture(scope="module")
def kept_vectors(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("vectors") / "vectors.sqlite3"


@pytest.fixture(autouse=True)
def _vectors(home_with_model: Path, kept_vectors: Path) -> Iterator[None]:
    """Each test has the vectors that those before it made: the numbers are the same, as tests/evaluation shows."""
    file = user_paths().evaluation_vectors
    if kept_vectors.exists():
        made_folder(file.parent)
        shutil.copy(kept_vectors, file)
    yield
    if file.exists():
        shutil.copy(file, kept_vectors)


def test_the_report_has_the_shape_others_rely_on(cli: Cli, engine: Engine) -> None:
    found = cli("eval", SMALL_SET, "--json", "--baselines")
    report = found.json
    assert found.code == 0
    assert found.err == ""
    assert list(report["recall"]) == ["5", "10", "20"]
    assert list(report["budgets"]) == ["500", "1000", "2000", "4000"]
    assert {
        *("gold_recall", "text_recall", "passage_recall", "precision", "found", "carried"),
        *("mean_tokens", "max_tokens", "tokens_per_prompt", "over_budget"),
    } == set(report["budgets"]["1000"])
    assert set(report["silent_by_kind"]) == {"elsewhere", "small talk", "adversarial"}
    assert 0 < report["latency_ms"]["p50"] <= report["latency_ms"]["p95"]
    assert {"bm25", "vectors", "rrf"} < set(report["baselines"])
    assert engine.asked == []  # the user's own store and ledger have no part in it
    assert not user_paths().store.exists()
    assert not user_paths().ledger.exists()


def test_a_folder_of_sets_is_reported_over_all_prompts_and_by_set(cli: Cli, engine: Engine, tmp_path: Path) -> None:
    for name, text in (("a", "Deploys hang without the VPN: connect first."), ("b", "Tests need make db-reset first.")):
        folder = tmp_path / "sets" / name
        folder.mkdir(parents=True)
        (folder / "memories.jsonl").write_text(json.dumps({"id": "m", "text": text}))
        queries = [
            {"prompt": text, "gold": ["m"], "kind": "direct", "needs": text[-15:]},
            {"prompt": "yes, go on", "kind": "ack"},
        ]
        (folder / "queries.jsonl").write_text("\n".join(map(json.dumps, queries)))
    report = cli("eval", str(tmp_path / "sets"), "--json").json
    assert (report["set"], report["memories"], report["prompts"]) == ("all", 2, 4)
    assert [one["set"] for one in report["sets"]] == ["a", "b"]
    for one in (report, *report["sets"]):
        assert (one["spoken"], one["found"], one["carried"], one["precision"], one["silent"]) == (1, 1, 1, 1, 1)
        assert one["tokens_answerable"] > one["tokens_unanswerable"] == 0
    assert report["by_kind"]["direct"]["prompts"] == 2
    assert report["by_kind"]["ack"] == {"prompts": 2, "silent": 1.0, "tokens": 0.0}
    text = cli("eval", str(tmp_path / "sets" / "a"), str(tmp_path / "sets" / "b")).out
    assert "set b" in text
    assert max(map(len, text.splitlines())) <= 80


def test_simple_methods_and_sessions_are_shown_in_eighty_columns(cli: Cli, engine: Engine) -> None:
    text = cli("eval", SMALL_SET, "--baselines", "--session-prompts", "1,10", "--sample", "12", "--budgets", "500").out
    for line in ("vectors, top 5, whole", "two nearest, whole", "all memories, once", "10 prompts", "framing: "):
        assert f"\n{line}" in text
    assert max(map(len, text.splitlines())) <= 80


def test_memhook_serves_the_small_set(cli: Cli, engine: Engine) -> None:
    report = cli("eval", SMALL_SET, "--json", "--within-namespace", "--budgets", "500").json
    assert report["recall"]["5"] >= 0.96
    assert report["kept"] >= 0.95
    assert report["silent"] == 1.0
    assert report["silent_by_kind"]["small talk"] == 1.0
    within = report["budgets"]["500"]
    assert within["gold_recall"] >= 0.95
    assert within["passage_recall"] >= 0.9
    assert within["max_tokens"] <= 500
    assert within["over_budget"] == 0


def test_the_table_shows_what_the_json_does(cli: Cli, engine: Engine) -> None:
    options = ("--sample", "6", "--seed", "3", "--detail", "pack", "--budgets", "300,600")
    report: dict[str, Any] = cli("eval", SMALL_SET, *options, "--json").json
    assert (report["prompts"], report["detail"], list(report["budgets"])) == (6, "pack", ["300", "600"])
    text = cli("eval", SMALL_SET, *options).out
    assert text.startswith(f"small_set: 36 memories, {report['answerable']} prompts to answer")
    assert "within (detail pack)" in text
    assert "300 tokens" in text
    assert " ms (p50), " in text


def test_a_setting_of_the_users_is_what_is_measured(cli: Cli, engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMHOOK_HOOKS__DETAIL", "cascade")
    monkeypatch.setenv("MEMHOOK_HOOKS__RELEVANCE", "eager")
    report = cli("eval", SMALL_SET, "--json", "--sample", "2").json
    assert (report["detail"], report["relevance"]) == ("cascade", "eager")


def test_bad_input_is_told_with_file_and_line(cli: Cli, tmp_path: Path) -> None:
    missing = cli("eval", str(tmp_path / "nowhere"))
    assert missing.code == 1
    assert "memories.jsonl cannot be read" in missing.err
    (tmp_path / "memories.jsonl").write_text(json.dumps({"id": "a", "text": "A."}))
    (tmp_path / "queries.jsonl").write_text(json.dumps({"prompt": "x", "gold": ["b"]}))
    unknown = cli("eval", str(tmp_path))
    assert unknown.code == 1
    assert "queries.jsonl, line 1: gold 'b' is not the id of a memory" in unknown.err


@pytest.mark.parametrize("option", ["--budgets 0", "--budgets a", "--detail x", "--sample 0", "--session-prompts 0,1"])
def test_options_that_make_no_sense_are_refused(cli: Cli, option: str) -> None:
    assert cli("eval", SMALL_SET, *option.split()).code == 2
