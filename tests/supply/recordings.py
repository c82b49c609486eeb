"""Sessions as the assistants record them, written by hand in the shape of each: the same exchange in all of them."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

WHEN = "2026-02-21T09:30:00.000Z"
MILLISECONDS = 1_771_666_200_000
WRONG, RIGHT = "make check-all", "make -k check-all"


@dataclass(frozen=True, slots=True)
class Turn:
    """A prompt, the command that was wrong and the one that worked, and the last message."""

    asked: str
    ended: str
    output: str = "make: unknown command 'check-all'"


def claude_lines(turns: Sequence[Turn], directory: str, session: str) -> list[dict[str, Any]]:
    common = {"sessionId": session, "cwd": directory, "version": "2.1.9", "timestamp": WHEN, "parentUuid": None}

    def user(content: Any, **more: Any) -> dict[str, Any]:
        return {**common, "type": "user", "message": {"role": "user", "content": content}, **more}

    def assistant(*blocks: Any) -> list[dict[str, Any]]:
        return [{**common, "type": "assistant", "message": {"role": "assistant", "content": [one]}} for one in blocks]

    def ran(name: str, command: str, output: str, *, is_error: bool) -> list[dict[str, Any]]:
        used = {"type": "tool_use", "id": name, "name": "Bash", "input": {"command": command}}
        result = {"type": "tool_result", "tool_use_id": name, "content": output, "is_error": is_error}
        return [*assistant(used), user([result])]

    lines = [{"type": "summary", "summary": "Ledger"}, user("Caveat: the messages below are generated.", isMeta=True)]
    for turn in turns:
        lines += [user(turn.asked), user("<system-reminder>Be brief.</system-reminder>")]
        lines += [user("A subagent's own prompt that has more than six words", isSidechain=True)]
        lines += assistant({"type": "thinking", "thinking": "Hm."}, {"type": "text", "text": "Let me look."})
        lines += ran("t1", WRONG, f"Exit code 2\n{turn.output}", is_error=True) + ran("t2", RIGHT, "ok", is_error=False)
        lines += assistant({"type": "text", "text": turn.ended})
        silent = {"role": "assistant", "model": "<synthetic>", "content": [{"type": "text", "text": "No response."}]}
        lines += [{**common, "type": "assistant", "message": silent}]
    return lines


def codex_lines(turns: Sequence[Turn], directory: str, session: str) -> list[dict[str, Any]]:
    def line(kind: str, **payload: Any) -> dict[str, Any]:
        return {"timestamp": WHEN, "type": kind, "payload": payload}

    def ran(name: str, command: str, output: str) -> list[dict[str, Any]]:
        call = {"type": "function_call", "name": "exec_command", "arguments": json.dumps({"cmd": command})}
        return [
            line("response_item", **call, call_id=name),
            line("response_item", type="function_call_output", call_id=name, output=output),
        ]

    git = {"repository_url": "git@example.org:team/ledger.git", "branch": "main"}
    lines = [line("session_meta", id=session, cwd=directory, cli_version="0.140.0", source="cli", git=git)]
    for turn in turns:
        instructions = [{"type": "input_text", "text": "# AGENTS.md instructions"}]
        lines += [line("response_item", type="message", role="user", content=instructions)]
        lines += [line("event_msg", type="user_message", message=turn.asked)]
        lines += [line("event_msg", type="agent_message", message="Let me look.")]
        lines += ran("c1", WRONG, f"Process exited with code 2\nOutput:\n{turn.output}")
        lines += ran("c2", RIGHT, "Process exited with code 0\nOutput:\nok")
        lines += [line("event_msg", type="agent_message", message=turn.ended)]
        lines += [line("event_msg", type="task_complete", last_agent_message=turn.ended)]
    return lines


def copilot_lines(turns: Sequence[Turn], directory: str, session: str) -> list[dict[str, Any]]:
    def line(kind: str, **data: Any) -> dict[str, Any]:
        return {"type": kind, "data": data, "timestamp": WHEN}

    def ran(name: str, command: str, output: str, *, success: bool) -> list[dict[str, Any]]:
        start = line("tool.execution_start", toolCallId=name, toolName="bash", arguments={"command": command})
        return [start, line("tool.execution_complete", toolCallId=name, success=success, result={"content": output})]

    context = {"cwd": directory, "repository": "team/ledger", "repositoryHost": "example.org"}
    lines = [line("session.start", sessionId=session, version=1, context=context)]
    for turn in turns:
        lines += [line("user.message", content=turn.asked, transformedContent=f"<current>\n{turn.asked}")]
        lines += ran("c1", WRONG, turn.output, success=False) + ran("c2", RIGHT, "ok", success=True)
        lines += [line("assistant.message", content="", toolRequests=[]), line("assistant.message", content=turn.ended)]
        lines += [line("assistant.turn_end")]
    return lines


def gemini_lines(turns: Sequence[Turn], _directory: str, session: str) -> list[dict[str, Any]]:
    lines: list[dict[str, Any]] = [{"sessionId": session, "projectHash": "0" * 64, "startTime": WHEN, "kind": "main"}]
    for number, turn in enumerate(turns):
        asked = {"id": f"u{number}", "type": "user", "timestamp": WHEN, "content": [{"text": turn.asked}]}
        calls = [
            _gemini_call(f"w{number}", WRONG, f"{turn.output}\nExit Code: 2", "error"),
            _gemini_call(f"r{number}", RIGHT, "ok", "success"),
        ]
        looked = {"id": f"g{number}", "type": "gemini", "content": "Let me look.", "toolCalls": calls}
        result = {"functionResponse": {"id": f"r{number}", "response": {"output": "ok"}}}
        returned = {"id": f"t{number}", "type": "user", "timestamp": WHEN, "content": [result]}
        ended = {"id": f"e{number}", "type": "gemini", "content": turn.ended}
        lines += [asked, looked, asked, looked, returned, {"$set": {"lastUpdated": WHEN}}, ended]
    return lines


def _gemini_call(name: str, command: str, output: str, status: str) -> dict[str, Any]:
    result = [{"functionResponse": {"id": name, "response": {"output": output}}}]
    return {"id": name, "name": "run_shell_command", "args": {"command": command}, "status": status, "result": result}


def qwen_lines(turns: Sequence[Turn], directory: str, session: str) -> list[dict[str, Any]]:
    def line(kind: str, *parts: dict[str, Any], **more: Any) -> dict[str, Any]:
        common = {"uuid": "u", "parentUuid": None, "sessionId": session, "timestamp": WHEN, "cwd": directory}
        return {**common, "type": kind, "message": {"role": kind, "parts": list(parts)}, **more}

    def ran(name: str, command: str, output: str, status: str) -> list[dict[str, Any]]:
        call = {"functionCall": {"id": name, "name": "run_shell_command", "args": {"command": command}}}
        response = {"functionResponse": {"id": name, "response": {"output": output}}}
        return [line("assistant", call), line("tool_result", response, toolCallResult={"status": status})]

    lines = []
    for turn in turns:
        lines += [line("user", {"text": turn.asked})]
        lines += [line("user", {"text": "A task that ran in the background has finished"}, subtype="notification")]
        lines += [line("assistant", {"text": "Hm.", "thought": True}, {"text": "Let me look."})]
        lines += ran("c1", WRONG, f"{turn.output}\nExit Code: 2", "error") + ran("c2", RIGHT, "ok", "success")
        lines += [line("assistant", {"text": turn.ended})]
    return lines


def written(path: Path, lines: Iterable[dict[str, Any]]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def claude(home: Path, turns: Sequence[Turn], directory: str, session: str = "5f2c") -> Path:
    return written(home / f".claude/projects/-ledger/{session}.jsonl", claude_lines(turns, directory, session))


def codex(home: Path, turns: Sequence[Turn], directory: str, session: str = "5f2c") -> Path:
    lines = codex_lines(turns, directory, session)
    return written(home / f".codex/sessions/2026/02/21/rollout-{session}.jsonl", lines)


def codex_items(home: Path, turns: Sequence[Turn], directory: str, session: str = "5f2c") -> Path:
    """As Codex records since its history comes in pages: what was said is an item."""
    path = codex(home, turns, directory, session)
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    return written(path, map(_with_item, lines))


def _with_item(line: dict[str, Any]) -> dict[str, Any]:
    kinds = {"user_message": ("UserMessage", "text"), "agent_message": ("AgentMessage", "Text")}
    if line["payload"].get("type") not in kinds:
        return line
    kind, part = kinds[line["payload"]["type"]]
    item = {"type": kind, "content": [{"type": part, "text": line["payload"]["message"]}]}
    return {**line, "payload": {"type": "item_completed", "item": item}}


def copilot(home: Path, turns: Sequence[Turn], directory: str, session: str = "5f2c") -> Path:
    return written(home / f".copilot/session-state/{session}/events.jsonl", copilot_lines(turns, directory, session))


def qwen(home: Path, turns: Sequence[Turn], directory: str, session: str = "5f2c") -> Path:
    return written(home / f".qwen/projects/-ledger/chats/{session}.jsonl", qwen_lines(turns, directory, session))


def gemini(home: Path, turns: Sequence[Turn], directory: str, session: str = "5f2c") -> Path:
    folder = home / ".gemini/tmp/ledger"
    path = written(folder / f"chats/session-{session}.jsonl", gemini_lines(turns, directory, session))
    (folder / ".project_root").write_text(directory)
    return path


def gemini_object(home: Path, turns: Sequence[Turn], directory: str, session: str = "5f2c") -> Path:
    """As it was before a line per message."""
    about, *messages = gemini_lines(turns, directory, session)
    path = gemini(home, turns, directory, session)
    path.unlink()
    path = path.with_suffix(".json")
    path.write_text(json.dumps({**about, "messages": messages}, indent=2))
    return path


def opencode(home: Path, turns: Sequence[Turn], directory: str, session: str = "5f2c") -> Path:
    path = home / ".local/share/opencode/opencode.db"
    path.parent.mkdir(parents=True, exist_ok=True)
    with closing(sqlite3.connect(path)) as database, database:
        for table in (
            "session (id, parent_id, directory, time_created, time_updated)",
            "message (id, session_id, time_created, data)",
            "part (id, message_id, session_id, data)",
        ):
            database.execute(f"CREATE TABLE IF NOT EXISTS {table}")
        row = (session, None, directory, MILLISECONDS, MILLISECONDS)
        database.execute("INSERT INTO session VALUES (?, ?, ?, ?, ?)", row)
        for number, (message, parts) in enumerate(_opencode_messages(turns)):
            name = f"{session}-{number:03}"
            values = (name, session, MILLISECONDS + number, json.dumps(message))
            database.execute("INSERT INTO message VALUES (?, ?, ?, ?)", values)
            for place, part in enumerate(parts):
                database.execute(
                    "INSERT INTO part VALUES (?, ?, ?, ?)", (f"{name}-{place}", name, session, json.dumps(part))
                )
    return path


def opencode_files(home: Path, turns: Sequence[Turn], directory: str, session: str = "5f2c") -> Path:
    """As it was before the database."""
    storage = home / ".local/share/opencode/storage"
    for number, (message, parts) in enumerate(_opencode_messages(turns)):
        name = f"{session}-{number:03}"
        written(storage / f"message/{session}/{name}.json", [{**message, "id": name}])
        for place, part in enumerate(parts):
            written(storage / f"part/{name}/{place}.json", [part])
    about = {"id": session, "projectID": "p", "directory": directory, "time": {"created": MILLISECONDS}}
    return written(storage / f"session/p/{session}.json", [about])


def _opencode_messages(turns: Sequence[Turn]) -> Iterable[tuple[dict[str, Any], list[dict[str, Any]]]]:
    for turn in turns:
        added = {"type": "text", "text": "The contents of a file", "synthetic": True}
        yield {"role": "user", "time": {"created": MILLISECONDS}}, [{"type": "text", "text": f'"{turn.asked}"'}, added]
        commands = [
            {"type": "tool", "tool": "bash", "state": {"status": "completed", **state}}
            for state in (
                {"input": {"command": WRONG}, "output": turn.output, "metadata": {"exit": 2}},
                {"input": {"command": RIGHT}, "output": "ok", "metadata": {"exit": 0}},
            )
        ]
        yield {"role": "assistant"}, [*commands, {"type": "text", "text": turn.ended}]


Write = Callable[[Path, Sequence[Turn], str, str], Path]
ALL: dict[str, Write] = {
    "claude": claude,
    "codex": codex,
    "codex, items": codex_items,
    "copilot": copilot,
    "gemini": gemini,
    "gemini, one object": gemini_object,
    "opencode": opencode,
    "opencode, files": opencode_files,
    "qwen": qwen,
}
