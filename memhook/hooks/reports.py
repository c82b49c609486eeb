"""Lines for the user about what their prompts changed, kept until a client has read them to their end.

An answer may come too late while the write goes on, its client may be killed, or the daemon: then the next hook tells.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import count
from threading import Lock

from memhook.engine.engine import Engine

INTERRUPTED = "memhook was interrupted while it stored a note of yours; see whether it is there: memhook list"
OWN_HOOK_SECONDS = 10.0  # in which the hook that asked, or the one that carries the line, is trusted to tell it
MOST_LINES = 5


@dataclass(slots=True)
class _Report:
    session: str
    line: str
    not_before: float = 0.0  # for hooks of other sessions
    told: float = float("-inf")
    is_finished: bool = True

    def is_due(self, session: str, now: float) -> bool:
        is_this_one_s = session == self.session or now >= self.not_before
        return self.is_finished and is_this_one_s and now - self.told > OWN_HOOK_SECONDS


class Reports:
    """In memory and in the ledger; where that cannot be written, in memory alone."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._lock = Lock()
        self._reports = {
            number: _Report("", line) for number, line in (engine.accounts.pending_reports() or {}).items()
        }
        self._unwritten = count(-1, -1)
        self._take_over_from_setup()

    def begun(self, session: str) -> int:
        """From here on the user is told something, if only that it was interrupted."""
        number = self._engine.accounts.begin_report(INTERRUPTED, datetime.now(UTC)) or next(self._unwritten)
        with self._lock:
            self._reports[number] = _Report(session, INTERRUPTED, is_finished=False)
        return number

    def finished(self, number: int, line: str, memories: Sequence[str]) -> None:
        """`memories` are those the line speaks of: it goes when one of them is redacted or purged."""
        if not line:
            self.told([number])
            return
        self._engine.accounts.finish_report(number, line, memories)
        with self._lock:
            report = self._reports.get(number, _Report("", ""))
            report.line, report.is_finished = line, True
            report.not_before = time.monotonic() + OWN_HOOK_SECONDS

    def noted(self, session: str, line: str) -> None:
        """A line that quotes the prompt: in memory alone, as prompts are not stored."""
        with self._lock:
            report = _Report(session, line, not_before=time.monotonic() + OWN_HOOK_SECONDS)
            self._reports[next(self._unwritten)] = report

    def due(self, session: str) -> dict[int, str]:
        """Lines that the answer to a hook of this session should carry, by number."""
        now = time.monotonic()
        with self._lock:
            self._drop_expunged()
            due = [number for number, report in self._reports.items() if report.is_due(session, now)][:MOST_LINES]
            for number in due:
                self._reports[number].told = now
            return {number: self._reports[number].line for number in due}

    def told(self, numbers: Iterable[int]) -> None:
        """The client has read them."""
        with self._lock:
            known = [number for number in numbers if self._reports.pop(number, None) is not None]
        if known:
            self._engine.accounts.end_reports(known)

    def _drop_expunged(self) -> None:
        """Lines about a memory that was redacted or purged are deleted from the ledger alone."""
        written = self._engine.accounts.pending_reports() if self._reports else None
        if written is not None:
            for number in [number for number in self._reports if number > 0 and number not in written]:
                del self._reports[number]

    def _take_over_from_setup(self) -> None:
        """What the plugin's set-up left to be told, when there is somebody to tell it."""
        notice = self._engine.paths.state / "setup.notice"
        try:
            line = notice.read_text(encoding="utf-8").strip()
            notice.unlink()
        except (OSError, ValueError):
            return
        number = self.begun("")
        self.finished(number, f"memhook: {line}", [])
        self._reports[number].not_before = 0.0  # no hook asked for it
