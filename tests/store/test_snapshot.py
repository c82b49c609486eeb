"""A small store answers from memory, as it would from disk, and notices every change."""

from __future__ import annotations

import random
import shutil
from collections.abc import Collection, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from memhook.core import ranking
from memhook.core.memory import Memory
from memhook.core.terms import terms
from memhook.store.cache import cache
from memhook.store.cache.cache import state_of
from memhook.store.cache.snapshot import Snapshot
from memhook.store.cache.words import WordIndex
from memhook.store.memories import MemoryStore
from memhook.store.table import changes, indexes
from memhook.store.table.filters import Filter
from memhook.store.table.indexes import Sizes
from memhook.store.table.schema import title_terms
from tests.store.test_memories import MODEL, NOW, Open, add, axis, contents, matching, memory


def whole(store: MemoryStore) -> tuple[Snapshot, ...] | None:
    assert store._here.cache is not None
    return store._here.cache.whole


WORDS = [f"word{number}" for number in range(60)]
QUESTION = terms("note about ledger 7 and replica")


def texts(count: int) -> list[str]:
    chance = random.Random(7)
    return [" ".join(chance.choices(WORDS, k=chance.randint(0, 40))) for _ in range(count)]


def ledger_notes(count: int) -> list[str]:
    return [f"note {number} about the {'ledger' if number % 3 else 'replica'}" for number in range(count)]


def test_the_index_weighs_words_as_ranking_does() -> None:
    documents = texts(200)
    index = WordIndex(pa.array(documents))
    asked = [*WORDS[:9], "unknown"]
    weights = ranking.term_weights(asked, index.frequencies, index.documents)
    evidence = index.evidence(weights) / ranking.attainable(weights)
    candidates = [ranking.Candidate(str(number), None, text.split()) for number, text in enumerate(documents)]
    scored = ranking.ranked(asked, candidates, index.frequencies, index.documents, index.average_length)
    assert {one.id: pytest.approx(one.lexical) for one in scored} == {
        str(number): share for number, share in enumerate(evidence.tolist())
    }


def test_the_index_counts_what_the_store_counts(store: MemoryStore) -> None:
    add(store, *(memory(number, text) for number, text in enumerate(ledger_notes(30))))
    counted = store.statistics
    store.keep_in_memory()
    assert store.statistics == counted
    assert store.statistics is not counted


def test_an_index_of_nothing_finds_nothing() -> None:
    assert WordIndex(pa.array([], pa.string())).evidence({"word": 1.0}).tolist() == []
    assert WordIndex(pa.array(["", ""])).evidence({"word": 1.0, "": 1.0}).tolist() == [0.0, 0.0]


@pytest.mark.parametrize("vector", [None, axis(4)])
def test_memory_and_disk_give_the_same_candidates(store: MemoryStore, vector: object) -> None:
    add(store, *(memory(number, text, pinned=number % 2 == 0) for number, text in enumerate(ledger_notes(40))))
    allowed = Filter(pinned=True)
    on_disk = store.candidates(lambda: vector, QUESTION, allowed, 50)  # type: ignore[arg-type, return-value]
    store.keep_in_memory()
    assert store.candidates(lambda: vector, QUESTION, allowed, 50) == on_disk  # type: ignore[arg-type, return-value]
    assert on_disk[1] == 20


def test_only_the_best_are_candidates(store: MemoryStore) -> None:
    add(store, *(memory(number, text) for number, text in enumerate(ledger_notes(40))))
    store.keep_in_memory()
    found, searched = store.candidates(lambda: axis(5), terms("note 21"), Filter(), 2)
    assert searched == 40
    assert {"note 5 about the ledger", "note 21 about the replica"} <= set(contents(store, found))
    assert len(found) <= 6


def test_a_memory_without_a_vector_is_found_by_its_words(store: MemoryStore) -> None:
    add(store, *(memory(number, text) for number, text in enumerate(ledger_notes(3))))
    with store.writing():
        store.write(changes.add, [memory(9, "the gateway drops headers")], [None], MODEL)
    store.keep_in_memory()
    found, _ = store.candidates(lambda: axis(0), terms("gateway headers"), Filter(), 2)
    assert {one.id: one.cosine for one in found}["m00000000009"] is None


