"""Whole memories about a topic, as `pack` writes them down.

entry(memory)                   one memory, whole: never cut, at one level
heading(topic, count, tokens)   the first line
headed(topic, count, body)      the finished text, its heading true of all of it
"""

from __future__ import annotations

from memhook.core.fencing import clean, indented, one_line, without_urns
from memhook.core.memory import Memory
from memhook.core.rendering import Level, Rendering, origin_of
from memhook.core.tokens import estimated_tokens

TOPIC_CHARS = 120
TITLE_CHARS = 500  # as long as a title can be: what is packed is whole


def entry(memory: Memory) -> Rendering:
    """The first line behind the title, the others indented; the URN stands where no remembered text can follow it."""
    first, _, rest = clean(memory.content).strip().partition("\n")
    title = one_line(memory.title, TITLE_CHARS)
    origin = ", ".join(origin_of(memory))
    opening = f"- **{title}**: {without_urns(first.rstrip())} [{memory.urn}] ({origin})\n"
    text = opening + _indented_as_it_stands(rest)
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


def _indented_as_it_stands(rest: str) -> str:
    """Blank lines between the first line and the next are part of the memory."""
    blank = len(rest) - len(rest.lstrip("\n"))
    return "\n" * blank + indented(rest) if rest.strip() else ""
