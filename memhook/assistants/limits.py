"""How much of a budget the assistant's own limits let through."""

from __future__ import annotations

from memhook.assistants.claude import PART_LIMIT

PARTS = 2  # hook entries per event
CHARACTERS_PER_TOKEN = 4  # of plain English; denser text fills the budget before it fills the entries

CARRIED_TOKENS = PARTS * PART_LIMIT.size // CHARACTERS_PER_TOKEN


def budget_note(max_tokens: int) -> str:
    """What to know about a budget that two hook entries cannot carry; nothing when they can."""
    if max_tokens <= CARRIED_TOKENS:
        return ""
    return (
        f"max_tokens = {max_tokens} is more than Claude Code lets through: {PARTS} hook entries of"
        f" {PART_LIMIT.size:,} characters, about {CARRIED_TOKENS:,} tokens of English text. The rest is left out."
    )
