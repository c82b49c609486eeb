"""Render whole memories about a topic, for `pack`.

entry(memory)                   one memory, never cut
heading(topic, count, tokens)   the first line
headed(topic, count, body)      the finished text; its heading counts all of it
"""

from __future__ import annotations

from memhook.core.fencing import indented, one_line
from memhook.core.memory import Memory
from memhook.core.rendering import Level, Rendering, origin_of
from memhook.core.tokens import estimated_tokens

TOPIC_CHARS = 120
TITLE_CHARS = 500  # the longest title possible: nothing is cut


def entry(memory: Memory) -> Rendering:
    """Render a header line with title, URN and origin, and the content indented below it."""
    name = f"**{title}** " if (title := one_line(memory.title, TITLE_CHARS)) else ""
    text = f"- {name}[{memory.urn}] ({', '.join(origin_of(memory))})\n{indented(memory.content)}"
    return Rendering(Level.FULL, text, estimated_tokens(text))


def heading(topic: str, count: int, tokens: int) -> str:
    memories = "1 memory" if count == 1 else f"{count} memories"
    return f"## Context for '{one_line(topic, TOPIC_CHARS)}' ({memories}, ~{tokens} tokens)\n"


def headed(topic: str, count: int, body: str) -> str:
    """Prepend the heading, whose token count includes itself: raise it until it is stable."""
    tokens = 0
    text = ""
    while True:
        text = f"{heading(topic, count, tokens)}{body}".removesuffix("\n")
        actual = estimated_tokens(text)
        if actual <= tokens:
            return text
        tokens = actual
