"""A store elsewhere that does not answer: an error soon, and nothing that happens later behind the user's back."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import pytest

from memhook.errors import RemoteError
from memhook.store.remote import replica
from memhook.store.remote.origin import Origin
from memhook.store.remote.replica import SILENT_SECONDS, Unanswered, answer_of, in_thread
from memhook.store.table import changes
from memhook.store.table.filters import Filter
from tests.s3 import S3, running_s3
from tests.store.test_memories import add, memory, replica_of


class Clock:
    """Seconds that pass only while somebody waits."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 0.0
        monkeypatch.setattr("memhook.store.remote.replica.time.monotonic", lambda: self.now)
        monkeypatch.setattr(replica, "_is_done_within", self.waited)

    def waited(self, future: Future[object], seconds: float) -> bool:
        if not future.done():
            self.now += seconds
        return future.done()


def done(value: bool) -> Future[bool]:
    future: Future[bool] = Future()
    future.set_result(value)
    return future


@contextmanager
def silent_port() -> Iterator[int]:
    """Accepts whoever connects, and never says a word."""
    with socket.create_server(("127.0.0.1", 0), backlog=64) as listener:
        yield listener.getsockname()[1]


@pytest.fixture
def closed_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])


def test_a_place_that_is_silent_is_given_up_and_one_that_answers_is_waited_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    clock = Clock(monkeypatch)
    monkeypatch.setattr(replica, "in_thread", lambda work, _name: done(work()))
    endless: Future[int] = Future()
    with pytest.raises(Unanswered):
        answer_of(endless, lambda: False)
    assert SILENT_SECONDS < clock.now < SILENT_SECONDS + 4
    looks = iter([True] * 100)

    def answers() -> bool:
        if next(looks, None) is None:
            endless.set_result(7)
        return True

    assert answer_of(endless, answers) == 7
    assert clock.now > 100


def test_what_the_work_raises_is_raised(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails() -> None:
        raise TimeoutError("of its own")

    with pytest.raises(TimeoutError, match="of its own"):
        answer_of(in_thread(fails, "test"), lambda: True)


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """What never answers need not be waited for as long as users do."""
    monkeypatch.setattr(replica, "LOOK_SECONDS", 0.1)
    monkeypatch.setattr(replica, "PROBE_SECONDS", 0.1)
    monkeypatch.setattr(replica, "SILENT_SECONDS", 0.5)


@pytest.mark.usefixtures("impatient")
def test_a_server_that_never_answers_is_an_error_before_anything_is_written(tmp_path: Path) -> None:
    with silent_port() as port, pytest.raises(RemoteError, match="does not answer") as refused:
        add(S3(tmp_path, port).replica("ada"), memory(1, "lost"))
    assert "Nothing was changed" in refused.value.hint


def test_a_server_that_is_not_there_is_an_error(tmp_path: Path, closed_port: int) -> None:
    with pytest.raises(RemoteError, match="s3://team/memories"):
        add(S3(tmp_path, closed_port).replica("ada"), memory(1, "lost"))


@pytest.mark.usefixtures("impatient")
def test_many_who_wait_for_a_silent_server_make_one_attempt(tmp_path: Path) -> None:
    with silent_port() as port, ThreadPoolExecutor(4) as threads:
        store = S3(tmp_path, port).replica("ada")
        before = fetching()  # which an earlier test may have given up and left
        failed = [threads.submit(replica_of(store).refresh) for _ in range(4)]
        assert all(isinstance(one.exception(120), RemoteError) for one in failed)
        assert len(fetching() - before) <= 1


def fetching() -> set[threading.Thread]:
    return {one for one in threading.enumerate() if one.name == "memhook-fetch"}


def test_a_server_that_dies_while_it_is_written_to_is_an_error(tmp_path: Path) -> None:
    with running_s3(tmp_path) as s3:
        store = s3.replica("ada")
        add(store, memory(1, "before"))
        with store.writing():
            s3.kill()
            with pytest.raises(RemoteError, match=r"stopped answering|could not be used"):
                store.write(changes.add, [memory(2, "lost")], [None], store.model)
        s3.start()
        reader = s3.replica("bob")
        replica_of(reader).refresh()
        arrived = {one.content for one in reader.newest(Filter(), 10)}
        # On a busy machine the server may be back before LanceDB has given up: then it arrives, and that is reported.
        assert arrived == {"before"} or "has arrived" in replica_of(store).late_news
        add(store, memory(2, "again"))


def test_a_write_that_arrives_after_it_was_given_up_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with running_s3(tmp_path) as s3:
        store = s3.replica("ada")
        add(store, memory(1, "before"))
        origin, going_on = replica_of(store).origin, threading.Event()
        land = origin.write

        def slow(*args: object) -> None:
            assert going_on.wait(300)
            land(*args)  # type: ignore[arg-type]

        monkeypatch.setattr(origin, "write", slow)
        monkeypatch.setattr("memhook.store.remote.replica.answers", lambda *_: False)
        with pytest.raises(RemoteError, match="stopped answering"):
            store.write(changes.add, [memory(2, "late")], [None], store.model)
        assert replica_of(store).late_news == ""
        going_on.set()
        for thread in [one for one in threading.enumerate() if one.name == "memhook-write"]:
            thread.join(300)
        assert "has arrived" in replica_of(store).late_news


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("Client error with status 403 Forbidden: <Error><Code>AccessDenied</Code></Error>", "refuses this"),
        ("Server returned non-2xx status code: 401 Unauthorized: ", "refuses this"),
        ("Error performing GET http://127.0.0.1:34011/team in 211.403ms - error sending request", "could not be used"),
        ("Error performing PUT http://10.0.4.1:5403/a401.lance in 403.401ms, after 2 retries", "could not be used"),
        ("Server returned non-2xx status code: 503 Service Unavailable", "could not be used"),
    ],
)
def test_a_refusal_is_known_by_its_status_not_by_digits_anywhere(tmp_path: Path, said: str, expected: str) -> None:
    uri = str(tmp_path / "team")
    (tmp_path / "team").mkdir()
    table = Origin(uri, tmp_path / "backups")
    assert expected in table.failure(RuntimeError(said)).message