def test_references_are_resolved_as_on_disk(store: MemoryStore) -> None:
    add(store, memory(1, "first", aliases=("old-1",)), memory(2, "second", pinned=True), memory(3, "third"))
    names = ["m00000000003", "m00000000001", "m00000000003"]
    asked = [(names, Filter()), ([*names, "old-1"], Filter()), (names, Filter(pinned=True)), (["unknown"], Filter())]
    on_disk = [store.by_reference(references, allowed) for references, allowed in asked]
    store.keep_in_memory()
    assert [store.by_reference(references, allowed) for references, allowed in asked] == on_disk
    assert [one.content for one in on_disk[0]] == ["third", "first"]


def test_what_expires_meanwhile_is_neither_proposed_nor_fetched(store: MemoryStore) -> None:
    add(store, memory(1, "short lived", expires=NOW + timedelta(seconds=1)))
    store.keep_in_memory()
    before, after = (Filter(alive_at=NOW + timedelta(seconds=seconds)) for seconds in (0, 2))
    (candidate,), _ = store.candidates(lambda: axis(0), [], before, 5)
    assert store.candidates(lambda: axis(0), [], after, 5) == ([], 0)
    assert store.by_ids([candidate.id], before)
    assert store.by_ids([candidate.id], after) == {}


def test_a_write_of_another_process_is_seen_at_once(store: MemoryStore, open_store: Open) -> None:
    add(store, memory(1, "first"))
    store.keep_in_memory()
    add(open_store(), memory(2, "second"))
    assert store.candidates(lambda: None, ["second"], Filter(), 5)[1] == 2
    store.keep_in_memory()
    assert store.candidates(lambda: None, ["second"], Filter(), 5)[1] == 2


