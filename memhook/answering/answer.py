"""What a prompt gets: decided here for the hook and for `why`, so that the two cannot disagree."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from memhook.answering.block import ALREADY_SHOWN, Block, Budget, Extent, hook_block
from memhook.answering.recall import QUARANTINED, Recalled, for_prompt
from memhook.answering.stages import Stages
from memhook.core.note_requests import Asked, asked_in
from memhook.core.packing import PartLimit
from memhook.core.rendering import PROMPT_HEADING, hook_frames
from memhook.core.small_talk import is_small_talk
from memhook.library.joined import Searchable
from memhook.settings import Settings
from memhook.store.ledger import Shown
from memhook.store.pauses import Pause
from memhook.store.project import Project

SHOWN = "shown"
SMALL_TALK = "small talk"
POISON_NOTICE = "memhook left out a memory that tries to command the assistant. See: memhook list --quarantined"
SPENT = "session budget used up"
FOR_MEMHOOK = "said to memhook alone"

# Injected text stays in the history of each client, but only these say when the history was compacted or cleared.
KEEPING_CLIENTS = frozenset({"claude"})

Account = Mapping[str, Sequence[Shown]]


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What an answer is made from. `spent` is what the session of `client` was given so far, in tokens."""

    library: Searchable
    settings: Settings
    project: Project
    account: Account
    now: datetime
    stages: Stages
    spent: int = 0
    client: str = ""

    @property
    def budget(self) -> int:
        """What this event may cost: what one may at most, or what is left of the session's."""
        return max(0, min(self.settings.max_tokens, self.settings.session_max_tokens - self.spent))

    @property
    def knows_label(self) -> bool:
        """Whether the model has read what these notes are: whatever the session was given first said so."""
        return self.spent > 0 and self.client in KEEPING_CLIENTS

    @property
    def is_short(self) -> bool:
        """Whether the session's budget, not the event's, is what bounds it."""
        return self.budget < self.settings.max_tokens


@dataclass(frozen=True, slots=True)
class Outcome:
    """`outcome` says in a word why there is no text, or "shown"."""

    outcome: str
    block: Block = field(default_factory=Block)
    notice: str = ""
    read_as: Mapping[str, str] = field(default_factory=dict)


def silence(settings: Settings, pause: Pause | None) -> str:
    """Why nothing is looked for at all; empty when something is."""
    if not settings.enabled:
        return "switched off"
    return "paused" if pause else ""


def prompt_outcome(prompt: str, around: Surroundings, part_limit: PartLimit | None) -> Outcome:
    """Speak only when something bears on the prompt and the session has not seen it."""
    asked = asked_in(prompt) if around.settings.hooks.capture else Asked((), prompt)
    if asked.commands and not asked.rest.strip():
        return Outcome(FOR_MEMHOOK)
    if not around.budget and not is_small_talk(asked.rest):
        return Outcome(SPENT)
    recalled = recalled_for(asked.rest, around)
    return Outcome(SMALL_TALK) if recalled is None else outcome_of(recalled, around, part_limit)


def recalled_for(prompt: str, around: Surroundings) -> Recalled | None:
    """What the store has on the prompt; None when there is nothing in it to recall for."""
    if is_small_talk(prompt):
        return None
    return for_prompt(around.library, prompt, around.project.id, around.settings, around.now, around.stages)


def outcome_of(recalled: Recalled, around: Surroundings, part_limit: PartLimit | None) -> Outcome:
    """As much of it as is new to the session and fits the budget."""
    settings = around.settings
    with around.stages.timed("pack"):
        block = hook_block(
            recalled.worth_showing,
            Budget(around.budget, hook_frames(PROMPT_HEADING, not around.knows_label), part_limit),
            settings.hooks.detail,
            Extent(settings.preview_chars, settings.hooks.best_chars),
            recalled.weights,
            around.account,
        )
    notice = POISON_NOTICE if any(one.reason.startswith(QUARANTINED) for one in recalled.rest) else ""
    nothing_found = SMALL_TALK if recalled.answer.is_small_talk else "nothing relevant"
    return Outcome(reason_of(block, around, nothing_found), recalled.with_the_rest(block), notice, recalled.read_as)


def reason_of(block: Block, around: Surroundings, nothing_found: str) -> str:
    """Why `block` is empty, or that it is shown; `nothing_found` is said where there was nothing to show."""
    if block.parts:
        return SHOWN
    if not block.considered:
        return nothing_found
    if all(one.reason == ALREADY_SHOWN for one in block.considered):
        return "nothing new"
    return SPENT if around.is_short else "nothing fits"
