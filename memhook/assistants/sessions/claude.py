"""Claude Code: a line per event, tool results in the user's lines."""

from __future__ import annotations

from collections.abc import Iterator

from memhook.assistants.events import Payload, text
from memhook.assistants.sessions.reading import inner, line_format, moment, objects, ran, words
from memhook.assistants.sessions.recording import About, Prompt, Reply, Step, Used

_NOT_TYPED = ("isMeta", "isCompactSummary", "isVisibleInTranscriptOnly")
_CLIENT = "<synthetic>"  # the client speaks for the model: an error of the network, "No response requested."
_EDITS = ("Edit", "MultiEdit", "Write", "NotebookEdit")


def _steps(lines: Iterator[Payload]) -> Iterator[Step]:
    about: About | None = None
    commands: dict[str, str] = {}
    for line in lines:
        if line.get("isSidechain"):
            continue
        if (session := text(line, "sessionId")) and (directory := text(line, "cwd")) and about is None:
            about = About(session, directory)
            yield about
        content = inner(line, "message").get("content")
        if line.get("type") == "user":
            yield from _user(line, content, commands)
        elif line.get("type") == "assistant" and inner(line, "message").get("model") != _CLIENT:
            yield from _assistant(content, commands)


def _user(line: Payload, content: object, commands: dict[str, str]) -> Iterator[Step]:
    for block in objects(content):
        command = commands.pop(text(block, "tool_use_id"), "") if block.get("type") == "tool_result" else ""
        result = block.get("content")
        yield from ran(command, words(result), failed=block.get("is_error") is True)
    if not any(line.get(mark) for mark in _NOT_TYPED) and (typed := words(content)):
        yield Prompt(typed, moment(line.get("timestamp")))


def _assistant(content: object, commands: dict[str, str]) -> Iterator[Step]:
    for block in objects(content):
        if block.get("type") == "tool_use":
            yield Used(is_edit=text(block, "name") in _EDITS)
            commands[text(block, "id")] = text(inner(block, "input"), "command")
        elif said := words([block]):
            yield Reply(said)
    if isinstance(content, str):
        yield Reply(words(content))


FORMAT = line_format(lambda head: '"parentUuid"' in head and '"parts"' not in head, _steps)
