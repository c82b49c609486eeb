"""The caller of an operation: rights, project, settings and stores."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from memhook.answering.doubts import NONE, Doubts
from memhook.engine.accounts import Accounts
from memhook.engine.scopes import OWNER as OWNER_RIGHTS
from memhook.engine.scopes import Rights
from memhook.errors import StoreError
from memhook.library.joined import Searchable
from memhook.library.library import Library
from memhook.paths import Paths
from memhook.settings import Settings
from memhook.store.ledger import Ledger
from memhook.store.pauses import Pause
from memhook.store.project import Project
from memhook.store.project_aliases import ProjectAliases


@dataclass(frozen=True, slots=True)
class Caller:
    """The caller of an operation: its rights and its project, and the stores that answer it, opened at first use.

    The library is what is written to: the personal one, or a shared one that was named. What is searched is that one
    and, unless it was named, all the shared ones with it.
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
    """The evidence against memories of a project, as its hooks have it."""

    @property
    def library(self) -> Library:
        return self.open_library()

    @property
    def all(self) -> Searchable:
        return self.open_all()

    @property
    def record(self) -> Ledger:
        """The ledger, for a call that is nothing without it."""
        if self.accounts.ledger is None:
            raise StoreError("The record of what was shown cannot be opened.", "Run: memhook doctor")
        return self.accounts.ledger
