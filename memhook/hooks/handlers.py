"""What memhook does at each event: one function for each."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from memhook.context.inject import Block, Budget, hook_block
from memhook.context.library import Library
from memhook.context.recall import for_prompt, for_session
from memhook.context.stages import Stages
from memhook.core.relevance import is_small_talk
from memhook.core.rendering import PROMPT_HEADING, SESSION_HEADING, hook_frames
from memhook.hooks.events import Event, Kind
from memhook.settings import Settings
from memhook.store.ledger import Shown
from memhook.store.project import Project

FIRST_STEPS = 'memhook is on. There are no memories yet; add the first: {command} remember "what is worth keeping"'
SILENT_SOURCES = frozenset({"resume", "fork"})  # the text of the session's start is still in its history
FORGETTING_SOURCES = frozenset({"clear", "compact"})

Account = Mapping[str, Sequence[Shown]]
TimesShown = Callable[[Sequence[str]], Mapping[str, int]]


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What a handler works with."""

    library: Library
    settings: Settings
    project: Project
    account: Account
    times_shown: TimesShown
    now: datetime
    stages: Stages


@dataclass(frozen=True, slots=True)
class Outcome:
    """`outcome` says in a word why there is no text, or "shown"."""

    outcome: str
    block: Block = field(default_factory=Block)
    notice: str = ""


def handled(event: Event, around: Surroundings) -> Outcome:
    if event.kind is Kind.PROMPT:
        return prompt_submitted(event, around)
    return session_started(event, around)


def prompt_submitted(event: Event, around: Surroundings) -> Outcome:
    """Speak only when something bears on the prompt and the session has not seen it."""
    if is_small_talk(event.prompt):
        return Outcome("small talk")
    recalled = for_prompt(around.library, event.prompt, around.project.id, around.settings, around.now, around.stages)
    with around.stages.timed("pack"):
        block = hook_block(
            recalled.worth_showing,
            _budget(event, around.settings, PROMPT_HEADING),
            around.settings.hooks.detail,
            around.settings.preview_chars,
            recalled.weights,
            around.account,
        )
    return _outcome(
        recalled.with_the_rest(block), nothing="nothing relevant" if not recalled.worth_showing else "nothing new"
    )


def session_started(event: Event, around: Surroundings) -> Outcome:
    """What matters for this project before anything was asked."""
    if event.source in SILENT_SOURCES:
        return Outcome(f"source {event.source}")
    if around.library.store.count() == 0:
        return Outcome("no memories", notice=FIRST_STEPS.format(command=_command()))
    limit = around.settings.hooks.session_start.max_memories
    ranked = for_session(
        around.library, around.project, around.settings, around.times_shown, limit, around.now, around.stages
    )
    budget = _budget(event, around.settings, SESSION_HEADING)
    with around.stages.timed("pack"):
        block = hook_block(
            ranked, budget, around.settings.hooks.detail, around.settings.preview_chars, {}, around.account
        )
    return _outcome(block, nothing="nothing for this project")


def _outcome(block: Block, nothing: str) -> Outcome:
    return Outcome("shown" if block.parts else nothing, block)


def _command() -> str:
    """What to type: a plugin's own environment is not on the path."""
    return "memhook" if shutil.which("memhook") else str(Path(sys.executable).with_name("memhook"))


def _budget(event: Event, settings: Settings, heading: str) -> Budget:
    return Budget(settings.max_tokens, hook_frames(heading), event.part_limit)
