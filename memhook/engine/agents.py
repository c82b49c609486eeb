"""The settings for a subagent of a given type."""

from __future__ import annotations

from memhook.engine.scopes import narrowed
from memhook.settings import Settings


def settings_of_agent(settings: Settings, agent_type: str) -> Settings:
    """The session's, narrowed to what is set for this type; an agent of a plugin may be called without its plugin."""
    names = (agent_type, agent_type.rpartition(":")[2])
    agent = next((settings.agents[name] for name in names if name in settings.agents), None)
    if agent is None:
        return settings
    own = {
        "namespaces": narrowed(settings.namespaces, agent.namespaces),
        "max_tokens": min(settings.max_tokens, agent.max_tokens or settings.max_tokens),
    }
    return settings.model_copy(update=own)
