"""JSON of other tools: one list of records, as many export them, and the file of MCP's reference memory server.

That one has a graph: entities with observations, and relations between them.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Any

from memhook.assistants.reading import parsed
from memhook.patterns import regex
from memhook.supply.source import Entry, Record, Source, alias_of, name_in_file, not_utf8

Line = tuple[int, str]

_GRAPH_LINE = regex(r'\{[^\n]*"type"\s*:\s*"(?:entity|relation)"')


def records(lines: Sequence[Line]) -> tuple[list[tuple[int, Record]], list[Line]]:
    """Return a memory for each entity, with the number of its line, and the problems by line."""
    entities: dict[str, tuple[int, Record]] = {}
    relations: list[tuple[int, Record]] = []
    bad: list[Line] = []
    for number, text in lines:
        value: Any = parsed(text)
        if reason := _problem(value):
            bad.append((number, reason))
        elif value["type"] == "relation":
            relations.append((number, value))
        elif value["name"] in entities:
            _, earlier = entities[value["name"]]
            earlier["observations"] = [*earlier["observations"], *value["observations"]]
        else:
            entities[value["name"]] = (number, value)
    related: dict[str, list[Record]] = defaultdict(list)
    for number, relation in relations:
        if relation["from"] in entities:
            related[relation["from"]].append(relation)
        else:
            bad.append((number, f"relation from {relation['from']!r}, which is no entity of this file"))
    return [(number, _record(entity, related[name])) for name, (number, entity) in entities.items()], sorted(bad)


def _record(entity: Record, relations: Sequence[Record]) -> Record:
    name, kind = entity["name"], entity.get("entityType") or ""
    facts = list(dict.fromkeys(entity["observations"]))
    facts += dict.fromkeys(f"{relation['relationType']} {relation['to']}" for relation in relations)
    return {
        "title": name,
        "content": "\n".join(facts) or name,
        "tags": [kind] if kind else [],
        "related": list(dict.fromkeys(relation["to"] for relation in relations)),
        "source": "MCP reference memory server",
        "id": f"graph-{alias_of(name)}",
    }


def _problem(value: Any) -> str:
    if not isinstance(value, dict):
        return "not a JSON object"
    match value.get("type"):
        case "entity":
            observations = value.get("observations")
            if not _is_name(value.get("name")):
                return "an entity without a name"
            if not isinstance(observations, list) or not all(isinstance(one, str) for one in observations):
                return "an entity whose observations are not a list of texts"
            return "" if isinstance(value.get("entityType", ""), str) else "an entity whose type is not a text"
        case "relation":
            ends = (value.get("from"), value.get("to"), value.get("relationType"))
            return "" if all(_is_name(end) for end in ends) else "a relation without from, to or relationType"
    return "neither an entity nor a relation"


def _is_name(value: Any) -> bool:
    return isinstance(value, str) and bool(value.strip())


def _entries(data: bytes, _name: str, _key: str) -> Iterator[Entry]:
    lines: list[Line] = []
    for number, raw in enumerate(data.split(b"\n"), start=1):
        try:
            text = raw.decode("utf-8-sig" if number == 1 else "utf-8").strip()
        except UnicodeDecodeError as error:
            yield Entry(f"line {number}", None, not_utf8(error))
            continue
        if text:
            lines.append((number, text))
    found, bad = records(lines)
    yield from (Entry(f"line {number}", None, reason) for number, reason in bad)
    yield from (Entry(f"line {number}: {record['title']}", record) for number, record in found)


REFERENCE_SERVER = Source(
    "MCP reference memory server", lambda head: any(map(_GRAPH_LINE.match, head.lines[:1])), _entries
)


def _list_entries(data: bytes, name: str, key: str) -> Iterator[Entry]:
    try:
        found = json.loads(data.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        yield Entry(name, None, not_utf8(error))
        return
    except (ValueError, RecursionError) as error:
        yield Entry(name, None, f"not JSON ({error})")
        return
    for number, record in enumerate(found if isinstance(found, list) else [found], start=1):
        if isinstance(record, dict):
            own = {"id": name_in_file(record["id"], key)} if isinstance(record.get("id"), int | str) else {}
            yield Entry(f"entry {number}", {**record, **own})
        else:
            yield Entry(f"entry {number}", None, "not a JSON object")


JSON_LIST = Source(
    "JSON list", lambda head: head.suffix == ".json" and "".join(head.lines[:1]).startswith("["), _list_entries
)
