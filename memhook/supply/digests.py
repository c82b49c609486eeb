"""One exchange of a session as a short note: what a person typed, and how it ended; a summary as one note a section.

Tool output is not part of an exchange. A digest that may contain a secret is dropped, not masked: it is no loss.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from memhook.core.fencing import clean
from memhook.core.memory import TITLE_CHARS, Origin, derived_summary, derived_title, shortened
from memhook.core.passages import front
from memhook.core.rendering import END, PROMPT_HEADING
from memhook.core.small_talk import gist
from memhook.patterns import regex
from memhook.screening.secret_values import may_hold_credentials
from memhook.screening.secrets import masked
from memhook.supply.markdown import outside_code
from memhook.supply.source import Entry, Record

ASKED_CHARS = 220
ENDED_CHARS = 600
SECTION_CHARS = 1_200
FEWEST_WORDS = 6
FEWEST_CHARS = 120
NEAR_CHARS = 100
READ_CHARS = 20_000  # of each side: a digest uses only its start
PRIVATE = "#private"

SUBAGENT = "of a subagent"
IS_PRIVATE = "marked #private"
NOBODY_TYPED_IT = "a command, a template or a reminder"
TOO_FEW_WORDS = f"a prompt of fewer than {FEWEST_WORDS} words"
TOO_SHORT = f"a digest of fewer than {FEWEST_CHARS} characters"
OWN_LINES = "quotes memhook"
SECRETS = "may hold a secret"

_SPACES = regex(r"[ \t]+")
_BLANK_LINES = regex(r"\n\s*\n")
_UNSPACED_WORD = r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7ff]{1,2}"
_WORD = regex(rf"{_UNSPACED_WORD}|[^\W\d_]+|\d+")
# Claude Code numbers its sections, others use Markdown or a bold line.
_HEADING = regex(
    r"^(?:#{1,6}[ \t]+(?P<marked>\S.*)|\*\*(?P<bold>[^*\n]+)\*\*:?[ \t]*"
    r"|\d{1,2}\.[ \t]+(?P<numbered>[^\n:]{3,60}):?[ \t]*)$",
    re.MULTILINE,
)
_DRAFT = regex(r"<analysis>.*?(?:</analysis>|\Z)", re.DOTALL)
_SUMMARY_TAG = regex(r"</?summary>")
_NUMBER = regex(r"^\d{1,2}\.[ \t]+")
_PROMPTS = regex(r"\b(?:user messages|user prompts)\b", re.IGNORECASE)
"""A section that copies what the user typed: prompts are kept in digests only."""


@dataclass(frozen=True, slots=True)
class Exchange:
    """A prompt and the assistant's last message before the next one; `turn` counts the prompts of a session from 1."""

    asked: str
    ended: str
    assistant: str
    session: str
    turn: int
    when: datetime | None
    project: str
    is_subagent: bool = False

    @property
    def place(self) -> str:
        return f"{self.assistant}/{self.session}#{self.turn}"


def digest(exchange: Exchange) -> Entry:
    """Return the record to store, or the reason why there is none: one of this module's constants."""
    asked, ended = typed(exchange.asked)[:READ_CHARS], _unfenced(without_blocks(exchange.ended[:READ_CHARS]))
    problem = _problem(exchange, asked, ended)
    if problem:
        return Entry(exchange.place, None, problem)
    asked, ended = _cut(gist(asked) or asked, ASKED_CHARS), _cut(ended, ENDED_CHARS)
    content = f"{asked}\n\n{ended}"
    if not ended or len(content) < FEWEST_CHARS:
        return Entry(exchange.place, None, TOO_SHORT)
    return Entry(exchange.place, captured(exchange, derived_title(asked), content, asked))


def sections(summary: str) -> Iterator[tuple[str, str]]:
    """Yield title and text of each section of the summary that an assistant writes when its context is compacted."""
    text = _SUMMARY_TAG.sub("", _DRAFT.sub("", summary)).strip()
    marks = list(_HEADING.finditer(text))
    ends = [*(mark.start() for mark in marks), len(text)]
    titles = ["", *(_title(mark) for mark in marks)]
    starts = [0, *(mark.end() for mark in marks)]
    for title, start, end in zip(titles, starts, ends, strict=True):
        body = text[start:end].strip()
        if body and not _PROMPTS.search(title):
            yield title, body


