"""The lines that ask the assistant to save something: an instruction at the start of a session, cues on prompts.

The model that is already there is the best judge of what is worth keeping, but hardly ever saves anything unasked.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

from memhook.answering.answer import Outcome, Surroundings
from memhook.assistants.events import TRIAL_SESSION, Event, Kind
from memhook.core.cues import FIXED, INSTRUCTION, cue, standing_orders
from memhook.core.note_requests import asked_in, own_words
from memhook.core.tokens import estimated_tokens
from memhook.engine.engine import Engine, Scene
from memhook.hooks.sessions import Sessions

MOST_CUES = 5
"""Per session."""


class Saving:
    """Chooses the line that an event gets, if any."""

    def __init__(self, engine: Engine, sessions: Sessions) -> None:
        self._engine = engine
        self._sessions = sessions

    def line_for(self, event: Event, scene: Scene, budget: int, *, has_server: bool, may_repeat: bool) -> str:
        """Return the line, unless it would take more than a quarter of the budget from the memories."""
        line = self._line(event, scene, may_repeat) if has_server else ""
        return line if 4 * estimated_tokens(line) <= budget else ""

    def _line(self, event: Event, scene: Scene, may_repeat: bool) -> str:
        settings = scene.loaded.settings.capture
        if scene.is_excluded or event.agent or event.session == TRIAL_SESSION:
            return ""
        if event.kind is Kind.SESSION_START and settings.instruction:
            return INSTRUCTION if may_repeat else ""
        return self._cue(event) if event.kind is Kind.PROMPT and settings.cues else ""

    def _cue(self, event: Event) -> str:
        took_attempts = self._sessions.took_attempts(event)
        order = next(standing_orders(own_words(asked_in(event.prompt).rest)), "")
        line = cue(order) if order else FIXED if took_attempts else ""
        return line if line and self._is_allowed(event) else ""

    def _is_allowed(self, event: Event) -> bool:
        """Count a cue and return whether it is within the session's limit; the ledger's count outlives the daemon."""
        for number in range(MOST_CUES):
            mark = f"cue {number} of {event.client}/{event.session}"
            if not self._engine.accounts.was_read(mark):
                self._engine.accounts.mark_read(mark, datetime.now(UTC))
                return True
        return False


def with_room_for(line: str, around: Surroundings) -> Surroundings:
    """Take the tokens of the line from the budget of the memories."""
    if not line:
        return around
    left = max(0, around.settings.max_tokens - estimated_tokens(line) - 1)
    return replace(around, settings=around.settings.model_copy(update={"max_tokens": left}))


def with_line(outcome: Outcome, line: str, event: Event) -> Outcome:
    """Add the line to what the model gets, below the memories."""
    if not line:
        return outcome
    *others, last = outcome.block.parts or ("",)
    joined = f"{last.rstrip()}\n{line}\n" if last else line
    if event.part_limit is not None and event.part_limit.measure(joined) > event.part_limit.size:
        return outcome
    tokens = outcome.block.tokens + estimated_tokens(line) + 1
    return replace(outcome, block=replace(outcome.block, parts=(*others, joined), tokens=tokens))
