"""Copilot CLI: a line per event, named with dots."""

from __future__ import annotations

from collections.abc import Iterator

from memhook.assistants.events import Payload, text
from memhook.assistants.sessions.reading import READ_CHARS, inner, line_format, moment, ran
from memhook.assistants.sessions.recording import UNKNOWN, About, Problem, Prompt, Reply, Step, Used

VERSION = 1
_EDITS = ("edit", "create", "apply_patch", "str_replace_editor")


def _steps(lines: Iterator[Payload]) -> Iterator[Step]:
    commands: dict[str, str] = {}
    for line in lines:
        data = inner(line, "data")
        is_subagents = bool(data.get("parentToolCallId"))
        match line.get("type"):
            case "session.start":
                yield _about(data)
                if data.get("version", VERSION) != VERSION:
                    yield Problem(UNKNOWN)
                    return
            case "user.message" if not is_subagents:
                yield Prompt(text(data, "content")[:READ_CHARS], moment(line.get("timestamp")))
            case "assistant.message" if not is_subagents and text(data, "content"):
                yield Reply(text(data, "content")[:READ_CHARS])
            case "tool.execution_start":
                yield Used(is_edit=text(data, "toolName") in _EDITS)
                commands[text(data, "toolCallId")] = text(inner(data, "arguments"), "command")
            case "tool.execution_complete":
                output = text(inner(data, "result"), "content") or text(inner(data, "error"), "message")
                failed = data.get("success") is False
                yield from ran(commands.pop(text(data, "toolCallId"), ""), output, failed=failed)


def _about(data: Payload) -> About:
    context = inner(data, "context")
    repository = text(context, "repository")
    host = text(context, "repositoryHost") or "github.com"
    return About(text(data, "sessionId"), text(context, "cwd"), f"https://{host}/{repository}" if repository else "")


FORMAT = line_format(lambda head: '"session.start"' in head, _steps)
