"""A store elsewhere, read from a copy of it here. The origin is a shared folder; S3 has tests of its own."""

from __future__ import annotations

import stat
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from memhook.core.memory import Memory
from memhook.core.terms import terms
from memhook.errors import RemoteError, StoreError
from memhook.files import durable
from memhook.store.cache.cached_table import CachedTable
from memhook.store.embedding.encoder import ModelIdentity
from memhook.store.memories import MemoryStore, own_store, replicated_store
from memhook.store.remote import origin
from memhook.store.table import changes
from memhook.store.table.filters import Filter
from memhook.store.table.schema import DIMENSIONS
from tests.store.test_memories import MODEL, NOW, add, axis, matching, memory, replica_of, write_as_an_older_memhook

OTHER_MODEL = ModelIdentity("another", "hash of it", DIMENSIONS)

Open = Callable[..., MemoryStore]


@pytest.fixture
def shared_folder(tmp_path: Path) -> Path:
    folder = tmp_path / "shared"
    folder.mkdir()
    folder.chmod(0o2770)
    return folder


@pytest.fixture
def opened(tmp_path: Path, shared_folder: Path) -> Open:
    """A replica of the shared folder, of a user with this name."""

    def open_(user: str, *, shared: bool = True) -> MemoryStore:
        backups = tmp_path / user / "backups"
        return replicated_store(tmp_path / user / "replica", backups, str(shared_folder), {}, shared=shared)

    return open_


def contents(store: MemoryStore) -> list[str]:
    return sorted(one.content for one in store.newest(Filter(), 1000))


def holding(folder: Path, word: str) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file() and word.encode() in path.read_bytes()]


def test_what_one_writes_the_other_reads_after_a_refresh(opened: Open) -> None:
    ada, bob = opened("ada"), opened("bob")
    assert (replica_of(bob).refresh(), contents(bob)) == (0, [])
    add(ada, memory(1, "replicas lag"), memory(2, "deploys need the VPN"))
    assert contents(ada) == ["deploys need the VPN", "replicas lag"]  # its own at once
    assert contents(bob) == []
    assert replica_of(bob).refresh() == 2
    assert contents(bob) == contents(ada)
    found, _ = bob.candidates(lambda: axis(0), terms("replicas"), Filter(), 5)
    assert [one.id for one in found if one.cosine == 1.0] == [memory(1, "").id]


def test_only_what_has_changed_is_fetched(opened: Open) -> None:
    ada, bob = opened("ada"), opened("bob")
    add(ada, *(memory(number, f"note {number}") for number in range(50)))
    assert replica_of(bob).refresh() == 50
    assert replica_of(bob).refresh() == 0
    with ada.writing():
        ada.write(changes.replace, [memory(7, "note 7, corrected")], [axis(7)], MODEL)
        ada.write(changes.forget, [memory(8, "note 8")], NOW)
    add(ada, memory(50, "note 50"))
    assert replica_of(bob).refresh() == 3
    assert contents(bob) == contents(ada)
    assert "note 7, corrected" in contents(bob)
    assert "note 8" not in contents(bob)


