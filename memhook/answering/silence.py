"""Why an event gets nothing: every reason there is, and where each is decided.

at_rest    before anything else, for every event
of_prompt  before the store is searched for a prompt
of_start   before the store is searched for the start of a session or of a subagent
of_block   after the search and the packing
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum

from memhook.core.note_requests import Asked
from memhook.core.small_talk import is_small_talk
from memhook.settings import Settings
from memhook.store.ledger import Considered
from memhook.store.pauses import Pause

SHOWN = "shown"
ALREADY_SHOWN = "already shown"


class Silence(StrEnum):
    """The reasons, in the order in which they are asked for."""

    FAILED = "failed"
    """An error, which is logged and reported once."""
    SWITCHED_OFF = "switched off"
    PAUSED = "paused"
    RESUMED = "source resume"
    """The text of the session's start is still in its history."""
    FORKED = "source fork"
    NO_MEMORIES = "no memories"
    NO_START = "switched off at the start"
    FOR_MEMHOOK = "said to memhook alone"
    """The prompt is a note to store, or takes one back, and nothing else."""
    SMALL_TALK = "small talk"
    SPENT = "session budget used up"
    NOTHING_RELEVANT = "nothing relevant"
    NOTHING_FOR_PROJECT = "nothing for this project"
    NOTHING_NEW = "nothing new"
    """The session has seen all that was found."""
    NOTHING_FITS = "nothing fits"


def at_rest(settings: Settings, pause: Pause | None) -> Silence | None:
    if not settings.enabled:
        return Silence.SWITCHED_OFF
    return Silence.PAUSED if pause else None


def of_prompt(asked: Asked, budget: int) -> Silence | None:
    if asked.commands and not asked.rest.strip():
        return Silence.FOR_MEMHOOK
    if is_small_talk(asked.rest):
        return Silence.SMALL_TALK
    return None if budget else Silence.SPENT


_STILL_THERE = {"resume": Silence.RESUMED, "fork": Silence.FORKED}


def of_start(source: str, settings: Settings, budget: int, *, is_empty: bool) -> Silence | None:
    """`source` says what started the session; a subagent has none. `is_empty` says that no store has a memory."""
    if source in _STILL_THERE:
        return _STILL_THERE[source]
    if is_empty:
        return Silence.NO_MEMORIES
    if not (settings.hooks.session_start.max_memories and settings.max_tokens):
        return Silence.NO_START
    return None if budget else Silence.SPENT


def of_block(
    has_text: bool, considered: Sequence[Considered], nothing_found: Silence, *, is_short: bool
) -> Silence | None:
    """`considered` is what was offered to the block; `is_short` says that the session's budget is what bounds it."""
    if has_text:
        return None
    if not considered:
        return nothing_found
    if all(one.reason == ALREADY_SHOWN for one in considered):
        return Silence.NOTHING_NEW
    return Silence.SPENT if is_short else Silence.NOTHING_FITS
