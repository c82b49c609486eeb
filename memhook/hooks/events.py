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
    PROMPT = "UserPromptSubmit"


@dataclass(frozen=True, slots=True)
class Event:
    """`name` is the event as the client calls it; `moment` tells two prompts with the same words apart, if it can."""

    kind: Kind
    name: str
    client: str
    session: str
    agent: str
    directory: str
    prompt: str = ""
    source: str = ""
    moment: str = ""
    part_limit: PartLimit | None = None


@dataclass(frozen=True, slots=True)
class Answer:
    """`context` is for the model, `notice` for the user; both may be empty."""

    context: str = ""
    notice: str = ""
