"""The action for each kind of event."""

from __future__ import annotations

from dataclasses import replace

from memhook.answering.action import MOST_TOKENS, action_outcome
from memhook.answering.answer import Outcome, Surroundings, prompt_outcome
from memhook.answering.block import Block
from memhook.answering.silence import Silence
from memhook.answering.start import session_outcome, subagent_outcome
from memhook.assistants.events import Event, Kind
from memhook.core.actions import action_of
from memhook.core.fencing import collapsed
from memhook.core.memory import shortened
from memhook.engine.scopes import narrowed
from memhook.settings import Settings

WELCOME = "memhook is on. There are no memories yet; "
FIRST_PROMPT = "to store the first, type: remember: what is worth keeping"
FIRST_COMMAND = 'to store the first, run: memhook remember "what is worth keeping"'
NOTICE_TITLES = 3
NOTICE_TITLE_CHARS = 40
FORGETTING_SOURCES = frozenset({"clear", "compact"})


def settings_for(event: Event, settings: Settings) -> Settings:
    """Return the settings for this event: a start and a tool call have limits of their own, a subagent its type's."""
    if event.kind is Kind.PROMPT:
        return settings
    if event.tool:
        return settings.model_copy(update={"max_tokens": min(settings.max_tokens, MOST_TOKENS)})
    if event.kind is Kind.SUBAGENT_START:
        settings = _settings_of_agent(settings, event.agent_type)
    tokens = min(settings.max_tokens, settings.hooks.session_start.max_tokens)
    return settings.model_copy(update={"max_tokens": tokens})


def _settings_of_agent(settings: Settings, agent_type: str) -> Settings:
    """Narrow the settings to those of this agent type; a plugin's agent may be named without the plugin's prefix."""
    names = (agent_type, agent_type.rpartition(":")[2])
    agent = next((settings.agents[name] for name in names if name in settings.agents), None)
    if agent is None:
        return settings
    own = {
        "namespaces": narrowed(settings.namespaces, agent.namespaces),
        "max_tokens": min(settings.max_tokens, agent.max_tokens or settings.max_tokens),
    }
    return settings.model_copy(update=own)


def brief_notice(block: Block) -> str:
    """Tell the user in one line what the model was shown; empty if nothing was."""
    if not block.titles:
        return ""
    names = [shortened(collapsed(title).rstrip("."), NOTICE_TITLE_CHARS) for title in block.titles[:NOTICE_TITLES]]
    more = [f"{len(block.titles) - NOTICE_TITLES} more"] if len(block.titles) > NOTICE_TITLES else []
    count = f"{len(block.titles)} {'memory' if len(block.titles) == 1 else 'memories'}"
    return f"memhook: {count} ({block.tokens} tokens): {', '.join((*names, *more))}"


def handled(event: Event, around: Surroundings) -> Outcome:
    if event.tool:
        root = str(around.project.root or event.directory)
        failure = event.tool.result if event.tool.failed else ""
        return action_outcome(action_of(event.tool.input, root, event.directory, failure), around)
    if event.kind is Kind.PROMPT:
        return prompt_outcome(event.prompt, around, event.part_limit)
    if event.kind is Kind.SUBAGENT_START:
        return subagent_outcome(event.agent_type, around, event.part_limit)
    outcome = session_outcome(event.source, around, event.part_limit)
    if outcome.silence is not Silence.NO_MEMORIES:
        return outcome
    return replace(outcome, notice=WELCOME + (FIRST_PROMPT if around.settings.hooks.capture else FIRST_COMMAND))
