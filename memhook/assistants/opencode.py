"""OpenCode: a plugin in JavaScript, which memhook installs, sends Claude Code's events and adds the context itself."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from functools import partial
from importlib.resources import files
from itertools import groupby
from pathlib import Path

from memhook.assistants.assistant import AlsoLoads, Assistant, Where
from memhook.assistants.edits import Edit, json_server, whole_file
from memhook.assistants.events import Kind, Payload, by_name, text
from memhook.assistants.reading import (
    UNKNOWN,
    UNREADABLE,
    About,
    Problem,
    Prompt,
    Recording,
    Reply,
    SessionFormat,
    Step,
    Used,
    in_file,
    inner,
    json_object,
    moment,
    parsed,
    ran,
    words,
)


def _folder(where: Where) -> Path:
    usual = where.folder("XDG_CONFIG_HOME", ".config") / "opencode"
    return where.folder("OPENCODE_CONFIG_DIR", str(usual))


def _edits(where: Where) -> tuple[Edit, ...]:
    folder = where.project / ".opencode" if where.project else _folder(where)
    shim = files("memhook").joinpath("resources/opencode.js").read_text(encoding="utf-8")
    shim = shim.replace('"@LAUNCH@"', json.dumps(str(where.launcher)))
    settings = where.project or folder
    named = next((settings / name for name in ("opencode.jsonc", "opencode.json") if (settings / name).exists()), None)
    server = {"type": "local", "command": [str(where.launcher), "mcp"], "enabled": True}
    return (
        whole_file(folder / "plugin/memhook.js", shim),
        json_server(named or settings / "opencode.json", ("mcp",), server),
    )


_EDITS = ("edit", "write", "patch", "apply_patch", "multiedit")


def _in_database(path: Path) -> Iterator[Recording]:
    """Yield a recording per session, so that an ongoing one does not mark all others as changed."""
    try:
        with closing(_opened(path)) as database:
            rows = database.execute("SELECT id, parent_id, directory, time_updated FROM session ORDER BY time_created")
            found = rows.fetchall()
    except sqlite3.Error as error:
        problem = Problem(UNKNOWN if isinstance(error, sqlite3.OperationalError) else UNREADABLE)
        yield Recording(str(path), "", 0.0, partial(iter, (problem,)))
        return
    for session, parent, directory, updated in found:
        about = About(str(session), str(directory or ""), is_subagent=bool(parent))
        seconds = updated / 1000 if isinstance(updated, int) else 0.0
        yield Recording(f"{path}#{session}", str(updated), seconds, partial(_of_database, path, about))


def _opened(path: Path) -> sqlite3.Connection:
    return sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True, timeout=1.0)


def _of_database(path: Path, about: About) -> Iterator[Step]:
    yield about
    query = (
        "SELECT message.id, message.data, part.data FROM message LEFT JOIN part ON part.message_id = message.id"
        " WHERE message.session_id = ? ORDER BY message.time_created, message.id, part.id"
    )
    try:
        with closing(_opened(path)) as database:
            rows = database.execute(query, (about.session,))
            for _, group in groupby(rows, key=lambda row: row[0]):
                some = list(group)
                yield from _message(_object(some[0][1]), [_object(row[2]) for row in some])
    except sqlite3.Error:
        yield Problem(UNREADABLE)


def _object(column: object) -> Payload:
    return (parsed(column) if isinstance(column, str | bytes) else None) or {}


def _of_files(path: Path) -> Iterator[Step]:
    session = json_object(path)
    if session is None or not text(session, "id"):
        yield Problem(UNKNOWN)
        return
    yield About(text(session, "id"), text(session, "directory"), is_subagent=bool(text(session, "parentID")))
    storage = path.parents[2]
    for message in _objects_in(storage / "message" / path.stem):
        yield from _message(message, list(_objects_in(storage / "part" / text(message, "id"))))


def _objects_in(folder: Path) -> Iterator[Payload]:
    """Yield the objects in the order of the files' names, which is chronological."""
    for file in sorted(folder.glob("*.json")):
        if found := json_object(file):
            yield found


def _message(message: Payload, parts: list[Payload]) -> Iterator[Step]:
    if message.get("role") == "user":
        typed = [part for part in parts if not part.get("synthetic") and not part.get("ignored")]
        yield Prompt(unquoted(words(typed)), moment(inner(message, "time").get("created")))
        return
    for part in parts:
        if part.get("type") == "tool":
            yield from _tool(part)
        elif said := words([part]):
            yield Reply(said)


def unquoted(prompt: str) -> str:
    """Return the prompt without the quotes that `opencode run` puts around several words."""
    quoted = prompt[1:-1]
    is_quoted = len(prompt) > 1 and prompt[0] == prompt[-1] == '"' and '"' not in quoted
    return quoted if is_quoted else prompt


def _tool(part: Payload) -> Iterator[Step]:
    state = inner(part, "state")
    yield Used(is_edit=text(part, "tool") in _EDITS)
    if text(part, "tool") == "bash":
        code, failed = inner(state, "metadata").get("exit"), state.get("status") == "error"
        yield from ran(inner(state, "input").get("command"), text(state, "output", "error"), failed=failed, code=code)


OPENCODE = Assistant(
    name="opencode",
    title="OpenCode",
    keeps_start=True,
    shows_notices=True,
    more_events=by_name(Kind.BEFORE_TOOL, Kind.AFTER_TOOL, Kind.TOOL_FAILED, Kind.STOP),
    typed=unquoted,
    folder=_folder,
    edits=_edits,
    user_notes=("AGENTS.md",),
    also_loads=(
        AlsoLoads("AGENTS.md"),
        AlsoLoads("CLAUDE.md", ("AGENTS.md",)),
        AlsoLoads("~/.claude/CLAUDE.md", ("~/.config/opencode/AGENTS.md",)),
    ),
    # One SQLite database since 1.2, whose name may carry a release channel; before that one file per session.
    session_format=SessionFormat(
        lambda head: head.startswith("SQLite format 3") or ('"projectID"' in head and '"directory"' in head),
        lambda path: _in_database(path) if path.suffix == ".db" else in_file(_of_files, path),
    ),
    sessions=("opencode*.db", "storage/session/*/*.json"),
    data_folder=lambda where: where.folder("XDG_DATA_HOME", ".local/share") / "opencode",
)
