"""The libraries, the ledger and the settings, opened once, and the operations on them."""

from __future__ import annotations

import gc
import logging
import time
from collections.abc import Callable, Mapping, Set
from concurrent.futures import Future
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import cache, partial
from itertools import takewhile
from pathlib import Path
from threading import Lock
from typing import Any

from memhook.answering import recall
from memhook.answering.doubts import Doubts
from memhook.engine import catalogue
from memhook.engine.accounts import Accounts
from memhook.engine.caller import LEAST_TO_REPLACE, Caller, with_whole_references
from memhook.engine.following import Following
from memhook.engine.projects import keep_those_without_remote, note_place
from memhook.engine.repositories import Repositories
from memhook.engine.scopes import Rights, rights_of
from memhook.errors import InvalidInput, MemhookError, NotFound, RemoteError, SettingsError, StoreError
from memhook.files.durable import remove_leftovers
from memhook.library.access import open_ones
from memhook.library.joined import Searchable, joined
from memhook.library.languages import AT_ONCE_SECONDS, AT_START_SECONDS
from memhook.library.library import Library, loading_embedder
from memhook.library.opened import OpenedLibraries
from memhook.paths import PROJECT_FILE, Paths
from memhook.settings import Loaded, Settings, load_settings
from memhook.store.embedding import judge
from memhook.store.embedding.encoder import Embedder, OnnxEmbedder
from memhook.store.ledger import Ledger, Proposal
from memhook.store.pauses import Pause, Pauses
from memhook.store.project import Project, project_of
from memhook.store.project_aliases import ProjectAliases
from memhook.store.table.filters import Filter
from memhook.store.table.release import give_back, unmap_unused
from memhook.turns import stand_aside
from memhook.writing.captured import expire
from memhook.writing.closeness import neighbours, superseding

log = logging.getLogger("memhook")

KEPT_SETTINGS = 256
MOST_COMPARED = 300  # new memories, compared with those that they may supersede
COMPARED_AT_ONCE = 20  # with all at once, every tenth prompt answered meanwhile would take several times as long
MOST_CHECKED = 2_000  # memories of a project, checked against its repository
PRUNE_EVERY = timedelta(hours=1)
RETRY_SECONDS = 300.0


@dataclass(frozen=True, slots=True)
class Scene:
    """Where an event or a call comes from: its project, the settings in force there, and whether memhook is paused."""

    project: Project
    loaded: Loaded
    pause: Pause | None

    @property
    def is_excluded(self) -> bool:
        """Whether the user has excluded the project from capturing, by its name, its id or its folder."""
        names = {self.project.name, self.project.id, str(self.project.root)} - {""}
        return any(str(Path(one).expanduser()) in names for one in self.loaded.settings.capture.exclude)


