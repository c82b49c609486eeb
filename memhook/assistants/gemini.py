"""Gemini CLI: a prompt is BeforeAgent there, timeouts are milliseconds, and memhook is an extension."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from functools import partial
from itertools import chain
from pathlib import Path

from memhook import __version__
from memhook.assistants.assistant import SECONDS, Assistant, Where
from memhook.assistants.edits import PLUGIN, SERVER, Edit, hook_groups, joined, json_server, json_text, whole_file
from memhook.assistants.events import Kind, Payload, text
from memhook.assistants.reading import (
    CUT_SHORT,
    About,
    Prompt,
    Reply,
    SessionFormat,
    Step,
    Used,
    in_file,
    inner,
    json_lines,
    json_object,
    moment,
    objects,
    ran,
    with_problems,
    words,
)
from memhook.patterns import regex

DESCRIPTION = "Memories for this project at the start of a session and on every prompt."

# The first prompt of a session includes the context from the hooks at its start, which nobody typed.
_HOOK_CONTEXT = regex(r"\A(?:<hook_context>.*?</hook_context>\s*)+", re.DOTALL)


def _wrote(payload: Payload) -> bool:
    stamped = "timestamp" in payload and "transcript_path" in payload
    others = "permission_mode" in payload or "stop_reason" in payload  # Qwen Code's and Copilot's
    return (stamped and not others) or text(payload, "hook_event_name") in ("BeforeAgent", "AfterAgent")


def _edits(where: Where) -> tuple[Edit, ...]:
    hooks = where.hooks("gemini", ("SessionStart", "BeforeAgent", "AfterAgent"), timeout=SECONDS * 1000)
    # Output at BeforeTool is discarded: memhook only records which session is saving something.
    tools = {"AfterTool": "run_shell_command|write_file|replace", "BeforeTool": "mcp_.*memhook_remember"}
    for event, names in tools.items():
        hooks |= where.hooks("gemini", (event,), names, timeout=SECONDS * 1000)
    if where.project:
        settings = where.project / ".gemini/settings.json"
        server = json_server(settings, ("mcpServers",), where.server())
        return (joined(settings, hook_groups(settings, hooks), server),)
    extension = GEMINI.folder(where) / "extensions" / PLUGIN
    manifest = {
        "name": PLUGIN,
        "version": __version__,
        "description": DESCRIPTION,
        "mcpServers": {SERVER: where.server()},
    }
    groups = hook_groups(extension / "hooks/hooks.json", hooks)
    return (
        whole_file(extension / "gemini-extension.json", json_text(manifest)),
        whole_file(groups.path, groups.add("")),
    )


_EDITS = ("replace", "write_file", "edit")
_SHELL = "run_shell_command"


def _steps(path: Path) -> Iterator[Step]:
    """Yield the steps from one JSON object, or in later versions from a line per message."""
    problems: list[str] = []
    if path.suffix == ".json":
        whole = json_object(path)
        lines: Iterator[Payload] = iter(()) if whole is None else chain([whole], objects(whole.get("messages")))
        problems += [CUT_SHORT] if whole is None else []
    else:
        lines = json_lines(path, problems)
    return with_problems(_understood(lines, path), problems)


def _understood(lines: Iterator[Payload], path: Path) -> Iterator[Step]:
    seen: set[str] = set()  # a message is written again after each addition to it
    for line in lines:
        if project := text(line, "projectHash"):
            is_subagent = line.get("kind") == "subagent"
            yield About(text(line, "sessionId"), _directory(path, project), is_subagent=is_subagent)
        elif line.get("type") == "user" and text(line, "id") not in seen:
            seen.add(text(line, "id"))
            if asked := words(line.get("displayContent") or line.get("content")):  # else the result of a tool
                yield Prompt(asked, moment(line.get("timestamp")))
        elif line.get("type") == "gemini":
            yield from _reply(line, seen)


def _reply(line: Payload, seen: set[str]) -> Iterator[Step]:
    if said := words(line.get("content")):
        yield Reply(said)
    for call in objects(line.get("toolCalls")):
        if (name := text(call, "id")) in seen:
            continue
        seen.add(name)
        yield Used(is_edit=text(call, "name") in _EDITS)
        if text(call, "name") == _SHELL:
            parts = [inner(part, "functionResponse", "response") for part in objects(call.get("result"))]
            output = "\n".join(text(part, "output", "error") for part in parts)
            yield from ran(inner(call, "args").get("command"), output, failed=call.get("status") == "error")


def _directory(path: Path, project: str) -> str:
    """Return the directory of a project that files name by a hash, from a folder above or the list of all projects."""
    folder = next((one for one in path.parents if one.parent.name == "tmp"), path.parent)
    try:
        return (folder / ".project_root").read_text(encoding="utf-8").strip()
    except (OSError, ValueError):
        known = inner(json_object(folder.parents[1] / "projects.json") or {}, "projects")
        return next((one for one in known if hashlib.sha256(one.encode()).hexdigest() == project), "")


GEMINI = Assistant(
    name="gemini",
    title="Gemini CLI",
    # A resumed session lacks its first prompt: a message that starts with the context of a hook is dropped.
    resumed_as="clear",
    more_events={
        "BeforeAgent": Kind.PROMPT,
        "BeforeTool": Kind.BEFORE_TOOL,
        "AfterTool": Kind.AFTER_TOOL,
        "AfterAgent": Kind.STOP,
    },
    moment="timestamp",
    typed=partial(_HOOK_CONTEXT.sub, ""),
    wrote=_wrote,
    # Qwen Code is made from Gemini CLI and sets the variables of both.
    runs_here=lambda environment: "GEMINI_PROJECT_DIR" in environment and "QWEN_PROJECT_DIR" not in environment,
    folder=lambda where: where.home / ".gemini",
    edits=_edits,
    way="extension",
    user_notes=("GEMINI.md",),
    project_notes=("GEMINI.md",),
    follows_references=True,
    session_format=SessionFormat(lambda head: '"projectHash"' in head, partial(in_file, _steps)),
    sessions=("tmp/*/chats/session-*.json", "tmp/*/chats/session-*.jsonl"),
)
