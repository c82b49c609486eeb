"""The report of an evaluation: the figures of one set, or of several and of all their prompts together."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

from memhook.evaluation import metrics
from memhook.evaluation.asking import Answered, answers
from memhook.evaluation.baselines import compared
from memhook.evaluation.policies import Plan
from memhook.evaluation.sessions import Session, sessions, summed_up
from memhook.evaluation.sets import EvaluationSet
from memhook.evaluation.stores import Encoders, Progress, encoders, filled_shelf
from memhook.paths import Paths
from memhook.store.embedding.encoder import Embedder, load_embedder

DEPTHS = (5, 10, 20)
ALL = "all"


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
        answered = list(answers(of, shelf, plan, progress))
        return _Measured(of.name, len(of.drafts), answered, sessions(of, shelf, plan, progress))


def _pooled(measured: Sequence[_Measured]) -> _Measured:
    lengths = measured[0].sessions
    return _Measured(
        ALL,
        sum(one.memories for one in measured),
        list(chain(*(one.answered for one in measured))),
        {length: list(chain(*(one.sessions[length] for one in measured))) for length in lengths},
    )


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
