"""The description of an assistant: each assistant's own module fills in one `Assistant`."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from memhook.assistants.edits import Edit
from memhook.assistants.events import TOOL_KINDS, UNANSWERED, Event, Kind, Payload, ToolCall, text, tool_call
from memhook.assistants.reading import SessionFormat
from memhook.core.packing import PartLimit

SECONDS = 10
START_AND_PROMPT = ("SessionStart", "UserPromptSubmit")


@dataclass(frozen=True, slots=True)
class Where:
    """The user's home and environment, the project if only that is meant, and the launcher that hooks run."""

    home: Path
    environment: Mapping[str, str]
    launcher: Path
    project: Path | None = None

    def folder(self, variable: str, default: str) -> Path:
        """Return the folder that this variable names, or the default below the home."""
        configured = self.environment.get(variable, "")
        return Path(configured) if configured.startswith("/") else self.home / default

    def commands(self, client: str, event: str, parts: int = 1) -> list[str]:
        """Return one command per hook entry. Each entry has its own size limit: two carry a budget that one cannot."""
        launcher = shlex.quote(str(self.launcher))
        return [f"{launcher} {event} {part} --client {client}" for part in range(1, parts + 1)]

    def hooks(
        self, client: str, events: Sequence[str], tools: str = "", *, parts: int = 1, timeout: int = SECONDS
    ) -> dict[str, dict[str, Any]]:
        """Return each event's group of entries, in Claude Code's format; `tools` is a pattern of tool names."""
        matcher = {"matcher": tools} if tools else {}
        groups = {}
        for event in events:
            commands = self.commands(client, event, parts)
            entries = [{"type": "command", "command": command, "timeout": timeout} for command in commands]
            groups[event] = {**matcher, "hooks": entries}
        return groups

    def server(self, **more: Any) -> dict[str, Any]:
        """Return the entry of the MCP server, in Claude Code's format."""
        return {"command": str(self.launcher), "args": ["mcp"], **more}


@dataclass(frozen=True, slots=True)
class AlsoLoads:
    """A pattern below a project's root, or below the home after ~/; not loaded if a file of `unless` exists."""

    pattern: str
    unless: tuple[str, ...] = ()


def _never(_: object) -> bool:
    return False


def _specific_output(event: str, context: str) -> dict[str, Any]:
    return {"hookSpecificOutput": {"hookEventName": event, "additionalContext": context}}


@dataclass(frozen=True, slots=True, kw_only=True)
class Assistant:
    """One assistant. The defaults are Claude Code's, whose hooks the others adopted: only differences are set."""

    name: str
    title: str

    # Its events and the answer to them
    more_events: Mapping[str, Kind] = field(default_factory=dict)
    """Events besides SessionStart and UserPromptSubmit that memhook handles."""
    says_failure: Callable[[str], bool] = _never
    """Whether the text of a tool's result reports a failure, where no field does."""
    unnamed_event: Callable[[Payload], str] = lambda _: ""
    """The event's name where the payload has none."""
    moment: str = "prompt_id"
    """The field that distinguishes one prompt from the next."""
    typed: Callable[[str], str] = str
    """Returns the part of the prompt that the user typed."""
    context_in: Callable[[str, str], dict[str, Any]] = _specific_output
    """The part of an answer to an event with the context for the model."""
    shows_notices: bool = False
    """Whether a notice is known to reach the user and not the model, so that one may come with each answer."""
    keeps_start: bool = False
    """Whether the text of a start stays in the history of a resumed session, and would be added a second time."""
    resumed_as: str = "resume"
    """The source as which the start of a resumed session counts."""
    part_limit: PartLimit | None = None
    """The limit of one hook entry."""
    wrote: Callable[[Payload], bool] = _never
    """Whether only this assistant writes such payloads."""
    runs_here: Callable[[Mapping[str, str]], bool] = _never
    """Whether the environment of the hook is this assistant's."""

    # Its configuration
    folder: Callable[[Where], Path]
    """The folder of the user's configuration."""
    edits: Callable[[Where], tuple[Edit, ...]]
    """The edits of `memhook install`, the hooks first."""
    way: str = "settings"
    """How `memhook install` switches memhook on, as `status` names it."""
    has_plugin: Callable[[Where], bool] = _never
    """Whether memhook is installed as a plugin."""
    plugin_has_server: bool = True
    """Whether a plugin brings the MCP server too; `memhook install` does everywhere."""
    note: str = ""
    """A note for the user after memhook was switched on."""

    # Its own notes and sessions
    user_notes: tuple[str, ...] = ()
    """Instructions and memories, as patterns below its folder."""
    project_notes: tuple[str, ...] = ()
    """The same below a project's root."""
    also_loads: tuple[AlsoLoads, ...] = ()
    """Files of other assistants that it reads by itself, too."""
    follows_references: bool = False
    """Whether it also reads the files that its notes reference with an @."""
    notes_by_directory: Callable[[Path], Iterable[tuple[Path, Path]]] = lambda _: ()
    """Notes below its folder that are about one directory each: (file, directory)."""
    sessions: tuple[str, ...]
    """Recorded sessions, as patterns below its folder or `data_folder`."""
    data_folder: Callable[[Where], Path] | None = None
    session_format: SessionFormat
    """The format of these files."""

    def event_of(self, payload: Payload, directory: str) -> Event | None:
        """Parse the payload; None for an event that memhook does not handle. Any field may be missing."""
        name = text(payload, "hook_event_name") or self.unnamed_event(payload)
        kind = self.more_events.get(name) or (Kind(name) if name in START_AND_PROMPT else None)
        if kind is None:
            return None
        tool = self._tool(payload, kind)
        moment = payload.get(self.moment)
        named = str(moment) if isinstance(moment, int) else text(payload, self.moment)
        return Event(
            kind=kind,
            name=name,
            client=self.name,
            session=text(payload, "session_id", "sessionId"),
            agent=text(payload, "agent_id"),
            directory=text(payload, "cwd") or directory,
            prompt=self.typed(text(payload, "prompt")),
            source=self.resumed_as if (source := text(payload, "source")) == "resume" else source,
            agent_type=text(payload, "agent_type"),
            moment=(text(payload, "tool_use_id") or f"{named} {tool}") if tool else named,
            part_limit=self.part_limit,
            reply=text(payload, "last_assistant_message", "prompt_response", "compact_summary"),
            transcript=text(payload, "transcript_path", "transcriptPath"),
            tool=tool,
        )

    def output_of(self, event: Event, context: str, notice: str) -> bytes:
        """Return a JSON object, or nothing; `context` is for the model, `notice` for the user; both may be empty."""
        if event.kind in UNANSWERED:
            return b""
        whole = {"systemMessage": notice} if notice else {}
        whole |= self.context_in(event.name, context) if context else {}
        return (json.dumps(whole) + "\n").encode() if whole else b""

    def _tool(self, payload: Payload, kind: Kind) -> ToolCall | None:
        tool = tool_call(payload) if kind in TOOL_KINDS else None
        if tool is None or tool.failed:
            return tool
        return replace(tool, failed=kind is Kind.TOOL_FAILED or self.says_failure(tool.result))

    def session_root(self, where: Where) -> Path:
        return (self.data_folder or self.folder)(where)

    def session_files(self, where: Where) -> list[Path]:
        root = self.session_root(where)
        return sorted(path for pattern in self.sessions for path in root.glob(pattern))
