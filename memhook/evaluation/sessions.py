"""Measure sessions: a start and several prompts with one ledger.

The prompts of a set, including the unanswerable ones, are assigned to sessions of a given length pseudo-randomly. For a
prompt, what the session showed before counts as much as its own block.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
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
        yield _Running(f"{length}-{number}", project, shelf, plan, ledger).session(queries)
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


@dataclass(slots=True)
class _Running:
    """A session as in the hook runner: each event is answered, recorded and counted as shown."""

    name: str
    project: str
    shelf: Shelf
    plan: Plan
    ledger: Ledger
    seen: list[str] = field(default_factory=list)

    def session(self, queries: Sequence[Query]) -> Session:
        start = self._answer(Kind.SESSION_START)
        spent = 0
        judged: list[metrics.Judgement] = []
        for query in queries:
            spent += self._answer(Kind.PROMPT, query.prompt)
            judged.append(metrics.judged(self.shelf.question(query), self.seen, self.plan.settings.session_max_tokens))
        found = tuple(one.found for one in judged if one.found is not None)
        carried = tuple(one.carried for one in judged if one.carried is not None)
        return Session(len(queries), found, carried, start, spent)

    def _answer(self, kind: Kind, prompt: str = "") -> int:
        """Answer an event; return its tokens."""
        event = Event(kind, kind.value, "eval", self.name, "", "", prompt, part_limit=self.plan.part_limit)
        account = Account(self.ledger.shown(self.name, ""), self.ledger.spent(self.name, ""))
        settings = settings_for(event, self.plan.hook_settings)
        around = self.shelf.surroundings(settings, self.project, account)
        # Counting the uses of other sessions would make a session depend on those measured before it.
        outcome = handled(event, around)
        injection = outcome.injection(
            kind.value, self.name, "", "eval", self.project, settings.max_tokens, self.shelf.now, Stages()
        )
        number = self.ledger.record(injection)
        for part in range(1, len(outcome.block.parts) + 1):
            self.ledger.delivered(number, part)
        self.seen.extend(outcome.block.parts)
        return sum(map(estimated_tokens, outcome.block.parts))
