"""Qwen Code: Claude Code's events and answers, Gemini CLI's settings.

After a tool has run it sends the prompt's event again with an empty prompt, which gets no answer.
"""

from __future__ import annotations

from collections.abc import Iterator

from memhook.assistants.assistant import START_AND_PROMPT, AlsoLoads, Assistant, Where
from memhook.assistants.claude import memories_by_directory
from memhook.assistants.edits import PLUGIN, Edit, hook_groups, joined, json_server
from memhook.assistants.events import Kind, Payload, by_name, text
from memhook.assistants.reading import (
    READ_CHARS,
    About,
    Prompt,
    Reply,
    Step,
    Used,
    inner,
    line_format,
    moment,
    objects,
    ran,
    words,
)


def _wrote(payload: Payload) -> bool:
    return "submitted_prompt" in payload or ("timestamp" in payload and "permission_mode" in payload)


def _edits(where: Where) -> tuple[Edit, ...]:
    settings = (where.project / ".qwen" if where.project else QWEN.folder(where)) / "settings.json"
    server = json_server(settings, ("mcpServers",), where.server(alwaysLoadTools=True))
    # Output at PreToolUse is discarded: memhook only records which session is saving something.
    hooks = where.hooks("qwen", (*START_AND_PROMPT, "Stop"))
    hooks |= where.hooks("qwen", ("PostToolUse", "PostToolUseFailure"), "run_shell_command|write_file|edit")
    hooks |= where.hooks("qwen", ("PreToolUse",), "mcp__.*memhook__remember")
    return (joined(settings, hook_groups(settings, hooks), server),)


_EDITS = ("edit", "replace", "write_file")


def _steps(lines: Iterator[Payload]) -> Iterator[Step]:
    """Yield the steps of a file with one message per line, in the format of Google's API."""
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


QWEN: Assistant = Assistant(
    name="qwen",
    title="Qwen Code",
    more_events=by_name(Kind.SUBAGENT_START, Kind.BEFORE_TOOL, Kind.AFTER_TOOL, Kind.TOOL_FAILED, Kind.STOP),
    wrote=_wrote,
    runs_here=lambda environment: "QWEN_PROJECT_DIR" in environment,
    folder=lambda where: where.folder("QWEN_HOME", ".qwen"),
    edits=_edits,
    plugin_has_server=False,
    has_plugin=lambda where: (QWEN.folder(where) / "extensions" / PLUGIN).is_dir(),
    user_notes=("QWEN.md",),
    project_notes=("QWEN.md",),
    also_loads=(AlsoLoads("AGENTS.md"),),
    follows_references=True,
    notes_by_directory=memories_by_directory,
    session_format=line_format(lambda head: '"parentUuid"' in head and '"parts"' in head, _steps),
    sessions=("projects/*/chats/*.jsonl",),
)
