"""Answer an event: one code path for hooks, `why` and `eval`, so that they cannot disagree."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from memhook.answering import silence
from memhook.answering.account import Account
from memhook.answering.block import Block, Budget, Extent, hook_block
from memhook.answering.doubts import NONE, Doubts
from memhook.answering.recall import QUARANTINED, Recalled, for_prompt, for_session
from memhook.answering.silence import SHOWN, Silence
from memhook.answering.stages import Stages
from memhook.core.grading import Grade, Strictness, grade_of
from memhook.core.note_requests import Asked, asked_in
from memhook.core.packing import PartLimit
from memhook.core.rendering import PROMPT_HEADING, SESSION_HEADING, hook_frames
from memhook.library.joined import Searchable
from memhook.settings import Settings
from memhook.store.ledger import Injection
from memhook.store.project import Project

POISON_NOTICE = "memhook left out a memory that tries to command the assistant. See: memhook list --quarantined"

TimesShown = Callable[[Sequence[str]], Mapping[str, int]]


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
        """Whether the session's budget, not the limit per event, decides."""
        return self.budget < self.settings.max_tokens

    def bounds(self, heading: str, part_limit: PartLimit | None) -> Budget:
        return Budget(self.budget, hook_frames(heading, not self.account.knows_label), part_limit)


@dataclass(frozen=True, slots=True)
class Outcome:
    """The text for the model, or the reason for silence; `notice` is for the user."""

    silence: Silence | None
    block: Block = field(default_factory=Block)
    notice: str = ""
    read_as: Mapping[str, str] = field(default_factory=dict)

    @property
    def outcome(self) -> str:
        return self.silence or SHOWN

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
            outcome=self.outcome,
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
    settings = around.settings
    with around.stages.timed("check"):
        weighed = around.doubts.weighed(recalled.worth_showing)
    with around.stages.timed("pack"):
        block = hook_block(
            weighed.ranked,
            around.bounds(PROMPT_HEADING, part_limit),
            settings.hooks.detail,
            _extent(recalled, settings),
            recalled.weights,
            around.account,
            weighed.remarks,
        )
        block = replace(block, considered=(*block.considered, *weighed.left_out))
    notice = POISON_NOTICE if any(one.reason.startswith(QUARANTINED) for one in recalled.rest) else ""
    nothing_found = Silence.SMALL_TALK if recalled.answer.is_small_talk else Silence.NOTHING_RELEVANT
    reason = silence.of_block(bool(block.parts), block.considered, nothing_found, is_short=around.is_short)
    return Outcome(reason, recalled.with_the_rest(block), notice, recalled.read_as)


def _extent(recalled: Recalled, settings: Settings) -> Extent:
    """Return how much is shown: of the best memory half as much where memhook is unsure.

    On 225 prompts that costs nothing that they need, and a seventh less on those that need nothing.
    """
    is_sure = grade_of(recalled.answer.chance, Strictness(settings.hooks.relevance)) is Grade.SURE
    return Extent(settings.preview_chars, settings.hooks.best_chars // (1 if is_sure else 2))


def session_outcome(
    source: str, around: Surroundings, part_limit: PartLimit | None, times_shown: TimesShown
) -> Outcome:
    """Answer the start of a session with the memories that matter most for the project."""
    reason = silence.of_start(source, around.settings, around.budget, is_empty=around.library.store.count() == 0)
    return Outcome(reason) if reason else _started(around, part_limit, times_shown)


def subagent_outcome(
    agent_type: str, around: Surroundings, part_limit: PartLimit | None, times_shown: TimesShown
) -> Outcome:
    """Answer the start of a subagent with memories for its type and for the project."""
    reason = silence.of_start("", around.settings, around.budget, is_empty=False)
    return Outcome(reason) if reason else _started(around, part_limit, times_shown, agent_type)


def _started(
    around: Surroundings, part_limit: PartLimit | None, times_shown: TimesShown, agent_type: str = ""
) -> Outcome:
    settings = around.settings
    limit = settings.hooks.session_start.max_memories
    ranked = for_session(
        around.library,
        around.project,
        settings,
        times_shown,
        limit,
        around.now,
        around.stages,
        agent_type,
        around.account.client,
    )
    with around.stages.timed("pack"):
        extent = Extent(settings.preview_chars)  # without a prompt there is no best one
        bounds = around.bounds(SESSION_HEADING, part_limit)
        shown, remarks = around.doubts.remarked(ranked)
        block = hook_block(shown, bounds, settings.hooks.detail, extent, {}, around.account, remarks)
    nothing_found = Silence.NOTHING_FOR_PROJECT
    return Outcome(
        silence.of_block(bool(block.parts), block.considered, nothing_found, is_short=around.is_short), block
    )
