"""Copilot CLI: Claude Code's events, or its own in camelCase without a name; context at the top level of the answer."""

from __future__ import annotations

from collections.abc import Iterator

from memhook.assistants.assistant import SECONDS, START_AND_PROMPT, AlsoLoads, Assistant, Where
from memhook.assistants.claude import enables_plugin
from memhook.assistants.edits import Edit, json_server, json_text, whole_file
from memhook.assistants.events import Kind, Payload, by_name, text
from memhook.assistants.reading import (
    READ_CHARS,
    UNKNOWN,
    About,
    Problem,
    Prompt,
    Reply,
    Step,
    Used,
    inner,
    line_format,
    moment,
    ran,
)


def _unnamed_event(payload: Payload) -> str:
    """Return the name of a native event, by its fields."""
    if "toolName" in payload:
        return "postToolUse" if "toolResult" in payload else "preToolUse"
    named = {"prompt": "userPromptSubmitted", "source": "sessionStart", "stopReason": "agentStop"}
    return next((name for field, name in named.items() if field in payload), "")


def _wrote(payload: Payload) -> bool:
    is_bare = "timestamp" in payload and "transcript_path" not in payload
    return "sessionId" in payload or "stop_reason" in payload or is_bare


def _edits(where: Where) -> tuple[Edit, ...]:
    folder = where.project / ".github" if where.project else COPILOT.folder(where)
    hooks = {
        event: [
            {"type": "command", "bash": command, "timeoutSec": SECONDS} for command in where.commands("copilot", event)
        ]
        for event in (*START_AND_PROMPT, "PreToolUse", "PostToolUse", "Stop")
    }
    servers = folder / ("mcp.json" if where.project else "mcp-config.json")
    return (
        whole_file(folder / "hooks/memhook.json", json_text({"version": 1, "hooks": hooks})),
        json_server(servers, ("mcpServers",), {"type": "local", **where.server(tools=["*"])}),
    )


VERSION = 1
_EDITS = ("edit", "create", "apply_patch", "str_replace_editor")


def _steps(lines: Iterator[Payload]) -> Iterator[Step]:
    """Yield the steps of a file with one event per line."""
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


COPILOT: Assistant = Assistant(
    name="copilot",
    title="Copilot CLI",
    keeps_start=True,
    more_events={
        **by_name(Kind.BEFORE_TOOL, Kind.AFTER_TOOL, Kind.STOP),
        "sessionStart": Kind.SESSION_START,
        "userPromptSubmitted": Kind.PROMPT,
        "preToolUse": Kind.BEFORE_TOOL,
        "postToolUse": Kind.AFTER_TOOL,
        "agentStop": Kind.STOP,
    },
    unnamed_event=_unnamed_event,
    moment="timestamp",
    context_in=lambda _, context: {"additionalContext": context},
    wrote=_wrote,
    runs_here=lambda environment: "COPILOT_CLI" in environment,
    folder=lambda where: where.folder("COPILOT_HOME", ".copilot"),
    edits=_edits,
    has_plugin=lambda where: enables_plugin(COPILOT.folder(where), where.project),
    user_notes=("copilot-instructions.md", "instructions/**/*.instructions.md"),
    project_notes=(".github/copilot-instructions.md", ".github/instructions/**/*.instructions.md"),
    also_loads=(AlsoLoads("AGENTS.md"), AlsoLoads("CLAUDE.md"), AlsoLoads("GEMINI.md")),
    session_format=line_format(lambda head: '"session.start"' in head, _steps),
    sessions=("session-state/*/events.jsonl",),
)
