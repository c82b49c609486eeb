from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from memhook.core.memory import Memory, Sensitivity, content_hash, derived_summary, derived_title
from memhook.core.ranking import Candidate
from memhook.core.terms import terms
from memhook.errors import StoreError
from memhook.store.embedding.encoder import ModelIdentity, Vector
from memhook.store.memories import MemoryStore, own_store
from memhook.store.remote.replica import Replica
from memhook.store.table import changes
from memhook.store.table.filters import Filter
from memhook.store.table.lance import lancedb
from memhook.store.table.own import OwnTable
from memhook.store.table.schema import DIMENSIONS, SCHEMA_VERSION, table_schema, version_of

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
MODEL = ModelIdentity("by-hand", "hash", DIMENSIONS)
OTHER_STEMMER = 3  # the last schema whose terms are not today's

Open = Callable[..., MemoryStore]


def memory(number: int, content: str, **fields: object) -> Memory:
    plain = Memory(
        id=f"m{number:011d}",
        title=derived_title(content),
        content=content,
        summary=derived_summary(content),
        created=NOW,
        updated=NOW + timedelta(minutes=number),
        content_hash=content_hash(content),
    )
    return replace(plain, **fields)  # type: ignore[arg-type]


def axis(number: int) -> Vector:
    vector = np.zeros(DIMENSIONS, dtype=np.float32)
    vector[number % DIMENSIONS] = 1.0
    return vector


def add(store: MemoryStore, *memories: Memory) -> None:
    with store.writing():
        store.write(changes.add, memories, [axis(number) for number in range(len(memories))], MODEL)


def replica_of(store: MemoryStore) -> Replica:
    assert store.replica is not None
    return store.replica


def matching(store: MemoryStore, text: str) -> list[str]:
    return contents(store, store.candidates(lambda: None, terms(text), Filter(), 50)[0])


def contents(store: MemoryStore, found: list[Candidate]) -> list[str]:
    memories = store.by_ids([one.id for one in found])
    return [memories[one.id].content for one in found]


def test_a_place_without_a_table_is_connected_to_once(tmp_path: Path) -> None:
    (tmp_path / "store").mkdir()
    table = OwnTable(str(tmp_path / "store"), tmp_path / "backups")
    assert table.database is not None
    assert table.database is table.database


def test_a_store_nobody_wrote_to_is_empty_and_makes_no_files(store: MemoryStore, tmp_path: Path) -> None:
    assert store.count() == 0
    assert store.candidates(lambda: axis(0), ["word"], Filter(), 5) == ([], 0)
    assert store.by_reference(["anything"], Filter()) == []
    assert not (tmp_path / "store").exists()


def test_a_quarantine_is_not_set_on_a_text_that_has_changed_since_it_was_judged(store: MemoryStore) -> None:
    judged = replace(memory(1, "replicas lag"), quarantine="tells the model to ignore its instructions")
    add(store, memory(1, "replicas do not lag"))
    with store.writing():
        store.write(changes.set_quarantine, judged)
    assert [one.quarantine for one in store.after("", 1)] == [""]
    with store.writing():
        store.write(changes.set_quarantine, replace(judged, content_hash=content_hash("replicas do not lag")))
    assert [one.quarantine for one in store.after("", 1)] == [judged.quarantine]


def test_a_redaction_has_the_date_of_the_redaction(store: MemoryStore) -> None:
    add(store, memory(1, "replicas lag"))
    with store.writing():
        store.write(changes.redact, ["m00000000001"], NOW + timedelta(days=7))
    [redacted] = store.after("", 1)
    assert (redacted.redacted, redacted.content, redacted.updated) == (True, "", NOW + timedelta(days=7))


def test_a_new_table_that_was_not_finished_is_not_in_the_way_of_the_next(store: MemoryStore, tmp_path: Path) -> None:
    (tmp_path / "store/.new-table-1/memories.lance").mkdir(parents=True)
    add(store, memory(1, "replicas lag"))
    assert store.count() == 1
    assert [path.name for path in (tmp_path / "store").iterdir() if path.name.startswith(".new-table")] == []


