"""A temporary store with the memories of a set; the user's own store is not opened."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import cache
from itertools import cycle
from pathlib import Path

from memhook.answering import recall
from memhook.answering.account import Account
from memhook.answering.answer import Surroundings
from memhook.answering.stages import Stages
from memhook.core.languages import is_english
from memhook.core.memory import DEFAULT_NAMESPACE, Memory
from memhook.errors import EmbeddingError
from memhook.evaluation.baselines import PlainSearch
from memhook.evaluation.metrics import GoldQuery
from memhook.evaluation.policies import Plan
from memhook.evaluation.sets import EvaluationSet, Query
from memhook.library.library import Library
from memhook.paths import Paths
from memhook.settings import Settings
from memhook.store.embedding import multilingual
from memhook.store.embedding.encoder import Embedder
from memhook.store.embedding.vector_cache import CachedEmbedder
from memhook.store.memories import own_store
from memhook.store.project import Project
from memhook.writing.remember import remembered

log = logging.getLogger("memhook")

BATCH = 256
WITHOUT_DATES = datetime(2026, 1, 1, tzinfo=UTC)

Progress = Callable[[str, int, int], None]
"""Called with the current step, the number done and the total."""
Encoders = Callable[[str], Future[Embedder]]
"""Returns the model of a name, or the error that it is missing."""


@dataclass(frozen=True, slots=True)
class Shelf:
    """The store, its memories by the ids of the set, and the search to compare with.

    `now` is the time of the prompts: that of the newest memory, so that the answers do not change with the years.
    """

    folder: Path
    library: Library
    memories: Mapping[str, Memory]
    embedder: Embedder | None
    plain: PlainSearch | None
    now: datetime
    by_id: Mapping[str, Memory]

    def question(self, query: Query) -> GoldQuery:
        gold = {memory.id: memory for name in query.gold if (memory := self.memories.get(name))}
        return GoldQuery(query.prompt, query.kind, tuple(gold.values()), query.needs)

    def surroundings(self, settings: Settings, project: str, account: Account) -> Surroundings:
        return Surroundings(self.library, settings, Project(project, None, project), account, self.now, Stages())


@contextmanager
def encoders(paths: Paths, load: Callable[[str, Path], Embedder]) -> Iterator[Encoders]:
    """Yield a function that loads each model once and waits for it, so that the first prompt is timed like the rest."""
    with ExitStack() as opened:

        @cache
        def encoder(name: str) -> Future[Embedder]:
            loading: Future[Embedder] = Future()
            try:
                cached = CachedEmbedder(load(name, paths.models), paths.evaluation_vectors)
                opened.callback(cached.close)
                loading.set_result(cached)
            except EmbeddingError as error:
                without = "English alone" if name == multilingual.ID else "search by words alone"
                log.warning("%s: %s %s", without, error.message, error.hint)
                loading.set_exception(error)
            return loading

        yield encoder


def filled_shelf(folder: Path, of: EvaluationSet, plan: Plan, encoder: Encoders, progress: Progress) -> Shelf:
    model = plan.settings.embedding.model
    loaded = encoder(model)
    store = own_store(str(folder / "store"), folder / "backups")
    library = Library(store, model, encoder)
    library.languages.want(plan.settings.embedding.languages)
    now = max((draft.created for draft in of.drafts.values() if draft.created), default=WITHOUT_DATES)
    now += timedelta(hours=1)
    memories = _stored(of, library, plan.within_namespace, now, progress)
    store.optimize()
    by_id = {memory.id: memory for memory in memories.values()}
    distinct = list(by_id.values())
    plain = PlainSearch(folder / "plain", distinct, library.vectors(distinct)[0]) if plan.has_baselines else None
    store.keep_in_memory()  # like the daemon before the first prompt
    while library.languages.keep_up():
        progress("embedding", len(memories), len(memories))
    recall.warm_up(library)
    if library.languages.mode != "english" and not all(is_english(query.prompt) for query in of.queries):
        encoder(multilingual.ID)
    embedder = None if loaded.exception() else loaded.result()
    return Shelf(folder, library, memories, embedder, plain, now, by_id)


def projects_asked_in(of: EvaluationSet, within_namespace: bool) -> list[str]:
    """Return the project of each query: its namespace, or for one without, each project in turn."""
    if not within_namespace:
        return [""] * len(of.queries)
    projects = sorted({_project(name) for name in of.namespaces} - {""}) or [""]
    in_turn = cycle(projects)
    return [_project(query.namespace) or next(in_turn) for query in of.queries]


def _stored(
    of: EvaluationSet, library: Library, within_namespace: bool, now: datetime, progress: Progress
) -> dict[str, Memory]:
    """Store the drafts; two ids with the same content become one memory."""
    memories: dict[str, Memory] = {}
    names = list(of.drafts)
    for start in range(0, len(names), BATCH):
        progress("embedding", start, len(names))
        batch = names[start : start + BATCH]
        drafts = [of.drafts[name] for name in batch]
        placed = [replace(one, project=_project(one.namespace) if within_namespace else "") for one in drafts]
        stored = remembered(library, placed, now, from_file=True)
        memories |= {name: one.memory for name, one in zip(batch, stored, strict=True) if one.memory}
    progress("embedding", len(names), len(names))
    return memories


def _project(namespace: str) -> str:
    return "" if namespace == DEFAULT_NAMESPACE else namespace
