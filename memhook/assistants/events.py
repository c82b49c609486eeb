"""An assistant's event in memhook's own terms, the answer to it, and reading the payload it came in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from memhook.core.packing import PartLimit

TRIAL_SESSION = "memhook-doctor"
"""The session of an event that nobody typed: answered like any other, and not recorded."""

Payload = Mapping[str, Any]


class Kind(StrEnum):
    """The moments at which memhook may speak, named as in Claude Code."""

    SESSION_START = "SessionStart"
    SUBAGENT_START = "SubagentStart"
    PROMPT = "UserPromptSubmit"


@dataclass(frozen=True, slots=True)
class Event:
    """`name` is the event as the assistant calls it; `moment` distinguishes two prompts with the same words."""

    kind: Kind
    name: str
    client: str
    session: str
    agent: str  # a subagent's id; its account and its budget are its own
    directory: str
    prompt: str = ""
    source: str = ""
    agent_type: str = ""
    moment: str = ""
    part_limit: PartLimit | None = None

    @property
    def is_told_apart(self) -> bool:
        """Whether the same event cannot come twice unless the hook is installed twice."""
        return bool(self.moment) or (self.kind is Kind.SESSION_START and bool(self.session))


@dataclass(frozen=True, slots=True)
class Answer:
    """`context` is for the model, `notice` for the user; both may be empty."""

    context: str = ""
    notice: str = ""


def text(payload: Payload, *keys: str) -> str:
    """Return the first of these fields that holds text; any field may be missing or of another type."""
    for key in keys:
        value = payload.get(key)
        if isinstance(value, str) and value:
            # A lone surrogate is valid JSON, but neither the ledger nor the model can take it.
            return value.encode("utf-8", "replace").decode()
    return ""