def test_a_memory_comes_back_as_it_went_in_also_from_another_process(store: MemoryStore, open_store: Open) -> None:
    whole = memory(
        1,
        "Content with 'quotes', \"more\" and ünïcödé 数据\nand lines",
        namespace="it's",
        tags=("a", "b"),
        related=("orders_table",),
        source="session-7",
        project="example.org/team/shop",
        sensitivity=Sensitivity.RESTRICTED,
        pinned=True,
        accessed=NOW,
        expires=NOW + timedelta(days=1),
        supersedes=("other",),
        superseded_by="successor",
        aliases=("elsewhere/1",),
    )
    add(store, whole)
    for opened in (store, open_store()):
        assert opened.by_reference([whole.id], Filter()) == [whole]
        assert opened.by_reference(["elsewhere/1"], Filter()) == [whole]
        assert opened.model == MODEL


def test_nearest_and_matching_are_united_with_exact_cosines(store: MemoryStore) -> None:
    add(store, memory(1, "alpha"), memory(2, "beta"), memory(3, "gamma"))
    found, searched = store.candidates(lambda: axis(0), terms("gamma"), Filter(), 1)
    assert searched == 3
    assert contents(store, found) == ["alpha", "gamma"]
    assert [one.cosine for one in found] == [1.0, 0.0]
    assert found[0] == Candidate(
        "m00000000001",
        1.0,
        ["alpha", "1", "march", "2026"],
        "2026-03-01T12",
        ["alpha"],
        None,
        content_hash("alpha"),
        "alpha",
    )


@pytest.mark.parametrize(
    ("content", "query"),
    [
        ("call getLocalSyncBranch first", "getLocalSyncBranch"),
        ("call getLocalSyncBranch first", "sync branch"),
        ("set max_retry_count", "max_retry_count"),
        ("set max_retry_count", "retry"),
        ("see path/to/file.py", "path/to/file.py"),
        ("see path/to/file.py", "file.py"),
        ("error E1234 came", "e1234"),
        ("数据库连接超时", "连接超时"),
        ("データベースのバックアップ", "バックアップ"),
        ("การสำรองข้อมูล", "สำรองข้อมูล"),
    ],
)
def test_identifiers_and_unspaced_text_are_found_whole_and_by_parts(
    store: MemoryStore, content: str, query: str
) -> None:
    add(store, memory(1, content), memory(2, "something else entirely"))
    assert matching(store, query) == [content]


def test_titles_and_tags_are_searched_too(store: MemoryStore) -> None:
    add(store, memory(1, "body", title="Kafka rebalance"), memory(2, "other body", tags=("zookeeper",)))
    assert matching(store, "kafka") == ["body"]
    assert matching(store, "zookeeper") == ["other body"]


def test_what_is_written_is_found_before_and_after_the_indexes_were_brought_up_to_date(store: MemoryStore) -> None:
    add(store, *(memory(number, f"common word number{number}") for number in range(600)))
    assert matching(store, "number42") == ["common word number42"]
    assert store.optimize()
    add(store, memory(1000, "common word afterwards"))
    assert matching(store, "afterwards") == ["common word afterwards"]
    assert matching(store, "number42") == ["common word number42"]


