"""An event of an assistant in memhook's own words, and the answer to it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from memhook.core.packing import PartLimit

TRIAL_SESSION = "memhook-doctor"
"""The session of an event that nobody typed: answered like any other, and not recorded."""


class Kind(StrEnum):
    """The moments at which memhook may speak."""

    SESSION_START = "SessionStart"
    SUBAGENT_START = "SubagentStart"
    PROMPT = "UserPromptSubmit"


@dataclass(frozen=True, slots=True)
class Event:
    """`name` is the event as the client calls it; `moment` tells two prompts with the same words apart, if it can."""

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
        """Whether the same event cannot come twice unless the hook is there twice."""
        return bool(self.moment) or (self.kind is Kind.SESSION_START and bool(self.session))


@dataclass(frozen=True, slots=True)
class Answer:
    """`context` is for the model, `notice` for the user; both may be empty."""

    context: str = ""
    notice: str = ""
