"""Which captured memories a block may show: nobody has reviewed them, so they come last, seldom, and only when near.

Measured on 475 later prompts of four projects whose earlier sessions were captured: guide/supply.md has the table.
"""

from __future__ import annotations

from collections.abc import Sequence

from memhook.core.grading import Verdict
from memhook.core.memory import Memory, Origin
from memhook.core.places import sessions_of

GATE = 0.75
"""The score from which on a captured memory is shown."""
RAISED_GATE = 0.65
"""The same for one that has earned trust."""
MOST = 2

BELOW = "captured, below its gate"
ENOUGH = "captured, two shown already"
CHORE = "captured, and the prompt is housekeeping"


def is_trusted_more(memory: Memory) -> bool:
    """Whether it recurred in a second session, or a model fetched it whole."""
    return memory.accessed is not None or len(sessions_of(memory.aliases)) > 1


def gate_of(memory: Memory) -> float:
    if memory.origin is not Origin.CAPTURED:
        return 0.0
    return RAISED_GATE if is_trusted_more(memory) else GATE


def reasons_withheld(offered: Sequence[tuple[Memory, float]], answer: Verdict) -> list[str]:
    """Return for each captured memory with its score, best first, why it is not shown; nothing for those that are."""
    reasons: list[str] = []
    for memory, score in offered:
        if answer.is_chore or answer.is_small_talk:
            reasons.append(CHORE)
        elif score < gate_of(memory):
            reasons.append(BELOW)
        else:
            reasons.append(ENOUGH if reasons.count("") == MOST else "")
    return reasons
