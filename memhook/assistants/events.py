"""The common form of the assistants' events, and parsing their payloads."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from memhook.core.packing import PartLimit
from memhook.patterns import regex

TRIAL_SESSION = "memhook-doctor"
"""The session of an event that nobody typed: answered like any other, and not recorded."""

Payload = Mapping[str, Any]


class Kind(StrEnum):
    """The events that memhook handles, named as in Claude Code."""

    SESSION_START = "SessionStart"
    SUBAGENT_START = "SubagentStart"
    PROMPT = "UserPromptSubmit"
    BEFORE_TOOL = "PreToolUse"
    AFTER_TOOL = "PostToolUse"
    TOOL_FAILED = "PostToolUseFailure"
    STOP = "Stop"
    """An exchange has ended. Nothing may be printed: Claude Code would run the model again."""
    COMPACTED = "PostCompact"


def by_name(*kinds: Kind) -> dict[str, Kind]:
    """Map these by name, for an assistant that uses Claude Code's names."""
    return {kind.value: kind for kind in kinds}


TOOL_KINDS = frozenset({Kind.BEFORE_TOOL, Kind.AFTER_TOOL, Kind.TOOL_FAILED})
UNANSWERED = frozenset({Kind.STOP, Kind.COMPACTED})
"""Events that never get output."""


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A tool that the assistant is about to use or has used; `result` is empty before that."""

    name: str
    input: Payload
    result: str = ""
    failed: bool = False


@dataclass(frozen=True, slots=True)
class Event:
    """`name` is the event as the assistant calls it; `moment` distinguishes two prompts with the same words.

    `reply` is the assistant's last message at the end of an exchange, or the summary when its context was compacted;
    `transcript` is the file of the session, which may contain it if the event does not.
    """

    kind: Kind
    name: str
    client: str
    session: str
    agent: str  # a subagent's id; it has its own account and budget
    directory: str
    prompt: str = ""
    source: str = ""
    agent_type: str = ""
    moment: str = ""
    part_limit: PartLimit | None = None
    reply: str = ""
    transcript: str = ""
    tool: ToolCall | None = None

    @property
    def is_saving(self) -> bool:
        """Whether the tool is memhook's `remember`, under whatever name an assistant gives to tools of MCP servers."""
        return self.tool is not None and "memhook" in self.tool.name and self.tool.name.endswith("remember")

    @property
    def is_told_apart(self) -> bool:
        """Whether the same event cannot come twice unless the hook is installed twice."""
        return bool(self.moment) or (self.kind is Kind.SESSION_START and bool(self.session))


def text(payload: Payload, *keys: str) -> str:
    """Return the first of these fields that holds text; any field may be missing or of another type."""
    for key in keys:
        value = payload.get(key)
        if isinstance(value, str) and value:
            # A lone surrogate is valid JSON, but neither the ledger nor the model can take it.
            return value.encode("utf-8", "replace").decode()
    return ""


_EXIT_CODE = regex(r"(?im)^exit code: [1-9]|completed with exit code [1-9]")
"""Gemini CLI and Copilot CLI append the exit code to a command's output."""
_END_CHARS = 1_000


def tool_call(payload: Payload) -> ToolCall | None:
    """Return the tool call of the payload, if any. Its result is text, or an object whose texts are joined."""
    name = text(payload, "tool_name", "toolName")
    if not name:
        return None
    inputs = (payload.get(key) for key in ("tool_input", "toolArgs"))
    given: Payload = next((one for one in inputs if isinstance(one, Mapping)), {})
    result = next((payload[key] for key in ("tool_response", "tool_result", "toolResult") if key in payload), "")
    error = text(payload, "error")
    said = "\n".join(filter(None, (_texts(result), error)))
    return ToolCall(
        name, given, said, bool(error) or _has_failed(result) or bool(_EXIT_CODE.search(said[-_END_CHARS:]))
    )


def _texts(result: object) -> str:
    if isinstance(result, Mapping):
        return "\n".join(filter(None, (text(result, key) for key in result)))
    return result.encode("utf-8", "replace").decode() if isinstance(result, str) else ""


def _has_failed(result: object) -> bool:
    """Whether fields of the result mark a failure: Copilot sets a type, MCP tools a flag."""
    if not isinstance(result, Mapping):
        return False
    kind = text(result, "result_type", "resultType")
    return (bool(kind) and kind != "success") or result.get("is_error") is True or result.get("isError") is True
