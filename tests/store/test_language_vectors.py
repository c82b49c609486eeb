from __future__ import annotations

import sqlite3
import stat
from collections.abc import Callable, Collection
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import numpy as np
import pytest

from memhook.core.memory import Memory, content_hash
from memhook.store.embedding import language_vectors
from memhook.store.embedding.language_vectors import LanguageVectors
from memhook.store.memories import MemoryStore, replicated_store
from memhook.store.table import changes
from memhook.store.table.filters import Filter
from memhook.store.table.indexes import SIZES, Sizes
from tests.fake_encoder import Dictionary
from tests.soak.crashes import laid_out, points
from tests.soak.recording import CannotRecord
from tests.soak.watched import changes_of
from tests.store.test_memories import MODEL, NOW, add, axis, memory, replica_of

Open = Callable[..., MemoryStore]
ENCODER = Dictionary()
SLOW = memory(1, "Die Tabelle ist langsam", project="p")
COOKIE = memory(2, "Der Keks ist zu alt", project="p")
MOVE = memory(3, "Der Umzug war gestern", project="q")
EVERYTHING = Filter()


@pytest.fixture(params=["in memory", "on disk"])
def store(request: pytest.FixtureRequest, open_store: Open) -> MemoryStore:
    """With three memories that the encoder has read, searched either way."""
    store = open_store()
    add(store, SLOW, COOKIE, MOVE)
    if request.param == "in memory":
        store.keep_in_memory()
    read_all(store)
    return store


def read_all(store: MemoryStore, encoder: Dictionary = ENCODER) -> list[str]:
    """Let the encoder read what it has not read yet."""
    store.vectors.languages.use(encoder.model)
    lacking = store.vectors.missing_for_languages(EVERYTHING)
    memories = list(store.by_ids(lacking).values())
    store.vectors.add_for_languages(memories, encoder.embed_documents([one.content for one in memories]))
    return sorted(lacking)


def cosines(store: MemoryStore, query: str, allowed: Filter = EVERYTHING) -> dict[str, float | None]:
    vector = ENCODER.embed_query(query)
    found, _ = store.candidates(lambda: None, (), allowed, 50, vector)
    return {one.id: one.multilingual for one in found}


def kept(store: MemoryStore) -> set[str]:
    """The memories that the file has a vector of."""
    database = sqlite3.connect(file_of(store))
    try:
        return {key for (key,) in database.execute("SELECT memory FROM vectors")}
    finally:
        database.close()


def file_of(store: MemoryStore) -> Path:
    return Path(store.uri) / language_vectors.FILE


def ids(memories: Collection[Memory]) -> set[str]:
    return {one.id for one in memories}


def test_a_memory_is_found_by_its_meaning_in_another_language(store: MemoryStore) -> None:
    found = cosines(store, "slow table")
    assert max(found, key=lambda key: found[key] or 0.0) == SLOW.id
    assert found[SLOW.id] == pytest.approx(1.0, abs=0.01)


def test_only_what_is_allowed_is_found(store: MemoryStore) -> None:
    assert set(cosines(store, "slow table", Filter(projects=("q",)))) == {MOVE.id}


def test_without_a_vector_of_the_query_nothing_changes(store: MemoryStore) -> None:
    found, _ = store.candidates(lambda: axis(0), ["tabell"], EVERYTHING, 50)
    assert [one.multilingual for one in found] == [None] * len(found)


def test_of_many_on_disk_those_found_otherwise_get_their_cosine(open_store: Open) -> None:
    store = open_store(replace(SIZES, exact=1))
    add(store, SLOW, COOKIE)
    read_all(store)
    found, _ = store.candidates(lambda: axis(0), (), EVERYTHING, 1, ENCODER.embed_query("slow"))
    assert [(one.id, one.multilingual is not None) for one in found] == [(SLOW.id, True)]


def test_what_was_read_outlives_the_process_and_is_private(store: MemoryStore, open_store: Open) -> None:
    again = open_store()
    again.vectors.languages.use(ENCODER.model)
    assert again.vectors.missing_for_languages(EVERYTHING) == []
    assert cosines(again, "slow table")[SLOW.id] == pytest.approx(1.0, abs=0.01)
    assert stat.S_IMODE(file_of(store).stat().st_mode) == 0o600