class Engine:
    """The resident engine. It opens nothing twice; without a ledger it still works, and nothing counts as shown."""

    def __init__(self, paths: Paths) -> None:
        self.paths = paths
        self._lock = Lock()
        self._libraries = OpenedLibraries(paths, self._embedder)
        self._embedders: dict[str, tuple[Future[Embedder], float]] = {}
        self._loaded: dict[tuple[Any, ...], Loaded] = {}
        self._pauses = Pauses(paths)
        self._aliases = ProjectAliases(paths)
        self._with_remote: dict[str, Project] = {}
        self._following = Following(paths.followed, Path.home())
        self._pruned = datetime.min.replace(tzinfo=UTC)
        self._compared = datetime.now(UTC)
        self._to_compare: list[str] = []
        self.accounts = Accounts(self._opened_ledger())
        self.repositories = Repositories()

    def call(self, method: str, params: Mapping[str, Any], directory: str, environment: Mapping[str, str]) -> Any:
        """Call an operation by name, if the `rights` in `params` cover it; without any, the owner calls."""
        operation = catalogue.OPERATIONS.get(method)
        if operation is None:
            raise InvalidInput(f"There is no call {method!r}.", "Is an older daemon running? memhook daemon restart")
        rights = rights_of(params.get("rights"))
        given = {name: value for name, value in params.items() if name not in ("rights", "store")}
        rights.check(operation.scope, given)
        project = self.project(directory, environment)
        settings = self.settings(environment, project.root)
        store = str(params.get("store") or "")
        caller = self._caller(project, settings, rights, store)
        try:
            whole = with_whole_references(caller, given, LEAST_TO_REPLACE if operation.replaces else 1)
            missing = self.first_copies(settings, catalogue.FIRST_COPY_SECONDS, store) if operation.awaits else []
            return _with_note_of(missing, operation.function, caller, whole)
        except RemoteError:
            raise
        except StoreError:
            self.reopen()
            raise

    def _caller(self, project: Project, settings: Settings, rights: Rights, store: str) -> Caller:
        """Return the caller of an operation; a named store is the only one searched."""
        now = datetime.now(UTC)
        named = partial(self._libraries.named, store, settings)
        return Caller(
            open_library=named if store else partial(self.library, settings),
            open_all=partial(self.searched, settings, store),
            open_shared=partial(self._libraries.shared, settings),
            settings=settings,
            project=project,
            accounts=self.accounts,
            aliases=self._aliases,
            paths=self.paths,
            now=now,
            pause=self.pause(project, now),
            rights=rights,
            doubts_in=self.doubts,
            withdrawn_in=self.withdrawn,
        )

    def settings(self, environment: Mapping[str, str] | None = None, root: Path | None = None) -> Settings:
        """Return the settings; raise SettingsError if the user's file cannot be read: defaults must not replace it."""
        return self.loaded(environment, root).usable()

    def loaded(self, environment: Mapping[str, str] | None = None, root: Path | None = None) -> Loaded:
        """Return the settings, read again when a file has changed, so that a change applies from the next prompt on."""
        user_file = self.paths.config_file
        project_file = root / PROJECT_FILE if root else None
        variables = tuple(sorted((environment or {}).items()))
        key = (project_file, _stamp(user_file), _stamp(project_file), variables)
        with self._lock:
            loaded = self._loaded.get(key)
        if loaded is None:
            loaded = load_settings(user_file, project_file, environment)
            for problem in loaded.problems:
                log.warning("settings: %s", problem)
            if loaded.unreadable or loaded.project_problem:
                return loaded  # not cached: it may be for a moment only, as when too many files are open
            with self._lock:
                while len(self._loaded) >= KEPT_SETTINGS:
                    del self._loaded[next(iter(self._loaded))]
                self._loaded[key] = loaded
        return loaded

    def version_of_settings(self) -> str:
        """Return a text that changes with the user's file, so that a new error in it is reported again."""
        return str(_stamp(self.paths.config_file))

    def scene(self, directory: str, environment: Mapping[str, str], now: datetime) -> Scene:
        project = self.project(directory, environment)
        return Scene(project, self.loaded(environment, project.root), self.pause(project, now))

    def project(self, directory: str, environment: Mapping[str, str] | None = None) -> Project:
        found = self._aliases.resolved(project_of(directory, (environment or {}).get("CLAUDE_PROJECT_DIR", "")))
        if found.local_id not in ("", found.id):
            self._with_remote[found.local_id] = found
        return found

    def pause(self, project: Project, now: datetime) -> Pause | None:
        return self._pauses.of(project.id, now)

    def library(self, settings: Settings) -> Library:
        """Return the personal library; raise StoreError if its store cannot be opened. The next call tries again."""
        return self._libraries.personal(settings)

    def searched(self, settings: Settings, store: str = "") -> Searchable:
        return joined(self._asked(settings, store))

    def _asked(self, settings: Settings, store: str = "") -> list[Library]:
        """Return the personal library and all the shared ones, or only the one that is named."""
        if store:
            return [self._libraries.named(store, settings)]
        return [self.library(settings), *self._libraries.shared(settings)]

    def first_copies(self, settings: Settings, seconds: float, store: str = "") -> list[str]:
        """Wait for the first copy of each store that is searched; return a note for each still missing.

        A store that cannot be opened is not waited for: the operation on it reports that.
        """
        deadline = time.monotonic() + seconds
        try:
            libraries = self._asked(settings, store)
        except StoreError:
            return []
        notes = [library.first_copy(max(0.0, deadline - time.monotonic())) for library in libraries]
        return [note for note in notes if note]

    def _embedder(self, model: str) -> Future[Embedder]:
        """Return the embedder, loaded once in the background; after a failure, loading is tried again later."""
        with self._lock:
            loading, since = self._embedders.get(model, (None, 0.0))
            failed = loading is not None and loading.done() and loading.exception() is not None
            if loading is None or (failed and time.monotonic() - since > RETRY_SECONDS):
                loading = loading_embedder(model, self.paths.models)
                self._embedders[model] = (loading, time.monotonic())
            return loading

    def _release_models(self, in_use: Set[str]) -> None:
        """Free models no longer in use: each takes a hundred megabytes and more."""
        kept = in_use | {self.settings().embedding.model}
        with self._lock:
            for name in self._embedders.keys() - kept:
                del self._embedders[name]

    def give_memory_back(self, is_quiet: bool) -> None:
        """Return memory that an import or another model needed to the system; if no prompts come, code as well."""
        with self._lock:
            loading = [one for one, _ in self._embedders.values() if one.done() and one.exception() is None]
        for embedder in (one.result() for one in loading):
            if isinstance(embedder, OnnxEmbedder):
                embedder.give_back()
        judge.release()
        gc.collect()  # arrays in a reference cycle keep their buffers
        give_back()
        if is_quiet:
            for library in self._libraries.all():
                library.store.unmap()
            unmap_unused()

    def reopen(self) -> None:
        """Close all stores after a failure: one may have been moved, repaired or restored."""
        self._libraries.close_all()

    def open(self) -> None:
        """Read the store into memory while the model loads, for the first answer to find both ready."""
        try:
            settings = self.settings()
            self._embedder(settings.embedding.model)
            for library in self._asked(settings):
                library.store.keep_in_memory()
                library.languages.patience = AT_START_SECONDS
        except (StoreError, SettingsError) as error:
            log.warning("%s %s", error.message, error.hint)

    def warm_up(self) -> None:
        """Load before the first prompt what it would otherwise wait for."""
        if self.loaded().unreadable:
            return
        library = self.searched(self.settings())
        for one in self._libraries.all():
            one.store.open_table()
            one.languages.look()
        recall.warm_up(library)
        for one in self._libraries.all():
            one.languages.patience = AT_ONCE_SECONDS

    def repair_notice(self, settings: Settings) -> str:
        """Return a notice of a store that was repaired when opened, or of a late write to a remote one; or ""."""
        library = self._libraries.is_open(settings)
        if library and library.store.repaired:
            return f"memhook: {library.store.repaired} Run: memhook doctor"
        replicas = (library.store.replica for library in self._libraries.all())
        return next((f"memhook: {one.late_news}" for one in replicas if one and one.late_news), "")

    def close(self) -> None:
        """Close everything, and delete what only a running process needs."""
        for library in self._libraries.all():
            library.store.close()
        if self.accounts.ledger is not None:
            self.accounts.ledger.close()

    def keep_house(self, now: datetime) -> None:
        if self.loaded().unreadable:
            return  # the settings say what it may write, and where
        self._libraries.close_deleted()
        self._libraries.refresh_due_ones()
        settings = self.settings()
        if settings.capture.follow:
            self._following.keep_up(self.library(settings), now)
        for library in self._libraries.all():
            library.quarantine_suspects()
            library.mask_old_secrets()
            library.renew_vectors()
            library.languages.keep_up()
            library.store.optimize()
            library.store.keep_in_memory()
        self._release_models({name for library in self._libraries.all() for name in library.models_in_use})
        self._join_projects(settings)
        self._compare_new_ones(now)
        self._check_repositories(now)
        if now - self._pruned > PRUNE_EVERY:
            self._pruned = now
            remove_leftovers(self.paths.backups)
            self.accounts.prune(now, self.settings().ledger.keep_days)
            self._expire_captured(now)

    def waiting(self, settings: Settings) -> int:
        """Return the number of items in the inbox."""
        return self.library(settings).store.count(Filter(captured=True)) + len(self.accounts.proposals())

    def _join_projects(self, settings: Settings) -> None:
        while self._with_remote:
            project = self._with_remote.popitem()[1]
            try:
                keep_those_without_remote(self.library(settings), self._aliases, self.accounts, project)
                note_place(self.library(settings), self.accounts, project)
            except MemhookError as error:
                log.warning("the memories of %s stay there: %s", project.local_id, error.message)

    def _expire_captured(self, now: datetime) -> None:
        try:
            expire(self.library(self.settings()), self.accounts.usage, now)
        except StoreError as error:
            log.warning("nothing captured expires: %s", error.message)

    def doubts(self, project: Project) -> Doubts:
        """Return the evidence against memories of this project, and for them, for one answer."""
        return Doubts(
            cache(self.accounts.successors),
            self.repositories.check_for(project),
            self.accounts.usage,
            partial(self.repositories.former_names, project),
        )

    def _compare_new_ones(self, now: datetime) -> None:
        """Propose what new memories supersede if they were stored without a comparison, as by an import or a prompt."""
        since, self._compared = self._compared, now
        library = self.library(self.settings())
        newest = library.store.newest
        if any(one.updated > since for one in newest(open_ones(now), 1)):  # reading many every few seconds takes long
            new = takewhile(lambda one: one.updated > since, newest(open_ones(now), MOST_COMPARED))
            self._to_compare = [*(one.id for one in new), *self._to_compare][:MOST_COMPARED]
        few, self._to_compare = self._to_compare[:COMPARED_AT_ONCE], self._to_compare[COMPARED_AT_ONCE:]
        for memory in library.store.by_ids(few, open_ones(now)).values():
            stand_aside()
            self.accounts.propose(superseding(memory, neighbours(library, memory, open_ones(now))), now)

    def withdrawn(self, project: Project, now: datetime) -> frozenset[str]:
        """Check the repository again before memories are listed as out of date; return the ids of those not so."""
        if not any(one.kind == "retire" for one in self.accounts.proposals()):
            return frozenset()
        self.repositories.check_for(project)
        return self._check_repositories(now)

    def _check_repositories(self, now: datetime) -> frozenset[str]:
        """Propose to retire memories if everything that they name is missing from the repository.

        Return the ids of those whose proposal is withdrawn: a branch was switched, or a file came back.
        """
        library = self.library(self.settings())
        current = replace(open_ones(now), captured=None)
        stale = self.repositories.refresh(
            lambda project: library.store.newest(replace(current, projects=(project,)), MOST_CHECKED)
        )
        proposals = [Proposal("retire", one.id, "all that it names is gone from the repository") for one in stale]
        self.accounts.propose(proposals, now)
        asked = {one.memory: one.number for one in self.accounts.proposals() if one.kind == "retire"}
        memories = library.store.by_ids(list(asked), current) if asked else {}
        there = frozenset(key for key, one in memories.items() if self.repositories.is_there(one))
        if there:
            self.accounts.withdraw([asked[key] for key in there])
        return there

    def _opened_ledger(self) -> Ledger | None:
        try:
            return Ledger(self.paths.ledger)
        except StoreError as error:
            log.warning("%s %s", error.message, error.hint)
            return None


def _with_note_of(missing: list[str], function: Callable[..., Any], caller: Caller, given: Mapping[str, Any]) -> Any:
    """Return the result of the call, with a note of each store that has no copy yet."""
    try:
        result = function(caller, **given)
    except NotFound as error:
        raise NotFound(error.message, " ".join([*missing, error.hint]).strip()) from error
    return {**result, "incomplete": missing} if missing and isinstance(result, dict) else result


def _stamp(path: Path | None) -> tuple[int, ...]:
    """Return a value that changes with the file, its permissions and those of its folder."""
    try:
        status = path.stat() if path else None
    except OSError as error:
        return (error.errno or 0,)
    return (status.st_mtime_ns, status.st_ctime_ns, status.st_size, status.st_ino) if status else ()
