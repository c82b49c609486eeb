"""Every operation that the command line, the MCP server and the page may call, by name.

To add one, write its function, which takes the caller first, and its line here. Parameters and results are plain
values, because they cross a socket. Functions are named, not imported: clients of the daemon read this table, and must
not load lancedb for it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from memhook.engine.scopes import Scope

OWNER_ALONE = None
FIRST_COPY_SECONDS = 10.0  # how long a command waits for the first copy of a remote store


@dataclass(frozen=True, slots=True)
class Operation:
    """`path` names the function: a module of the engine and a name in it.

    repeatable   may be called again if the connection is lost before the answer
    awaits       waits for the first copy of each remote store, so that it answers from all of them
    replaces     changes, deletes or shares memories, so it takes no short start of a URN: a typing error must not
                 decide which memory is meant
    """

    path: str
    scope: Scope | None
    repeatable: bool = False
    awaits: bool = False
    replaces: bool = False

    @property
    def function(self) -> Callable[..., Any]:
        module, name = self.path.split(".")
        found: Callable[..., Any] = getattr(import_module(f"memhook.engine.{module}"), name)
        return found


OPERATIONS: Mapping[str, Operation] = {
    "remember": Operation("operations.remember_", Scope.WRITE, repeatable=True),  # the same text is stored once
    "get": Operation("operations.get", Scope.READ, repeatable=True, awaits=True),
    "search": Operation("operations.search", Scope.READ, repeatable=True, awaits=True),
    "list": Operation("operations.list_", Scope.READ, repeatable=True, awaits=True),
    "inject": Operation("operations.inject", Scope.READ, repeatable=True, awaits=True),
    "pack": Operation("operations.pack", Scope.READ, repeatable=True, awaits=True),
    "edit": Operation("operations.edit", Scope.WRITE, replaces=True),
    "forget": Operation("operations.forget", Scope.WRITE, replaces=True),
    "redact": Operation("operations.redact", OWNER_ALONE, replaces=True),
    "purge": Operation("operations.purge", OWNER_ALONE, replaces=True),
    "mute": Operation("operations.mute", OWNER_ALONE, repeatable=True),
    "release": Operation("operations.release", OWNER_ALONE, replaces=True),
    "share": Operation("operations.share", OWNER_ALONE, replaces=True),
    "why": Operation("explaining.why", OWNER_ALONE, repeatable=True, awaits=True),
    "explain": Operation("explaining.explain", OWNER_ALONE, repeatable=True, awaits=True),
    "try_prompt": Operation("explaining.try_prompt", OWNER_ALONE, repeatable=True, awaits=True),
    "browse": Operation("browsing.browse", OWNER_ALONE, repeatable=True, awaits=True),
    "look": Operation("browsing.look", OWNER_ALONE, repeatable=True, awaits=True),
    "facets": Operation("browsing.facets", OWNER_ALONE, repeatable=True),
    "events": Operation("browsing.events", OWNER_ALONE, repeatable=True),
    "numbers": Operation("browsing.numbers", OWNER_ALONE, repeatable=True),
    "revise": Operation("revising.revise", OWNER_ALONE, replaces=True),
    "retract": Operation("revising.retract", OWNER_ALONE, replaces=True),
    "put_back": Operation("revising.put_back", OWNER_ALONE),
    "stats": Operation("explaining.stats", OWNER_ALONE, repeatable=True),
    "import_lines": Operation("operations.import_lines", OWNER_ALONE, repeatable=True),
    "capture": Operation("captures.capture_", OWNER_ALONE, repeatable=True),  # each turn of a session is stored once
    "undistilled": Operation("captures.undistilled", OWNER_ALONE, repeatable=True),
    "distilled": Operation("captures.distilled", OWNER_ALONE, repeatable=True),
    "follow": Operation("following.follow", OWNER_ALONE, repeatable=True),
    "forget_captured": Operation("captures.forget_captured_", OWNER_ALONE),
    "tidy_list": Operation("inbox.tidy_list", OWNER_ALONE, repeatable=True),
    "tidy_keep": Operation("inbox.tidy_keep", OWNER_ALONE),
    "inbox_list": Operation("inbox.inbox_list", OWNER_ALONE, repeatable=True),
    "inbox_keep": Operation("inbox.inbox_keep", OWNER_ALONE, replaces=True),
    "inbox_drop": Operation("inbox.inbox_drop", OWNER_ALONE, replaces=True),
    "inbox_merge": Operation("inbox.inbox_merge", OWNER_ALONE, replaces=True),
    "inbox_near": Operation("inbox.inbox_near", OWNER_ALONE, repeatable=True),
    "export_page": Operation("operations.export_page", OWNER_ALONE, repeatable=True),
    "status": Operation("condition.status", OWNER_ALONE, repeatable=True),
    "health": Operation("condition.health", OWNER_ALONE),
    "refresh": Operation("condition.refresh", OWNER_ALONE),
    "projects": Operation("projects.projects_", OWNER_ALONE),
    "merge_projects": Operation("projects.merge_projects", OWNER_ALONE),
    "split_project": Operation("projects.split_project", OWNER_ALONE),
    "move_memories": Operation("projects.move_memories", OWNER_ALONE, replaces=True),
}
