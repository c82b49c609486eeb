"""One exchange of a session as a short note: what was asked, and how it ended; and a summary as one note a section.

Tool output is no part of an exchange. What may hold a secret is dropped, not masked: a digest is no loss.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from memhook.core.fencing import clean
from memhook.core.gist import gist
from memhook.core.memory import TITLE_CHARS, Origin, derived_summary, derived_title, shortened
from memhook.core.passages import front
from memhook.screening.credentials import may_hold_credentials
from memhook.screening.secrets import masked
from memhook.supply.markdown import outside_code
from memhook.supply.source import Entry, Record
from memhook.supply.typed import has_own_lines, typed, without_blocks

ASKED_CHARS = 220
ENDED_CHARS = 600
SECTION_CHARS = 1_200
FEWEST_WORDS = 6
FEWEST_CHARS = 120
NEAR_CHARS = 100
READ_CHARS = 20_000  # of each side: what is kept is at its start
PRIVATE = "#private"

SUBAGENT = "of a subagent"
IS_PRIVATE = "marked #private"
NOBODY_TYPED_IT = "a command, a template or a reminder"
TOO_FEW_WORDS = f"a prompt of fewer than {FEWEST_WORDS} words"
TOO_SHORT = f"a digest of fewer than {FEWEST_CHARS} characters"
OWN_LINES = "quotes memhook"
SECRETS = "may hold a secret"

_SPACES = re.compile(r"[ \t]+")
_BLANK_LINES = re.compile(r"\n\s*\n")
_UNSPACED_WORD = r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7ff]{1,2}"
_WORD = re.compile(rf"{_UNSPACED_WORD}|[^\W\d_]+|\d+")
# Claude Code numbers its sections, others use Markdown or a bold line.
_HEADING = re.compile(
    r"^(?:#{1,6}[ \t]+(?P<marked>\S.*)|\*\*(?P<bold>[^*\n]+)\*\*:?[ \t]*"
    r"|\d{1,2}\.[ \t]+(?P<numbered>[^\n:]{3,60}):?[ \t]*)$",
    re.MULTILINE,
)
_DRAFT = re.compile(r"<analysis>.*?(?:</analysis>|\Z)", re.DOTALL)
_TAG = re.compile(r"</?summary>")
_NUMBER = re.compile(r"^\d{1,2}\.[ \t]+")
_PROMPTS = re.compile(r"\b(?:user messages|user prompts)\b", re.IGNORECASE)
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
    """The record to store, or why there is none: one of this module's constants."""
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
    """Title and text of each section of the summary that an assistant writes when its context is compacted."""
    text = _TAG.sub("", _DRAFT.sub("", summary)).strip()
    marks = list(_HEADING.finditer(text))
    ends = [*(mark.start() for mark in marks), len(text)]
    titles = ["", *(_title(mark) for mark in marks)]
    starts = [0, *(mark.end() for mark in marks)]
    for title, start, end in zip(titles, starts, ends, strict=True):
        body = text[start:end].strip()
        if body and not _PROMPTS.search(title):
            yield title, body


def noted(exchange: Exchange, title: str, text: str) -> Entry:
    """The same for a section of a summary."""
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
    """Also a little behind the cut: "kitten, which is the | password".

    All of it is searched for tokens and keys: half of one is not recognised, and yet half of it.
    """
    return bool(masked(text).kinds) or may_hold_credentials(_cut(text, limit + NEAR_CHARS))


def _unfenced(text: str) -> str:
    return "\n".join(line for _, line in outside_code(text.split("\n")))


def _cut(text: str, limit: int) -> str:
    return front(_BLANK_LINES.sub("\n", _SPACES.sub(" ", clean(text).strip())), limit).text


def captured(exchange: Exchange, title: str, content: str, quote: str, place: str = "") -> Record:
    """The record of something that an exchange teaches; without a `place`, the whole exchange is its place."""
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
