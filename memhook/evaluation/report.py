"""The report of an evaluation: every prompt of a set answered as a session of its own, and the figures.

The answers come from the code of the prompt hook. Nothing is recorded. Several sets are reported each and together.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Any

from memhook.answering.account import Account
from memhook.answering.action import MOST_TOKENS, action_outcome
from memhook.answering.answer import recalled_for
from memhook.answering.silence import of_prompt
from memhook.core.actions import Action
from memhook.core.note_requests import Asked
from memhook.evaluation import metrics
from memhook.evaluation.baselines import Simple, compared
from memhook.evaluation.policies import Plan, Policy, Prompted
from memhook.evaluation.sessions import Session, sessions, summed_up
from memhook.evaluation.sets import EvaluationSet, Query
from memhook.evaluation.stores import Encoders, Progress, Shelf, encoders, filled_shelf, projects_asked_in
from memhook.paths import Paths
from memhook.store.embedding.encoder import Embedder, load_embedder

DEPTHS = (5, 10, 20)
ALL = "all"

Shown = Callable[[Policy, int], Sequence[str]]
"""Returns what a policy shows within a budget."""


@dataclass(frozen=True, slots=True)
class Answered:
    """The results for one prompt: the whole ranking, judgements by policy and budget, and the simple methods.

    `served` is the block of the first policy within the budget of the settings; `remembered` of its `chars` are
    remembered text.
    """

    question: metrics.GoldQuery
    ranking: Sequence[str]
    judgements: Mapping[tuple[str, int], metrics.Judgement]
    served: metrics.Judgement
    chars: int
    remembered: int
    milliseconds: float
    simple: Simple | None


@dataclass(frozen=True, slots=True)
class _Measured:
    name: str
    memories: int
    answered: Sequence[Answered]
    sessions: Mapping[int, Sequence[Session]]


def evaluated(
    sets: Sequence[EvaluationSet],
    plan: Plan,
    paths: Paths,
    progress: Progress,
    load: Callable[[str, Path], Embedder] = load_embedder,
) -> dict[str, Any]:
    """Return the report that `eval --json` prints; the figures of further policies are under `policies`.

    Each set has a store of its own; with several, the report covers all prompts, and each set is under `sets`.
    """
    with encoders(paths, load) as encoder:
        measured = [_measured(one, plan, encoder, progress) for one in sets]
        loaded = encoder(plan.settings.embedding.model)
    model = "" if loaded.exception() else loaded.result().model.id
    reports = [_report(one, plan, model) for one in measured]
    return reports[0] if len(reports) == 1 else {**_report(_pooled(measured), plan, model), "sets": reports}


def _measured(of: EvaluationSet, plan: Plan, encoder: Encoders, progress: Progress) -> _Measured:
    with tempfile.TemporaryDirectory(prefix="memhook-eval-") as name:
        shelf = filled_shelf(Path(name), of, plan, encoder, progress)
        answered = list(_answers(of, shelf, plan, progress))
        return _Measured(of.name, len(of.drafts), answered, sessions(of, shelf, plan, progress))


def _pooled(measured: Sequence[_Measured]) -> _Measured:
    lengths = measured[0].sessions
    return _Measured(
        ALL,
        sum(one.memories for one in measured),
        list(chain(*(one.answered for one in measured))),
        {length: list(chain(*(one.sessions[length] for one in measured))) for length in lengths},
    )


def _answers(of: EvaluationSet, shelf: Shelf, plan: Plan, progress: Progress) -> Iterator[Answered]:
    """Yield the answers project by project, as in real use: the store caches the state of the last project."""
    projects = projects_asked_in(of, plan.within_namespace)
    order = sorted(range(len(of.queries)), key=lambda index: projects[index])
    for done, index in enumerate(order):
        progress("asking", done, len(order))
        compared = plan.policies if index % plan.compared_every == 0 else dict(list(plan.policies.items())[:1])
        yield _answered(of.queries[index], projects[index], shelf, replace(plan, policies=compared))
    progress("asking", len(order), len(order))


def _answered(query: Query, project: str, shelf: Shelf, plan: Plan) -> Answered:
    question = shelf.question(query)
    first, most = next(iter(plan.policies.values())), plan.settings.max_tokens
    tokens = min(most, MOST_TOKENS) if query.action else 0  # a tool call has a budget of its own
    started = time.perf_counter()
    if query.action:
        shown, ranking = _to_call(query.action, project, tokens, shelf, plan)
    else:
        shown, ranking = _to_prompt(query.prompt, project, shelf, plan)
    parts = shown(first, most)
    milliseconds = (time.perf_counter() - started) * 1000
    judgements = {
        (name, budget): metrics.judged(question, shown(policy, budget), tokens or budget)
        for name, policy in plan.policies.items()
        for budget in plan.budgets
    }
    simple = None
    if shelf.plain and not query.action:
        vector = shelf.embedder.embed_query(query.prompt) if shelf.embedder else None
        simple = shelf.plain.answer(question, vector, project)
    served = metrics.judged(question, parts, tokens or most)
    remembered = metrics.remembered_chars("\n".join(parts), shelf.by_id)
    return Answered(question, ranking, judgements, served, sum(map(len, parts)), remembered, milliseconds, simple)


def _to_prompt(prompt: str, project: str, shelf: Shelf, plan: Plan) -> tuple[Shown, Sequence[str]]:
    """Return what is shown, and every candidate in order, whether or not it is worth showing."""
    around = shelf.surroundings(plan.hook_settings, project, Account())
    if of_prompt(Asked((), prompt), around.budget) is not None:
        return lambda _policy, _budget: (), ()
    recalled = recalled_for(prompt, around)
    asked = Prompted(prompt, recalled, around, plan.part_limit)
    ranking = [*(one.memory.id for one in recalled.worth_showing), *(one.memory for one in recalled.rest)]
    return lambda policy, budget: policy(asked, budget), ranking


def _to_call(action: Action, project: str, tokens: int, shelf: Shelf, plan: Plan) -> tuple[Shown, Sequence[str]]:
    settings = plan.hook_settings.model_copy(update={"max_tokens": tokens})
    block = action_outcome(action, shelf.surroundings(settings, project, Account())).block
    return lambda _policy, _budget: block.parts, [one.memory for one in block.considered]


def _report(measured: _Measured, plan: Plan, model: str) -> dict[str, Any]:
    names = list(plan.policies)
    answered = measured.answered
    answerable = [one for one in answered if one.question.is_answerable]
    times = [one.milliseconds for one in answered]
    percentiles = {name: metrics.percentile(times, share) for name, share in (("p50", 0.5), ("p95", 0.95))}
    served = metrics.served((one.question, one.served) for one in answered)
    report: dict[str, Any] = {
        "set": measured.name,
        "memories": measured.memories,
        "model": model,
        "prompts": len(answered),
        "answerable": len(answerable),
        "detail": names[0],
        "relevance": plan.settings.hooks.relevance,
        "within_namespace": plan.within_namespace,
        "recall": _recalls([(one.question, one.ranking) for one in answerable]),
        "budgets": _budgets(answered, names[0], plan.budgets),
        **served,
        "framing_share": _framing_share(answered),
        "latency_ms": {name: None if value is None else round(value, 1) for name, value in percentiles.items()},
    }
    if plan.has_baselines:
        report["baselines"] = _baselines(answered, served["silent"])
    if plan.session_prompts:
        report["sessions"] = {str(length): summed_up(found) for length, found in measured.sessions.items()}
    if len(names) > 1:
        both = [one for one in answered if len(one.judgements) == len(names) * len(plan.budgets)]
        report["compared"] = sum(one.question.is_answerable for one in both)
        report["policies"] = {name: _budgets(both, name, plan.budgets) for name in names}
    return report


def _framing_share(answered: Sequence[Answered]) -> float | None:
    chars = sum(one.chars for one in answered)
    return round(1 - sum(one.remembered for one in answered) / chars, 4) if chars else None


def _baselines(answered: Sequence[Answered], silent: float | None) -> dict[str, Any]:
    simple = [one.simple for one in answered if one.simple]
    answerable = [one for one in simple if one.question.is_answerable]
    rankings = {
        name: {"recall": _recalls([(one.question, list(one.rankings[name])) for one in answerable])}
        for name in (simple[0].rankings if simple else ())
    }
    return {**rankings, **compared(simple, silent)}


def _recalls(ranked: Sequence[tuple[metrics.GoldQuery, Sequence[str]]]) -> dict[str, float | None]:
    def share(k: int) -> float | None:
        return metrics.mean(metrics.ranking_recall([m.id for m in one.gold], ids, k) for one, ids in ranked)

    return {str(k): share(k) for k in DEPTHS}


def _budgets(answered: Sequence[Answered], policy: str, budgets: Sequence[int]) -> dict[str, Any]:
    return {str(budget): metrics.summed_up([one.judgements[policy, budget] for one in answered]) for budget in budgets}
