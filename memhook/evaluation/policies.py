"""Ways to spend a token budget on the recalled memories, and the plan of an evaluation."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from memhook.answering.answer import Surroundings, outcome_of
from memhook.answering.pack import bundle
from memhook.answering.recall import Recalled
from memhook.core.packing import PartLimit
from memhook.settings import Settings

Detail = Literal["preview", "cascade", "full", "pack"]


@dataclass(frozen=True, slots=True)
class Prompted:
    prompt: str
    recalled: Recalled
    around: Surroundings
    part_limit: PartLimit | None


Policy = Callable[[Prompted, int], Sequence[str]]
"""Returns the finished parts within a token budget."""


@dataclass(frozen=True, slots=True)
class Plan:
    """The plan of an evaluation. The first policy gives the timed answer, within `settings.max_tokens`.

    The policies are compared on every `compared_every`-th prompt, because packing the same memories dozens of times
    takes longest. `session_prompts` are the lengths of the sessions to measure as well.
    """

    settings: Settings
    policies: Mapping[str, Policy]
    budgets: Sequence[int]
    part_limit: PartLimit | None
    within_namespace: bool = False
    has_baselines: bool = False
    compared_every: int = 1
    session_prompts: Sequence[int] = ()

    @property
    def hook_settings(self) -> Settings:
        """The settings for the prompts: all namespaces of a set, whatever the user's own settings allow."""
        return self.settings.model_copy(update={"namespaces": ()})


def hook_policy(detail: str) -> Policy:

    def parts(asked: Prompted, budget: int) -> Sequence[str]:
        settings = asked.around.settings
        hooks = settings.hooks.model_copy(update={"detail": detail})
        around = replace(asked.around, settings=settings.model_copy(update={"max_tokens": budget, "hooks": hooks}))
        return outcome_of(asked.recalled, around, asked.part_limit).block.parts

    return parts


def pack_policy(asked: Prompted, budget: int) -> Sequence[str]:
    """Return the output of `pack` for the memories that the hook found relevant, in their order."""
    found = bundle(asked.prompt, [one.memory for one in asked.recalled.worth_showing], budget)
    return (found.text,) if found.memories else ()


def policy_of(detail: Detail) -> Policy:
    return pack_policy if detail == "pack" else hook_policy(detail)
