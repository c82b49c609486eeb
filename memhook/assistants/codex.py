"""Codex: Claude Code's events with a turn instead of a prompt's id, a limit in bytes, servers in TOML."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from datetime import datetime
from pathlib import PurePath
from typing import Any

from memhook.assistants.assistant import START_AND_PROMPT, Assistant, Where
from memhook.assistants.edits import PLUGIN, Edit, hook_groups, toml_server
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
    parsed,
    ran,
)
from memhook.core.packing import PartLimit, utf8_bytes
from memhook.patterns import regex

# Codex 0.166 takes 10,000 bytes of one hook entry whole and cuts the middle out of more.
PART_LIMIT = PartLimit(10_000, utf8_bytes)

# The event has the output of a command, not its exit code.
_FAILURE = regex(
    r"(?i)\b(?:cannot|could not|couldn't|denied|error|exception|fail(?:ed|ure)?|fatal|not found|panick?ed|traceback)\b"
    r"|error\[|Error:|Exception\b|Error\b"
)


def _wrote(payload: Payload) -> bool:
    """Whether Codex wrote it: turn ids, these transcript names and a permission mode at the start are only Codex's."""
    if "timestamp" in payload:
        return False
    transcript = PurePath(text(payload, "transcript_path")).name
    is_early = text(payload, "hook_event_name") == "SessionStart" and "permission_mode" in payload
    return "turn_id" in payload or transcript.startswith("rollout-") or is_early


def _edits(where: Where) -> tuple[Edit, ...]:
    folder = where.project / ".codex" if where.project else CODEX.folder(where)
    hooks = where.hooks("codex", START_AND_PROMPT, parts=2) | where.hooks("codex", ("Stop",))
    hooks |= where.hooks("codex", ("PreToolUse", "PostToolUse"), "Bash|apply_patch|mcp__.*memhook__remember")
    return (
        hook_groups(folder / "hooks.json", hooks),
        toml_server(folder / "config.toml", ("mcp_servers",), where.server(startup_timeout_sec=20)),
    )


def _has_plugin(where: Where) -> bool:
    try:
        plugins = tomllib.loads((CODEX.folder(where) / "config.toml").read_text(encoding="utf-8")).get("plugins", {})
    except (OSError, ValueError, RecursionError):
        return False
    entries = plugins.items() if isinstance(plugins, dict) else ()
    return any(
        name.startswith(f"{PLUGIN}@") and isinstance(entry, dict) and entry.get("enabled", True)
        for name, entry in entries
    )


def _steps(lines: Iterator[Payload]) -> Iterator[Step]:
    """Yield the steps of a file with one event per line; a prompt that is an event and an item is yielded once."""
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
    """Yield the prompt or reply of a completed item, as recorded by versions with a paginated history."""
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
    """Return a command's output and exit code, from the current format or that of 2025."""
    written = output if isinstance(output, str) else text(output, "content") if isinstance(output, dict) else ""
    found = parsed(written) or {}
    return text(found, "output") or written, inner(found, "metadata").get("exit_code")


CODEX = Assistant(
    name="codex",
    title="Codex",
    more_events=by_name(Kind.SUBAGENT_START, Kind.BEFORE_TOOL, Kind.AFTER_TOOL, Kind.STOP),
    says_failure=lambda result: _FAILURE.search(result) is not None,
    moment="turn_id",
    keeps_start=True,
    part_limit=PART_LIMIT,
    wrote=_wrote,
    folder=lambda where: where.folder("CODEX_HOME", ".codex"),
    edits=_edits,
    has_plugin=_has_plugin,
    note="Codex runs no hook before you have trusted it: start codex, look at the hooks it shows and trust them.",
    user_notes=("AGENTS.md", "AGENTS.override.md", "memories/*.md"),
    project_notes=("AGENTS.md",),
    session_format=line_format(lambda head: '"session_meta"' in head, _steps),
    sessions=("sessions/*/*/*/rollout-*.jsonl",),
)
