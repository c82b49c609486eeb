"""A shared store on a real S3 protocol server: many writers, a server that dies, a credential that may only read."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from memhook.errors import RemoteError, StoreError
from memhook.store.memories import MemoryStore
from memhook.store.remote.replica import in_thread
from memhook.store.table import changes
from memhook.store.table.filters import Filter
from tests.s3 import READ_ONLY_KEY, S3, running_s3
from tests.store.test_memories import add, memory, replica_of

ROOT = Path(__file__).parents[2]
WRITERS, BATCHES, IN_BATCH = 4, 3, 20
LONG = 300


@pytest.fixture
def s3(tmp_path: Path) -> Iterator[S3]:
    with running_s3(tmp_path) as server:
        yield server


def is_stored(store: MemoryStore, number: int) -> bool:
    try:
        add(store, memory(number, f"note {number}"))
    except RemoteError:
        return False
    return True


def contents(store: MemoryStore) -> set[str]:
    return {one.content for one in store.newest(Filter(), 10_000)}


def writer(s3: S3, number: int) -> subprocess.Popen[str]:
    """A process of its own that stores sixty, a few at a time, however long the one server takes for each."""
    code = f"""
from pathlib import Path
from memhook.store.remote import replica
from tests.s3 import S3
from tests.store.test_memories import add, memory
replica.SILENT_SECONDS = replica.PROBE_SECONDS = {LONG}
s3 = S3(Path({str(s3.folder)!r}), {s3.port})
store = s3.replica("user{number}")
for batch in range({BATCHES}):
    first = {number * 1000} + batch * {IN_BATCH}
    add(store, *(memory(one, f"note {{one}}") for one in range(first, first + {IN_BATCH})))
"""
    return subprocess.Popen([sys.executable, "-c", code], cwd=ROOT, stderr=subprocess.PIPE, text=True)


def test_four_processes_that_write_at_the_same_time_lose_nothing(s3: S3) -> None:
    writers = [writer(s3, number) for number in range(WRITERS)]
    assert [(one.communicate(timeout=300)[1], one.returncode) for one in writers] == [("", 0)] * WRITERS
    reader = s3.replica("reader", READ_ONLY_KEY)
    assert replica_of(reader).refresh() == WRITERS * BATCHES * IN_BATCH
    assert contents(reader) == {
        f"note {number * 1000 + one}" for number in range(WRITERS) for one in range(BATCHES * IN_BATCH)
    }


def test_a_server_that_is_killed_and_comes_back_costs_no_acknowledged_memory(s3: S3) -> None:
    """However long the server takes to come back: what failed until then is said again, and stored once."""
    store, acknowledged = s3.replica("ada"), []
    some_are_in = threading.Event()

    def writes() -> None:
        for number in range(12):
            while not is_stored(store, number):
                pass
            acknowledged.append(f"note {number}")
            if number == 3:
                some_are_in.set()

    writing = in_thread(writes, "writer")  # which nobody waits for if this test fails
    assert some_are_in.wait(LONG)
    s3.kill()
    s3.start()
    writing.result(LONG)
    reader = s3.replica("bob")
    replica_of(reader).refresh()
    assert len(acknowledged) == 12
    assert contents(reader) == set(acknowledged)


def test_while_the_server_is_away_what_is_here_is_found_and_a_write_says_why_not(s3: S3) -> None:
    store = s3.replica("ada")
    add(store, memory(1, "replicas lag"))
    s3.kill()
    with pytest.raises(StoreError, match="s3://team/memories"):
        replica_of(store).refresh()
    assert contents(store) == {"replicas lag"}
    with pytest.raises(StoreError, match="s3://team/memories"):
        add(store, memory(2, "not now"))
    s3.start()
    add(store, memory(2, "now"))
    assert contents(store) == {"replicas lag", "now"}


def test_a_credential_that_may_only_read_reads_and_is_told_that_it_cannot_write(s3: S3) -> None:
    add(s3.replica("ada"), memory(1, "replicas lag"))
    reader = s3.replica("bob", READ_ONLY_KEY)
    replica_of(reader).refresh()
    assert contents(reader) == {"replicas lag"}
    with pytest.raises(StoreError, match="refuses this") as refusal:
        add(reader, memory(2, "may I?"))
    assert "may read it and not write" in refusal.value.hint
    assert "secret" not in f"{refusal.value.message} {refusal.value.hint}"
    assert contents(reader) == {"replicas lag"}
    with reader.annotating():
        reader.write(changes.mute, [memory(1, "").id], True)  # that is nobody else's business
    assert [one.muted for one in reader.newest(Filter(), 5)] == [True]
