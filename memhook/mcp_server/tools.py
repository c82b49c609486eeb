"""The tools: arguments, description and engine operation of each. Adding one is an entry."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import AliasChoices, BaseModel, ConfigDict, Field

from memhook.core.memory import derived_summary, renewed_summary
from memhook.core.ranking import Ordering
from memhook.engine.catalogue import OPERATIONS
from memhook.engine.scopes import Scope

MAX_PAGE = 100

Params = dict[str, Any]


class _Arguments(BaseModel):
    """The arguments of a tool; any other is refused, so that nothing slips through to the engine."""

    model_config = ConfigDict(extra="forbid")

    def params(self) -> Params:
        """Return the given arguments by the engine's names."""
        return self.model_dump(by_alias=True, exclude_none=True, exclude_unset=True)


class Conditions(_Arguments):
    namespaces: list[str] | None = None
    tags: Annotated[list[str] | None, Field(description="all of them")] = None
    project: Annotated[str | None, Field(description="here (and global), or a project id")] = None
    since: Annotated[str | None, Field(description="created: 2026-02-14 or 30d, 12h")] = None
    before: str | None = None
    limit: int = 10
    cursor: Annotated[str | None, Field(description="next_cursor of the page before")] = None

    def params(self) -> Params:
        return {**super().params(), "limit": min(self.limit, MAX_PAGE)}


class SearchMemories(Conditions):
    query: str
    ordering: Ordering | None = None


class _OneMemory(_Arguments):
    urn: str

    def params(self) -> Params:
        return {"references": [self.urn]}


class GetMemory(_OneMemory):
    urn: Annotated[str, Field(description="urn:memhook:…, or the bare id")]


class Hit(BaseModel):
    """A search result. Extra fields are ignored, so that results can be passed on unchanged."""

    id: Annotated[str, Field(description="or URN", validation_alias=AliasChoices("id", "urn"))]
    score: float | None = None


class InjectContext(_Arguments):
    query: str | None = None
    hits: Annotated[list[Hit] | None, Field(description="exactly these, no search")] = None
    max_tokens: int | None = None
    namespaces: list[str] | None = None
    include_restricted: bool = False


class PackContext(_Arguments):
    topic: str
    budget_tokens: int = 2000
    ordering: Ordering = Ordering.BLEND


class _Fields(_Arguments):
    title: str | None = None
    namespace: Annotated[str | None, Field(description="decisions, incidents, …")] = None
    tags: list[str] | None = None
    sensitivity: Literal["normal", "restricted", "confidential"] | None = None
    pinned: Annotated[bool | None, Field(description="show at each session start")] = None
    supersedes: Annotated[list[str] | None, Field(description="URNs this replaces")] = None
    source_ref: Annotated[str | None, Field(serialization_alias="source")] = None
    related: Annotated[list[str] | None, Field(description="entities")] = None
    expires: Annotated[str | None, Field(description="2026-12-31 or 30d")] = None


class Remember(_Fields):
    content: str

    def params(self) -> Params:
        return {**super().params(), "origin": "agent"}


class UpdateMemory(_Fields):
    urn: Annotated[str, Field(serialization_alias="reference")]
    content: str | None = None


@dataclass(frozen=True, slots=True)
class Tool:
    """One tool. `operation` is the engine's name for it; `shown` converts its result for the model.

    A `brief` tool has the arguments of another one, and does not describe them again.
    """

    operation: str
    arguments: type[_Arguments]
    description: str
    shown: Callable[[Any], str | dict[str, Any]] = dict
    brief: bool = False

    @property
    def scope(self) -> Scope | None:
        return OPERATIONS[self.operation].scope

    @property
    def input_schema(self) -> dict[str, Any]:
        """The schema without parts that only cost tokens: titles, empty defaults, unions with null."""
        schema = self.arguments.model_json_schema()
        dropped = {"title", "$ref", "anyOf", "additionalProperties", *(["description"] if self.brief else [])}
        short = _short(schema, schema.pop("$defs", {}), dropped)
        return {name: short[name] for name in ("type", "properties", "required") if name in short}