def test_the_small_files_of_all_writers_are_put_together_and_nobody_fetches_them_again(
    opened: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(origin, "MANY_FILES", 6)
    ada, bob = opened("ada"), opened("bob")
    for number in range(6):
        add(ada if number % 2 else bob, memory(number, f"note {number}"))
    replica_of(bob).refresh()
    assert ada.optimize()
    assert replica_of(ada).origin.handle.stats()["fragment_stats"]["num_fragments"] == 1
    assert (replica_of(bob).refresh(), len(contents(bob))) == (0, 6)
    assert not replica_of(ada).origin.optimize()  # nothing was written since
    add(ada, memory(9, "note 9"))
    assert not replica_of(ada).origin.optimize()  # there are few
    assert replica_of(bob).refresh() == 1


def test_what_is_removed_there_goes_here(opened: Open) -> None:
    ada, bob = opened("ada"), opened("bob")
    add(ada, memory(1, "stays"), memory(2, "goes"))
    replica_of(bob).refresh()
    with ada.writing():
        ada.write(changes.remove, [memory(2, "").id])
    add(ada, memory(3, "comes"))  # so that the count alone would not tell
    replica_of(bob).refresh()
    assert contents(bob) == ["comes", "stays"]


def test_what_is_purged_leaves_no_byte_there_nor_in_any_replica(
    opened: Open, shared_folder: Path, tmp_path: Path
) -> None:
    ada, bob = opened("ada"), opened("bob")
    add(ada, memory(1, "stays"), memory(2, "the quokkafjord phrase"))
    replica_of(bob).refresh()
    with ada.writing():
        ada.write(changes.purge, [memory(2, "").id])
    replica_of(bob).refresh()
    assert contents(ada) == contents(bob) == ["stays"]
    assert holding(tmp_path, "quokkafjord") == []


def test_redacting_empties_it_everywhere(opened: Open, tmp_path: Path) -> None:
    ada, bob = opened("ada"), opened("bob")
    add(ada, memory(1, "stays"), memory(2, "the quokkafjord phrase"))
    replica_of(bob).refresh()
    with ada.writing():
        ada.write(changes.redact, [memory(2, "").id], NOW)
    replica_of(bob).refresh()
    assert [one.redacted for one in bob.by_reference([memory(2, "").id], Filter())] == [True]
    ada.optimize()
    assert "quokkafjord" not in str(contents(bob))
    assert holding(tmp_path / "shared", "quokkafjord") == []


def test_writers_at_the_same_time_lose_nothing_of_each_other(opened: Open) -> None:
    """Each decides on what it has read, and writes on top of what is there."""
    users = [opened(name) for name in ("ada", "bob", "cem")]
    for number in range(12):
        add(users[number % 3], memory(number, f"note {number}"))
    for user in users:
        replica_of(user).refresh()
        assert len(contents(user)) == 12


def test_adding_again_what_may_have_landed_adds_nothing_twice(opened: Open) -> None:
    ada = opened("ada")
    add(ada, memory(1, "once"))
    replica_of(ada).origin.write(changes.add, [memory(1, "once"), memory(2, "new")], [None, None], MODEL)
    replica_of(ada).refresh()
    assert contents(ada) == ["new", "once"]


def test_vectors_of_another_model_are_not_mixed_in(opened: Open) -> None:
    ada, bob = opened("ada"), opened("bob")
    add(ada, memory(1, "replicas lag"))
    replica_of(bob).refresh()
    bob.vectors.replace(lambda memories: [axis(3) for _ in memories], OTHER_MODEL)
    add(ada, memory(2, "deploys need the VPN"))
    replica_of(bob).refresh()
    assert (ada.model, bob.model) == (MODEL, OTHER_MODEL)
    assert [one.content for one in bob.vectors.missing()] == ["deploys need the VPN"]
    bob.vectors.set(bob.vectors.missing(), [axis(4)], OTHER_MODEL)
    assert bob.vectors.missing() == []
    assert replica_of(ada).refresh() == 0  # what bob makes of the vectors is his own


def test_what_a_user_mutes_reads_or_releases_in_a_shared_store_is_that_users_alone(opened: Open) -> None:
    ada, bob = opened("ada"), opened("bob")
    add(ada, memory(1, "replicas lag"))
    replica_of(bob).refresh()
    key = memory(1, "").id
    with bob.annotating():
        bob.write(changes.mute, [key], True)
        bob.write(changes.set_quarantine, replace(_one(bob, key), released="as it reads now"))
    bob.touch([key], NOW)
    with ada.writing():
        ada.write(changes.update, [key], project="elsewhere")
    assert replica_of(bob).refresh() == 1
    ours, theirs = _one(bob, key), _one(ada, key)
    assert (ours.project, ours.muted, ours.accessed, ours.released) == ("elsewhere", True, NOW, "as it reads now")
    assert (theirs.muted, theirs.accessed, theirs.released) == (False, None, "")


def test_in_a_personal_store_elsewhere_muting_holds_on_every_machine(opened: Open) -> None:
    laptop, desk = opened("laptop", shared=False), opened("desk", shared=False)
    add(laptop, memory(1, "replicas lag"))
    with laptop.annotating():
        laptop.write(changes.mute, [memory(1, "").id], True)
    replica_of(desk).refresh()
    assert _one(desk, memory(1, "").id).muted


def test_an_origin_that_is_gone_costs_writing_alone(opened: Open, shared_folder: Path) -> None:
    ada, bob = opened("ada"), opened("bob")
    add(ada, memory(1, "replicas lag"))
    replica_of(bob).refresh()
    known = replica_of(bob).refreshed
    away = shared_folder.rename(shared_folder.with_name("away"))
    again = opened("bob")
    with pytest.raises(StoreError, match="does not exist"):
        replica_of(again).refresh()
    assert replica_of(again).problem
    assert (contents(again), replica_of(again).refreshed) == (["replicas lag"], known)
    with pytest.raises(StoreError, match="does not exist"), again.writing():
        pass
    away.rename(shared_folder)
    add(again, memory(2, "back again"))
    assert (contents(again), replica_of(again).problem) == (["back again", "replicas lag"], "")


def test_the_command_that_makes_a_shared_folder_takes_any_name(tmp_path: Path) -> None:
    folder = tmp_path / "shared mem"
    with pytest.raises(StoreError) as refusal:
        origin.Origin(str(folder), tmp_path / "backups")
    assert refusal.value.hint.endswith(f": mkdir -m 2770 '{folder}'")


def test_an_origin_made_anew_is_read_anew(opened: Open, shared_folder: Path) -> None:
    ada, bob = opened("ada"), opened("bob")
    for number in range(3):
        add(ada, memory(number, f"old {number}"))
    replica_of(bob).refresh()
    replica_of(ada).origin.database.drop_table("memories")
    add(opened("cem"), memory(9, "new"))
    replica_of(bob).refresh()
    assert contents(bob) == ["new"]


def test_a_store_that_was_made_before_it_was_shared_is_read_whole_when_it_changes(
    opened: Open, shared_folder: Path, tmp_path: Path
) -> None:
    add(own_store(str(shared_folder), tmp_path / "backups"), memory(1, "old"), memory(2, "older"))
    ada, bob = opened("ada"), opened("bob")
    assert replica_of(bob).refresh() == 2
    with ada.writing():
        ada.write(changes.replace, [memory(1, "corrected")], [axis(1)], MODEL)
    assert (replica_of(bob).refresh(), contents(bob)) == (2, ["corrected", "older"])
    assert replica_of(bob).refresh() == 0


def test_a_replica_has_terms_of_its_own_whatever_memhook_wrote_the_shared_store(
    opened: Open, shared_folder: Path
) -> None:
    add(opened("ada"), memory(1, "yings and migrations"))
    write_as_an_older_memhook(shared_folder)
    bob = opened("bob")
    assert replica_of(bob).refresh() == 1
    assert matching(bob, "migration") == ["yings and migrations"]
    add(bob, memory(2, "a migrated note"))
    assert matching(bob, "migrating") == ["yings and migrations", "a migrated note"]
    with bob.writing():
        bob.write(changes.forget, [memory(2, "a migrated note")], NOW)
    assert matching(bob, "migrating") == ["yings and migrations"]


def test_what_is_put_back_replaces_everything_and_later_changes_are_fetched_alone(opened: Open) -> None:
    ada, bob = opened("ada"), opened("bob")
    add(ada, memory(1, "one"), memory(2, "two"))
    rows = replica_of(ada).origin.rows()
    add(ada, memory(3, "three"))
    replica_of(bob).refresh()
    assert rows is not None
    with ada.writing():
        ada.write(changes.put_back, rows)
    assert (replica_of(bob).refresh(), contents(bob)) == (2, ["one", "two"])
    add(ada, memory(4, "four"))
    assert (replica_of(bob).refresh(), contents(bob)) == (1, ["four", "one", "two"])


def store_at(uri: str, tmp_path: Path, **options: str) -> MemoryStore:
    return replicated_store(tmp_path / "replica", tmp_path / "backups", uri, options, shared=True)


@pytest.mark.parametrize(
    ("uri", "options", "said"),
    [
        ("db://team", {}, "api_key is required"),
        ("db://team", {"api_key": "sk_1", "host_override": "http://127.0.0.1:9"}, "could not be used"),
        ("s3://team/x", {"aws_endpoint": "http://127.0.0.1:9", "allow_http": "true"}, "could not be used|be reached"),
        ("nowhere://team", {}, "nowhere"),
    ],
)
def test_a_place_that_does_not_answer_is_named_with_the_reason_and_a_way_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, uri: str, options: dict[str, str], said: str
) -> None:
    """A LanceDB server is not to be had here; that its client is asked, and what it says is told, is shown."""
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "nobody")
    monkeypatch.delenv("LANCEDB_API_KEY", raising=False)
    quick = {"client_max_retries": "0", "client_retry_timeout": "1"}
    with pytest.raises(RemoteError, match=said) as failure:
        replica_of(store_at(uri, tmp_path, **({} if uri.startswith("db") else quick), **options)).refresh()
    assert failure.value.hint
    assert "damaged" not in failure.value.message


