"""Answer a tool call: the memories anchored to the file, command or error it touches, and no others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from memhook.answering import silence
from memhook.answering.answer import Outcome, Surroundings
from memhook.answering.block import Extent, Ranked, hook_block
from memhook.answering.silence import Silence
from memhook.core.actions import Action
from memhook.core.memory import Memory
from memhook.core.rendering import PROMPT_HEADING
from memhook.core.terms import terms
from memhook.library.access import surfacing

MOST_MEMORIES = 2
MOST_TOKENS = 300


def action_outcome(action: Action, around: Surroundings) -> Outcome:
    """Return at most two memories that the session has not seen, within the budget."""
    reason = silence.of_action(action, around.settings, around.budget)
    if reason:
        return Outcome(reason)
    with around.stages.timed("anchors"):
        found: Sequence[Ranked] = anchored_to(action, around)
    if not found:
        return Outcome(Silence.NOTHING_ANCHORED)
    weights = {term: 1.0 for one in found for anchor in one.parts for term in terms(anchor)}
    with around.stages.timed("check"):
        found, remarks = around.doubts.remarked(found)
    with around.stages.timed("pack"):
        settings = around.settings
        extent = Extent(settings.preview_chars, settings.hooks.best_chars)
        bounds = around.bounds(PROMPT_HEADING, None)
        block = hook_block(found, bounds, settings.hooks.detail, extent, weights, around.account, remarks)
    nothing_found = Silence.NOTHING_ANCHORED
    reason = silence.of_block(bool(block.parts), block.considered, nothing_found, is_short=around.is_short)
    return Outcome(reason, block)


def anchored_to(action: Action, around: Surroundings) -> list[Ranked]:
    """Return the best matches that may be shown, each with its anchors as the parts of its score.

    What was captured and not reviewed counts only after a failure, where it may be how such a failure ended.
    """
    allowed = surfacing(around.project.id, around.settings, around.now, around.account.client)
    if action.error:
        allowed = replace(allowed, captured=None)
    matches = around.library.store.anchored(action, allowed)
    if not matches:
        return []
    memories = around.library.store.by_ids([one.memory for one in matches], allowed)
    ranked = [
        Ranked(memories[one.memory], one.score, dict.fromkeys(one.anchors, one.score))
        for one in matches
        if one.memory in memories
    ]
    ranked.sort(key=lambda one: (-one.score, -one.memory.updated.timestamp(), one.memory.id))
    fit = _fit(around, [one.memory for one in ranked[: 2 * MOST_MEMORIES]])
    return [replace(one, memory=fit[one.memory.id]) for one in ranked if one.memory.id in fit][:MOST_MEMORIES]


def _fit(around: Surroundings, memories: Sequence[Memory]) -> dict[str, Memory]:
    return {memory.id: memory for memory in around.library.fit_to_show(memories)}