def _text_or_note(result: Any) -> str:
    return "\n".join([result["text"] or result["note"], *result.get("incomplete", ())])


def _page(result: Any) -> dict[str, Any]:
    return {name: [*map(_record, value)] if isinstance(value, list) else value for name, value in result.items()}


def _record(record: Any) -> Any:
    """Return the record without parts that only cost tokens: empty fields, a summary that repeats the content."""
    if not isinstance(record, dict):
        return record
    content = record["content"]
    repeated = {"summary"} if renewed_summary(record["summary"], content) == derived_summary(content) else set()
    return {name: one for name, one in record.items() if name not in repeated and (one or isinstance(one, float))}


def _name(record: Any) -> dict[str, Any]:
    """Return only URN and title of a memory: its writer knows the rest."""
    return {"urn": record["urn"], "title": record["title"]}


def _stored(result: Any) -> dict[str, Any]:
    return {
        "outcome": result["outcome"],
        **_name(result["memory"]),
        "very_close_to": result["close_to"],
        **_noticed(result, result["memory"]),
    }


def _noticed(result: Any, record: Any) -> dict[str, Any]:
    """Return the warnings for the writer: secrets masked, a quarantine, memories that it may supersede."""
    noticed = {name: result.get(name) for name in ("masked", "may_supersede")}
    noticed["quarantined"] = record.get("quarantine")
    return {name: value for name, value in noticed.items() if value}


TOOLS: Mapping[str, Tool] = {
    "search_memories": Tool(
        "search",
        SearchMemories,
        "Explore memories: complete records with scores, however large. You decide what is relevant.",
        shown=_page,
    ),
    "list_memories": Tool(
        "list",
        Conditions,
        "Page through memories, last changed first. Filters as in search_memories.",
        shown=_page,
        brief=True,
    ),
    "get_memory": Tool(
        "get",
        GetMemory,
        "The whole of one memory, by the URN shown with it.",
        shown=lambda result: dict(_record(result[0])),
    ),
    "inject_context": Tool(
        "inject",
        InjectContext,
        "Finished context for one question, within max_tokens: only what bears on it, or nothing. "
        "With hits (from search_memories): exactly those, rendered.",
        shown=_text_or_note,
    ),
    "pack_context": Tool(
        "pack",
        PackContext,
        "Fill a token budget with whole memories about a topic, as background before working on it.",
        shown=_text_or_note,
    ),
    "remember": Tool(
        "remember",
        Remember,
        "Keep what later sessions need: a decision and its reason, a fix, a convention, a fact that was hard to find. "
        "One thing per memory. Says when the same or something very close is there: then update_memory that one; "
        "and what it may_supersede: if so, update_memory with supersedes.",
        shown=_stored,
    ),
    "update_memory": Tool(
        "edit",
        UpdateMemory,
        "Correct or complete a memory; its URN stays. Only the fields given change. Fields as in remember.",
        shown=lambda record: _name(record) | _noticed(record, record),
        brief=True,
    ),
    "forget": Tool(
        "forget",
        _OneMemory,
        "Remove a memory that is wrong or no longer wanted.",
        shown=lambda result: _name(result[0]),
    ),
}


def _short(schema: dict[str, Any], definitions: Mapping[str, Any], dropped: set[str]) -> dict[str, Any]:
    if "$ref" in schema:
        named = definitions[schema["$ref"].rsplit("/", 1)[-1]]
        schema = {**{name: value for name, value in named.items() if name != "description"}, **schema}
    short = {name: value for name, value in schema.items() if name not in dropped}
    if short.get("default", "") in (None, "", False):
        short.pop("default", None)
    if "properties" in schema:
        short["properties"] = {name: _short(one, definitions, dropped) for name, one in schema["properties"].items()}
    if "items" in schema:
        short["items"] = _short(schema["items"], definitions, dropped)
    for one in schema.get("anyOf", ()):
        if one.get("type") != "null":
            short = {**_short(one, definitions, dropped), **short}
    return short
