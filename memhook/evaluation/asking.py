"""Answer every prompt of a set as a session of its own, with the code of the prompt hook. Nothing is recorded."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product

from memhook.answering.account import Account
from memhook.answering.action import MOST_TOKENS, action_outcome
from memhook.answering.answer import recalled_for
from memhook.answering.recall import Recalled
from memhook.answering.silence import of_prompt
from memhook.core.actions import Action
from memhook.core.note_requests import Asked
from memhook.evaluation import metrics
from memhook.evaluation.baselines import Simple, simple_answer
from memhook.evaluation.policies import Plan, Prompted
from memhook.evaluation.sets import EvaluationSet, Query
from memhook.evaluation.stores import Progress, Shelf, projects_asked_in


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


def _answered_call(query: Query, action: Action, project: str, shelf: Shelf, plan: Plan) -> Answered:
    """The answer to a tool call has one budget, whatever is compared for prompts."""
    question = shelf.question(query)
    tokens = min(plan.settings.max_tokens, MOST_TOKENS)
    around = shelf.surroundings(plan.hook_settings.model_copy(update={"max_tokens": tokens}), project, Account())
    started = time.perf_counter()
    block = action_outcome(action, around).block
    milliseconds = (time.perf_counter() - started) * 1000
    served = metrics.judged(question, block.parts, tokens)
    return Answered(
        question,
        [one.memory for one in block.considered],
        dict.fromkeys(product(plan.policies, plan.budgets), served),
        served,
        len(block.text),
        metrics.remembered_chars(block.text, shelf.by_id),
        milliseconds,
        None,
    )


def _answered(query: Query, project: str, shelf: Shelf, plan: Plan) -> Answered:
    if query.action is not None:
        return _answered_call(query, query.action, project, shelf, plan)
    question = shelf.question(query)
    settings = plan.hook_settings
    around = shelf.surroundings(settings, project, Account())
    first = next(iter(plan.policies.values()))
    started = time.perf_counter()
    is_asked = of_prompt(Asked((), query.prompt), around.budget) is None
    recalled = recalled_for(query.prompt, around) if is_asked else None
    asked = Prompted(query.prompt, recalled, around, plan.part_limit) if recalled else None
    parts = first(asked, settings.max_tokens) if asked else ()
    milliseconds = (time.perf_counter() - started) * 1000
    judgements = {
        (name, budget): metrics.judged(question, policy(asked, budget) if asked else (), budget)
        for name, policy in plan.policies.items()
        for budget in plan.budgets
    }
    return Answered(
        question,
        _whole_ranking(recalled),
        judgements,
        metrics.judged(question, parts, settings.max_tokens),
        sum(map(len, parts)),
        metrics.remembered_chars("\n".join(parts), shelf.by_id),
        milliseconds,
        simple_answer(question, project, shelf),
    )


def _whole_ranking(recalled: Recalled | None) -> list[str]:
    """Return every candidate in order, whether or not it is worth showing."""
    if recalled is None:
        return []
    return [*(one.memory.id for one in recalled.worth_showing), *(one.memory for one in recalled.rest)]