@pytest.mark.parametrize(
    ("allowed", "seen"),
    [
        (Filter(), {"plain", "secret", "restricted", "gone", "empty", "old", "pinned", "elsewhere"}),
        (Filter(sensitivities=(Sensitivity.NORMAL,)), {"plain", "gone", "empty", "old", "pinned", "elsewhere"}),
        (Filter(redacted=False), {"plain", "secret", "restricted", "gone", "old", "pinned", "elsewhere"}),
        (Filter(superseded=False), {"plain", "secret", "restricted", "gone", "empty", "pinned", "elsewhere"}),
        (Filter(alive_at=NOW), {"plain", "secret", "restricted", "empty", "old", "pinned", "elsewhere"}),
        (Filter(projects=("", "here")), {"plain", "secret", "restricted", "gone", "empty", "old", "pinned"}),
        (Filter(pinned=True), {"pinned"}),
        (Filter(namespaces=("it's",)), {"pinned"}),
        (Filter(tags=("t'ag",)), {"plain"}),
        (Filter(since=NOW), {"plain", "secret", "restricted", "gone", "empty", "old", "pinned", "elsewhere"}),
        (Filter(before=NOW), set()),
    ],
)
def test_a_filter_lets_through_what_it_says(store: MemoryStore, allowed: Filter, seen: set[str]) -> None:
    add(
        store,
        memory(1, "plain", tags=("t'ag", "other")),
        memory(2, "secret", sensitivity=Sensitivity.CONFIDENTIAL),
        memory(3, "restricted", sensitivity=Sensitivity.RESTRICTED, project="here"),
        memory(4, "gone", expires=NOW - timedelta(seconds=1)),
        memory(5, "empty", redacted=True),
        memory(6, "old", superseded_by="m00000000001"),
        memory(7, "pinned", pinned=True, namespace="it's"),
        memory(8, "elsewhere", project="elsewhere"),
    )
    assert {one.content for one in store.newest(allowed, 50)} == seen
    assert store.count(allowed) == len(seen)
    assert set(contents(store, store.candidates(lambda: axis(0), [], allowed, 50)[0])) == seen - {"empty"}


def test_the_last_changed_come_first_page_by_page(store: MemoryStore) -> None:
    add(store, *(memory(number, f"note {number}") for number in range(5)))
    assert [one.content for one in store.newest(Filter(), 2)] == ["note 4", "note 3"]
    assert [one.content for one in store.newest(Filter(), 2, offset=4)] == ["note 0"]
    assert (store.newest(Filter(), 0), len(store.newest(Filter(), 10**9)), store.newest(Filter(), 2, 9)) == ([], 5, [])


def test_a_forgotten_memory_leaves_no_text_behind_in_the_table(store: MemoryStore, tmp_path: Path) -> None:
    add(store, memory(1, "remember the zanzibar protocol", tags=("zanzibar",)), memory(2, "other"))
    with store.writing():
        store.write(changes.forget, store.by_reference(["m00000000001"], Filter()), NOW)
    assert store.count() == 1
    assert matching(store, "zanzibar") == []
    rows = lancedb().connect(tmp_path / "store").open_table("memories").to_arrow().to_pylist()
    assert not any("zanzibar" in str(row) for row in rows)
    assert [
        one.id for one in store.find("content_hash", [content_hash("remember the zanzibar protocol")], forgotten=True)
    ]


def test_a_table_from_before_versions_is_migrated_after_a_backup(tmp_path: Path, open_store: Open) -> None:
    old = pa.table({"id": ["m00000000001"], "content": ["an early note"], "created": pa.array([NOW])})
    lancedb().connect(tmp_path / "store").create_table("memories", data=old)
    migrated = open_store()
    assert matching(migrated, "early") == ["an early note"]
    assert migrated.by_reference(["m00000000001"], Filter())[0].created == NOW
    (backup,) = (tmp_path / "backups").iterdir()
    kept = lancedb().connect(backup).open_table("memories").to_arrow()
    assert kept.column_names == ["id", "content", "created"]
    assert open_store().count() == 1
    assert len(list((tmp_path / "backups").iterdir())) == 1


def test_terms_of_an_older_memhook_are_made_anew_and_nothing_else_changes(tmp_path: Path, open_store: Open) -> None:
    notes = [memory(number, f"note {number} about yings and migrations") for number in range(1, 1_200)]
    gone = memory(0, "a forgotten yingling")
    written = open_store()
    add(written, *notes, gone)
    with written.writing():
        written.write(changes.forget, [gone], NOW)
    expected = stored_rows(tmp_path)
    write_as_an_older_memhook(tmp_path / "store")
    assert matching(open_store(), "migration")
    assert stored_rows(tmp_path) == expected
    (backup,) = (tmp_path / "backups").iterdir()
    assert version_of(lancedb().connect(backup).open_table("memories").schema) == OTHER_STEMMER


