from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from memhook.core.memory import is_id
from memhook.errors import InvalidInput
from memhook.evaluation.sets import Query, read_set, sampled, sets_in

MEMORY = {"id": "vpn", "text": "Deploys hang without the VPN."}
QUERY = {"prompt": "why does the deploy hang?", "gold": ["vpn"]}


def written(folder: Path, memories: list[Any] | None = None, queries: list[Any] | None = None) -> Path:
    for name, given in (("memories", memories or [MEMORY]), ("queries", queries or [QUERY])):
        lines = [line if isinstance(line, str) else json.dumps(line) for line in given]
        (folder / f"{name}.jsonl").write_text("\n".join(lines), encoding="utf-8")
    return folder


def test_a_set_is_read_with_what_its_lines_leave_out(tmp_path: Path) -> None:
    found = read_set(written(tmp_path, queries=[QUERY, {"prompt": "a haiku", "kind": "far", "namespace": "x"}]))
    assert found.queries == (
        Query("1", "why does the deploy hang?", ("vpn",), "answerable", ""),
        Query("2", "a haiku", (), "far", "x"),
    )
    assert found.name == tmp_path.name
    assert found.drafts["vpn"].aliases == ("vpn",)


def test_a_line_may_be_a_tool_call_instead_of_a_prompt(tmp_path: Path) -> None:
    edit = {"tool": "Edit", "input": {"file_path": "deploy/vpn.toml", "new_string": "x"}, "gold": ["vpn"]}
    failed = {"tool": "Bash", "input": {"command": "make up"}, "error": "E1207", "kind": "other"}
    edited, ran = read_set(written(tmp_path, queries=[edit, failed])).queries
    assert edited.action is not None
    assert edited.action.paths == ("deploy/vpn.toml",)
    assert ran.action is not None
    assert (ran.action.commands, ran.action.error) == ((("make", "up"),), "E1207")


def test_a_folder_of_sets_is_each_of_them_named_by_its_path(tmp_path: Path) -> None:
    for name in ("b", "a/inner"):
        (tmp_path / name).mkdir(parents=True)
        written(tmp_path / name)
    assert [one.name for one in sets_in([tmp_path])] == ["a/inner", "b"]
    assert [one.name for one in sets_in([tmp_path / "b", tmp_path / "a"])] == ["b", "inner"]
    with pytest.raises(InvalidInput, match="same name"):
        sets_in([tmp_path / "b", tmp_path / "b"])
    (tmp_path / "linked").mkdir()
    (tmp_path / "linked/c").symlink_to(tmp_path / "a/inner")
    (tmp_path / "linked/circle").symlink_to(tmp_path / "linked")
    assert [one.name for one in sets_in([tmp_path / "linked"])] == ["c"]
    with pytest.raises(InvalidInput, match="cannot be read"):
        sets_in([tmp_path / "nowhere"])


def test_what_a_prompt_needs_must_stand_in_its_gold(tmp_path: Path) -> None:
    assert read_set(written(tmp_path, queries=[{**QUERY, "needs": "without  the VPN"}])).queries[0].needs
    with pytest.raises(InvalidInput, match="line 1: needs is not in any gold memory"):
        read_set(written(tmp_path, queries=[{**QUERY, "needs": "with a VPN"}]))


def test_ids_are_the_same_in_every_run_and_memhooks_own_are_kept(tmp_path: Path) -> None:
    memories = [MEMORY, {"id": "k3v9x2m4p7qa", "text": "Use uv."}]
    first, second = (read_set(written(tmp_path, memories)).drafts for _ in range(2))
    assert first["vpn"].id == second["vpn"].id
    assert is_id(first["vpn"].id)
    assert first["k3v9x2m4p7qa"].id == "k3v9x2m4p7qa"


def test_what_a_line_says_is_superseded_is_so(tmp_path: Path) -> None:
    drafts = read_set(written(tmp_path, [{**MEMORY, "superseded_by": "new"}, {"id": "new", "text": "New."}])).drafts
    assert drafts["new"].supersedes == (drafts["vpn"].id,)


@pytest.mark.parametrize(
    ("memories", "queries", "told"),
    [
        ([MEMORY, "{not json"], None, "memories.jsonl, line 2: not JSON"),
        ([MEMORY, "[1]"], None, "memories.jsonl, line 2: not a JSON object."),
        ([{"text": "nameless"}], None, "memories.jsonl, line 1: id is missing."),
        ([MEMORY, "", {"id": "empty", "text": " "}], None, "memories.jsonl, line 3: There is nothing to remember"),
        ([MEMORY, MEMORY], None, "memories.jsonl, line 2: line 1 already has the id 'vpn'."),
        ([{**MEMORY, "created": "soon"}], None, "memories.jsonl, line 1: created: "),
        (None, [QUERY, "{"], "queries.jsonl, line 2: not JSON"),
        (None, [{"gold": ["vpn"]}], "queries.jsonl, line 1: prompt: Field required."),
        (None, [{"prompt": "x", "gold": "vpn"}], "queries.jsonl, line 1: gold: "),
        (None, [QUERY, {"prompt": "x", "gold": ["gone"]}], "line 2: gold 'gone' is not the id of a memory"),
        (None, [{"prompt": "x", "answerable": True}], "queries.jsonl, line 1: answerable, but without gold."),
        (None, [{**QUERY, "answerable": False}], "line 1: gold, but not answerable."),
        ([""], None, "memories.jsonl is empty."),
        (None, ["\n"], "queries.jsonl is empty."),
    ],
)
def test_a_bad_line_is_named_with_its_file(
    tmp_path: Path, memories: list[Any] | None, queries: list[Any] | None, told: str
) -> None:
    with pytest.raises(InvalidInput) as raised:
        read_set(written(tmp_path, memories, queries))
    assert told in raised.value.message
    assert "memories.jsonl with lines" in raised.value.hint


@pytest.mark.parametrize("name", ["memories.jsonl", "queries.jsonl"])
def test_a_missing_file_is_named(tmp_path: Path, name: str) -> None:
    (written(tmp_path) / name).unlink()
    with pytest.raises(InvalidInput, match=rf"{name} cannot be read \(No such file"):
        read_set(tmp_path)


def test_a_sample_depends_on_the_seed_alone_and_keeps_the_order() -> None:
    queries = [Query(str(number), f"prompt {number}", (), "x", "") for number in range(50)]
    drawn = sampled(queries, 10, seed=1)
    assert drawn == sampled(queries, 10, seed=1)
    assert drawn != sampled(queries, 10, seed=2)
    assert [int(query.id) for query in drawn] == sorted(int(query.id) for query in drawn)
    assert len(drawn) == 10
    assert sampled(queries, 100, seed=1) == tuple(queries)
    assert set(sampled(queries, 5, seed=1)) < set(drawn)
