"""What memhook does at each event: one function for each."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from memhook.answering.answer import SPENT, Outcome, Surroundings, prompt_outcome, reason_of
from memhook.answering.block import Budget, Extent, hook_block
from memhook.answering.recall import for_session
from memhook.assistants.events import Event, Kind
from memhook.core.rendering import SESSION_HEADING, hook_frames
from memhook.engine.agents import settings_of_agent
from memhook.settings import Settings

FIRST_STEPS = 'memhook is on. There are no memories yet; add the first: {command} remember "what is worth keeping"'
SILENT_SOURCES = frozenset({"resume", "fork"})  # the text of the session's start is still in its history
FORGETTING_SOURCES = frozenset({"clear", "compact"})

TimesShown = Callable[[Sequence[str]], Mapping[str, int]]


def settings_for(event: Event, settings: Settings) -> Settings:
    """Those that hold for this event: a start has a bound of its own, a subagent what is set for its type."""
    if event.kind is Kind.PROMPT:
        return settings
    if event.kind is Kind.SUBAGENT_START:
        settings = settings_of_agent(settings, event.agent_type)
    tokens = min(settings.max_tokens, settings.hooks.session_start.max_tokens)
    return settings.model_copy(update={"max_tokens": tokens})


def handled(event: Event, around: Surroundings, times_shown: TimesShown) -> Outcome:
    if event.kind is Kind.PROMPT:
        return prompt_outcome(event.prompt, around, event.part_limit)
    if event.kind is Kind.SUBAGENT_START:
        return started(event, around, times_shown)
    return session_started(event, around, times_shown)


def session_started(event: Event, around: Surroundings, times_shown: TimesShown) -> Outcome:
    """What matters for this project before anything was asked."""
    if event.source in SILENT_SOURCES:
        return Outcome(f"source {event.source}")
    if around.library.store.count() == 0:
        return Outcome("no memories", notice=FIRST_STEPS.format(command=_command()))
    return started(event, around, times_shown)


def started(event: Event, around: Surroundings, times_shown: TimesShown) -> Outcome:
    """A session, or within it a subagent, which starts with what there is for its type and the project."""
    settings = around.settings
    limit = settings.hooks.session_start.max_memories
    if not (limit and settings.max_tokens):
        return Outcome("switched off at the start")
    if not around.budget:
        return Outcome(SPENT)
    ranked = for_session(
        around.library, around.project, settings, times_shown, limit, around.now, around.stages, event.agent_type
    )
    budget = Budget(around.budget, hook_frames(SESSION_HEADING, not around.knows_label), event.part_limit)
    with around.stages.timed("pack"):
        extent = Extent(settings.preview_chars)  # nothing was asked yet that one of them could be the best for
        block = hook_block(ranked, budget, settings.hooks.detail, extent, {}, around.account)
    return Outcome(reason_of(block, around, "nothing for this project"), block)


def _command() -> str:
    """What to type: a plugin's own environment is not on the path."""
    return "memhook" if shutil.which("memhook") else str(Path(sys.executable).with_name("memhook"))