def test_of_another_encoder_nothing_is_kept(store: MemoryStore, open_store: Open) -> None:
    again, other = open_store(), Dictionary("second")
    again.vectors.languages.use(other.model)
    assert kept(again) == set()
    assert read_all(again, other) == sorted(ids([SLOW, COOKIE, MOVE]))


def test_vectors_that_another_process_made_with_another_encoder_are_not_compared(
    store: MemoryStore, open_store: Open
) -> None:
    elsewhere = open_store()
    read_all(elsewhere, Dictionary("second"))
    again = open_store()
    again.vectors.languages._model = ENCODER.model  # as one that had looked before the other wrote
    assert again.vectors.missing_for_languages(EVERYTHING) == [SLOW.id, COOKIE.id, MOVE.id]


def test_a_store_from_before_needs_nothing_to_be_converted(open_store: Open) -> None:
    before = open_store()
    add(before, SLOW)
    before.close()
    assert not file_of(before).exists()
    assert read_all(open_store()) == [SLOW.id]


@pytest.mark.parametrize("change", ["content", "title", "tags"])
def test_a_changed_memory_is_read_again(store: MemoryStore, change: str) -> None:
    new: object = ("new",) if change == "tags" else "Der Keks ist neu"
    changed = replace(COOKIE, **{change: new}, updated=NOW + timedelta(days=1))  # type: ignore[arg-type]
    changed = replace(changed, content_hash=content_hash(changed.content))
    with store.writing():
        store.write(changes.replace, [changed], [axis(1)], MODEL)
    assert kept(store) == ids([SLOW, MOVE])
    assert read_all(store) == [COOKIE.id]


def test_a_change_by_another_process_is_noticed(store: MemoryStore, open_store: Open) -> None:
    other = open_store()
    with other.writing():
        other.write(changes.replace, [replace(COOKIE, title="neu", updated=NOW + timedelta(days=1))], [axis(1)], MODEL)
    assert store.vectors.missing_for_languages(EVERYTHING) == [COOKIE.id]


def test_what_is_forgotten_redacted_purged_removed_or_rewritten_has_no_vector(open_store: Open) -> None:
    takes: list[Callable[[MemoryStore, Memory], None]] = [
        lambda store, one: store.write(changes.forget, [one], NOW),
        lambda store, one: store.write(changes.redact, [one.id], NOW),
        lambda store, one: store.write(changes.purge, [one.id]),
        lambda store, one: store.write(changes.remove, [one.id]),
        lambda store, one: store.write(
            changes.rewrite, [replace(one, content="masked", content_hash=content_hash("masked"))]
        ),
    ]
    store = open_store()
    memories = [memory(number, f"Die Tabelle {number}") for number in range(len(takes) + 1)]
    add(store, *memories)
    read_all(store)
    for take, one in zip(takes, memories, strict=False):
        vector = ENCODER.embed_query(one.content).tobytes()
        with store.writing():
            take(store, one)
        assert one.id not in kept(store)
        assert one.id.encode() not in file_of(store).read_bytes(), "not even in a free page"
        assert vector[:64] in file_of(store).read_bytes(), "the others stay"
    assert kept(store) == {memories[-1].id}
    assert read_all(store) == [memories[len(takes) - 1].id], "what was rewritten is read again, a redacted one is not"


def test_what_is_put_back_takes_the_place_of_all_vectors(store: MemoryStore) -> None:
    rows = store.all_rows()
    assert rows is not None
    with store.writing():
        store.write(changes.put_back, rows.slice(0, 1))
    assert kept(store) == set(rows.slice(0, 1)["id"].to_pylist())
    assert read_all(store) == []


def test_what_is_purged_while_it_is_read_leaves_no_vector(store: MemoryStore) -> None:
    with store.writing():
        store.write(changes.purge, [SLOW.id])
    store.vectors.add_for_languages([SLOW], ENCODER.embed_documents([SLOW.content]))
    assert kept(store) == ids([COOKIE, MOVE])


def test_a_damaged_file_is_made_again(store: MemoryStore, open_store: Open) -> None:
    store.vectors.languages.drop()
    file_of(store).write_bytes(b"no database" * 1000)
    again = open_store()
    again.vectors.languages.use(ENCODER.model)
    assert read_all(again) == sorted(ids([SLOW, COOKIE, MOVE]))
    assert set(cosines(again, "slow")) >= {SLOW.id}


