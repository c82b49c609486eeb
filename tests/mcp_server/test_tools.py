"""Every tool, by the SDK's own client, on a real engine with an embedder one can compute by hand."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import anyio
import pytest
from mcp import Client, MCPError, types

from memhook.core.memory import id_of
from memhook.core.tokens import estimated_tokens
from memhook.engine.engine import Engine
from memhook.engine.scopes import DEFAULT_SCOPES, Rights, Scope
from memhook.errors import StoreError
from memhook.library.library import Library
from memhook.mcp_server.server import server_for
from memhook.store.cache.cached_table import CachedTable
from memhook.store.ledger import Considered, Injection
from memhook.store.memories import MemoryStore
from tests.mcp_server.conftest import Call, Counting

DEPLOY = "Deploys hang at forty percent unless the VPN is connected."
LEDGER = "Ledger reconciliation must read from the primary database."
SECRET = "The root token of the vault is kept in the safe."


class Assistant:
    """A client with rights of its own."""

    def __init__(self, call: Call, *scopes: Scope, namespaces: tuple[str, ...] = ()) -> None:
        rights = Rights(frozenset(scopes or DEFAULT_SCOPES), namespaces)
        self._server = server_for(call, lambda _: rights)

    def _asked(self, method: str, *args: Any) -> Any:
        async def ask() -> Any:
            async with Client(self._server) as client:
                try:
                    return await getattr(client, method)(*args)
                except MCPError as error:  # else it leaves in a group of errors
                    return error

        answer = anyio.run(ask)
        if isinstance(answer, MCPError):
            raise answer
        return answer

    def uses(self, tool: str, **arguments: Any) -> types.CallToolResult:
        result: types.CallToolResult = self._asked("call_tool", tool, arguments)
        return result

    def text(self, tool: str, **arguments: Any) -> str:
        result = self.uses(tool, **arguments)
        assert not result.is_error, result.content
        assert isinstance(result.content[0], types.TextContent)
        return result.content[0].text

    def record(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """The structured content, which the text repeats."""
        result = self.uses(tool, **arguments)
        assert not result.is_error, result.content
        assert isinstance(result.content[0], types.TextContent)
        assert json.loads(result.content[0].text) == result.structured_content
        return dict(result.structured_content or {})

    def error(self, tool: str, **arguments: Any) -> str:
        result = self.uses(tool, **arguments)
        assert result.is_error
        assert isinstance(result.content[0], types.TextContent)
        return result.content[0].text

    def tools(self) -> types.ListToolsResult:
        listed: types.ListToolsResult = self._asked("list_tools")
        return listed

    def reads(self, uri: str) -> str:
        contents = self._asked("read_resource", uri).contents
        return str(contents[0].text)

    def templates(self) -> list[str]:
        return [one.uri_template for one in self._asked("list_resource_templates").resource_templates]


@pytest.fixture
def assistant(call: Call) -> Assistant:
    return Assistant(call)


def urn_of(call: Call, content: str, **fields: Any) -> str:
    return str(call("remember", content=content, **fields)["memory"]["urn"])


def urns_of(call: Call, *contents: str) -> list[str]:
    """Of many stored at once: one by one, each is a write of its own."""
    lines = [[number, json.dumps({"content": content})] for number, content in enumerate(contents, 1)]
    assert call("import_lines", lines=lines)["outcomes"] == {"stored": len(contents)}
    return [one["urn"] for one in call("list", limit=len(contents))["memories"]]


def test_there_are_at_most_nine_tools_and_their_list_costs_at_most_2000_tokens(assistant: Assistant) -> None:
    listed = assistant.tools()
    assert len(listed.tools) <= 9
    text = json.dumps(listed.model_dump(by_alias=True, exclude_none=True, mode="json"))
    assert estimated_tokens(text) <= 2000


def test_a_server_without_the_scope_to_write_offers_no_tool_that_writes(call: Call) -> None:
    names = {tool.name for tool in Assistant(call, Scope.READ).tools().tools}
    assert names == {"search_memories", "list_memories", "get_memory", "inject_context", "pack_context"}


def test_search_gives_complete_records_with_scores_and_their_parts(call: Call, assistant: Assistant) -> None:
    urn = urn_of(call, DEPLOY, tags=["vpn"], related=["release"], source="ticket-7", namespace="incidents")
    urn_of(call, LEDGER)
    best = assistant.record("search_memories", query="why do deploys hang without the VPN")["results"][0]
    assert best["urn"] == urn
    assert (best["content"], best["tags"], best["related"], best["source"]) == (
        DEPLOY,
        ["vpn"],
        ["release"],
        "ticket-7",
    )
    assert 0 <= best["score"] <= 1
    assert {"dense", "lexical", "recency"} <= best["score_parts"].keys()


def test_a_record_costs_the_model_no_field_that_says_nothing(call: Call, assistant: Assistant) -> None:
    urn_of(call, DEPLOY)
    urn = urn_of(call, LEDGER, summary="Reconcile first.", tags=["money"])
    plain, told = sorted(assistant.record("search_memories", query="deploys ledger")["results"], key=len)
    assert not {name for name, value in plain.items() if value in ("", None, [])} | {"summary", "pinned"} & plain.keys()
    assert {"id", "urn", "title", "content", "namespace", "origin", "created", "score"} <= plain.keys()
    assert (told["summary"], told["tags"]) == ("Reconcile first.", ["money"])
    assert assistant.record("get_memory", urn=urn)["summary"] == "Reconcile first."
    assert not any("pinned" in one for one in assistant.record("list_memories")["memories"])


def test_search_is_narrowed_by_namespace_tag_project_and_time(call: Call, assistant: Assistant) -> None:
    urn_of(call, DEPLOY, namespace="incidents", tags=["a", "b"], created="2026-01-01T00:00:00+00:00")
    urn_of(call, LEDGER, project="elsewhere")

    def found(**conditions: Any) -> set[str]:
        page = assistant.record("search_memories", query="deploys ledger", **conditions)
        return {one["content"] for one in page["results"]}

    assert found() == {DEPLOY, LEDGER}
    assert found(namespaces=["incidents"]) == found(tags=["a", "b"]) == found(before="2026-02-01") == {DEPLOY}
    assert found(tags=["a", "c"]) == set()
    assert found(since="1d") == found(project="elsewhere") == {LEDGER}
    assert found(project="here") == found(project="global") == {DEPLOY}


def test_search_and_list_give_every_memory_once_page_by_page(call: Call, assistant: Assistant) -> None:
    for number in range(7):
        urn_of(call, f"release step {number}")

    def pages(tool: str, **arguments: Any) -> list[str]:
        seen: list[str] = []
        cursor = None
        while True:
            page = assistant.record(tool, limit=3, **arguments, **({"cursor": cursor} if cursor else {}))
            records = page.get("results") or page.get("memories") or []
            seen += [record["id"] for record in records]
            if len(seen) == 3:
                urn_of(call, "release step that came between")
            cursor = page["next_cursor"]
            if cursor is None:
                return seen

    for tool, arguments in (("search_memories", {"query": "release step"}), ("list_memories", {})):
        seen = pages(tool, **arguments)
        assert len(seen) == len(set(seen)) >= 7


def test_a_cursor_of_another_question_is_refused(call: Call, assistant: Assistant) -> None:
    for number in range(3):
        urn_of(call, f"release step {number}")
    cursor = assistant.record("search_memories", query="release", limit=1)["next_cursor"]
    assert "cursor" in assistant.error("search_memories", query="deploy", limit=1, cursor=cursor)


def test_an_unknown_ordering_is_an_error_that_names_the_three(assistant: Assistant) -> None:
    for tool, arguments in (("search_memories", {"query": "x"}), ("pack_context", {"topic": "x"})):
        told = assistant.error(tool, **arguments, ordering="newest")
        assert all(name in told for name in ("relevance", "recency", "relevance+recency"))


def test_list_pages_by_recency_and_counts(call: Call, assistant: Assistant) -> None:
    first, second = urn_of(call, DEPLOY), urn_of(call, LEDGER)
    page = assistant.record("list_memories")
    assert [one["urn"] for one in page["memories"]] == [second, first]
    assert page["total"] == 2


@pytest.mark.parametrize(
    "read", [lambda one, urn: one.record("get_memory", urn=urn)["content"], lambda one, urn: one.reads(urn)]
)
def test_reading_the_whole_of_a_memory_counts_as_use_if_it_was_shown(
    call: Call, engine: Engine, assistant: Assistant, read: Callable[[Assistant, str], str]
) -> None:
    urn, now = urn_of(call, DEPLOY), datetime.now(UTC)
    for was_shown in (False, True):
        if was_shown:
            considered = (Considered(id_of(urn), "", 0.9, part=1),)
            event = Injection(now, "s1", "", "claude", "UserPromptSubmit", "", "shown", "", 40, 800, {}, considered)
            engine.accounts.mark_delivered(engine.accounts.record(event), 1)
        assert read(assistant, urn) == DEPLOY
        assert call("status")["used"]["used"] == was_shown
        assert bool(call("get", references=[urn], touch=False)[0]["accessed"]) == was_shown


def test_a_urn_resolves_as_a_resource(call: Call, assistant: Assistant) -> None:
    assert assistant.templates() == ["urn:memhook:{id}"]
    assert assistant.reads(urn_of(call, DEPLOY)) == DEPLOY
    with pytest.raises(MCPError, match="No memory is called"):
        assistant.reads("urn:memhook:zzzzzzzzzzzz")


def test_inject_with_a_query_gives_finished_text_about_it_alone(call: Call, assistant: Assistant) -> None:
    urn = urn_of(call, DEPLOY, title="VPN")
    urn_of(call, LEDGER)
    text = assistant.text("inject_context", query="Deploys hang at forty percent unless the VPN is connected?")
    assert text.startswith("## Relevant Context: Deploys hang")
    assert re.search(rf"\n\n\*\*VPN\*\* \(general, score: \d\.\d\d, [-\d]{{10}}\) {urn} · by user\n  {DEPLOY}", text)
    assert LEDGER not in text
    assert assistant.text("inject_context", query="penguins of antarctica") == "No relevant memory found."


def test_inject_with_hits_gives_exactly_those_in_the_order_of_their_scores(call: Call, assistant: Assistant) -> None:
    deploy, ledger = urn_of(call, DEPLOY), urn_of(call, LEDGER)
    hits = [{"id": deploy, "score": 0.2}, {"urn": ledger, "score": 0.9, "title": "x"}, {"id": "gone"}, {"id": deploy}]
    text = assistant.text("inject_context", hits=hits, query="penguins")
    assert text.startswith("## Relevant Context: penguins\n")
    assert re.findall(r"urn:memhook:\w+", text) == [ledger, deploy]
    assert "score: 0.90" in text
    assert text.endswith("\n\n(unknown: gone)\n(end of memhook notes)")


def test_with_hits_nothing_is_searched_or_embedded(
    call: Call, assistant: Assistant, embedder: Counting, monkeypatch: pytest.MonkeyPatch
) -> None:
    urn = urn_of(call, DEPLOY)
    asked: list[str] = []
    by_reference = MemoryStore.by_reference

    def refuse(*_: Any, **__: Any) -> Any:
        raise AssertionError("the store was asked for more than ids")

    def counted(self: MemoryStore, *args: Any) -> Any:
        asked.append("by_reference")
        return by_reference(self, *args)

    for name in ("candidates", "newest", "count", "ids", "after"):
        monkeypatch.setattr(MemoryStore, name, refuse)
    monkeypatch.setattr(CachedTable, "_all_terms", refuse)
    monkeypatch.setattr(MemoryStore, "by_reference", counted)
    monkeypatch.setattr(Library, "query_vector", refuse)
    embedder.asked = 0
    assert DEPLOY in assistant.text("inject_context", hits=[{"id": urn, "score": 0.5}], query="deploys")
    assert asked == ["by_reference"]
    assert embedder.asked == 0


def test_inject_without_query_and_hits_is_a_clear_error(assistant: Assistant) -> None:
    assert "Give a query, or hits" in assistant.error("inject_context")
    assert "at least 1" in assistant.error("inject_context", query="x", max_tokens=0)


def test_inject_keeps_to_the_budget_it_is_given_and_else_to_the_configured_one(
    call: Call, assistant: Assistant
) -> None:
    hits = [
        {"id": urn, "score": 0.5}
        for urn in urns_of(call, *(f"note {number}: " + "word " * 300 for number in range(40)))
    ]
    for budget in (1, 10, 100, 1000):
        assert estimated_tokens(assistant.text("inject_context", hits=hits, max_tokens=budget)) <= budget
    whole = estimated_tokens(assistant.text("inject_context", hits=hits))
    assert 3000 < whole <= 4000


def test_pack_fills_a_budget_with_whole_memories(call: Call, assistant: Assistant) -> None:
    urns = [urn_of(call, f"release step {number}", title=f"Step {number}") for number in range(3)]
    text = assistant.text("pack_context", topic="release step")
    assert text.startswith("## Context for 'release step' (3 memories, ~")
    assert all(f"- **Step {number}** [{urn}]" in text for number, urn in enumerate(urns))
    assert all(f"\n  release step {number}\n" in text for number in range(3))


def test_pack_from_a_store_that_cannot_be_asked_says_why(assistant: Assistant, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: Any, **__: Any) -> Any:
        raise StoreError("The disk is gone.")

    monkeypatch.setattr(Engine, "library", fail)
    assert assistant.text("pack_context", topic="x") == "The disk is gone."


def test_pack_shows_nothing_if_nothing_is_relevant_and_takes_no_empty_topic(call: Call, assistant: Assistant) -> None:
    urn_of(call, DEPLOY)
    assert assistant.text("pack_context", topic="chocolate cake recipe") == "No relevant memory found."
    assert "Give a topic" in assistant.error("pack_context", topic=" ")


def test_remember_names_an_older_memory_with_another_value(call: Call, assistant: Assistant) -> None:
    older = assistant.record("remember", content="The mailer listens on port 2525.")
    assert "may_supersede" not in older
    newer = assistant.record("remember", content="The mailer listens on port 2587.")
    assert newer["may_supersede"] == [{"urn": older["urn"], "title": "The mailer listens on port 2525."}]
    assert newer["very_close_to"] == []
    decided = assistant.record("remember", content="The mailer listens on port 465.", supersedes=[newer["urn"]])
    assert [one["urn"] for one in decided["may_supersede"]] == [older["urn"]]


def test_remember_says_what_is_the_same_or_very_close_and_which(call: Call, assistant: Assistant) -> None:
    first = assistant.record("remember", content=DEPLOY, title="VPN", tags=["ci"], source_ref="t-1", expires="30d")
    assert (first["outcome"], first["very_close_to"]) == ("stored", [])
    again = assistant.record("remember", content=DEPLOY)
    assert (again["outcome"], again["urn"]) == ("already there", first["urn"])
    close = assistant.record("remember", content=DEPLOY + " Always.", title="VPN", tags=["ci"])
    assert close["very_close_to"] == [{"urn": first["urn"], "title": "VPN"}]
    other = assistant.record("remember", content=LEDGER)
    assert other["very_close_to"] == []
    record = call("get", references=[first["urn"]], touch=False)[0]
    assert (record["origin"], record["source"], record["tags"]) == ("agent", "t-1", ["ci"])
    assert record["expires"] > record["created"]


def test_update_changes_only_what_is_given_and_forget_removes(call: Call, assistant: Assistant) -> None:
    urn = urn_of(call, DEPLOY, tags=["ci"])
    assert assistant.record("update_memory", urn=urn, content=LEDGER, pinned=True)["urn"] == urn
    record = assistant.record("get_memory", urn=urn)
    assert (record["content"], record["tags"], record["pinned"]) == (LEDGER, ["ci"], True)
    assert assistant.record("forget", urn=urn)["urn"] == urn
    assert "No memory is called" in assistant.error("get_memory", urn=urn)


def test_what_a_model_gets_wrong_is_told_without_a_call(assistant: Assistant) -> None:
    assert "query" in assistant.error("search_memories")
    assert "rights" in assistant.error("search_memories", query="x", rights={"scopes": ["memory:confidential"]})
    assert "max_tokens" in assistant.error("inject_context", query="x", max_tokens="many")
    assert "The tools are" in assistant.error("delete_everything")


def test_invisible_and_control_characters_do_not_leave(call: Call, assistant: Assistant) -> None:
    urn = urn_of(call, "safe\u202e text \x1b[31m red")
    record = assistant.record("get_memory", urn=urn)
    assert record["content"] == "safe text  red"


@pytest.mark.parametrize("query", ["", " \n"])
def test_a_search_for_nothing_is_refused(assistant: Assistant, query: str) -> None:
    assert assistant.error("search_memories", query=query).startswith("The query is empty.")


def test_a_limit_is_lowered_to_a_page_and_refused_below_zero(call: Call, assistant: Assistant) -> None:
    for number in range(3):
        urn_of(call, f"release step {number}")
    assert len(assistant.record("list_memories", limit=10**9)["memories"]) == 3
    assert "limit must be 0 or more, not -3" in assistant.error("list_memories", limit=-3)
    assert "limit must be 0 or more, not -3" in assistant.error("search_memories", query="release", limit=-3)
    assert call("list", limit=0) == {"memories": [], "total": 3, "next_cursor": None}
    assert call("search", query="release", limit=0)["results"] == []
    assert len(call("search", query="release", limit=5000)["results"]) == 3
