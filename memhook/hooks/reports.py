"""Messages for the user about what their prompts changed, kept until a client has read them.

If an answer comes too late, or its client or the daemon is killed, the next hook delivers the message.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import count
from threading import Lock

from memhook.engine.engine import Engine

INTERRUPTED = "memhook was interrupted while storing a note of yours; check whether it is there: memhook list"
OWN_HOOK_SECONDS = 10.0  # for which only the hook that asked, or that carries the line, delivers it
MOST_LINES = 5


@dataclass(slots=True)
class _Report:
    session: str
    line: str
    not_before: float = 0.0  # for hooks of other sessions
    sent: float = float("-inf")
    is_finished: bool = True

    def is_due(self, session: str, now: float) -> bool:
        is_this_one_s = session == self.session or now >= self.not_before
        return self.is_finished and is_this_one_s and now - self.sent > OWN_HOOK_SECONDS


class Reports:
    """Reports in memory and in the ledger; if the ledger cannot be written, in memory only."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._lock = Lock()
        self._reports = {
            number: _Report("", line) for number, line in (engine.accounts.pending_reports() or {}).items()
        }
        self._unwritten = count(-1, -1)
        self._take_over_from_setup()

    def begun(self, session: str) -> int:
        """Open a report; unless it is finished, the user gets INTERRUPTED."""
        number = self._engine.accounts.begin_report(INTERRUPTED, datetime.now(UTC)) or next(self._unwritten)
        with self._lock:
            self._reports[number] = _Report(session, INTERRUPTED, is_finished=False)
        return number

    def finished(self, number: int, line: str, memories: Sequence[str]) -> None:
        """Complete a report. It is deleted when one of `memories`, which it mentions, is redacted or purged."""
        if not line:
            self.acknowledged([number])
            return
        self._engine.accounts.finish_report(number, line, memories)
        with self._lock:
            report = self._reports.get(number, _Report("", ""))
            report.line, report.is_finished = line, True
            report.not_before = time.monotonic() + OWN_HOOK_SECONDS

    def noted(self, session: str, line: str) -> None:
        """Add a line that quotes the prompt: in memory only, because prompts are not stored."""
        with self._lock:
            report = _Report(session, line, not_before=time.monotonic() + OWN_HOOK_SECONDS)
            self._reports[next(self._unwritten)] = report

    def due(self, session: str) -> dict[int, str]:
        """Return the lines to deliver with the answer to a hook of this session, by number."""
        now = time.monotonic()
        with self._lock:
            self._drop_expunged()
            due = [number for number, report in self._reports.items() if report.is_due(session, now)][:MOST_LINES]
            for number in due:
                self._reports[number].sent = now
            return {number: self._reports[number].line for number in due}

    def acknowledged(self, numbers: Iterable[int]) -> None:
        """Delete the reports that a client has read."""
        with self._lock:
            known = [number for number in numbers if self._reports.pop(number, None) is not None]
        if known:
            self._engine.accounts.end_reports(known)

    def _drop_expunged(self) -> None:
        """Drop lines that were deleted from the ledger because their memory was redacted or purged."""
        written = self._engine.accounts.pending_reports() if self._reports else None
        if written is not None:
            for number in [number for number in self._reports if number > 0 and number not in written]:
                del self._reports[number]

    def _take_over_from_setup(self) -> None:
        """Adopt the message that the plugin's set-up left for the user."""
        notice = self._engine.paths.state / "setup.notice"
        try:
            line = notice.read_text(encoding="utf-8").strip()
            notice.unlink()
        except (OSError, ValueError):
            return
        number = self.begun("")
        self.finished(number, f"memhook: {line}", [])
        self._reports[number].not_before = 0.0  # no hook asked for it
