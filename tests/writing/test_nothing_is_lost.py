"""What goes wrong, or happens at the same time, takes nothing away."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from memhook.core.memory import Draft, Memory, Sensitivity
from memhook.errors import InvalidInput, NotFound, StoreError
from memhook.library.library import Library
from memhook.store.memories import own_store
from memhook.store.table.filters import Filter
from memhook.writing.remember import edited, forgotten, found, remembered
from memhook.writing.transfer import Imported, Mode, imported
from tests.fake_embedder import HashEmbedder

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
Open = Callable[..., Library]


def stored(library: Library, content: str, **fields: object) -> Memory:
    result = remembered(library, [Draft(content, **fields)], NOW)[0]  # type: ignore[arg-type]
    assert result.memory is not None
    return result.memory


def brought(library: Library, *records: dict[str, object], again: bool = False) -> Imported:
    lines = [(number, json.dumps(record)) for number, record in enumerate(records, 1)]
    return imported(library, lines, "", NOW, Mode(again))


def contents(library: Library) -> list[str]:
    return sorted(memory.content for memory in library.store.newest(Filter(), 50))


def test_a_write_that_fails_leaves_what_it_would_have_replaced_in_its_place(
    library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = stored(library, "old")

    def full_disk(*_: object) -> None:
        raise StoreError("No space left on device.")

    monkeypatch.setattr(library.store, "write", full_disk)
    with pytest.raises(StoreError):
        stored(library, "new", supersedes=(old.id,))
    assert found(library, [old.id])[0].superseded_by == ""


def test_an_edit_changes_what_the_memory_is_now_not_what_it_was_when_it_was_looked_up(
    library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = stored(library, "text")
    embedding = library.vectors

    def meanwhile(memories: list[Memory]) -> object:
        monkeypatch.setattr(library, "vectors", embedding)
        edited(library, memory.id, {"sensitivity": Sensitivity.CONFIDENTIAL}, NOW)
        return embedding(memories)

    monkeypatch.setattr(library, "vectors", meanwhile)
    edited(library, memory.id, {"tags": ("new",)}, NOW)
    now = found(library, [memory.id])[0]
    assert (now.sensitivity, now.tags) == (Sensitivity.CONFIDENTIAL, ("new",))


def test_an_edit_does_not_bring_back_what_was_forgotten_meanwhile(
    library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = stored(library, "text")
    embedding = library.vectors

    def meanwhile(memories: list[Memory]) -> object:
        forgotten(library, [memory.id], NOW)
        return embedding(memories)

    monkeypatch.setattr(library, "vectors", meanwhile)
    with pytest.raises(NotFound):
        edited(library, memory.id, {"content": "changed"}, NOW)
    assert library.store.count() == 0


def test_vectors_that_come_late_do_not_undo_an_edit(open_library: Open) -> None:
    without = open_library()
    memory = stored(without, "text")
    read_before = without.store.vectors.missing()
    edited(without, memory.id, {"sensitivity": Sensitivity.CONFIDENTIAL}, NOW)
    library = open_library(HashEmbedder())
    library.renew_vectors()
    library.store.vectors.set(read_before, HashEmbedder().embed_documents(["text"]), library.store.model)
    assert found(library, [memory.id])[0].sensitivity is Sensitivity.CONFIDENTIAL


def test_a_link_to_something_unknown_costs_an_import_nothing(library: Library) -> None:
    result = brought(library, {"text": "a"}, {"text": "b", "supersedes": ["nowhere"]}, {"text": "c"})
    assert (result.outcomes, result.bad) == ({"stored": 3}, ())


def test_succession_survives_the_way_out_and_in_whatever_the_order(library: Library) -> None:
    new: dict[str, object] = {"id": "aaaaaaaaaaaa", "text": "new", "supersedes": ["zzzzzzzzzzzz"]}
    old: dict[str, object] = {"id": "zzzzzzzzzzzz", "text": "old"}
    brought(library, new)
    brought(library, old)
    assert found(library, ["zzzzzzzzzzzz"])[0].superseded_by == "aaaaaaaaaaaa"


def test_when_the_middle_of_a_chain_is_forgotten_its_end_replaces_its_start(library: Library) -> None:
    first = stored(library, "first")
    second = stored(library, "second", supersedes=(first.id,))
    third = stored(library, "third", supersedes=(second.id,))
    forgotten(library, [second.id], NOW)
    assert found(library, [first.id])[0].superseded_by == third.id
    assert edited(library, third.id, {"tags": ("still", "editable")}, NOW).supersedes == (second.id,)


def test_memories_cannot_supersede_each_other_in_a_circle(library: Library) -> None:
    first = stored(library, "first")
    second = stored(library, "second", supersedes=(first.id,))
    for memory, target in ((first, first), (first, second)):
        with pytest.raises(InvalidInput, match="supersede itself"):
            edited(library, memory.id, {"supersedes": (target.id,)}, NOW)


def test_two_texts_under_one_foreign_id_are_two_memories(library: Library) -> None:
    brought(library, {"id": "1", "text": "of one file"})
    brought(library, {"id": "1", "text": "of another file"})
    assert contents(library) == ["of another file", "of one file"]
    assert brought(library, {"id": "1", "text": "of another file"}).outcomes == {"already there": 1}


def test_importing_a_file_again_does_not_bring_back_what_was_edited_since(library: Library) -> None:
    brought(library, {"id": "1", "text": "as imported"})
    edited(library, "1", {"content": "as edited"}, NOW)
    assert brought(library, {"id": "1", "text": "as imported"}).outcomes == {"already there": 1}
    assert contents(library) == ["as edited"]


def test_the_id_of_a_forgotten_memory_is_not_given_to_another(library: Library) -> None:
    brought(library, {"id": "aaaaaaaaaaaa", "text": "first"})
    forgotten(library, ["aaaaaaaaaaaa"], NOW)
    brought(library, {"id": "aaaaaaaaaaaa", "text": "second"})
    (second,) = library.store.newest(Filter(), 5)
    assert second.id != "aaaaaaaaaaaa"
    edited(library, second.id, {"tags": ("x",)}, NOW)
    assert library.store.count() == 1


def test_an_alias_never_hides_an_id(library: Library) -> None:
    memory = stored(library, "the true one")
    brought(library, {"project": "p", "aliases": [memory.id], "text": "thief"})
    assert found(library, [memory.id]) == [memory]
    assert sorted(one.content for one in library.store.after("", 10)) == ["the true one", "thief"]


def test_what_another_process_stores_first_is_seen(library: Library, open_library: Open) -> None:
    assert library.store.count() == 0
    stored(open_library(HashEmbedder()), "written elsewhere")
    assert contents(library) == ["written elsewhere"]
    assert remembered(library, [Draft("written elsewhere")], NOW)[0].outcome == "already there"


@pytest.mark.parametrize(
    ("record", "reason"),
    [
        ({"text": "x", "created": "0001-01-01T00:00:00+05:00"}, "created"),
        ({"text": "x", "created": "yesterday"}, "created"),
        ({"text": "x", "sensitivity": "secret"}, "sensitivity"),
        ({"title": "no text"}, "empty"),
    ],
)
def test_a_bad_line_is_named_and_costs_only_itself(library: Library, record: dict[str, object], reason: str) -> None:
    result = brought(library, {"text": "good"}, record)
    assert result.outcomes == {"stored": 1}
    ((number, why),) = result.bad
    assert number == 2
    assert reason in why


def test_numbers_are_taken_as_the_text_they_are_written_as(library: Library) -> None:
    assert brought(library, {"id": 5, "text": "x", "tags": [2026]}).bad == ()
    assert found(library, ["5"])[0].tags == ("2026",)


def test_a_store_below_home_is_where_home_is(home: Path) -> None:
    store = own_store("~/memories", home / "backups")
    with store.writing():
        assert (home / "memories").is_dir()
