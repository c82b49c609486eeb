"""Measure sessions: a start and several prompts with one ledger.

The prompts of a set, including the unanswerable ones, are assigned to sessions of a given length pseudo-randomly. For a
prompt, what the session showed before counts as much as its own block.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from memhook.answering.account import Account
from memhook.answering.stages import Stages
from memhook.assistants.events import Event, Kind
from memhook.core.tokens import estimated_tokens
from memhook.evaluation import metrics
from memhook.evaluation.policies import Plan
from memhook.evaluation.sets import EvaluationSet, Query, lot
from memhook.evaluation.stores import Progress, Shelf, projects_asked_in
from memhook.hooks.handlers import handled, settings_for
from memhook.store.ledger import Ledger


@dataclass(frozen=True, slots=True)
class Session:
    """The results of one session; `found` covers its answerable prompts, `carried` those with needed words."""

    prompts: int
    found: tuple[int, ...]
    carried: tuple[int, ...]
    start_tokens: int
    prompt_tokens: int


def sessions(of: EvaluationSet, shelf: Shelf, plan: Plan, progress: Progress) -> dict[int, list[Session]]:
    ledger = Ledger(shelf.folder / "ledger.sqlite3")
    try:
        return {length: list(_sessions(of, length, shelf, plan, ledger, progress)) for length in plan.session_prompts}
    finally:
        ledger.close()


def summed_up(found: Sequence[Session]) -> dict[str, Any]:
    """Return shares over the prompts, and tokens per session."""
    tokens = sum(one.start_tokens + one.prompt_tokens for one in found)
    carried = [one for session in found for one in session.carried]
    return {
        "sessions": len(found),
        "prompts": metrics.mean((one.prompts for one in found), 1),
        "found": metrics.mean(one for session in found for one in session.found),
        "carried": metrics.mean(carried),
        "start_tokens": metrics.mean((one.start_tokens for one in found), 1),
        "prompt_tokens": metrics.mean((one.prompt_tokens for one in found), 1),
        "tokens": metrics.mean((one.start_tokens + one.prompt_tokens for one in found), 1),
        "carried_per_1000_tokens": round(1000 * sum(carried) / tokens, 3) if carried and tokens else None,
    }


def _sessions(
    of: EvaluationSet, length: int, shelf: Shelf, plan: Plan, ledger: Ledger, progress: Progress
) -> Iterator[Session]:
    dealt = list(_dealt(of, length, plan.within_namespace))
    for number, (project, queries) in enumerate(dealt):
        progress(f"sessions of {length}", number, len(dealt))
        yield _session(f"{length}-{number}", project, queries, shelf, plan, ledger)
    progress(f"sessions of {length}", len(dealt), len(dealt))


def _dealt(of: EvaluationSet, length: int, within_namespace: bool) -> Iterator[tuple[str, list[Query]]]:
    """Yield sessions with each prompt once; drop a remainder too short for a session, unless it is all there is."""
    by_project: dict[str, list[Query]] = defaultdict(list)
    for query, project in zip(of.queries, projects_asked_in(of, within_namespace), strict=True):
        if query.action is None:
            by_project[project].append(query)
    for project, queries in sorted(by_project.items()):
        drawn = sorted(queries, key=lot)
        for start in range(0, max(1, len(drawn) - length + 1), length):
            yield project, drawn[start : start + length]


def _session(name: str, project: str, queries: Sequence[Query], shelf: Shelf, plan: Plan, ledger: Ledger) -> Session:
    """Answer a start and the prompts as the hook runner does: each is recorded and counted as shown."""

    def parts_for(kind: Kind, prompt: str = "") -> Sequence[str]:
        event = Event(kind, kind.value, "eval", name, "", "", prompt, part_limit=plan.part_limit)
        settings = settings_for(event, plan.hook_settings)
        # Counting the uses of other sessions would make a session depend on those measured before it.
        account = Account(ledger.shown(name, ""), ledger.spent(name, ""))
        outcome = handled(event, shelf.surroundings(settings, project, account))
        number = ledger.record(
            outcome.injection(kind.value, name, "", "eval", project, settings.max_tokens, shelf.now, Stages())
        )
        for part in range(1, len(outcome.block.parts) + 1):
            ledger.delivered(number, part)
        return outcome.block.parts

    seen = [*parts_for(Kind.SESSION_START)]
    start = sum(map(estimated_tokens, seen))
    judged: list[metrics.Judgement] = []
    for query in queries:
        seen += parts_for(Kind.PROMPT, query.prompt)
        judged.append(metrics.judged(shelf.question(query), seen, plan.settings.session_max_tokens))
    found = tuple(one.found for one in judged if one.found is not None)
    carried = tuple(one.carried for one in judged if one.carried is not None)
    return Session(len(queries), found, carried, start, sum(map(estimated_tokens, seen)) - start)
