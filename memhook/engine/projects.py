"""Operations on projects: list, merge, split, and move memories between them."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Any

from memhook.core.memory import Memory
from memhook.engine.accounts import Accounts
from memhook.engine.caller import Caller
from memhook.errors import InvalidInput, NotFound
from memhook.library.library import Library
from memhook.store.project import Project, made_at, project_of
from memhook.store.project_aliases import ProjectAliases, name_of
from memhook.store.table.filters import Filter
from memhook.writing import projects, remember

log = logging.getLogger("memhook")


def projects_(caller: Caller) -> dict[str, Any]:
    """Return every project that has memories or sessions, and the number of global memories."""
    last_used = caller.accounts.projects()
    return projects.known_projects(caller.library.store, last_used, caller.aliases.all(), caller.project.id)


def merge_projects(caller: Caller, source: str, target: str, dry_run: bool = False) -> dict[str, Any]:
    """Make the memories and all later sessions of `source` those of `target`."""
    one, other = _project_named(caller, source), _project_named(caller, target)
    if not one or not other:
        raise InvalidInput("Global memories are not a project.", "Run: memhook projects move URN --to global")
    if one == other:
        raise InvalidInput(f"{source} and {target} are one project already.", "See: memhook projects")
    memories = projects.of_project(caller.library.store, one)
    if dry_run:
        return {"source": one, "target": other, "moved": len(memories), "folded": 0}
    return merged(caller.library, caller.aliases, caller.accounts, one, other)


def merged(library: Library, aliases: ProjectAliases, accounts: Accounts, source: str, target: str) -> dict[str, Any]:
    result = projects.moved(library, projects.of_project(library.store, source), target)
    aliases.merge(source, target)
    if accounts.ledger:
        accounts.ledger.move_project(source, target)
    return {"source": source, "target": target, **result}


def keep_those_without_remote(library: Library, aliases: ProjectAliases, accounts: Accounts, project: Project) -> None:
    """Move the memories that a repository had before it got a remote; a new repository at its path gets none."""
    if earlier := _of_this_repository(library, project, project.local_id):
        merged(library, aliases, accounts, project.local_id, project.id)
        log.info("the %s memories of %s are those of %s now", len(earlier), project.local_id, project.id)


def note_place(library: Library, accounts: Accounts, project: Project) -> None:
    """Record the project of a repository; a recorded project with memories stays when the remote changes."""
    recorded = accounts.project_at(project.local_id)
    if recorded == project.id:
        return
    if not recorded or not library.store.count(Filter(projects=(recorded,))):
        accounts.set_project_at(project.local_id, project.id)


def earlier_project(caller: Caller) -> dict[str, Any] | None:
    """Return the project that this repository was before its remote changed, and the number of memories there."""
    aliases, place = caller.aliases.all(), caller.project.local_id or caller.project.id
    for name in (caller.accounts.project_at(place), aliases.get(place, "")):
        earlier = aliases.get(name, name)
        is_another = earlier not in ("", caller.project.id)
        if is_another and (memories := _of_this_repository(caller.library, caller.project, earlier)):
            return {"id": earlier, "memories": len(memories)}
    return None


def _of_this_repository(library: Library, project: Project, earlier: str) -> list[Memory]:
    """Return the memories of an earlier project at this path; none if the repository is newer than all of them."""
    memories = projects.of_project(library.store, earlier)
    is_same = project.root and memories and max(one.updated for one in memories).timestamp() >= made_at(project.root)
    return memories if is_same else []


def split_project(caller: Caller, source: str) -> dict[str, Any]:
    """Let later sessions in `source` belong to it again. Merged memories stay where they are."""
    target = caller.aliases.split(source)
    if not target:
        raise NotFound(f"{source} is not merged into another project.", "See: memhook projects")
    return {"source": source, "target": target}


def move_memories(
    caller: Caller, target: str, references: Sequence[str] = (), source: str = "", dry_run: bool = False
) -> dict[str, Any]:
    """Move these memories, or all of the project `source`, into another project or to the global ones."""
    other = _project_named(caller, target)
    memories = remember.found(caller.library, references)
    if source:
        memories += projects.of_project(caller.library.store, _project_named(caller, source))
    if dry_run:
        return {"target": other, "moved": sum(memory.project != other for memory in memories), "folded": 0}
    return {"target": other, **projects.moved(caller.library, memories, other)}


def _project_named(caller: Caller, named: str) -> str:
    """Return the id of a project, given by id, by a name that only one has, as a directory, "here" or "global"."""
    if named == "global":
        return ""
    if named == "here" and caller.project.id:
        return caller.project.id
    aliases = caller.aliases.all()
    known = [one["id"] for one in projects_(caller)["projects"]]
    if named in known or named in aliases:
        return aliases.get(named, named)
    matching = [one for one in known if name_of(one) == named]
    if len(matching) == 1:
        return str(matching[0])
    if len(matching) > 1:
        raise InvalidInput(f"Several projects are called {named}: {', '.join(matching)}.", "Give an id.")
    found = project_of(named)
    if not found.id:
        raise NotFound(f"No project is called {named}.", "See: memhook projects")
    return aliases.get(found.id, found.id)
