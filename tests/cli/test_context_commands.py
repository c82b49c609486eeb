from __future__ import annotations

import io
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import NOTE, Cli, Engine

BLOCK: dict[str, Any] = {
    "text": "## Relevant Context: x\n\n**A** …",
    "tokens": 9,
    "memories": [NOTE["urn"]],
    "unknown": [],
    "note": "",
}


def test_inject_prints_the_finished_text(engine: Engine, cli: Cli) -> None:
    engine.answers["inject"] = BLOCK
    result = cli("inject", "why", "timeout", "--max-tokens", "900", "--namespace", "a", "--include-restricted")
    assert result.out == BLOCK["text"] + "\n"
    asked = {"query": "why timeout", "max_tokens": 900, "namespaces": ["a"], "include_restricted": True}
    assert engine.asked == [("inject", asked)]
    assert cli("inject", "x", "--json").json == BLOCK


def test_inject_takes_hits_by_urn_id_or_alias_with_or_without_a_score(engine: Engine, cli: Cli) -> None:
    engine.answers["inject"] = BLOCK
    hits = ["k3v9x2m4p7qa:0.9", "urn:memhook:123456789012", "urn:memhook:k3v9x2m4p7qa:1", "ticket-7", "a:b"]
    cli("inject", *(word for hit in hits for word in ("--hit", hit)))
    assert engine.asked[0][1] == {
        "query": "",
        "hits": [
            {"id": "k3v9x2m4p7qa", "score": 0.9},
            {"id": "urn:memhook:123456789012"},
            {"id": "urn:memhook:k3v9x2m4p7qa", "score": 1.0},
            {"id": "ticket-7"},
            {"id": "a:b"},
        ],
    }


@pytest.mark.parametrize("name", ["k3v9", "k3v9x2m4p7qa", "urn:memhook:k3v9x2m4p7qa"])
def test_a_score_that_is_no_number_is_refused_unless_it_ends_an_alias(name: str, engine: Engine, cli: Cli) -> None:
    engine.answers["inject"] = BLOCK | {"unknown": [f"{name}:high"]}
    result = cli("inject", "--hit", f"{name}:high")
    assert (result.code, result.out) == (1, "")
    assert result.err == f"memhook: 'high' is not a score.\nGive a number: --hit {name}:0.87\n"
    engine.answers["inject"] = BLOCK
    assert cli("inject", "--hit", f"{name}:high").code == 0


def test_a_hit_that_is_unknown_is_no_error(engine: Engine, cli: Cli) -> None:
    engine.answers["inject"] = BLOCK | {"unknown": ["urn:memhook:123456789012", "k3v9", "a"]}
    assert cli("inject", "--hit", "urn:memhook:123456789012", "--hit", "k3v9", "--hit", "a:0.5").code == 0


@pytest.mark.parametrize("form", ["search", "list", "lines", "one"])
def test_inject_takes_what_search_prints_and_other_lists_of_hits(
    form: str, engine: Engine, cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hits = [{"id": "a", "score": 0.5}] if form == "one" else [{"id": "a", "score": 0.5}, {"id": "b", "score": 0.4}]
    forms = {
        "search": json.dumps({"results": hits, "next_cursor": None}, indent=2),
        "list": json.dumps(hits),
        "lines": "\n".join(map(json.dumps, hits)),
        "one": json.dumps(hits[0]),
    }
    engine.answers["inject"] = BLOCK
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(forms[form].encode())))
    assert cli("inject", "--hits", "-").code == 0
    file = tmp_path / "hits.json"
    file.write_text(forms[form])
    assert cli("inject", "--hits", str(file)).code == 0
    assert [params["hits"] for _, params in engine.asked] == [hits, hits]


@pytest.mark.parametrize("content", ["not json", "3", '{"results": 3}'])
def test_hits_that_cannot_be_read_are_refused(content: str, engine: Engine, cli: Cli, tmp_path: Path) -> None:
    file = tmp_path / "hits.json"
    file.write_text(content)
    result = cli("inject", "--hits", str(file))
    assert result.code == 1
    assert "memhook search --json QUERY | memhook inject --hits -" in result.err
    assert cli("inject", "--hits", str(tmp_path / "none")).code == 1


def test_nothing_to_inject_leaves_stdout_empty_and_says_so_beside_it(engine: Engine, cli: Cli) -> None:
    engine.answers["inject"] = BLOCK | {"text": "", "note": "No relevant memory found."}
    result = cli("inject", "x")
    assert (result.code, result.out, result.err) == (0, "", "No relevant memory found.\n")


def test_pack_prints_the_bundle(engine: Engine, cli: Cli) -> None:
    engine.answers["pack"] = BLOCK
    result = cli("pack", "release", "process", "--budget-tokens", "-5", "--ordering", "newest")
    assert result.out == BLOCK["text"] + "\n"
    cli("pack", "x", "--json")
    asked = {"topic": "release process", "budget_tokens": -5, "ordering": "newest"}
    cli("pack", "x", "--max-tokens", "500")
    assert engine.asked == [("pack", asked), ("pack", {"topic": "x"}), ("pack", {"topic": "x", "budget_tokens": 500})]


def test_a_note_that_the_text_does_not_carry_is_printed_beside_it(engine: Engine, cli: Cli) -> None:
    note = "left out for lack of room: **a**"
    engine.answers["pack"] = BLOCK | {"note": note}
    assert cli("pack", "x").err == f"{note}\n"
    engine.answers["pack"] = BLOCK | {"text": f"b\n({note})", "note": note}
    assert (cli("pack", "x").err, cli("pack", "x").out) == ("", f"b\n({note})\n")
