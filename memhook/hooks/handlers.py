"""The action for each kind of event."""

from __future__ import annotations

from dataclasses import replace

from memhook.answering.answer import (
    Outcome,
    Surroundings,
    TimesShown,
    prompt_outcome,
    session_outcome,
    subagent_outcome,
)
from memhook.answering.silence import Silence
from memhook.assistants.events import Event, Kind
from memhook.engine.agents import settings_of_agent
from memhook.settings import Settings

WELCOME = "memhook is on. There are no memories yet; "
FIRST_PROMPT = "to store the first, type: remember: what is worth keeping"
FIRST_COMMAND = 'to store the first, run: memhook remember "what is worth keeping"'
FORGETTING_SOURCES = frozenset({"clear", "compact"})


def settings_for(event: Event, settings: Settings) -> Settings:
    """Return the settings for this event: a start has its own token limit, a subagent the settings of its type."""
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
        return subagent_outcome(event.agent_type, around, event.part_limit, times_shown)
    outcome = session_outcome(event.source, around, event.part_limit, times_shown)
    if outcome.silence is not Silence.NO_MEMORIES:
        return outcome
    return replace(outcome, notice=WELCOME + (FIRST_PROMPT if around.settings.hooks.capture else FIRST_COMMAND))
