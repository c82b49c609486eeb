"""Recorded sessions and their steps, and the helpers that the assistants' readers share.

A reader never raises because of a file: it yields a `Problem` among the steps. Any field may be missing or of another
type. Tool output is read only to detect whether a command failed.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

from memhook.assistants.events import Payload, text
from memhook.patterns import regex

UNKNOWN = "of an unknown format or version"
UNREADABLE = "cannot be read"
LARGEST_BYTES = 64 << 20
TAIL_BYTES = 256 << 10
READ_CHARS = 20_000
"""The characters read of a prompt or a reply."""
LONGEST_COMMAND = 2_000
BEING_WRITTEN = "being written"
CUT_SHORT = "cut short"
HUGE = f"larger than {LARGEST_BYTES >> 20} MB"


@dataclass(frozen=True, slots=True)
class About:
    """The session and its directory; `remote` is the URL of the repository, if the assistant records it."""

    session: str
    directory: str
    remote: str = ""
    is_subagent: bool = False


@dataclass(frozen=True, slots=True)
class Prompt:
    text: str
    when: datetime | None


@dataclass(frozen=True, slots=True)
class Reply:
    text: str


@dataclass(frozen=True, slots=True)
class Ran:
    """A shell command; `was_wrong` if the command itself was invalid, not just its outcome a failure."""

    command: str
    failed: bool
    was_wrong: bool = False


@dataclass(frozen=True, slots=True)
class Used:
    """A call of a tool."""

    is_edit: bool = False


@dataclass(frozen=True, slots=True)
class Problem:
    reason: str


Step = About | Prompt | Reply | Ran | Used | Problem


@dataclass(frozen=True, slots=True)
class Recording:
    """One session: while `key` and `stamp` are unchanged, nothing was added to it."""

    key: str
    stamp: str
    modified: float
    steps: Callable[[], Iterator[Step]]


@dataclass(frozen=True, slots=True)
class SessionFormat:
    """The format of an assistant's sessions. `recognises` gets the start of a file."""

    recognises: Callable[[str], bool]
    recordings: Callable[[Path], Iterable[Recording]]
    last_steps: Callable[[Path], Iterator[Step]] = lambda _: iter(())
    """The steps at the end of a file that is being written, without problems."""


def in_file(steps: Callable[[Path], Iterator[Step]], path: Path) -> Iterator[Recording]:
    try:
        found = path.stat()
    except OSError:
        return
    read = partial(iter, (Problem(HUGE),)) if found.st_size > LARGEST_BYTES else partial(_watched, steps, path)
    yield Recording(str(path), _stamp(found), found.st_mtime, read)


def _watched(steps: Callable[[Path], Iterator[Step]], path: Path) -> Iterator[Step]:
    """Yield the steps, and a problem if the file changes meanwhile: its last step is then unknown."""
    before = path.stat()
    yield from steps(path)
    if _stamp(path.stat()) != _stamp(before):
        yield Problem(BEING_WRITTEN)


def _stamp(status: os.stat_result) -> str:
    return f"{status.st_ino}:{status.st_size}:{status.st_mtime_ns}"


def line_format(
    recognises: Callable[[str], bool], steps: Callable[[Iterator[Payload]], Iterator[Step]]
) -> SessionFormat:

    def read(path: Path) -> Iterator[Step]:
        problems: list[str] = []
        return with_problems(steps(json_lines(path, problems)), problems)

    return SessionFormat(recognises, partial(in_file, read), lambda path: steps(json_lines(path, [], TAIL_BYTES)))


def with_problems(steps: Iterable[Step], problems: list[str]) -> Iterator[Step]:
    """Yield the steps, then the problems with the file; one without an `About` is of an unknown format."""
    is_known = False
    for step in steps:
        is_known = is_known or isinstance(step, About)
        yield step
    yield from map(Problem, dict.fromkeys(problems) if is_known or problems else (UNKNOWN,))


def json_lines(path: Path, problems: list[str], last_bytes: int = 0) -> Iterator[Payload]:
    """Yield the objects of a file, or of its end, one per line; problems with other lines are appended."""
    try:
        with path.open("rb") as file:
            if last_bytes and (start := path.stat().st_size - last_bytes) > 0:
                file.seek(start)
                file.readline()
            for line in file:
                try:
                    found = json.loads(line) if line.strip() else None
                except (ValueError, RecursionError):
                    problems.append(CUT_SHORT)
                    continue
                if isinstance(found, dict):
                    yield found
    except OSError:
        problems.append(UNREADABLE)


def json_object(path: Path) -> Payload | None:
    """Return the object that a file consists of; None for anything else."""
    try:
        return parsed(path.read_bytes())
    except OSError:
        return None


def parsed(written: str | bytes) -> Payload | None:
    """Return the object in a JSON text; None for anything else."""
    try:
        found = json.loads(written)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def inner(payload: Payload, *keys: str) -> Payload:
    """Return the object below these keys, or an empty one."""
    for key in keys:
        value = payload.get(key)
        payload = value if isinstance(value, Mapping) else {}
    return payload


def objects(value: Any) -> list[Payload]:
    return [one for one in value if isinstance(one, Mapping)] if isinstance(value, list) else []


def words(content: Any) -> str:
    """Return the text of a message: a string, a block with text, or a list of either."""
    listed = content if isinstance(content, list) else [content]
    every = objects([{"text": one} if isinstance(one, str) else one for one in listed])
    blocks = (block for block in every if block.get("type", "text") in ("text", "input_text", "output_text"))
    return "\n".join(filter(None, (text(block, "text") for block in blocks if not block.get("thought"))))[:READ_CHARS]


def moment(value: Any) -> datetime | None:
    """Parse a time in ISO format or in milliseconds; one without a zone is in UTC."""
    try:
        if isinstance(value, str):
            found = datetime.fromisoformat(value)
            return found if found.tzinfo else found.replace(tzinfo=UTC)
        return datetime.fromtimestamp(value / 1000, UTC) if isinstance(value, int | float) else None
    except (ValueError, OverflowError, OSError):
        return None


# The messages about a command that is itself invalid, anywhere in its output.
_WRONG = regex(
    r"command not found|not recognized as|no such (?:command|file or directory|option)|missing script"
    r"|(?:unknown|unrecogni[sz]ed|invalid|illegal|unexpected) (?:\w+ )?(?:option|(?:sub)?command|argument|flag)"
    r"|is not a \w+ command|no module named|cannot find module|^usage:",
    re.IGNORECASE | re.MULTILINE,
)
_EXIT = regex(r"\bexit(?:ed)?(?: with)?(?: exit)? code:? (\d{1,3})\b", re.IGNORECASE)
_LOOKED_AT = 4_000


def ran(command: Any, output: str, *, failed: bool = False, code: Any = None) -> Iterator[Ran]:
    """Yield the command, if it is one, as failed by its exit code or by its output."""
    if isinstance(command, list):
        command = command[-1] if command else ""
    if not isinstance(command, str) or not command.strip() or len(command) > LONGEST_COMMAND:
        return
    start, end = output[:_LOOKED_AT], output[-_LOOKED_AT:]
    if code is None and (said := _EXIT.search(start) or _EXIT.search(end)):
        code = int(said[1])
    failed = failed or (isinstance(code, int) and code != 0)
    was_wrong = failed and (code in (126, 127) or bool(_WRONG.search(start) or _WRONG.search(end)))
    yield Ran(command.strip(), failed, was_wrong)
