"""Answer an event: one code path for hooks, `why` and `eval`, so that they cannot disagree."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from types import MappingProxyType

from memhook.answering import silence
from memhook.answering.account import Account
from memhook.answering.block import Block, Budget, Extent, Ranked, hook_block
from memhook.answering.doubts import NONE, Doubts, Weighed
from memhook.answering.recall import QUARANTINED, Recalled, for_prompt
from memhook.answering.silence import SHOWN, Silence
from memhook.answering.stages import Stages
from memhook.core.grading import Grade, Strictness, grade_of
from memhook.core.memory import Memory
from memhook.core.note_requests import Asked, asked_in
from memhook.core.packing import PartLimit
from memhook.core.rendering import PROMPT_HEADING, hook_frames
from memhook.library.access import surfacing
from memhook.library.joined import Searchable
from memhook.settings import Settings
from memhook.store.ledger import Injection
from memhook.store.project import Project

POISON_NOTICE = "memhook left out a memory that tries to command the assistant. See: memhook list --quarantined"


@dataclass(frozen=True, slots=True)
class Surroundings:
    """The inputs of an answer, apart from the event."""

    library: Searchable
    settings: Settings
    project: Project
    account: Account
    now: datetime
    stages: Stages
    doubts: Doubts = NONE

    @property
    def budget(self) -> int:
        """The tokens for this event: the limit per event, or the rest of the session's budget."""
        return max(0, min(self.settings.max_tokens, self.settings.session_max_tokens - self.account.spent))

    @property
    def is_short(self) -> bool:
        """Whether less is left of the session's budget than the limit per event."""
        return self.budget < self.settings.max_tokens


@dataclass(frozen=True, slots=True)
class Outcome:
    """The text for the model, or the reason for silence; `notice` is for the user, `read_as` has typing errors."""

    silence: Silence | None
    block: Block = field(default_factory=Block)
    notice: str = ""
    read_as: Mapping[str, str] = field(default_factory=dict)

    def injection(
        self, event: str, session: str, agent: str, client: str, project: str, budget: int, at: datetime, stages: Stages
    ) -> Injection:
        """Return the record for the ledger."""
        return Injection(
            at=at,
            session=session,
            agent=agent,
            client=client,
            event=event,
            project=project,
            outcome=self.silence or SHOWN,
            text=self.block.text,
            tokens=self.block.tokens,
            budget=budget,
            milliseconds=stages.milliseconds,
            considered=self.block.considered,
        )


def prompt_outcome(prompt: str, around: Surroundings, part_limit: PartLimit | None) -> Outcome:
    """Answer a prompt with relevant memories that the session has not seen."""
    asked = asked_in(prompt) if around.settings.hooks.capture else Asked((), prompt)
    reason = silence.of_prompt(asked, around.budget)
    return Outcome(reason) if reason else outcome_of(recalled_for(asked.rest, around), around, part_limit)


def recalled_for(prompt: str, around: Surroundings) -> Recalled:
    project, reader = around.project.id, around.account.client
    return for_prompt(around.library, prompt, project, around.settings, around.now, around.stages, reader)


def outcome_of(recalled: Recalled, around: Surroundings, part_limit: PartLimit | None) -> Outcome:
    """Return the recalled memories that are new to the session and fit the budget."""
    with around.stages.timed("check"):
        ranked = with_successors(recalled.worth_showing, around, around.settings.hooks.max_memories)
        weighed = around.doubts.weighed(ranked)
    nothing_found = Silence.SMALL_TALK if recalled.answer.is_small_talk else Silence.NOTHING_RELEVANT
    best_chars = _best_chars(recalled, around.settings)
    answer = packed_outcome(weighed, around, PROMPT_HEADING, nothing_found, part_limit, best_chars, recalled.weights)
    offered = {one.memory.id for one in ranked}  # successors too, which the search may have ranked lower
    considered = (*answer.block.considered, *(one for one in recalled.rest if one.memory not in offered))
    notice = POISON_NOTICE if any(one.reason.startswith(QUARANTINED) for one in recalled.rest) else ""
    return Outcome(answer.silence, replace(answer.block, considered=considered), notice, recalled.read_as)


def with_successors(ranked: Sequence[Ranked], around: Surroundings, most: int) -> tuple[Ranked, ...]:
    """Return the memories, and those that may supersede them and may be shown here, up to `most`."""

    def fetch(ids: Sequence[str]) -> list[Memory]:
        allowed = surfacing(around.project.id, around.settings, around.now, around.account.client)
        return around.library.fit_to_show(list(around.library.store.by_ids(ids, allowed).values()))

    return around.doubts.with_successors(ranked, most, fetch)


def _best_chars(recalled: Recalled, settings: Settings) -> int:
    """Return how much to show of the best memory: half as much if memhook is unsure.

    On 225 prompts, this loses nothing that they need, and saves a seventh of the tokens on those that need nothing.
    """
    is_sure = grade_of(recalled.answer.chance, Strictness(settings.hooks.relevance)) is Grade.SURE
    return settings.hooks.best_chars // (1 if is_sure else 2)


def packed_outcome(
    weighed: Weighed,
    around: Surroundings,
    heading: str,
    nothing_found: Silence,
    part_limit: PartLimit | None = None,
    best_chars: int = 0,
    weights: Mapping[str, float] = MappingProxyType({}),
    *,
    is_filled: bool = False,
) -> Outcome:
    """Return the block of these memories, or the reason for which there is none."""
    settings, account = around.settings, around.account
    with around.stages.timed("pack"):
        budget = Budget(around.budget, hook_frames(heading, not account.knows_label), part_limit)
        extent = Extent(settings.preview_chars, best_chars, is_filled)
        block = hook_block(weighed.ranked, budget, settings.hooks.detail, extent, weights, account, weighed.remarks)
    block = replace(block, considered=(*block.considered, *weighed.left_out))
    reason = silence.of_block(bool(block.parts), block.considered, nothing_found, is_short=around.is_short)
    return Outcome(reason, block)
