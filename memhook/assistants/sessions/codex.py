"""Codex: a line per event, wrapped in a payload."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Any

from memhook.assistants.events import Payload, text
from memhook.assistants.sessions.reading import READ_CHARS, inner, line_format, moment, objects, parsed, ran
from memhook.assistants.sessions.recording import About, Prompt, Reply, Step, Used


def _steps(lines: Iterator[Payload]) -> Iterator[Step]:
    """A prompt that is there as an event and as an item is one."""
    before: Step | None = None
    for step in _every(lines):
        if not (isinstance(step, Prompt) and isinstance(before, Prompt) and step.text == before.text):
            yield step
        before = step


def _every(lines: Iterator[Payload]) -> Iterator[Step]:
    commands: dict[str, Any] = {}
    for line in lines:
        payload = inner(line, "payload")
        match line.get("type"), payload.get("type"):
            case "session_meta", _:
                yield _about(payload)
            case "event_msg", "user_message":
                yield Prompt(text(payload, "message")[:READ_CHARS], moment(line.get("timestamp")))
            case "event_msg", ("agent_message" | "task_complete"):
                if said := text(payload, "message", "last_agent_message"):
                    yield Reply(said[:READ_CHARS])
            case "event_msg", "item_completed":
                yield from _item(inner(payload, "item"), moment(line.get("timestamp")))
            case "response_item", "custom_tool_call":
                yield Used(is_edit=True)
            case "response_item", "function_call":
                arguments = parsed(text(payload, "arguments")) or {}
                command = arguments.get("cmd") or arguments.get("command")
                commands[text(payload, "call_id")] = command
                yield Used(is_edit="apply_patch" in str(command))
            case "response_item", "function_call_output":
                output, code = _output(payload.get("output"))
                yield from ran(commands.pop(text(payload, "call_id"), ""), output, code=code)


def _item(item: Payload, when: datetime | None) -> Iterator[Step]:
    """What was said, as versions record it that keep their history in pages."""
    said = "\n".join(text(part, "text") for part in objects(item.get("content")))[:READ_CHARS]
    if text(item, "type") == "UserMessage":
        yield Prompt(said, when)
    elif text(item, "type") == "AgentMessage" and said:
        yield Reply(said)


def _about(payload: Payload) -> About:
    is_subagent = isinstance(payload.get("source"), dict) or payload.get("thread_source") == "subagent"
    remote = text(inner(payload, "git"), "repository_url")
    return About(text(payload, "id"), text(payload, "cwd"), remote, is_subagent)


def _output(output: Any) -> tuple[str, Any]:
    """The output of a command and its exit code, in the format of today and in that of 2025."""
    written = output if isinstance(output, str) else text(output, "content") if isinstance(output, dict) else ""
    found = parsed(written) or {}
    return text(found, "output") or written, inner(found, "metadata").get("exit_code")


FORMAT = line_format(lambda head: '"session_meta"' in head, _steps)
