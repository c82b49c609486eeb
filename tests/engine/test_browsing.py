"""Looking through memories, events and numbers."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from memhook.engine.engine import Engine
from memhook.errors import InvalidInput
from memhook.store.ledger import Considered, Injection

Call = Callable[..., Any]

LINES = [
    {"id": "aaaaaaaaaaa1", "content": "The deploy hangs.", "title": "b", "project": "shop", "tags": ["x", "y"]},
    {"id": "aaaaaaaaaaa2", "content": "Ledger in cents.", "title": "A", "namespace": "rules", "pinned": True},
    {"id": "aaaaaaaaaaa3", "content": "Salaries are in the vault.", "title": "c", "sensitivity": "confidential"},
    {"id": "aaaaaaaaaaa4", "content": "Flags live in a file.", "title": "d", "muted": True, "created": "2020-01-01"},
]


@pytest.fixture(autouse=True)
def stored(call: Call, engine: Engine) -> None:
    call("import_lines", lines=[[number, json.dumps(one)] for number, one in enumerate(LINES)])
    recorded = Injection(
        at=datetime.now(UTC),
        session="s1",
        agent="",
        client="claude",
        event="UserPromptSubmit",
        project="shop",
        outcome="shown",
        text="",
        tokens=40,
        budget=4000,
        milliseconds={"total": 12.5},
        considered=tuple(
            Considered(f"aaaaaaaaaaa{n}", "", 0.9, reason, "preview", part=1)
            for n, reason in ((1, ""), (3, ""), (2, "far"))
        ),
    )
    assert engine.accounts.ledger
    number = engine.accounts.ledger.record(recorded)
    engine.accounts.ledger.delivered(number, 1)
    engine.accounts.ledger.mark_used(["aaaaaaaaaaa1"], datetime.now(UTC))


def found(call: Call, **conditions: Any) -> set[int]:
    return {int(one["id"][-1]) for one in call("browse", **conditions)["memories"]}


@pytest.mark.parametrize(
    ("conditions", "expected"),
    [
        ({}, {1, 2, 3, 4}),
        ({"project": "shop"}, {1}),
        ({"project": "global"}, {2, 3, 4}),
        ({"project": "here"}, {2, 3, 4}),
        ({"namespaces": ["rules"]}, {2}),
        ({"tags": ["x", "y"]}, {1}),
        ({"origins": ["import"]}, {1, 2, 3, 4}),
        ({"origins": ["user"]}, set()),
        ({"sensitivity": "confidential"}, {3}),
        ({"never_shown": True}, {2, 4}),
        ({"pinned": True}, {2}),
        ({"muted": True}, {4}),
        ({"quarantined": True}, set()),
        ({"query": "ledger in cents", "namespaces": ["rules"]}, {2}),
    ],
)
def test_conditions_narrow_what_is_found(call: Call, conditions: dict[str, Any], expected: set[int]) -> None:
    assert found(call, **conditions) == expected
    assert call("browse", **conditions)["total"] == len(expected)


def test_sorted_and_a_page_at_a_time(call: Call) -> None:
    def in_order(**asked: Any) -> str:
        return "".join(one["id"][-1] for one in call("browse", **asked)["memories"])

    assert in_order(sort="title") == "2134"
    assert in_order(sort="created")[-1] == "4"
    assert in_order(sort="used")[0] == "1"
    assert in_order(sort="title", limit=2, offset=2) == "34"
    with pytest.raises(InvalidInput):
        call("browse", sort="no such order")


def test_a_record_has_its_version_and_its_use(call: Call) -> None:
    first = call("browse", project="shop")["memories"][0]
    assert (first["shown"], first["used"]) == (1, 1)
    assert len(first["version"]) == 16


def test_facets_count_each_value(call: Call) -> None:
    counts = call("facets")
    assert counts["tags"] == {"x": 1, "y": 1}
    assert counts["project"] == {"": 3, "shop": 1}


def test_events_name_what_was_shown_if_it_is_open(call: Call) -> None:
    (event,) = call("events")["events"]
    assert [(one["urn"][-1], one["title"]) for one in event["shown"]] == [("1", "b"), ("3", None)]
    assert (event["session"], event["tokens"], event["considered"]) == ("s1", 40, 3)
    assert [one["used"] for one in event["shown"]] == [True, False]
    assert "text" not in event
    assert call("events", session="other")["events"] == []
    assert call("events", before=event["number"])["events"] == []


def test_numbers_by_day_and_by_origin(call: Call) -> None:
    report = call("numbers", days=3)
    assert [day["prompts"] for day in report["days"]] == [0, 0, 1]
    assert report["days"][-1]["tokens"] == 40
    assert sum(count for week in report["origins"].values() for count in week.values()) == 4
    assert (report["shown"], report["used"]) == (2, 1)
    assert report["bytes"] > 0


def test_what_the_repository_no_longer_has_is_found_as_stale(engine: Engine, tmp_path: Path) -> None:
    root = tmp_path / "shop"
    (root / "src").mkdir(parents=True)
    (root / "src/old.py").write_text("x = 1\n", encoding="utf-8")

    def git(*arguments: str) -> None:
        identity = ["-c", "user.name=x", "-c", "user.email=x@example.org"]
        subprocess.run(["git", *identity, *arguments], cwd=root, check=True, capture_output=True)

    for command in (("init",), ("add", "."), ("commit", "-m", "one"), ("rm", "src/old.py")):
        git(*command)

    def asked(method: str, **params: Any) -> Any:
        return engine.call(method, params, str(root), {})

    gone = asked("remember", content="The totals are computed in `src/old.py`.")["memory"]["id"]
    asked("remember", content="Amounts are in cents.")
    git("commit", "-m", "two")
    assert asked("browse", stale=True)["total"] == 0  # no index yet
    engine.keep_house(datetime.now(UTC))
    found = asked("browse", stale=True)
    assert [one["id"] for one in found["memories"]] == [gone]
    assert "src/old.py is gone" in found["memories"][0]["doubt"]
    assert asked("look", reference=gone)["memory"]["doubt"]
