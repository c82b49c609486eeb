"""How well the prompt hook serves the prompts of a set: its own code on a store that is gone afterwards.

Nothing is recorded: there is no session, no ledger, and the user's store is not opened.
"""

from __future__ import annotations

import logging
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import cache, partial
from pathlib import Path
from typing import Any, Literal

from memhook.context import recall
from memhook.context.access import OWNER
from memhook.context.answer import Surroundings, outcome_of, recalled_for
from memhook.context.evaluation_set import EvaluationSet, Query
from memhook.context.library import Library
from memhook.context.pack import bundle
from memhook.context.recall import Recalled
from memhook.context.remember import Draft, remembered
from memhook.context.stages import Stages
from memhook.core import metrics
from memhook.core.memory import DEFAULT_NAMESPACE, Memory
from memhook.core.packing import PartLimit
from memhook.core.ranking import indexed_text
from memhook.errors import EmbeddingError
from memhook.paths import Paths
from memhook.settings import Settings
from memhook.store import multilingual
from memhook.store.embedding import Embedder, load_embedder
from memhook.store.memories import MemoryStore
from memhook.store.plain_search import Document, PlainSearch
from memhook.store.project import Project
from memhook.store.vector_cache import CachedEmbedder

log = logging.getLogger("memhook")

DEPTHS = (5, 10, 20)
BATCH = 256
WITHOUT_DATES = datetime(2026, 1, 1, tzinfo=UTC)

Detail = Literal["preview", "cascade", "full", "pack"]
Progress = Callable[[str, int, int], None]
"""Told what is being done, how far it is and how far it goes."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A prompt that something was recalled for, and all that its answer is made from."""

    prompt: str
    recalled: Recalled
    around: Surroundings
    part_limit: PartLimit | None


Policy = Callable[[Asked, int], Sequence[str]]
"""The finished parts that go out within so many tokens."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What is measured. The first policy is the one that speaks and is timed, within `settings.max_tokens`.

    The policies are compared on every so many prompts, for packing the same memories dozens of times takes longest.
    """

    settings: Settings
    policies: Mapping[str, Policy]
    budgets: Sequence[int]
    part_limit: PartLimit | None
    within_namespace: bool = False
    baseline: bool = False
    compared_every: int = 1


@dataclass(frozen=True, slots=True)
class Answered:
    """What became of one prompt: whole rankings, memhook's and the baselines', and judgements by policy and budget."""

    question: metrics.Question
    rankings: Mapping[str, Sequence[str]]
    judgements: Mapping[tuple[str, int], metrics.Judgement]
    has_block: bool
    milliseconds: float


@dataclass(frozen=True, slots=True)
class Shelf:
    """The throw-away store, the memories in it by the ids of the set, and what it is compared with."""

    library: Library
    memories: Mapping[str, Memory]
    embedder: CachedEmbedder | None
    plain: PlainSearch | None
    now: datetime


def hook_policy(detail: str) -> Policy:
    """What the prompt hook shows at this detail."""

    def parts(asked: Asked, budget: int) -> Sequence[str]:
        settings = _with_budget(asked.around.settings, budget, detail)
        around = replace(asked.around, settings=settings)
        return outcome_of(asked.recalled, around, asked.part_limit).block.parts

    return parts


def pack_policy(asked: Asked, budget: int) -> Sequence[str]:
    """What `pack` writes, of the memories the hook found relevant and in their order: whole ones, none of them cut."""
    found = bundle(asked.prompt, [one.memory for one in asked.recalled.worth_showing], budget)
    return (found.text,) if found.memories else ()


def policy_of(detail: Detail) -> Policy:
    return pack_policy if detail == "pack" else hook_policy(detail)


def evaluated(
    of: EvaluationSet,
    queries: Sequence[Query],
    plan: Plan,
    paths: Paths,
    progress: Progress,
    load: Callable[[str, Path], Embedder] = load_embedder,
) -> dict[str, Any]:
    """The report, as `eval --json` prints it; the numbers of further policies stand below `policies`."""
    with _filled_shelf(of, plan, paths, progress, load) as shelf:
        answered = list(_answers(of, queries, shelf, plan, progress))
        model = shelf.library.store.model.id
    return {"set": of.name, "memories": len(of.drafts), "model": model, **_report(answered, plan)}


