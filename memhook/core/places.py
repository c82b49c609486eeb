"""Where a memory was learned: ASSISTANT/SESSION#TURN, taken apart."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

SESSION_CHARS = 12


@dataclass(frozen=True, slots=True)
class Place:
    """A turn of a session. All of it is empty for a memory that was learned in none."""

    assistant: str = ""
    session: str = ""
    turn: str = ""

    @property
    def words(self) -> str:
        """As a person reads it: claude, session 1f0c9a2e, turn 4."""
        session = f"session {self.session[:SESSION_CHARS]}" if self.session else ""
        return ", ".join(filter(None, (self.assistant, session, f"turn {self.turn}" if self.turn else "")))


def parsed(text: str) -> Place:
    assistant, slash, rest = text.partition("/")
    session, _, turn = rest.rpartition("#") if "#" in rest else (rest, "", "")
    return Place(assistant, session, turn.partition("/")[0]) if slash else Place()


def sessions_of(names: Iterable[str]) -> set[str]:
    """The different sessions among places, as ASSISTANT/SESSION."""
    return {name.rpartition("#")[0] for name in names if "#" in name and "/" in name.rpartition("#")[0]}
