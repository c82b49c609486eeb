"""Which assistants are on this machine, and in which of them memhook is on, and how."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import dataclass, replace

from memhook.assistants.assistant import Assistant, Where
from memhook.assistants.known import KNOWN
from memhook.assistants.switching import is_on


@dataclass(frozen=True, slots=True)
class Presence:
    """`ways` are those in which memhook is on there: settings, extension, project, plugin. One is enough."""

    assistant: Assistant
    found: bool
    ways: tuple[str, ...]


def presences(where: Where) -> list[Presence]:
    """One of every assistant; `where.project` is looked at too, if given."""
    return [
        Presence(assistant, is_found(assistant, where), tuple(_ways(assistant, where))) for assistant in KNOWN.values()
    ]


def is_found(assistant: Assistant, where: Where) -> bool:
    path = where.environment.get("PATH", "")
    return assistant.folder(where).is_dir() or shutil.which(assistant.name, path=path) is not None


def _ways(assistant: Assistant, where: Where) -> Iterator[str]:
    if is_on(assistant, replace(where, project=None)):
        yield assistant.way
    if where.project and is_on(assistant, where):
        yield "project"
    if assistant.has_plugin(where):
        yield "plugin"
