from __future__ import annotations

import json
from typing import Any

from memhook.supply.json_files import records

ANA = {"type": "entity", "name": "Ana", "entityType": "person", "observations": ["Leads billing", "Based in Porto"]}
ACME = {"type": "entity", "name": "Acme", "entityType": "company", "observations": []}
WORKS = {"type": "relation", "from": "Ana", "to": "Acme", "relationType": "works_at"}


def read(*values: Any) -> tuple[list[tuple[int, dict[str, Any]]], list[tuple[int, str]]]:
    lines = [value if isinstance(value, str) else json.dumps(value) for value in values]
    return records(list(enumerate(lines, start=1)))


def test_an_entity_is_a_memory_with_its_observations_and_relations() -> None:
    (ana, acme), bad = read(ANA, ACME, WORKS)
    assert bad == []
    assert ana[1]["title"] == "Ana"
    assert ana[1]["content"] == "Leads billing\nBased in Porto\nworks_at Acme"
    assert (ana[1]["tags"], ana[1]["related"]) == (["person"], ["Acme"])
    assert acme[1]["content"] == "Acme"


def test_an_entity_told_twice_is_one_and_keeps_its_name_when_it_grows() -> None:
    (first,), _ = read(ANA)
    (again,), _ = read(ANA, {**ANA, "observations": ["Speaks Dutch"]})
    assert again[1]["id"] == first[1]["id"]
    assert again[1]["content"].endswith("Based in Porto\nSpeaks Dutch")


def test_broken_lines_cost_only_themselves() -> None:
    broken = ["{", [], {"type": "entity"}, {**ANA, "observations": [1]}, {"type": "x"}, {**WORKS, "from": "Bob"}]
    good, bad = read(ANA, *broken, {**WORKS, "to": 3})
    assert [record["title"] for _, record in good] == ["Ana"]
    assert [number for number, _ in bad] == [2, 3, 4, 5, 6, 7, 8]
    assert "'Bob'" in dict(bad)[7]
