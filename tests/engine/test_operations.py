from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest

from memhook.engine.catalogue import OPERATIONS
from memhook.engine.scopes import Rights, Scope, written
from memhook.errors import InvalidInput, NotFound

Call = Callable[..., Any]


@pytest.mark.parametrize("name", OPERATIONS)
def test_every_operation_has_a_function_that_takes_the_caller_first(name: str) -> None:
    code = OPERATIONS[name].function.__code__
    assert code.co_varnames[0] == "caller"


def test_clients_read_the_table_without_the_store() -> None:
    script = "import sys, memhook.daemon.control as c; print({'lancedb', 'numpy', 'pydantic'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"


def stored(call: Call, content: str, **fields: Any) -> dict[str, Any]:
    record: dict[str, Any] = call("remember", content=content, **fields)["memory"]
    return record


def test_the_start_of_a_urn_stands_for_it_wherever_one_is_taken(call: Call) -> None:
    record = stored(call, "Deploys hang without the VPN.")
    for start in (record["urn"][:-4], record["id"][:5], record["id"], record["urn"]):
        assert call("get", references=[start])[0]["id"] == record["id"]
        assert call("explain", reference=start)["urn"] == record["urn"]
        assert record["urn"] in call("inject", query="x", hits=[{"id": start}])["memories"]
    start = record["id"][:6]
    assert call("edit", reference=start, pinned=True)["pinned"]
    newer = stored(call, "Deploys work without the VPN.", supersedes=[start])
    assert newer["supersedes"] == [record["id"]]
    assert call("mute", references=[start])[0]["muted"]
    assert call("forget", references=[start])[0]["id"] == record["id"]
    with pytest.raises(NotFound, match="No memory is called zzzz"):
        call("get", references=["zzzz"])


@pytest.mark.parametrize("method", ["forget", "redact", "purge", "edit", "retract", "revise", "inbox_drop"])
def test_what_deletes_or_changes_a_memory_wants_four_characters_of_its_id_and_what_reads_one(
    call: Call, method: str
) -> None:
    record = stored(call, "Deploys hang without the VPN.")
    start = record["id"][:3]
    with pytest.raises(InvalidInput, match=f"{start} is too short") as refused:
        call(method, **({"reference": start} if method == "edit" else {"references": [start]}))
    assert f"urn:memhook:{record['id'][:4]}" in refused.value.hint
    assert call("get", references=[record["id"][:1]])[0]["id"] == record["id"]
    assert call("mute", references=[start])[0]["muted"]


def test_an_ambiguous_start_lists_what_it_may_mean(call: Call) -> None:
    lines = [
        [number, f'{{"id": "k3v9x2m4p7q{end}", "content": "note {end}", "sensitivity": "{level}"}}']
        for number, (end, level) in enumerate([("a", "normal"), ("b", "normal"), ("c", "restricted")])
    ]
    call("import_lines", lines=lines)
    with pytest.raises(InvalidInput) as several:
        call("forget", references=["urn:memhook:k3v9"])
    assert several.value.message.startswith("urn:memhook:k3v9 is the start of 3 URNs: ")
    assert "urn:memhook:k3v9x2m4p7qb note b" in several.value.message
    assert call("list")["total"] == 3
    reader = written(Rights(frozenset({Scope.READ})))
    with pytest.raises(InvalidInput, match="the start of 2 URNs") as visible:
        call("get", references=["k3v9"], rights=reader)
    assert "note c" not in visible.value.message
    with pytest.raises(NotFound):
        call("get", references=["k3v9x2m4p7qc"[:-1] + "c"], rights=reader)


def test_a_memory_is_explained_by_what_keeps_it_back(call: Call) -> None:
    record = stored(call, "Deploys hang without the VPN.")
    assert call("explain", reference=record["urn"]) == {
        "urn": record["urn"],
        "title": "Deploys hang without the VPN.",
        "anchors": [],
        "anchors_in_words": [],
        "checked": "",
        "withheld_because": [],
        "superseded_by": None,
        "loaded_by": [],
        "captured": None,
        "times_shown": 0,
        "times_used": 0,
        "history": [],
    }
    call("mute", references=[record["id"]])
    assert call("explain", reference=record["id"])["withheld_because"] == ["muted"]
    elsewhere = stored(call, "Only there.", project="github.com/a/b")
    assert call("explain", reference=elsewhere["id"])["withheld_because"] == ["another project (github.com/a/b)"]
    newer = stored(call, "The VPN is gone.", supersedes=[record["id"]])
    name = {"urn": newer["urn"], "title": "The VPN is gone."}
    assert call("explain", reference=record["id"])["superseded_by"] == name
    call("edit", reference=newer["id"], sensitivity="confidential")
    assert call("explain", reference=record["id"])["superseded_by"] is None
    hidden = stored(call, "A secret plan.", sensitivity="confidential")
    explained = call("explain", reference=hidden["id"])
    assert (explained["title"], explained["withheld_because"]) == ("", ["confidential"])


@pytest.mark.parametrize("query", ["", "  ", "\n"])
def test_a_search_for_nothing_is_refused(call: Call, query: str) -> None:
    with pytest.raises(InvalidInput, match="The query is empty"):
        call("search", query=query)
