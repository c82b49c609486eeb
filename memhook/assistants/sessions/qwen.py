"""Qwen Code: a line per message, in the format of Google's API."""

from __future__ import annotations

from collections.abc import Iterator

from memhook.assistants.events import Payload, text
from memhook.assistants.sessions.reading import READ_CHARS, inner, line_format, moment, objects, ran, words
from memhook.assistants.sessions.recording import About, Prompt, Reply, Step, Used

_EDITS = ("edit", "replace", "write_file")


def _steps(lines: Iterator[Payload]) -> Iterator[Step]:
    about: About | None = None
    commands: dict[str, str] = {}
    for line in lines:
        if line.get("isSidechain") or line.get("agentId"):
            continue
        if about is None and text(line, "sessionId"):
            about = About(text(line, "sessionId"), text(line, "cwd"))
            yield about
        parts = inner(line, "message").get("parts")
        match line.get("type"):
            case "user" if not line.get("subtype") and line.get("provenance", "real_user") == "real_user":
                shown = text(inner(line, "systemPayload"), "displayText")[:READ_CHARS]
                yield Prompt(shown or words(parts), moment(line.get("timestamp")))
            case "assistant":
                yield from _reply(parts, commands)
            case "tool_result":
                yield from _results(line, parts, commands)


def _reply(parts: object, commands: dict[str, str]) -> Iterator[Step]:
    if said := words(parts):
        yield Reply(said)
    for call in filter(None, (inner(part, "functionCall") for part in objects(parts))):
        yield Used(is_edit=text(call, "name") in _EDITS)
        commands[text(call, "id")] = text(inner(call, "args"), "command")


def _results(line: Payload, parts: object, commands: dict[str, str]) -> Iterator[Step]:
    failed = inner(line, "toolCallResult").get("status") == "error"
    for response in (inner(part, "functionResponse") for part in objects(parts)):
        output = text(inner(response, "response"), "output", "error")
        yield from ran(commands.pop(text(response, "id"), ""), output, failed=failed)


FORMAT = line_format(lambda head: '"parentUuid"' in head and '"parts"' in head, _steps)
