"""The caller of an operation: rights, project, settings and stores."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any

from memhook.answering.doubts import NONE, Doubts
from memhook.core.memory import ID_LENGTH, URN_PREFIX, id_of
from memhook.engine.accounts import Accounts
from memhook.engine.scopes import OWNER as OWNER_RIGHTS
from memhook.engine.scopes import Rights
from memhook.errors import InvalidInput, StoreError
from memhook.library.joined import Searchable
from memhook.library.library import Library
from memhook.paths import Paths
from memhook.settings import Settings
from memhook.store.ledger import Ledger
from memhook.store.pauses import Pause
from memhook.store.project import Project
from memhook.store.project_aliases import ProjectAliases

NAMED = 5  # memories listed for an ambiguous reference
LEAST_TO_REPLACE = 4  # characters of an id, as git requires of a hash


@dataclass(frozen=True, slots=True)
class Caller:
    """The caller of an operation: its rights and its project, and the stores that answer it, opened at first use.

    `library` is written to: the personal one, or the shared one that the call names. `all` is searched: the personal
    library with all shared ones, or the named one alone.
    """

    open_library: Callable[[], Library]
    open_all: Callable[[], Searchable]
    open_shared: Callable[[], list[Library]]
    settings: Settings
    project: Project
    accounts: Accounts
    aliases: ProjectAliases
    paths: Paths
    now: datetime
    pause: Pause | None = None
    rights: Rights = OWNER_RIGHTS
    doubts_in: Callable[[Project], Doubts] = lambda _: NONE
    """Returns the evidence against memories of a project, the same that its hooks use."""
    withdrawn_in: Callable[[Project, datetime], frozenset[str]] = lambda *_: frozenset()
    """Withdraws proposals that no longer apply; returns the ids of their memories."""

    @property
    def library(self) -> Library:
        return self.open_library()

    @property
    def all(self) -> Searchable:
        return self.open_all()

    @property
    def record(self) -> Ledger:
        """The ledger, for a call that cannot do without it."""
        if self.accounts.ledger is None:
            raise StoreError("The record of what was shown cannot be opened.", "Run: memhook doctor")
        return self.accounts.ledger


def with_whole_references(caller: Caller, given: Mapping[str, Any], least: int) -> dict[str, Any]:
    """Return the parameters of a call, each start of a URN completed if the caller may see the memory.

    Raises InvalidInput for a start of fewer characters than `least`, and for an ambiguous one.
    """
    whole, named = dict(given), partial(_whole, caller, least)
    for name in ("references", "supersedes"):
        if given.get(name):
            whole[name] = [named(one) for one in given[name]]
    if given.get("reference"):
        whole["reference"] = named(given["reference"])
    if given.get("hits"):
        whole["hits"] = [
            {**hit, "id": named(hit["id"])} if isinstance(hit, dict) and isinstance(hit.get("id"), str) else hit
            for hit in given["hits"]
        ]
    return whole


def _whole(caller: Caller, least: int, reference: str) -> str:
    """Return the reference itself, or the only URN that starts with it."""
    start = id_of(reference)
    store, visible = caller.all.store, caller.rights.visible
    if not 0 < len(start) < ID_LENGTH or store.by_reference([start], visible):
        return reference
    ids = [one for one in store.ids(visible) if one.startswith(start)]
    if len(ids) > 1:
        named = caller.all.fit_to_show(store.by_reference(ids[:NAMED], visible))
        some = "; ".join(f"{one.urn} {one.title}" for one in named)
        more = f"; and {len(ids) - NAMED} more" if len(ids) > NAMED else ""
        raise InvalidInput(f"{reference} is the start of {len(ids)} URNs: {some}{more}.", "Give more of the URN.")
    if ids and len(start) < least:
        raise InvalidInput(
            f"{reference} is too short: to change or delete a memory takes at least {least} characters of its id.",
            f"Give more of it, such as {URN_PREFIX}{ids[0][:least]}. To see what that is: memhook get {reference}",
        )
    return URN_PREFIX + ids[0] if ids else reference
