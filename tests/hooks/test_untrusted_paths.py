"""What others wrote may name any path: none of them is opened, by memhook, by git or by the store.

A directory of bait is watched by the kernel, so that whoever opens something in it is seen.
"""

from __future__ import annotations

import ctypes
import json
import os
import struct
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from memhook.engine.catalogue import OPERATIONS
from memhook.errors import MemhookError
from memhook.settings import LARGEST_FILE, load_settings
from memhook.store.project import recent_work
from tests.hooks.conftest import Assistant
from tests.hooks.test_prompt import FACT, QUESTION

IN_OPEN = 0x20

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="inotify is Linux's")


class Bait:
    """A directory with things that should not be touched."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        for name in ("note.md", "transcript.jsonl", "gitconfig", "mailmap", "config.toml"):
            (directory / name).write_text("[core]\n\tbait = 1\n")
        os.mkfifo(directory / "pipe")
        (directory / "zero").symlink_to("/dev/zero")
        (directory / "inner").mkdir()
        self.paths = [str(path) for path in sorted(directory.iterdir())]
        self.one_of_a_kind = [str(directory / name) for name in ("note.md", "pipe", "zero", "inner")]
        self._libc = ctypes.CDLL(None, use_errno=True)
        self._watch = self._libc.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
        assert self._libc.inotify_add_watch(self._watch, os.fsencode(directory), IN_OPEN) >= 0

    def opened(self) -> list[str]:
        """What was opened since the last look."""
        try:
            data = os.read(self._watch, 65536)
        except BlockingIOError:
            return []
        names, at = [], 0
        while at < len(data):
            _, _, _, length = struct.unpack_from("iIII", data, at)
            names.append(data[at + 16 : at + 16 + length].rstrip(b"\0").decode())
            at += 16 + length
        return names

    def close(self) -> None:
        os.close(self._watch)


@pytest.fixture
def bait(tmp_path: Path) -> Iterator[Bait]:
    directory = tmp_path / "bait"
    directory.mkdir()
    bait = Bait(directory)
    yield bait
    bait.close()


@pytest.fixture
def repository(assistant: Assistant, bait: Bait) -> Path:
    """The working directory, cloned from somebody who put the bait into everything a repository can carry."""
    top = assistant.directory
    git = ["git", "-C", str(top), "-c", "user.name=x", "-c", "user.email=x@example.org"]
    subprocess.run([*git, "init", "-q", "-b", "main"], check=True)
    subprocess.run([*git, "commit", "-q", "--allow-empty", "-m", "The first"], check=True)
    with (top / ".git" / "config").open("a") as config:
        config.write(
            f"[core]\n\tfsmonitor = {bait.directory}/pipe\n\thooksPath = {bait.directory}\n"
            f"\tpager = cat {bait.paths[0]}\n"
            f"\tattributesFile = {bait.directory}/note.md\n\texcludesFile = {bait.directory}/pipe\n"
            f"[mailmap]\n\tfile = {bait.directory}/mailmap\n[gpg]\n\tprogram = {bait.directory}/pipe\n"
            "[log]\n\tshowSignature = true\n\tmailmap = true\n"
        )
    settings = [f'namespaces = ["{bait.paths[0]}"]', *(f'[store]\nuri = "{path}"' for path in bait.paths[:1])]
    (top / ".memhook.toml").write_text("\n".join(settings))
    return top


def test_the_watch_sees_an_open(bait: Bait) -> None:
    (bait.directory / "note.md").read_text()
    assert bait.opened() == ["note.md"]
    subprocess.run(["cat", str(bait.directory / "mailmap")], check=True, stdout=subprocess.DEVNULL)
    assert bait.opened() == ["mailmap"]
    assert bait.opened() == []


def test_no_path_in_an_event_or_a_repository_is_opened(assistant: Assistant, bait: Bait, repository: Path) -> None:
    assistant.remembers(FACT, here=False)
    for path in bait.paths:
        fields = dict.fromkeys(
            ("transcript_path", "session_id", "agent_id", "agent_transcript_path", "prompt_id"), path
        )
        fields |= {"source": path, "permission_mode": path, "model": path, "file_path": path}
        for prompt in (f"read {path}", f"@{path}", f"file://{path}", QUESTION):
            assistant.sends({"hook_event_name": "UserPromptSubmit", "prompt": prompt, **fields})
        assistant.sends({"hook_event_name": "SessionStart", **fields})
    assert bait.opened() == []


def test_no_path_in_a_memory_or_an_imported_file_is_opened(assistant: Assistant, bait: Bait) -> None:
    lines = []
    for number, path in enumerate(bait.paths):
        names = {"title": path, "summary": path, "namespace": path, "source": path, "project": path, "id": path}
        lists = {name: [path, f"file://{path}"] for name in ("tags", "related", "supersedes", "aliases")}
        lines.append([number, json.dumps({"content": f"{QUESTION} ![x]({path}) {number}", **names, **lists})])
    assert assistant.calls("import_lines", lines=lines)["outcomes"] == {"stored": len(lines)}
    for method, params in {"search": {"query": QUESTION}, "export_page": {}, "list": {}}.items():
        assistant.calls(method, **params)
    assistant.calls("inject", hits=[{"id": path} for path in bait.paths])
    assistant.prompts(QUESTION)
    assert bait.opened() == []


def test_no_path_that_a_peer_sends_is_opened(assistant: Assistant, bait: Bait) -> None:
    assistant.remembers(FACT)
    for path in bait.one_of_a_kind:
        params: dict[str, Any] = {
            **dict.fromkeys(("query", "topic", "content", "reference", "prompt", "session", "project", "cursor"), path),
            **dict.fromkeys(("source", "target"), path),
            **{name: [path] for name in ("references", "hits", "namespaces", "tags")},
            "after": path,
            "lines": [[1, path]],
            "into": path,
            "records": [{"content": path, "source": path, "session": path}],
            "facts": {path: [{"fact": path, "span": path}]},
            "rights": None,
        }
        for method, operation in OPERATIONS.items():
            if method in ("put_back", "follow"):  # takes what memhook gave; the owner names files for it to read
                continue
            code = operation.function.__code__
            taken = set(code.co_varnames[: code.co_argcount]) | (
                {"project", "tags"} if method in ("search", "list") else set()
            )
            try:
                assistant.calls(method, **{name: value for name, value in params.items() if name in taken})
            except MemhookError:
                continue
    assert bait.opened() == []


def test_git_is_not_asked_where_the_configuration_includes_other_files(
    assistant: Assistant, bait: Bait, repository: Path
) -> None:
    assert recent_work(repository, 5).subjects == ("The first",)
    with (repository / ".git" / "config").open("a") as config:
        config.write(f'[include]\n\tpath = {bait.directory}/gitconfig\n[includeIf "gitdir:/"]\n\tpath = /x\n')
    subprocess.run(["git", "-C", str(repository), "log"], capture_output=True, check=False)
    assert "gitconfig" in bait.opened(), "git would have read it"
    assert recent_work(repository, 5).subjects == ()
    assistant.starts()
    assert bait.opened() == []


@pytest.mark.parametrize("kind", ["pipe", "link", "device", "directory", "huge", "forbidden"])
def test_a_project_file_that_is_no_plain_file_of_the_project_is_not_read(
    assistant: Assistant, bait: Bait, kind: str
) -> None:
    file = assistant.directory / ".memhook.toml"
    if kind == "pipe":
        os.mkfifo(file)
    elif kind == "directory":
        file.mkdir()
    elif kind == "huge":
        file.write_text("enabled = false\n" + "#" * LARGEST_FILE)
    elif kind == "forbidden":
        file.write_bytes(b"\xff\xfe\x00")
    else:
        (bait.directory / "config.toml").write_text("enabled = false")
        file.symlink_to(bait.directory / "config.toml" if kind == "link" else "/dev/zero")
        bait.opened()
    loaded = load_settings(assistant.directory / "none", file)
    assert loaded.settings.enabled
    assert len(loaded.problems) == 1
    assistant.remembers(FACT)
    assert FACT in assistant.prompts(QUESTION)
    assert bait.opened() == []


def test_a_git_file_may_point_to_a_pipe_or_a_device(assistant: Assistant, bait: Bait) -> None:
    for path in [*bait.paths, "/dev/zero", "/proc/self", "\0", "x" * 9000]:
        (assistant.directory / ".git").write_text(f"gitdir: {path}\n")
        assistant.starts()
    assert bait.opened() == []
