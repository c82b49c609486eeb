"""The daemon goes on answering while a memory is taken out of everything under it."""

from __future__ import annotations

import json
import threading
from pathlib import Path
from typing import Any

from memhook.daemon import control
from memhook.paths import Paths
from memhook.store.memories import own_store
from tests.daemon.conftest import FACT, QUESTION, answered, event, hook, log_text

SECRET = "The quokkafjord handshake uses the wexelbrot phrase."


def text(answer: bytes) -> str:
    return str(json.loads(answer)["hookSpecificOutput"]["additionalContext"]) if answer else ""


def holding(home: Path, *words: str) -> list[str]:
    files = [path for path in home.rglob("*") if path.is_file() and not path.is_symlink()]
    return [f"{path}: {word}" for path in files for word in words if word.encode() in path.read_bytes()]


def test_what_a_running_daemon_has_shown_is_purged_and_it_goes_on(daemon: int, paths: Paths, home: Path) -> None:
    urn = control.called(paths, "remember", {"content": SECRET})["memory"]["urn"]
    question = "which phrase does the quokkafjord handshake use?"
    assert "wexelbrot" in text(answered(event(question)).stdout)
    control.called(paths, "stats")  # after the ledger's last write
    assert {line.split(": ")[0].rpartition("/")[2][:13] for line in holding(home, "wexelbrot")} >= {"ledger.sqlite"}
    control.called(paths, "purge", {"references": [urn]})
    assert holding(home, "wexelbrot", "quokkafjord") == []
    assert text(hook(event(question, session_id="t")).stdout) == ""
    assert FACT in text(answered(event(QUESTION, session_id="u")).stdout)
    assert int(control.called(paths, "daemon_status")["pid"]) == daemon


def test_readers_are_not_disturbed_by_the_files_that_go_away(daemon: int, paths: Paths) -> None:
    urns = [control.called(paths, "remember", {"content": f"Note {n} {SECRET}"})["memory"]["urn"] for n in range(6)]
    failures: list[str] = []
    is_over = threading.Event()

    def reads() -> None:
        while not is_over.is_set():
            try:
                found: dict[str, Any] = control.called(paths, "search", {"query": QUESTION})
                if FACT not in [one["content"] for one in found["results"]]:
                    failures.append("not found")
            except Exception as error:  # noqa: BLE001  each is a failure, whatever it is
                failures.append(str(error))

    readers = [threading.Thread(target=reads) for _ in range(3)]
    for reader in readers:
        reader.start()
    try:
        for urn in urns:
            control.called(paths, "purge", {"references": [urn]})
    finally:
        is_over.set()
        for reader in readers:
            reader.join()
    assert failures == []
    assert "ERROR" not in log_text(paths)


def test_another_process_that_had_the_store_open_sees_it_without_the_memory(daemon: int, paths: Paths) -> None:
    urn = control.called(paths, "remember", {"content": SECRET})["memory"]["urn"]
    other = own_store(str(paths.store), paths.backups)
    assert other.count() == 2
    control.called(paths, "purge", {"references": [urn]})
    assert other.count() == 1
    assert [one.content for one in other.after("", 5)] == [FACT]
