"""Answer the start of a session, or of a subagent, with the memories that matter most for the project."""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import islice

from memhook.answering import silence
from memhook.answering.answer import Outcome, Surroundings, packed_outcome, with_successors
from memhook.answering.block import Ranked
from memhook.answering.recall import nearest
from memhook.answering.silence import Silence
from memhook.core.cues import standing_orders
from memhook.core.memory import Memory, Origin
from memhook.core.packing import PartLimit
from memhook.core.ranking import recency
from memhook.core.rendering import SESSION_HEADING
from memhook.library.access import surfacing
from memhook.store.project import recent_work

GIT_SECONDS = 0.5
RECENT = 50
READ_CHARS = 400  # of a memory, to detect a rule
HALF_LIFE_DAYS = 30.0
RULES = ("rule", "rules", "convention", "conventions", "decision", "decisions")
"""Namespaces and tags of memories that apply before the first prompt, as memhook's own tools suggest them."""
# Judgement: the branch counts more than age, and a project's own note more than a global one. The order "rules first"
# was measured on 225 prompts in sessions of ten, by the number of prompts that need words which the start shows and
# their own block lacks: within 300 and 600 tokens 3 and 10; newest first 0 and 1; in random order 1 to 3 and 4 to 5; by
# nearness to the vector of a rule 1 and 2. Written memories come before imported ones: an imported commit message is
# very near to recent work and adds nothing. A memory for the type of a subagent comes before all others.
WEIGHTS = {"nearness": 0.4, "recency": 0.25, "use": 0.1, "project": 0.25, "written": 0.5, "rule": 1.0, "type": 2.0}


def session_outcome(source: str, around: Surroundings, part_limit: PartLimit | None) -> Outcome:
    reason = silence.of_start(source, around.settings, around.budget, is_empty=around.library.store.count() == 0)
    return Outcome(reason) if reason else _started(around, part_limit)


def subagent_outcome(agent_type: str, around: Surroundings, part_limit: PartLimit | None) -> Outcome:
    reason = silence.of_start("", around.settings, around.budget, is_empty=False)
    return Outcome(reason) if reason else _started(around, part_limit, agent_type)


def _started(around: Surroundings, part_limit: PartLimit | None, agent_type: str = "") -> Outcome:
    """Return the first memories that may be shown and fit; without a prompt, none gets the space of a best one."""
    ranked = _ranked(around, agent_type)
    fit = (replace(one, memory=memory) for one in ranked for memory in around.library.fit_to_show([one.memory]))
    most = around.settings.hooks.session_start.max_memories
    found = list(islice(fit, most))  # lazy: only what is shown is screened
    with around.stages.timed("check"):
        weighed = around.doubts.remarked(with_successors(found, around, 2 * most)[:most])
    return packed_outcome(weighed, around, SESSION_HEADING, Silence.NOTHING_FOR_PROJECT, part_limit, is_filled=True)


def _ranked(around: Surroundings, agent_type: str) -> list[Ranked]:
    """Return pinned memories, then rules, then written ones, then others by nearness to recent work, recency and use.

    For a subagent, memories with the namespace or tag of its type come before the rules.
    """
    store, root = around.library.store, around.project.root
    limit = around.settings.hooks.session_start.max_memories
    allowed = surfacing(around.project.id, around.settings, around.now, around.account.client)
    with around.stages.timed("git"):
        work = recent_work(root, GIT_SECONDS) if root else None
    text = " ".join((work.branch, *work.subjects)) if work else ""
    near = nearest(around.library, text, allowed, around.stages) if text.strip() else []
    with around.stages.timed("search"):
        pinned = store.newest(replace(allowed, pinned=True), limit)
        pool = {memory.id: memory for memory in (*pinned, *store.newest(allowed, RECENT))}
        for names in filter(any, ((agent_type,), RULES)):  # of any age
            pool |= {memory.id: memory for memory in store.newest(replace(allowed, filed_under=names), limit)}
    pool |= {one.memory.id: one.memory for one in near}
    # Only use counts: if showings did, a start would choose the memories that earlier starts have shown.
    nearness, usage = {one.memory.id: one.score for one in near}, around.doubts.usage(list(pool))

    def usefulness(memory: Memory) -> Ranked:
        uses = usage[memory.id].used if memory.id in usage else 0
        parts = {
            "nearness": nearness.get(memory.id, 0.0),
            "recency": recency(_age_in_days(memory, around.now), HALF_LIFE_DAYS),
            "use": 1 - 1 / (1 + math.log1p(uses)),
            "project": float(bool(memory.project)),
            "written": float(memory.origin in (Origin.USER, Origin.AGENT)),
            "rule": _rule(memory),
        }
        if agent_type:
            parts["type"] = float(_is_filed_under((agent_type,), memory))
        return Ranked(memory, round(sum(WEIGHTS[name] * value for name, value in parts.items()), 4), parts)

    return sorted(map(usefulness, pool.values()), key=lambda one: (not one.memory.pinned, -one.score, one.memory.id))


def _rule(memory: Memory) -> float:
    """Return 1 for a memory with a namespace or tag of rules, .5 for one worded as a rule ("Never ..."), else 0."""
    if _is_filed_under(RULES, memory):
        return 1.0
    return 0.5 if any(standing_orders(memory.content[:READ_CHARS])) else 0.0


def _age_in_days(memory: Memory, now: datetime) -> float:
    return (now - max(memory.updated, memory.accessed or memory.updated)) / timedelta(days=1)


def _is_filed_under(names: Collection[str], memory: Memory) -> bool:
    return memory.namespace in names or not set(names).isdisjoint(memory.tags)
