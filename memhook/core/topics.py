"""Whole memories about a topic, as `pack` writes them down.

entry(memory)                   one memory, whole: never cut, at one level
heading(topic, count, tokens)   the first line
headed(topic, count, body)      the finished text, its heading true of all of it
"""

from __future__ import annotations

from memhook.core.fencing import indented, one_line
from memhook.core.memory import Memory
from memhook.core.rendering import Level, Rendering, origin_of
from memhook.core.tokens import estimated_tokens

TOPIC_CHARS = 120
TITLE_CHARS = 500  # as long as a title can be: what is packed is whole


def entry(memory: Memory) -> Rendering:
    """A line of memhook's own with title, URN and origin; under it the content, indented."""
    name = f"**{title}** " if (title := one_line(memory.title, TITLE_CHARS)) else ""
    text = f"- {name}[{memory.urn}] ({', '.join(origin_of(memory))})\n{indented(memory.content)}"
    tokens = estimated_tokens(text)
    return Rendering(Level.FULL, text, tokens, tokens)


def heading(topic: str, count: int, tokens: int) -> str:
    memories = "1 memory" if count == 1 else f"{count} memories"
    return f"## Context for '{one_line(topic, TOPIC_CHARS)}' ({memories}, ~{tokens} tokens)\n"


def headed(topic: str, count: int, body: str) -> str:
    """The heading counts itself: its number is raised until it is that of the text it stands in."""
    tokens = 0
    text = ""
    while True:
        text = f"{heading(topic, count, tokens)}{body}".removesuffix("\n")
        actual = estimated_tokens(text)
        if actual <= tokens:
            return text
        tokens = actual
