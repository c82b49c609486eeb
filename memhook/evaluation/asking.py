"""Answer every prompt of a set as a session of its own, with the code of the prompt hook. Nothing is recorded."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import cast

from memhook.answering.account import Account
from memhook.answering.action import MOST_TOKENS, action_outcome
from memhook.answering.answer import recalled_for
from memhook.answering.silence import of_prompt
from memhook.core.actions import Action
from memhook.core.note_requests import Asked
from memhook.evaluation import metrics
from memhook.evaluation.baselines import Simple, simple_answer
from memhook.evaluation.policies import Plan, Policy, Prompted
from memhook.evaluation.sets import EvaluationSet, Query
from memhook.evaluation.stores import Progress, Shelf, projects_asked_in


@dataclass(frozen=True, slots=True)
class Response:
    """What a policy shows within a budget, and every candidate in order, whether or not it is worth showing."""

    shown: Callable[[Policy, int], Sequence[str]]
    ranking: Sequence[str] = ()
    budget: int = 0
    """The one it has itself, whatever is compared."""


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


def answers(of: EvaluationSet, shelf: Shelf, plan: Plan, progress: Progress) -> Iterator[Answered]:
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
    respond = _to_prompt if query.action is None else _to_call
    started = time.perf_counter()
    response = respond(query, project, shelf, plan)
    first, most = next(iter(plan.policies.values())), plan.settings.max_tokens
    parts = response.shown(first, most)
    milliseconds = (time.perf_counter() - started) * 1000
    judgements = {
        (name, budget): metrics.judged(question, response.shown(policy, budget), response.budget or budget)
        for name, policy in plan.policies.items()
        for budget in plan.budgets
    }
    return Answered(
        question,
        response.ranking,
        judgements,
        metrics.judged(question, parts, response.budget or most),
        sum(map(len, parts)),
        metrics.remembered_chars("\n".join(parts), shelf.by_id),
        milliseconds,
        simple_answer(question, project, shelf) if query.action is None else None,
    )


def _to_prompt(query: Query, project: str, shelf: Shelf, plan: Plan) -> Response:
    around = shelf.surroundings(plan.hook_settings, project, Account())
    is_asked = of_prompt(Asked((), query.prompt), around.budget) is None
    recalled = recalled_for(query.prompt, around) if is_asked else None
    if recalled is None:
        return Response(lambda _policy, _budget: ())
    asked = Prompted(query.prompt, recalled, around, plan.part_limit)
    ranking = [*(one.memory.id for one in recalled.worth_showing), *(one.memory for one in recalled.rest)]
    return Response(lambda policy, budget: policy(asked, budget), ranking)


def _to_call(query: Query, project: str, shelf: Shelf, plan: Plan) -> Response:
    tokens = min(plan.settings.max_tokens, MOST_TOKENS)
    around = shelf.surroundings(plan.hook_settings.model_copy(update={"max_tokens": tokens}), project, Account())
    block = action_outcome(cast(Action, query.action), around).block
    return Response(lambda _policy, _budget: block.parts, [one.memory for one in block.considered], tokens)
