from __future__ import annotations

import threading
from pathlib import Path

import pytest

from memhook.errors import StoreError
from memhook.files import locking
from memhook.files.locking import exclusive


def test_who_waits_comes_before_one_who_wants_it_again(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    order: list[str] = []

    def other() -> None:
        with exclusive(path, 30):
            order.append("other")

    thread = threading.Thread(target=other)
    with exclusive(path, 30):
        order.append("first")
        thread.start()
        while len(locking._QUEUES[path]) < 2:
            thread.join(0.01)
    with exclusive(path, 30):
        order.append("again")
    thread.join()
    assert order == ["first", "other", "again"]


def test_who_gives_up_waiting_stands_in_nobody_s_way(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    with exclusive(path, 30), pytest.raises(StoreError, match="has been writing"), exclusive(path, 0):
        pass
    with exclusive(path, 0):
        assert len(locking._QUEUES[path]) == 1
    assert not locking._QUEUES[path]
