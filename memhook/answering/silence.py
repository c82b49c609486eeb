"""Decide whether an answer is empty, and for which reason.

at_rest    before anything else, for every event: switched off or paused
of_prompt  before the store is searched for a prompt
of_start   before the store is searched for the start of a session or of a subagent
of_action  before the anchors are searched for a tool call
of_block   after the search and the packing
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum

from memhook.core.actions import Action
from memhook.core.note_requests import Asked
from memhook.core.small_talk import is_small_talk
from memhook.settings import Settings
from memhook.store.ledger import Considered
from memhook.store.pauses import Pause

SHOWN = "shown"
ALREADY_SHOWN = "already shown"


class Silence(StrEnum):
    """The reasons, in the order in which they are checked."""

    FAILED = "failed"
    """An error, logged and reported once."""
    SWITCHED_OFF = "switched off"
    PAUSED = "paused"
    RESUMED = "source resume"
    """The session still has the block of its start in its history, also after a fork."""
    FORKED = "source fork"
    NO_MEMORIES = "no memories"
    NO_START = "switched off at the start"
    FOR_MEMHOOK = "said to memhook alone"
    """The prompt only stores a note or takes one back."""
    SMALL_TALK = "small talk"
    SPENT = "session budget used up"
    NOTHING_RELEVANT = "nothing relevant"
    NO_ACTIONS = "switched off for tool calls"
    NOTHING_ANCHORED = "nothing anchored to it"
    """No memory names what the tool call touches."""
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
    """Return the reason for silence at a start, if any.

    `source` is the event that started the session, empty for a subagent; `is_empty` is set if no store has a memory.
    """
    if source in _STILL_THERE:
        return _STILL_THERE[source]
    if is_empty:
        return Silence.NO_MEMORIES
    if not (settings.hooks.session_start.max_memories and settings.max_tokens):
        return Silence.NO_START
    return None if budget else Silence.SPENT


def of_action(action: Action, settings: Settings, budget: int) -> Silence | None:
    if not settings.hooks.actions:
        return Silence.NO_ACTIONS
    if action.is_empty:
        return Silence.NOTHING_ANCHORED
    return None if budget else Silence.SPENT


def of_block(
    has_text: bool, considered: Sequence[Considered], nothing_found: Silence, *, is_short: bool
) -> Silence | None:
    """Return the reason for an empty block, None if it has text.

    `considered` are the memories offered to it; `is_short` is set if the session's budget was the limit.
    """
    if has_text:
        return None
    if not considered:
        return nothing_found
    if all(one.reason == ALREADY_SHOWN for one in considered):
        return Silence.NOTHING_NEW
    return Silence.SPENT if is_short else Silence.NOTHING_FITS