def noted(exchange: Exchange, title: str, text: str) -> Entry:
    """Return the record for a section of a summary, or the reason why there is none."""
    said = _unfenced(without_blocks(text[:READ_CHARS]))
    content = _cut(said, SECTION_CHARS)
    if len(content) < FEWEST_CHARS:
        return Entry(exchange.place, None, TOO_SHORT)
    if has_own_lines(said) or _is_secret(said, SECTION_CHARS):
        return Entry(exchange.place, None, OWN_LINES if has_own_lines(said) else SECRETS)
    opening = derived_title(content).lstrip("-* ")
    titled = shortened(f"{clean(title)}: {opening}" if title else opening, TITLE_CHARS)
    return Entry(exchange.place, captured(exchange, titled, content, derived_summary(content)))


def _problem(exchange: Exchange, asked: str, ended: str) -> str:
    if exchange.is_subagent:
        return SUBAGENT
    if PRIVATE in exchange.asked.lower():
        return IS_PRIVATE
    if not asked:
        return NOBODY_TYPED_IT
    if len(_WORD.findall(asked)) < FEWEST_WORDS:
        return TOO_FEW_WORDS
    if has_own_lines(asked) or has_own_lines(ended):
        return OWN_LINES
    return SECRETS if _is_secret(asked, ASKED_CHARS) or _is_secret(ended, ENDED_CHARS) else ""


def _is_secret(text: str, limit: int) -> bool:
    """Whether the text may contain a secret, also a little behind the cut: "kitten, which is the | password".

    All of it is searched for tokens and keys: one that is cut in half is not recognised, but still half exposed.
    """
    return bool(masked(text).kinds) or may_hold_credentials(_cut(text, limit + NEAR_CHARS))


def _unfenced(text: str) -> str:
    return "\n".join(line for _, line in outside_code(text.split("\n")))


def _cut(text: str, limit: int) -> str:
    return front(_BLANK_LINES.sub("\n", _SPACES.sub(" ", clean(text).strip())), limit).text


def captured(exchange: Exchange, title: str, content: str, quote: str, place: str = "") -> Record:
    """Return the record of a note from an exchange; without a `place`, the whole exchange is its place."""
    return {
        "title": title,
        "content": content,
        "project": exchange.project,
        "session": place or exchange.place,
        "quote": quote,
        "source": f"session in {exchange.assistant}",
        "origin": Origin.CAPTURED.value,
        **({"created": exchange.when.isoformat()} if exchange.when else {}),
    }


def _title(mark: re.Match[str]) -> str:
    written = mark["marked"] or mark["bold"] or mark["numbered"] or ""
    return _NUMBER.sub("", written).strip(" \t*:#")


# Tags whose content the client wrote: of a command, a hook, an editor, a notification. Tags with a plain name are HTML.
_TAG = regex(
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
_COMMAND = regex(r"/[A-Za-z][\w:.-]*(?:\s|\Z)")
_NOT_LETTERS = regex(r"[^a-z]+")
_OLD_HEADING = "(memhook)"


def typed(prompt: str) -> str:
    """Return the prompt without the text that the client, its hooks and memhook added; empty for a command."""
    text = without_blocks(_untagged(prompt)).strip()
    if text.startswith(_TEMPLATES) or _COMMAND.match(text):
        return ""
    return text


def begins_exchange(prompt: str) -> bool:
    """Whether the prompt starts an exchange; a reminder, a notification or an interruption continues the last one."""
    return "<command-" in prompt or (bool(_untagged(prompt).strip()) and not prompt.lstrip().startswith(_INTERRUPTED))


def _untagged(text: str) -> str:
    """Return the text without blocks in a client's tags. A tag that is never closed was typed by the user."""
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
    """Remove memhook's blocks: from the line of a heading to that of its end, or to the end of the text."""
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
    """Whether part of a memhook block is left, ignoring characters that quoting put between its letters."""
    lowered = text.lower()
    if "memhook" not in lowered:
        return False
    letters = _NOT_LETTERS.sub("", lowered)
    return any(own in letters for own in _OWN)
