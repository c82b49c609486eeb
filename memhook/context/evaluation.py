"""How well the prompt hook serves the prompts of a set: its own code on a store that is gone afterwards.

Nothing is recorded: there is no session, no ledger, and the user's store is not opened.
"""

from __future__ import annotations

import logging
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import cache
from itertools import chain
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
    """What became of one prompt: whole rankings, memhook's and the baselines', and judgements by policy and budget.

    `served` is what the first policy gave within the budget of the settings.
    """

    question: metrics.Question
    rankings: Mapping[str, Sequence[str]]
    judgements: Mapping[tuple[str, int], metrics.Judgement]
    served: metrics.Judgement
    milliseconds: float


@dataclass(frozen=True, slots=True)
class Shelf:
    """The throw-away store, the memories in it by the ids of the set, and what it is compared with."""

    library: Library
    memories: Mapping[str, Memory]
    embedder: Embedder | None
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
    sets: Sequence[EvaluationSet],
    plan: Plan,
    paths: Paths,
    progress: Progress,
    load: Callable[[str, Path], Embedder] = load_embedder,
) -> dict[str, Any]:
    """The report, as `eval --json` prints it; the numbers of further policies stand below `policies`.

    Of several sets, each a store of its own: that over all their prompts, and below `sets` each one's.
    """
    with _encoders(paths, load) as encoder:
        answered = {one.name: _set_answers(one, plan, encoder, progress) for one in sets}
        model = encoder(plan.settings.embedding.model)
    names = {"model": "" if model.exception() else model.result().model.id}
    reports = [
        {"set": one.name, "memories": len(one.drafts), **names, **_report(answered[one.name], plan)} for one in sets
    ]
    if len(reports) == 1:
        return reports[0]
    total = {"set": "all", "memories": sum(len(one.drafts) for one in sets)}
    return {**total, **names, **_report(list(chain(*answered.values())), plan), "sets": reports}


Encoders = Callable[[str], Future[Embedder]]
"""The model of a name, or why it is missing."""


@contextmanager
def _encoders(paths: Paths, load: Callable[[str, Path], Embedder]) -> Iterator[Encoders]:
    """Each loaded once, while the caller waits, so that the first prompt is measured like the others."""
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


def _set_answers(of: EvaluationSet, plan: Plan, encoder: Encoders, progress: Progress) -> list[Answered]:
    with tempfile.TemporaryDirectory(prefix="memhook-eval-") as name:
        shelf = _filled_shelf(Path(name), of, plan, encoder, progress)
        return list(_answers(of, shelf, plan, progress))


def _filled_shelf(folder: Path, of: EvaluationSet, plan: Plan, encoder: Encoders, progress: Progress) -> Shelf:
    model = plan.settings.embedding.model
    loaded = encoder(model)
    store = MemoryStore(str(folder / "store"), folder / "backups")
    library = Library(store, model, encoder)
    library.languages.want(plan.settings.embedding.languages)
    now = _newest(of)
    memories = _stored(of, library, plan.within_namespace, now, progress)
    store.optimize()
    plain = _plain_search(folder / "plain", memories, library) if plan.baseline else None
    store.keep_in_memory()  # as the daemon does before the first prompt
    while library.languages.keep_up():
        progress("embedding", len(memories), len(memories))
    recall.for_search(library, "warm up", OWNER, 1)
    return Shelf(library, memories, None if loaded.exception() else loaded.result(), plain, now)


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


def _answers(of: EvaluationSet, shelf: Shelf, plan: Plan, progress: Progress) -> Iterator[Answered]:
    """Project after project, as they are asked at work; so a store that keeps the last one's state is not misjudged."""
    queries = of.queries
    projects = _projects_asked_in(of) if plan.within_namespace else [""] * len(queries)
    order = sorted(range(len(queries)), key=lambda index: projects[index])
    for done, index in enumerate(order):
        progress("asking", done, len(queries))
        compared = plan.policies if index % plan.compared_every == 0 else dict(list(plan.policies.items())[:1])
        yield _answered(queries[index], projects[index], shelf, replace(plan, policies=compared))
    progress("asking", len(queries), len(queries))


def _projects_asked_in(of: EvaluationSet) -> list[str]:
    """Each query's namespace. One without is asked in each project in turn: asked in none, silence were no merit."""
    projects = sorted({_project(name) for name in of.namespaces} - {""}) or [""]
    homeless = iter(range(len(of.queries)))
    return [_project(query.namespace) or projects[next(homeless) % len(projects)] for query in of.queries]


def _answered(query: Query, project: str, shelf: Shelf, plan: Plan) -> Answered:
    gold = {memory.id: memory for name in query.gold if (memory := shelf.memories.get(name))}
    question = metrics.Question(query.prompt, query.kind, tuple(gold.values()), query.needs)
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
    served = metrics.judged(question, parts, settings.max_tokens)
    return Answered(question, rankings, judgements, served, milliseconds)


def _whole_ranking(recalled: Recalled | None) -> list[str]:
    """Every candidate in its place, whether or not it was found worth showing."""
    if recalled is None:
        return []
    return [*(one.memory.id for one in recalled.worth_showing), *(one.memory for one in recalled.rest)]


def _plain_rankings(prompt: str, project: str, shelf: Shelf, question: metrics.Question) -> dict[str, list[str]]:
    if shelf.plain is None or not question.is_answerable:
        return {}
    vector = shelf.embedder.embed_query(prompt) if shelf.embedder else None
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
        **metrics.served((one.question, one.served) for one in answered),
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