@contextmanager
def _filled_shelf(
    of: EvaluationSet, plan: Plan, paths: Paths, progress: Progress, load: Callable[[str, Path], Embedder]
) -> Iterator[Shelf]:
    with tempfile.TemporaryDirectory(prefix="memhook-eval-") as name:
        folder = Path(name)
        embedder = _embedder(plan.settings.embedding.model, paths, load)
        try:
            library = _library(folder, plan.settings, embedder, partial(load, multilingual.ID, paths.models))
            now = _newest(of)
            memories = _stored(of, library, plan.within_namespace, now, progress)
            library.store.optimize()
            plain = _plain_search(folder / "plain", memories, library) if plan.baseline else None
            library.store.keep_in_memory()  # as the daemon does before the first prompt
            while library.languages.keep_up():
                progress("embedding", len(memories), len(memories))
            recall.for_search(library, "warm up", OWNER, 1)
            yield Shelf(library, memories, embedder, plain, now)
        finally:
            if embedder:
                embedder.close()


def _embedder(model: str, paths: Paths, load: Callable[[str, Path], Embedder]) -> CachedEmbedder | None:
    """None without the model: then words alone are searched, as the daemon does."""
    try:
        return CachedEmbedder(load(model, paths.models), paths.evaluation_vectors)
    except EmbeddingError as error:
        log.warning("search by words alone: %s %s", error.message, error.hint)
        return None


def _library(
    folder: Path, settings: Settings, embedder: CachedEmbedder | None, load_multilingual: Callable[[], Embedder]
) -> Library:
    model = settings.embedding.model
    loaded: Future[Embedder] = Future()
    if embedder:
        loaded.set_result(embedder)
    else:
        loaded.set_exception(EmbeddingError(f"The model {model} is missing."))
    second = cache(lambda: _future(load_multilingual))
    store = MemoryStore(str(folder / "store"), folder / "backups")
    library = Library(store, model, lambda name: second() if name == multilingual.ID else loaded)
    library.languages.want(settings.embedding.languages)
    return library


def _future(load: Callable[[], Embedder]) -> Future[Embedder]:
    """Loaded while the caller waits, so that the first prompt is measured like the others."""
    loading: Future[Embedder] = Future()
    try:
        loading.set_result(load())
    except EmbeddingError as error:
        log.warning("English alone: %s %s", error.message, error.hint)
        loading.set_exception(error)
    return loading


def _newest(of: EvaluationSet) -> datetime:
    """The prompts are asked when the newest memory was written: in a year they get the same answers."""
    return max((draft.created for draft in of.drafts.values() if draft.created), default=WITHOUT_DATES) + timedelta(
        hours=1
    )


def _stored(
    of: EvaluationSet, library: Library, within_namespace: bool, now: datetime, progress: Progress
) -> dict[str, Memory]:
    """Two ids of one content are one memory."""
    memories: dict[str, Memory] = {}
    names = list(of.drafts)
    for start in range(0, len(names), BATCH):
        progress("embedding", start, len(names))
        batch = names[start : start + BATCH]
        drafts = [_placed(of.drafts[name], within_namespace) for name in batch]
        stored = remembered(library, drafts, now, from_file=True)
        memories |= {name: one.memory for name, one in zip(batch, stored, strict=True) if one.memory}
    progress("embedding", len(names), len(names))
    return memories


def _placed(draft: Draft, within_namespace: bool) -> Draft:
    return replace(draft, project=_project(draft.namespace) if within_namespace else "")


def _project(namespace: str) -> str:
    return "" if namespace == DEFAULT_NAMESPACE else namespace


def _plain_search(folder: Path, memories: Mapping[str, Memory], library: Library) -> PlainSearch:
    distinct = list({memory.id: memory for memory in memories.values()}.values())
    vectors, _ = library.vectors(distinct)
    texts = (indexed_text(one.title, one.content, one.created.isoformat(), one.tags) for one in distinct)
    return PlainSearch(
        folder,
        [Document(one.id, one.project, text, v) for one, text, v in zip(distinct, texts, vectors, strict=True)],
    )


def _answers(
    of: EvaluationSet, queries: Sequence[Query], shelf: Shelf, plan: Plan, progress: Progress
) -> Iterator[Answered]:
    """Project after project, as they are asked at work; so a store that keeps the last one's state is not misjudged."""
    projects = _projects_asked_in(of, queries) if plan.within_namespace else [""] * len(queries)
    order = sorted(range(len(queries)), key=lambda index: projects[index])
    for done, index in enumerate(order):
        progress("asking", done, len(queries))
        compared = plan.policies if index % plan.compared_every == 0 else dict(list(plan.policies.items())[:1])
        yield _answered(queries[index], projects[index], shelf, replace(plan, policies=compared))
    progress("asking", len(queries), len(queries))