def test_files_in_a_shared_folder_get_the_rights_of_the_folder(opened: Open, shared_folder: Path) -> None:
    add(opened("ada"), memory(1, "replicas lag"))
    files = [path for path in shared_folder.rglob("*") if path.is_file()]
    assert {stat.S_IMODE(path.stat().st_mode) for path in files} == {0o660}
    assert {stat.S_IMODE(path.stat().st_mode) for path in shared_folder.rglob("*") if path.is_dir()} == {0o2770}


def _one(store: MemoryStore, key: str) -> Memory:
    return store.by_reference([key], Filter())[0]


def test_a_shared_folder_that_a_power_cut_has_left_with_half_a_write_opens_as_it_was_before(
    opened: Open, shared_folder: Path
) -> None:
    add(opened("ada"), memory(1, "replicas lag"))
    add(opened("ada"), memory(2, "deploys need the VPN"))
    newest = min(shared_folder.glob("memories.lance/_versions/*.manifest"))  # numbered downwards
    newest.write_bytes(b"")
    bob = opened("bob")
    replica_of(bob).refresh()
    assert contents(bob) == ["replicas lag"]
    add(bob, memory(3, "the cache is cold on Mondays"))
    assert contents(bob) == ["replicas lag", "the cache is cold on Mondays"]


def test_what_counts_as_seen_is_on_disk_before_it_is_noted(opened: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    add(opened("ada"), memory(1, "replicas lag"))
    bob = opened("bob")
    steps: list[str] = []
    sync = durable.Synced.sync

    def recorded_sync(synced: durable.Synced) -> None:
        steps.append("sync")
        sync(synced)

    set_mark = CachedTable.set_mark

    def recorded_mark(here: CachedTable, name: str, value: str) -> None:
        steps.append(name)
        set_mark(here, name, value)

    monkeypatch.setattr(durable.Synced, "sync", recorded_sync)
    monkeypatch.setattr(CachedTable, "set_mark", recorded_mark)
    replica_of(bob).refresh()
    assert steps.index("sync") < steps.index("origin-version")
