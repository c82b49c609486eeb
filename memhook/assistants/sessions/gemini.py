"""Gemini CLI: one object, or in later versions a line per message; some of its lines change what was said before."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from functools import partial
from itertools import chain
from pathlib import Path

from memhook.assistants.events import Payload, text
from memhook.assistants.sessions.reading import (
    CUT_SHORT,
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
from memhook.assistants.sessions.recording import About, Prompt, Reply, SessionFormat, Step, Used

_EDITS = ("replace", "write_file", "edit")
_SHELL = "run_shell_command"


def _steps(path: Path) -> Iterator[Step]:
    problems: list[str] = []
    if path.suffix == ".json":
        whole = json_object(path)
        lines: Iterator[Payload] = iter(()) if whole is None else chain([whole], objects(whole.get("messages")))
        problems += [CUT_SHORT] if whole is None else []
    else:
        lines = json_lines(path, problems)
    return with_problems(_understood(lines, path), problems)


def _understood(lines: Iterator[Payload], path: Path) -> Iterator[Step]:
    seen: set[str] = set()  # a message is written again when something was added to it
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
    """Files name it by a hash; the folder above has its path, or the list of all projects."""
    folder = next((one for one in path.parents if one.parent.name == "tmp"), path.parent)
    try:
        return (folder / ".project_root").read_text(encoding="utf-8").strip()
    except (OSError, ValueError):
        known = inner(json_object(folder.parents[1] / "projects.json") or {}, "projects")
        return next((one for one in known if hashlib.sha256(one.encode()).hexdigest() == project), "")


FORMAT = SessionFormat(lambda head: '"projectHash"' in head, partial(in_file, _steps))
