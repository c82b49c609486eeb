"""What an event gets: decided here for the hook, for `why` and for `eval`, so that they cannot disagree."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from memhook.answering import silence
from memhook.answering.account import Account
from memhook.answering.block import Block, Budget, Extent, hook_block
from memhook.answering.recall import QUARANTINED, Recalled, for_prompt, for_session
from memhook.answering.silence import SHOWN, Silence
from memhook.answering.stages import Stages
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
    """What an answer is made from."""

    library: Searchable
    settings: Settings
    project: Project
    account: Account
    now: datetime
    stages: Stages

    @property
    def budget(self) -> int:
        """What this event may cost: what one may at most, or what is left of the session's."""
        return max(0, min(self.settings.max_tokens, self.settings.session_max_tokens - self.account.spent))

    @property
    def is_short(self) -> bool:
        """Whether the session's budget, not the event's, is what bounds it."""
        return self.budget < self.settings.max_tokens

    def bounds(self, heading: str, part_limit: PartLimit | None) -> Budget:
        return Budget(self.budget, hook_frames(heading, not self.account.knows_label), part_limit)


@dataclass(frozen=True, slots=True)
class Outcome:
    """The text for the model, or the reason for having none; `notice` is for the user."""

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
        """The record of it for the ledger."""
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
    """Speak only when something bears on the prompt and the session has not seen it."""
    asked = asked_in(prompt) if around.settings.hooks.capture else Asked((), prompt)
    reason = silence.of_prompt(asked, around.budget)
    return Outcome(reason) if reason else outcome_of(recalled_for(asked.rest, around), around, part_limit)


def recalled_for(prompt: str, around: Surroundings) -> Recalled:
    return for_prompt(around.library, prompt, around.project.id, around.settings, around.now, around.stages)


def outcome_of(recalled: Recalled, around: Surroundings, part_limit: PartLimit | None) -> Outcome:
    """As much of it as is new to the session and fits the budget."""
    settings = around.settings
    with around.stages.timed("pack"):
        block = hook_block(
            recalled.worth_showing,
            around.bounds(PROMPT_HEADING, part_limit),
            settings.hooks.detail,
            Extent(settings.preview_chars, settings.hooks.best_chars),
            recalled.weights,
            around.account,
        )
    notice = POISON_NOTICE if any(one.reason.startswith(QUARANTINED) for one in recalled.rest) else ""
    nothing_found = Silence.SMALL_TALK if recalled.answer.is_small_talk else Silence.NOTHING_RELEVANT
    reason = silence.of_block(bool(block.parts), block.considered, nothing_found, is_short=around.is_short)
    return Outcome(reason, recalled.with_the_rest(block), notice, recalled.read_as)


def session_outcome(
    source: str, around: Surroundings, part_limit: PartLimit | None, times_shown: TimesShown
) -> Outcome:
    """What matters for this project before anything was asked."""
    reason = silence.of_start(source, around.settings, around.budget, is_empty=around.library.store.count() == 0)
    return Outcome(reason) if reason else _started(around, part_limit, times_shown)


def subagent_outcome(
    agent_type: str, around: Surroundings, part_limit: PartLimit | None, times_shown: TimesShown
) -> Outcome:
    """What there is for a subagent of this type and for the project."""
    reason = silence.of_start("", around.settings, around.budget, is_empty=False)
    return Outcome(reason) if reason else _started(around, part_limit, times_shown, agent_type)


def _started(
    around: Surroundings, part_limit: PartLimit | None, times_shown: TimesShown, agent_type: str = ""
) -> Outcome:
    settings = around.settings
    limit = settings.hooks.session_start.max_memories
    ranked = for_session(
        around.library, around.project, settings, times_shown, limit, around.now, around.stages, agent_type
    )
    with around.stages.timed("pack"):
        extent = Extent(settings.preview_chars)  # nothing was asked yet that one of them could be the best for
        bounds = around.bounds(SESSION_HEADING, part_limit)
        block = hook_block(ranked, bounds, settings.hooks.detail, extent, {}, around.account)
    nothing_found = Silence.NOTHING_FOR_PROJECT
    return Outcome(
        silence.of_block(bool(block.parts), block.considered, nothing_found, is_short=around.is_short), block
    )
