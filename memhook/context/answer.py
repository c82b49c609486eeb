"""What a prompt gets: decided here for the hook and for `why`, so that the two cannot disagree."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from memhook.context.inject import ALREADY_SHOWN, Block, Budget, hook_block
from memhook.context.library import Library
from memhook.context.pauses import Pause
from memhook.context.recall import for_prompt
from memhook.context.stages import Stages
from memhook.core.packing import PartLimit
from memhook.core.relevance import is_small_talk
from memhook.core.rendering import PROMPT_HEADING, hook_frames
from memhook.settings import Settings
from memhook.store.ledger import Shown
from memhook.store.project import Project

SHOWN = "shown"
SMALL_TALK = "small talk"

Account = Mapping[str, Sequence[Shown]]


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What an answer is made from."""

    library: Library
    settings: Settings
    project: Project
    account: Account
    now: datetime
    stages: Stages


@dataclass(frozen=True, slots=True)
class Outcome:
    """`outcome` says in a word why there is no text, or "shown"."""

    outcome: str
    block: Block = field(default_factory=Block)
    notice: str = ""


def silence(settings: Settings, pause: Pause | None) -> str:
    """Why nothing is looked for at all; empty when something is."""
    if not settings.enabled:
        return "switched off"
    return "paused" if pause else ""


def prompt_outcome(prompt: str, around: Surroundings, part_limit: PartLimit | None) -> Outcome:
    """Speak only when something bears on the prompt and the session has not seen it."""
    if is_small_talk(prompt):
        return Outcome(SMALL_TALK)
    settings = around.settings
    recalled = for_prompt(around.library, prompt, around.project.id, settings, around.now, around.stages)
    with around.stages.timed("pack"):
        block = hook_block(
            recalled.worth_showing,
            Budget(settings.max_tokens, hook_frames(PROMPT_HEADING), part_limit),
            settings.hooks.detail,
            settings.preview_chars,
            recalled.weights,
            around.account,
        )
    return Outcome(SHOWN if block.parts else _reason_for_nothing(block), recalled.with_the_rest(block))


def _reason_for_nothing(block: Block) -> str:
    if not block.considered:
        return "nothing relevant"
    return "nothing new" if all(one.reason == ALREADY_SHOWN for one in block.considered) else "nothing fits"