def _projects_asked_in(of: EvaluationSet, queries: Sequence[Query]) -> list[str]:
    """Each query's namespace. One without is asked in each project in turn: asked in none, silence were no merit."""
    projects = sorted({_project(name) for name in of.namespaces} - {""}) or [""]
    homeless = iter(range(len(queries)))
    return [_project(query.namespace) or projects[next(homeless) % len(projects)] for query in queries]


def _answered(query: Query, project: str, shelf: Shelf, plan: Plan) -> Answered:
    gold = {memory.id: memory for name in query.gold if (memory := shelf.memories.get(name))}
    question = metrics.Question(query.prompt, query.kind, tuple(gold.values()))
    settings = plan.settings.model_copy(update={"namespaces": ()})
    around = Surroundings(shelf.library, settings, Project(project, None, project), {}, shelf.now, Stages())
    first = next(iter(plan.policies.values()))
    started = time.perf_counter()
    recalled = recalled_for(query.prompt, around)
    asked = Asked(query.prompt, recalled, around, plan.part_limit) if recalled else None
    parts = first(asked, settings.max_tokens) if asked else ()
    milliseconds = (time.perf_counter() - started) * 1000
    rankings = {"memhook": _whole_ranking(recalled), **_plain_rankings(query.prompt, project, shelf, question)}
    judgements = {
        (name, budget): metrics.judged(question, policy(asked, budget) if asked else (), budget)
        for name, policy in plan.policies.items()
        for budget in plan.budgets
    }
    return Answered(question, rankings, judgements, bool(parts), milliseconds)


def _whole_ranking(recalled: Recalled | None) -> list[str]:
    """Every candidate in its place, whether or not it was found worth showing."""
    if recalled is None:
        return []
    return [*(one.memory.id for one in recalled.worth_showing), *(one.memory for one in recalled.rest)]


def _plain_rankings(prompt: str, project: str, shelf: Shelf, question: metrics.Question) -> dict[str, list[str]]:
    if shelf.plain is None or not question.is_answerable:
        return {}
    vector = shelf.embedder.embed_query_again(prompt) if shelf.embedder else None
    return shelf.plain.rankings(prompt, vector, project)


def _with_budget(settings: Settings, budget: int, detail: str) -> Settings:
    hooks = settings.hooks.model_copy(update={"detail": detail})
    return settings.model_copy(update={"max_tokens": budget, "hooks": hooks})


def _report(answered: Sequence[Answered], plan: Plan) -> dict[str, Any]:
    names = list(plan.policies)
    answerable = [one for one in answered if one.question.is_answerable]
    recalls = {
        name: _recalls([(one.question, one.rankings[name]) for one in answerable])
        for name in (answerable[0].rankings if answerable else ("memhook",))
    }
    compared = [one for one in answered if len(one.judgements) == len(names) * len(plan.budgets)]
    times = [one.milliseconds for one in answered]
    percentiles = {name: metrics.percentile(times, share) for name, share in (("p50", 0.5), ("p95", 0.95))}
    report: dict[str, Any] = {
        "prompts": len(answered),
        "answerable": len(answerable),
        "detail": names[0],
        "relevance": plan.settings.hooks.relevance,
        "within_namespace": plan.within_namespace,
        "recall": recalls["memhook"],
        "budgets": _budgets(answered, names[0], plan.budgets),
        **metrics.spoken((one.question, one.has_block) for one in answered),
        "latency_ms": {name: None if value is None else round(value, 1) for name, value in percentiles.items()},
    }
    if plan.baseline:
        report["baselines"] = {name: {"recall": recall} for name, recall in recalls.items() if name != "memhook"}
    if len(names) > 1:
        report["compared"] = sum(one.question.is_answerable for one in compared)
        report["policies"] = {name: _budgets(compared, name, plan.budgets) for name in names}
    return report


def _recalls(ranked: Sequence[tuple[metrics.Question, Sequence[str]]]) -> dict[str, float | None]:
    def share(k: int) -> float | None:
        return metrics.mean(metrics.ranking_recall([m.id for m in one.gold], ids, k) for one, ids in ranked)

    return {str(k): share(k) for k in DEPTHS}


def _budgets(answered: Sequence[Answered], policy: str, budgets: Sequence[int]) -> dict[str, Any]:
    return {str(budget): metrics.summed_up([one.judgements[policy, budget] for one in answered]) for budget in budgets}
