from __future__ import annotations

import socket
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from memhook.daemon import control
from memhook.paths import Paths
from tests.sockets import bind


def reached(paths: Paths, times: int) -> bool:
    return all(control.is_running(paths) for _ in range(times))


def test_threads_reach_a_socket_whose_path_is_too_long_and_stay_where_they_are(paths: Paths, tmp_path: Path) -> None:
    """Those of the MCP server and of a script that uses memhook share one working directory."""
    deep = replace(paths, state=tmp_path / ("a" * 60) / ("b" * 60))
    deep.state.mkdir(parents=True)
    before = Path.cwd()
    with socket.socket(socket.AF_UNIX) as listener:
        bind(listener, deep.socket)
        listener.listen(256)
        with ThreadPoolExecutor(8) as threads:
            assert all(threads.map(lambda _: reached(deep, 20), range(8)))
    assert Path.cwd() == before


def test_without_a_folder_of_descriptors_the_threads_take_turns(
    paths: Paths, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As on macOS."""
    exists = Path.exists
    monkeypatch.setattr(Path, "exists", lambda path: not str(path).startswith("/proc/") and exists(path))
    test_threads_reach_a_socket_whose_path_is_too_long_and_stay_where_they_are(paths, tmp_path)
