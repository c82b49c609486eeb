"""Claude Code: the format of events and answers that the others adopted, and two settings files."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from memhook.assistants.assistant import START_AND_PROMPT, AlsoLoads, Assistant, Where
from memhook.assistants.edits import PLUGIN, Edit, hook_groups, json_object, json_server
from memhook.assistants.events import Kind, Payload, by_name, text
from memhook.assistants.reading import About, Prompt, Reply, Step, Used, inner, line_format, moment, objects, ran, words
from memhook.core.packing import PartLimit, utf16_units

# Claude Code 2.1 takes 10,000 UTF-16 units of one hook entry whole and replaces 10,001 by a file path.
PART_LIMIT = PartLimit(10_000, utf16_units)
PARTS = 2  # hook entries per event
CHARACTERS_PER_TOKEN = 4  # of plain English; denser text fills the budget before it fills the entries
CARRIED_TOKENS = PARTS * PART_LIMIT.size // CHARACTERS_PER_TOKEN

TOOLS = "Bash|Edit|MultiEdit|NotebookEdit|Write|mcp__.*memhook__remember"
"""The tools that touch a file, run a command, or save a memory: the event names the session."""


def budget_note(max_tokens: int) -> str:
    """A note about a budget that the hook entries cannot carry; empty when they can."""
    if max_tokens <= CARRIED_TOKENS:
        return ""
    return (
        f"max_tokens = {max_tokens} is more than Claude Code lets through: {PARTS} hook entries of"
        f" {PART_LIMIT.size:,} characters, about {CARRIED_TOKENS:,} tokens of English text. The rest is left out."
    )


def enables_plugin(folder: Path, project: Path | None) -> bool:
    """Whether the settings enable memhook as a plugin, those of the project over the user's."""
    files = [folder / "settings.json"]
    if project:
        files += [project / ".claude/settings.json", project / ".claude/settings.local.json"]
    enabled: dict[str, Any] = {}
    for file in files:
        plugins = json_object(file).get("enabledPlugins")
        enabled |= plugins if isinstance(plugins, dict) else {}
    return any(name.startswith(f"{PLUGIN}@") and bool(is_enabled) for name, is_enabled in enabled.items())


def _edits(where: Where) -> tuple[Edit, ...]:
    is_moved = where.environment.get("CLAUDE_CONFIG_DIR", "").startswith("/")
    servers = (CLAUDE.folder(where) if is_moved else where.home) / ".claude.json"
    # The project's settings that are not committed: the path of the launcher is specific to this machine.
    local = where.project and where.project / ".claude/settings.local.json"
    settings = local or CLAUDE.folder(where) / "settings.json"
    at = ("projects", str(where.project), "mcpServers") if where.project else ("mcpServers",)
    hooks = where.hooks("claude", (*START_AND_PROMPT, "SubagentStart"), parts=PARTS)
    hooks |= where.hooks("claude", ("Stop", "PostCompact"))
    hooks |= where.hooks("claude", ("PreToolUse", "PostToolUseFailure"), TOOLS)
    return (
        hook_groups(settings, hooks),
        json_server(servers, at, {"type": "stdio", **where.server(alwaysLoad=True)}),
    )


def memories_by_directory(folder: Path) -> Iterator[tuple[Path, Path]]:
    """The memory folder of each directory that is still on this machine."""
    for memory in sorted(folder.glob("projects/*/memory")):
        directories = list(_directories_called(memory.parent.name))
        if len(directories) == 1:
            yield from ((path, directories[0]) for path in sorted(memory.glob("*.md")))


def _directories_called(encoded: str, at: Path = Path("/"), so_far: str = "") -> Iterator[Path]:
    """Yield the directories whose encoded path this is: each character but letters and digits became a dash."""
    try:
        children = sorted(Path(entry.path) for entry in os.scandir(at) if entry.is_dir())
    except OSError:
        return
    for child in children:
        written = f"{so_far}-{re.sub('[^A-Za-z0-9]', '-', child.name)}"
        if written == encoded:
            yield child
        elif encoded.startswith(f"{written}-"):
            yield from _directories_called(encoded, child, written)


_OWN = ("CLAUDE.md", "CLAUDE.local.md", ".claude/CLAUDE.md")

_NOT_TYPED = ("isMeta", "isCompactSummary", "isVisibleInTranscriptOnly")
_CLIENT = "<synthetic>"  # the client speaks for the model: an error of the network, "No response requested."
_EDITS = ("Edit", "MultiEdit", "Write", "NotebookEdit")


def _steps(lines: Iterator[Payload]) -> Iterator[Step]:
    """Yield the steps. The file has a line per event; the results of tools are in the user's lines."""
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


CLAUDE: Assistant = Assistant(
    name="claude",
    title="Claude Code",
    shows_notices=True,
    more_events=by_name(Kind.SUBAGENT_START, Kind.BEFORE_TOOL, Kind.TOOL_FAILED, Kind.STOP, Kind.COMPACTED),
    part_limit=PART_LIMIT,
    folder=lambda where: where.folder("CLAUDE_CONFIG_DIR", ".claude"),
    edits=_edits,
    has_plugin=lambda where: enables_plugin(CLAUDE.folder(where), where.project),
    user_notes=("CLAUDE.md", "rules/**/*.md", "agent-memory/*/*.md"),
    project_notes=(
        *(*_OWN, ".claude/rules/**/*.md"),
        *(".claude/agent-memory/*/*.md", ".claude/agent-memory-local/*/*.md"),
    ),
    also_loads=(AlsoLoads("AGENTS.md", _OWN), AlsoLoads(".claude/AGENTS.md", _OWN)),
    follows_references=True,
    notes_by_directory=memories_by_directory,
    session_format=line_format(lambda head: '"parentUuid"' in head and '"parts"' not in head, _steps),
    sessions=("projects/*/*.jsonl",),
)