def write_as_an_older_memhook(directory: Path) -> None:
    """What memhooks with another stemmer left: a lower version, and terms by other rules."""
    database = lancedb().connect(directory)
    rows = database.open_table("memories").to_arrow()
    place = rows.schema.get_field_index("terms")
    rows = rows.set_column(place, rows.schema.field(place), pa.array(["of older rules"] * len(rows)))
    older = table_schema(MODEL, version=OTHER_STEMMER)
    database.create_table("memories", data=rows.cast(older), schema=older, mode="overwrite", on_bad_vectors="null")


def stored_rows(tmp_path: Path) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = lancedb().connect(tmp_path / "store").open_table("memories").to_arrow().to_pylist()
    return sorted(rows, key=lambda row: row["id"])


def snapshot(directory: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in directory.rglob("*") if path.is_file()}


def test_a_newer_schema_is_refused_and_left_untouched(tmp_path: Path, open_store: Open) -> None:
    newer = table_schema(MODEL, version=SCHEMA_VERSION + 1)
    lancedb().connect(tmp_path / "store").create_table("memories", schema=newer)
    before = snapshot(tmp_path / "store")
    with pytest.raises(StoreError, match="newer memhook") as refused:
        open_store()
    assert "Upgrade" in refused.value.hint
    assert snapshot(tmp_path / "store") == before


def test_a_damaged_store_is_refused_and_left_untouched(store: MemoryStore, tmp_path: Path, open_store: Open) -> None:
    add(store, memory(1, "a note"))
    for manifest in (tmp_path / "store/memories.lance").rglob("*.manifest"):
        manifest.write_bytes(b"garbage")
    before = snapshot(tmp_path / "store")
    with pytest.raises(StoreError, match="damaged"):
        open_store()
    assert snapshot(tmp_path / "store") == before


def test_a_file_in_place_of_the_store_is_refused(tmp_path: Path, open_store: Open) -> None:
    (tmp_path / "store").write_text("my notes", encoding="utf-8")
    with pytest.raises(StoreError, match="is a file"):
        open_store()
    assert (tmp_path / "store").read_text(encoding="utf-8") == "my notes"


def test_a_file_in_place_of_a_folder_above_the_store_is_refused(tmp_path: Path) -> None:
    (tmp_path / "data").write_text("my notes", encoding="utf-8")
    with pytest.raises(StoreError, match=f"cannot be made: {tmp_path / 'data'} is a file"):
        own_store(str(tmp_path / "data/memhook/store"), tmp_path / "backups")


@pytest.mark.skipif(os.getuid() == 0, reason="root may read everything")
def test_an_unreadable_store_is_refused(store: MemoryStore, tmp_path: Path, open_store: Open) -> None:
    add(store, memory(1, "a note"))
    (tmp_path / "store").chmod(0)
    try:
        with pytest.raises(StoreError, match="cannot be read"):
            open_store()
    finally:
        (tmp_path / "store").chmod(0o700)


def test_a_table_of_somebody_else_is_refused(tmp_path: Path, open_store: Open) -> None:
    lancedb().connect(tmp_path / "store").create_table("memories", data=pa.table({"x": [1]}))
    with pytest.raises(StoreError, match="not memhook's"):
        open_store()


def test_a_store_deleted_under_it_is_an_error_not_a_crash(store: MemoryStore, tmp_path: Path) -> None:
    add(store, memory(1, "a note"))
    shutil.rmtree(tmp_path / "store")
    with pytest.raises(StoreError, match="could not be used"):
        store.candidates(lambda: axis(0), ["note"], Filter(), 5)


def test_vectors_of_another_model_are_not_stored_beside_the_table_s_own(store: MemoryStore) -> None:
    add(store, memory(1, "first"))
    with store.writing():
        store.write(changes.add, [memory(2, "second")], [axis(1)], ModelIdentity("another", "hash", DIMENSIONS))
    assert [one.content for one in store.vectors.missing()] == ["second"]
    assert store.model == MODEL


@pytest.mark.parametrize("reference", ["\udcff", "a\x00b", "it's"])
def test_what_nothing_can_be_called_is_not_found_and_no_failure(store: MemoryStore, reference: str) -> None:
    add(store, memory(1, "a note"))
    assert store.by_reference([reference], Filter()) == []
    assert store.by_ids([reference], Filter()) == {}
    assert store.count(Filter(namespaces=(reference,), tags=(reference,))) == 0
