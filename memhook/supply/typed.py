"""What a person typed, of a prompt as an assistant records or sends it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from memhook.core.rendering import END, PROMPT_HEADING

# Tags whose content is the client's: of a command, a hook, an editor, a notification. Tags with a plain name are HTML.
_TAG = re.compile(
    r"<(?P<close>/?)(?P<name>(?:local-)?command-\w+|bash-\w+|[\w-]*system[-_](?:reminder|prompt|message)|[\w-]+-hook"
    r"|hook[-_]context|task-notification|teammate-message|ide_\w+|user[-_]instructions|user-memory\w*"
    r"|environment[-_]context|current_datetime|skill[-_]\w+|turn_aborted|INSTRUCTIONS)(?:\s[^<>]{0,500})?>"
)
_INTERRUPTED = "[Request interrupted by user"
# How a client starts what it writes in the user's place.
_TEMPLATES = (
    "Implement the following plan:",
    "This session is being continued",
    "Caveat: The messages below",
    "Base directory for this skill:",
    "# AGENTS.md instructions for ",
    "Full transcript available at",
    "Operation stopped by hook",
    "Stop hook feedback",
    "Read the output file to retrieve",
    "Continue from where you left off",
    "The user wants to clarify these questions",
    _INTERRUPTED,
    "This is the Gemini CLI. We are setting up the context",
    "This is the Qwen Code. We are setting up the context",
)
_COMMAND = re.compile(r"/[A-Za-z][\w:.-]*(?:\s|\Z)")
_NOT_LETTERS = re.compile(r"[^a-z]+")
_OLD_HEADING = "(memhook)"


def typed(prompt: str) -> str:
    """Return the prompt without what the client, its hooks and memhook put around it; nothing for a command."""
    text = without_blocks(_untagged(prompt)).strip()
    if text.startswith(_TEMPLATES) or _COMMAND.match(text):
        return ""
    return text


def begins_exchange(prompt: str) -> bool:
    """Whether it starts something new; after a reminder, a notification or an interruption the last one goes on."""
    return "<command-" in prompt or (bool(_untagged(prompt).strip()) and not prompt.lstrip().startswith(_INTERRUPTED))


def _untagged(text: str) -> str:
    """The text without the blocks in a client's tags. One that is never closed is somebody's words."""
    tags = list(_TAG.finditer(text)) if "<" in text else []
    last_close = {tag["name"]: tag.start() for tag in tags if tag["close"]}
    pieces: list[str] = []
    at, inside = 0, ""
    for tag in tags:
        if inside:
            if tag["close"] and tag["name"] == inside:
                at, inside = tag.end(), ""
        elif not tag["close"] and last_close.get(tag["name"], -1) > tag.start():
            pieces.append(text[at : tag.start()])
            inside = tag["name"]
    return "".join((*pieces, text[at:]))


def without_blocks(text: str) -> str:
    """Without memhook's blocks: from the line of a heading to that of its end, or to the end of the text."""
    if "memhook" not in text:
        return text
    return "\n".join(_outside(text.split("\n")))


def _outside(lines: list[str]) -> Iterator[str]:
    in_block = False
    for line in lines:
        in_block = in_block or PROMPT_HEADING in line or (_OLD_HEADING in line and "## " in line)
        if not in_block:
            yield line
        elif END in line:
            in_block = False


_OWN = tuple(_NOT_LETTERS.sub("", words) for words in ("urn memhook", END.lower(), "relevant memories memhook"))


def has_own_lines(text: str) -> bool:
    """Whether some of a block is left, whatever a quotation has put between its letters."""
    lowered = text.lower()
    if "memhook" not in lowered:
        return False
    letters = _NOT_LETTERS.sub("", lowered)
    return any(own in letters for own in _OWN)