def test_where_the_file_cannot_be_written_vectors_last_as_long_as_the_process(tmp_path: Path) -> None:
    vectors = LanguageVectors(tmp_path / "missing" / "folder")
    vectors.use(ENCODER.model)
    vectors.add([SLOW], ENCODER.embed_documents([SLOW.content]))
    vectors.discard([SLOW.id])
    assert vectors.count() == 0


def test_a_link_in_place_of_the_file_is_not_followed(store: MemoryStore, tmp_path: Path) -> None:
    store.vectors.languages.drop()
    target = tmp_path / "target"
    file_of(store).unlink()
    file_of(store).symlink_to(target)
    read_all(store)
    assert not target.exists()


def test_what_is_added_is_compared_at_once(open_store: Open) -> None:
    store = open_store(Sizes())
    store.keep_in_memory()
    for number in range(5):
        one = memory(number, f"Die Tabelle {number}")
        add(store, one)
        assert read_all(store) == [one.id]
        assert cosines(store, "table")[one.id] == pytest.approx(1.0, abs=0.02)


def test_more_than_fit_into_memory_are_read_from_the_file(store: MemoryStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(language_vectors, "LARGEST", 2)
    store.vectors.languages.drop()
    store.vectors.languages.use(ENCODER.model)
    assert set(cosines(store, "table", Filter(projects=("p",)))) == ids([SLOW, COOKIE])
    assert cosines(store, "migration", Filter(projects=("q",)))[MOVE.id] == pytest.approx(1.0, abs=0.02)


def test_each_reader_of_a_shared_store_reads_it_with_an_encoder_of_its_own(tmp_path: Path) -> None:
    folder = tmp_path / "shared"
    folder.mkdir()
    ada, bob = (
        replicated_store(tmp_path / user / "replica", tmp_path / user, str(folder), {}, shared=True)
        for user in ("ada", "bob")
    )
    add(ada, SLOW, COOKIE, MOVE)
    replica_of(bob).refresh()
    assert read_all(bob) == sorted(ids([SLOW, COOKIE, MOVE]))
    assert not (folder / language_vectors.FILE).exists()
    with ada.writing():
        ada.write(changes.replace, [replace(COOKIE, title="neu", updated=NOW + timedelta(days=1))], [axis(1)], MODEL)
        ada.write(changes.forget, [MOVE], NOW)
    replica_of(bob).refresh()
    assert kept(bob) == {SLOW.id}
    with ada.writing():
        ada.write(changes.purge, [SLOW.id])
    replica_of(bob).refresh()
    assert kept(bob) == set()
    assert read_all(bob) == [COOKIE.id]
    assert np.isfinite(cosines(bob, "cookie")[COOKIE.id] or np.inf)


PROGRAM = """
import os, sys
from datetime import UTC, datetime
from pathlib import Path
from memhook.core.memory import Memory
from memhook.store.embedding.encoder import ModelIdentity
from memhook.store.embedding.language_vectors import FILE, LanguageVectors

now = datetime.now(UTC)
memories = [Memory(id=f"m{number}", title="", content="", summary="", created=now, updated=now) for number in range(2)]
vectors = LanguageVectors(Path.home() / FILE)
vectors.use(ModelIdentity("model", "sha256", 2))
vectors.add(memories, [[1.0, 0.0], [0.0, 1.0]])
vectors.discard(["m0"])
os.write(os.open(sys.argv[1], os.O_WRONLY | os.O_APPEND), b'{"during": "discarded"}\\n')
"""


def test_a_vector_that_was_discarded_does_not_come_back_with_a_power_cut(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    try:
        changes = changes_of([str(program)], tmp_path)
    except CannotRecord as error:
        pytest.skip(str(error))
    seen = [point for point in points(changes, wanted=10_000, seed=1) if point.said]
    assert seen
    for point in seen:
        folder = laid_out(point.files, tmp_path / f"{point.step}-{point.way}")
        found = sqlite3.connect(folder / language_vectors.FILE).execute("SELECT memory FROM vectors").fetchall()
        assert found == [("m1",)], point.way
