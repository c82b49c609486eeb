"""A recorded session and its steps."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

UNKNOWN = "of an unknown format or version"
UNREADABLE = "cannot be read"


@dataclass(frozen=True, slots=True)
class About:
    """Where the session was; `remote` is the address of the repository, where the assistant records it."""

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
    """A command in a shell; `was_wrong` where it failed for its own words, not for what it found."""

    command: str
    failed: bool
    was_wrong: bool = False


@dataclass(frozen=True, slots=True)
class Used:
    """A tool was asked for."""

    is_edit: bool = False


@dataclass(frozen=True, slots=True)
class Problem:
    reason: str


Step = About | Prompt | Reply | Ran | Used | Problem


@dataclass(frozen=True, slots=True)
class Recording:
    """One session: where `key` and `stamp` are as they were, nothing was added to it since."""

    key: str
    stamp: str
    modified: float
    steps: Callable[[], Iterator[Step]]


@dataclass(frozen=True, slots=True)
class SessionFormat:
    """How an assistant records. `recognises` is given the start of a file."""

    recognises: Callable[[str], bool]
    recordings: Callable[[Path], Iterable[Recording]]
    last_steps: Callable[[Path], Iterator[Step]] = lambda _: iter(())
    """Those at the end of a file that is being written, without what is wrong with it."""
