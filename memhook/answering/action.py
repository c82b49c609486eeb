"""Answer a tool call: the memories anchored to the file, command or error it touches, and no others."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from memhook.answering import silence
from memhook.answering.answer import Outcome, Surroundings, packed_outcome
from memhook.answering.block import Ranked
from memhook.answering.silence import Silence
from memhook.core.actions import Action
from memhook.core.anchor_index import Match
from memhook.core.rendering import PROMPT_HEADING
from memhook.core.terms import terms
from memhook.library.access import surfacing
from memhook.patterns import regex

MOST_MEMORIES = 2
_FILE_IN_FOLDER = regex(r"[^\s*<>]+/[^\s*<>/]*\.[^\s*<>/]+")
MOST_TOKENS = 300


def action_outcome(action: Action, around: Surroundings) -> Outcome:
    """Return at most two memories that the session has not seen, within the budget."""
    reason = silence.of_action(action, around.settings, around.budget)
    if reason:
        return Outcome(reason)
    with around.stages.timed("anchors"):
        found = anchored_to(action, around)
    weights = {term: 1.0 for one in found for anchor in one.parts for term in terms(anchor)}
    with around.stages.timed("check"):
        weighed = around.doubts.remarked(found)
    best_chars = around.settings.hooks.best_chars
    return packed_outcome(
        weighed, around, PROMPT_HEADING, Silence.NOTHING_ANCHORED, best_chars=best_chars, weights=weights
    )


def anchored_to(action: Action, around: Surroundings) -> list[Ranked]:
    """Return the best matches that may be shown, each with its anchors as the parts of its score.

    Memories that the session has seen come last, so that they displace no new ones. Unreviewed captured memories count
    only after an error, because they may tell how such an error was resolved.
    """
    allowed = surfacing(around.project.id, around.settings, around.now, around.account.client)
    if action.error:
        allowed = replace(allowed, captured=None)
    former = (old for path in action.paths for old in around.doubts.former_names(path))
    action = replace(action, paths=(*action.paths, *former))
    found = around.library.store.anchored(action, allowed)
    matches = [one for one in found if not _is_of_another_file(one, action, around.project.root)]
    if not matches:
        return []
    memories = around.library.store.by_ids([one.memory for one in matches], allowed)
    ranked = [
        Ranked(memories[one.memory], one.score, dict.fromkeys(one.anchors, one.score))
        for one in matches
        if one.memory in memories
    ]
    has_seen = around.account.has_seen
    ranked.sort(key=lambda one: (has_seen(one.memory), -one.score, -one.memory.updated.timestamp(), one.memory.id))
    best = [one.memory for one in ranked[: 2 * MOST_MEMORIES]]
    fit = {memory.id: memory for memory in around.library.fit_to_show(best)}
    return [replace(one, memory=fit[one.memory.id]) for one in ranked if one.memory.id in fit][:MOST_MEMORIES]


def _is_of_another_file(match: Match, action: Action, root: Path | None) -> bool:
    """Return whether the match is only on files of the same name in other folders than the one written."""

    def is_other(anchor: str) -> bool:
        is_file = _FILE_IN_FOLDER.fullmatch(anchor) and anchor.removeprefix("./") not in action.paths
        return bool(is_file) and not _is_shortened(anchor, action.paths, root)

    return bool(action.paths) and all(map(is_other, match.anchors))


def _is_shortened(anchor: str, paths: Sequence[str], root: Path | None) -> bool:
    """Return whether the anchor omits the first folders of a path: the disk has that path, but not the anchor."""
    if root is None or os.path.isfile(root / anchor):  # noqa: PTH113  Path.is_file raises for a name that is too long
        return False
    return any(path.endswith(f"/{anchor}") and os.path.isfile(root / path) for path in paths)  # noqa: PTH113  as above