def test_a_small_store_is_read_anew_at_once_and_a_larger_one_meanwhile_searched_on_disk(
    store: MemoryStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    add(store, memory(1, "first"))
    store.keep_in_memory()
    add(store, memory(2, "second"))
    assert len(whole(store) or ()) == 1
    monkeypatch.setattr("memhook.store.cache.cache.QUICK_ROWS", 1)
    monkeypatch.setattr("memhook.store.cache.cache.Parts.renew", lambda *_, **__: None)
    with store.writing():
        store.write(changes.mute, ["m00000000001"], True)
    assert whole(store) is None
    assert matching(store, "second") == ["second"]


def test_what_is_added_to_a_larger_one_is_counted_with_the_rest_by_housekeeping(
    store: MemoryStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memhook.store.cache.cache.QUICK_ROWS", 1)
    add(store, memory(1, "first"), memory(2, "second"))
    store.keep_in_memory()
    add(store, memory(3, "third"))
    assert len(whole(store) or ()) == 2
    assert matching(store, "third") == ["third"]
    store.keep_in_memory()
    assert len(whole(store) or ()) == 1
    assert store.statistics.documents == 3


@pytest.fixture
def forty(store: MemoryStore) -> MemoryStore:
    add(store, *(memory(number, text) for number, text in enumerate(ledger_notes(40))))
    store.keep_in_memory()
    return store


def test_what_is_added_is_kept_beside_the_rest_and_answers_as_from_disk(
    forty: MemoryStore, open_store: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert forty._here.cache is not None
    monkeypatch.setattr(forty._here.cache, "_read", None)  # it would fail
    add(forty, memory(40, "a late note about the ledger"))
    add(forty, memory(41, "a later one, which is muted", muted=True))
    assert len(whole(forty) or ()) == 3
    for allowed in (Filter(), Filter(muted=False)):
        found, searched = forty.candidates(lambda: axis(5), QUESTION, allowed, 50)
        on_disk, there = open_store().candidates(lambda: axis(5), QUESTION, allowed, 50)
        assert (found, searched) == (on_disk, there)
    assert set(forty.by_ids(["m00000000003", "m00000000040"])) == {"m00000000003", "m00000000040"}


def test_when_a_good_part_of_it_is_new_it_is_read_anew_with_its_words_counted(forty: MemoryStore) -> None:
    for number in range(40, 43):
        add(forty, memory(number, f"late note {number}"))
    assert len(whole(forty) or ()) == 1
    assert forty.statistics.documents == 43


def test_what_came_lately_is_looked_up_at_once(forty: MemoryStore, monkeypatch: pytest.MonkeyPatch) -> None:
    assert forty._here.cache is not None
    asked: list[int] = []
    ids = forty._here.cache._ids

    def counted(condition: str, few: Sequence[str]) -> Collection[str]:
        asked.append(len(few))
        return ids(condition, few)

    monkeypatch.setattr(forty._here.cache, "_ids", counted)
    forty.by_ids(["m00000000001"], Filter(pinned=False))
    for number in (40, 41):
        add(forty, memory(number, f"late note {number}"))
    assert set(forty.by_ids(["m00000000001", "m00000000041"], Filter(pinned=False)))
    assert asked == [40, 2]


def test_while_something_is_added_answers_are_made_of_what_was_there_before(
    forty: MemoryStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    before, during, append = whole(forty), [], forty._here.table.append

    def looked_at_behind(data: pa.Table) -> None:
        append(data)
        during.append(whole(forty))

    monkeypatch.setattr(forty._here.table, "append", looked_at_behind)
    add(forty, memory(40, "a late note about the ledger"))
    assert during == [before]
    assert len(whole(forty) or ()) == 2


def test_where_many_that_were_added_stand_is_known_before_a_prompt_asks(
    forty: MemoryStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memhook.store.cache.cache.FEW", 1)
    forty.by_ids(["m00000000001"], Filter(pinned=False))
    add(forty, memory(40, "a late note"), memory(41, "a pinned one", pinned=True))
    assert forty._here.cache is not None
    monkeypatch.setattr(forty._here.cache, "_ids", None)  # it would fail
    assert set(forty.by_ids(["m00000000040", "m00000000041"], Filter(pinned=False))) == {"m00000000040"}


def test_what_only_lies_otherwise_on_disk_is_not_read_again(
    forty: MemoryStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    add(forty, memory(40, "a late note about the ledger"))
    before = whole(forty)
    forty._here.table.unoptimized = 1000
    monkeypatch.setattr(forty._here.cache, "_read", None)  # it would fail
    assert forty.optimize()
    assert whole(forty) == before


def test_what_another_process_only_indexes_is_not_read_again(
    forty: MemoryStore, open_store: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    add(forty, memory(40, "a late note about the ledger"))
    before = whole(forty)
    monkeypatch.setattr(forty._here.cache, "_read", None)  # it would fail
    state = state_of(forty._here.table.place[1])
    indexes._index(open_store()._here.table.handle, "created")
    assert state_of(forty._here.table.place[1]) != state
    assert whole(forty) == before is not None


def test_what_another_process_puts_back_is_read_again(forty: MemoryStore, open_store: Open) -> None:
    other = open_store()._here.table.handle
    version = other.version
    with forty.writing():
        forty.write(changes.mute, ["m00000000001"], True)
    assert forty.by_ids(["m00000000001"], Filter(muted=False)) == {}
    other.restore(version)
    assert forty.by_ids(["m00000000001"], Filter(muted=False))


def test_what_is_added_while_the_store_is_read_again_is_not_lost(
    forty: MemoryStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = forty._here.cache
    assert kept is not None
    add(forty, memory(40, "a late note about the ledger"))
    read = kept._read
    added: list[Memory] = []

    def slow(allowed: Filter) -> Snapshot | None:
        found = read(allowed)
        if not added:
            added.append(memory(41, "a later note about the ledger"))
            add(forty, *added)
        return found

    monkeypatch.setattr(kept, "_read", slow)
    kept._store.renew([cache.WHOLE], again=True)
    assert len(whole(forty) or ()) == 3
    assert set(forty.by_ids(["m00000000040", "m00000000041"])) == {"m00000000040", "m00000000041"}


def test_what_is_added_while_the_store_is_first_read_is_not_missed(
    forty: MemoryStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert forty._here.cache is not None
    held, append = forty._here.cache, forty._table.append
    held.drop()

    def append_after_a_read(data: pa.Table) -> None:
        held.renew()
        append(data)

    monkeypatch.setattr(forty._table, "append", append_after_a_read)
    add(forty, memory(40, "a late note about the ledger"))
    assert forty.by_ids(["m00000000040"])


def test_what_was_written_while_the_store_was_read_is_not_there_twice(
    forty: MemoryStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert forty._here.cache is not None
    held, read, append = forty._here.cache, forty._here.cache._read, forty._table.append
    held.drop()

    def append_during_a_read(*given: Any) -> None:
        monkeypatch.setattr(held, "_read", lambda allowed: (append(*given), read(allowed))[1])
        held.renew()
        monkeypatch.setattr(held, "_read", read)

    monkeypatch.setattr(forty._table, "append", append_during_a_read)
    add(forty, memory(40, "a late note about the ledger"))
    assert forty.candidates(lambda: axis(5), QUESTION, Filter(), 50)[1] == 41


def test_what_another_wrote_meanwhile_is_not_passed_over(
    forty: MemoryStore, open_store: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    other, append = open_store(), forty._table.append
    assert forty.by_ids(["m00000000001"], Filter(muted=False))

    def append_after_another(data: pa.Table) -> None:
        other.write(changes.mute, ["m00000000001"], True)
        append(data)

    monkeypatch.setattr(forty._table, "append", append_after_another)
    add(forty, memory(40, "a late note about the ledger"))
    assert forty.by_ids(["m00000000001"], Filter(muted=False)) == {}


def test_what_was_added_goes_with_a_purge(forty: MemoryStore) -> None:
    add(forty, memory(40, "a late note about the ledger"))
    with forty.writing():
        forty.write(changes.purge, ["m00000000040"])
    assert forty.by_ids(["m00000000040"]) == {}
    assert forty.candidates(lambda: axis(5), QUESTION, Filter(), 50)[1] == 40


def test_what_was_muted_elsewhere_is_gone_at_once(store: MemoryStore, open_store: Open) -> None:
    add(store, memory(1, "first"))
    store.keep_in_memory()
    allowed = Filter(muted=False)
    assert store.by_ids(["m00000000001"], allowed)
    other = open_store()
    with other.writing():
        other.write(changes.mute, ["m00000000001"], True)
    assert store.by_ids(["m00000000001"], allowed) == {}
    store.keep_in_memory()
    assert store.by_ids(["m00000000001"], allowed) == {}


def test_a_store_that_is_too_large_is_searched_on_disk(open_store: Open) -> None:
    store = open_store(Sizes(held=10))
    add(store, *(memory(number, text) for number, text in enumerate(ledger_notes(11))))
    store.keep_in_memory()
    assert whole(store) is None
    assert store.candidates(lambda: axis(0), [], Filter(), 5)[1] == 11


def test_a_store_with_too_much_text_is_searched_on_disk(open_store: Open) -> None:
    store = open_store(Sizes(held_text=1_000))
    add(store, *(memory(number, random.Random(number).randbytes(4_000).hex()) for number in range(5)))
    store.keep_in_memory()
    assert whole(store) is None


def test_a_store_put_back_from_a_copy_is_noticed(store: MemoryStore, tmp_path: Path, open_store: Open) -> None:
    add(store, memory(1, "first"))
    shutil.copytree(tmp_path / "store", tmp_path / "copy")
    table = tmp_path / "store" / "memories.lance"
    before = state_of(table)
    shutil.rmtree(tmp_path / "store")
    assert state_of(table) is None
    shutil.copytree(tmp_path / "copy", tmp_path / "store")
    assert state_of(table) not in (before, None)


def test_a_snapshot_that_fails_leaves_the_disk(store: MemoryStore, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise ValueError("broken")

    add(store, memory(1, "first"))
    monkeypatch.setattr("memhook.store.cache.cache.Snapshot", broken)
    store.keep_in_memory()
    assert store.candidates(lambda: axis(0), [], Filter(), 5)[1] == 1


def test_terms_of_titles_are_made_ready_a_few_at_a_time(forty: MemoryStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache, "TITLES_AT_ONCE", 15)
    forty._here.cache = None
    title_terms.cache_clear()
    ready = []
    for _ in range(4):
        forty.keep_in_memory()
        ready.append(title_terms.cache_info().currsize)
    assert ready == [15, 30, 40, 40]
