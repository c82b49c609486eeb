"""The memory: its fields, its URN, the titles and summaries derived from its content, and where it was learned."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator
from dataclasses import MISSING, dataclass, field, fields
from datetime import datetime
from enum import Enum, Flag, StrEnum, auto
from itertools import chain
from typing import Annotated, Any, get_args, get_origin, get_type_hints

from memhook.core.normal import normalized
from memhook.patterns import regex

URN_PREFIX = "urn:memhook:"
ID_LENGTH = 12
TITLE_CHARS = 80
SUMMARY_CHARS = 160
SESSION_CHARS = 12
DEFAULT_NAMESPACE = "general"

_ID = regex(rf"[a-z0-9]{{{ID_LENGTH}}}")
_HEADING = regex(r"^#+ ")  # not "#42 tracks the leak"
_MARKUP = regex(r"(?:`{3,}|~{3,})[^`]*|[-=*_#>|:+ ]+")  # the start of a fence, a rule, an empty mark
_INSTRUCTION_FILE = regex(r"\A((?:[^›]*/)?)[A-Z]{2,}(?:\.\w+)*\.md › ")
_SUMMARY_HORIZON = 20 * SUMMARY_CHARS
_STRUCTURE = regex(r"#{1,6} |\|")  # a heading, a row of a table
_SENTENCE_END = regex(r"(?<=[.!?])\s|(?<=[。！？])|\n")
_STOP = regex(r"[.!?][\"'”’)\]*`]*(?= )|[。！？]")
_INITIALS = regex(r"\W*(?:(?:\w\.)*\w|\d{1,2})")  # e.g. U.S, or the number of an item
_SHORTEST_SENTENCE = 20
_ALPHABET = "0123456789abcdefghijklmnopqrstuvwxyz"


class Sensitivity(StrEnum):
    """Where a memory may appear, from everywhere to `search` and `get` only."""

    NORMAL = "normal"
    RESTRICTED = "restricted"
    CONFIDENTIAL = "confidential"


class Origin(StrEnum):
    """Who wrote a memory, the most trusted first."""

    USER = "user"
    """Typed by the user, or reviewed and kept."""
    AGENT = "agent"
    IMPORT = "import"
    SHARED = "shared"
    """From a shared store, whoever wrote it there."""
    CAPTURED = "captured"
    """A digest of a session, unreviewed."""

    @classmethod
    def _missing_(cls, value: object) -> Origin | None:
        """Read "capture", which earlier versions stored for notes typed into a prompt."""
        return cls.USER if value == "capture" else None


class Trait(Flag):
    """How a field of a memory is treated. A new field in `Draft` needs nothing but its traits."""

    RECORDED = auto()
    """Leaves memhook: in `--json`, in an export, over MCP."""
    IMPORTED = auto()
    """Can be set by a draft and by a line of an imported file."""
    EDITED = auto()
    """Updated when a file is imported again."""
    COPIED = auto()
    """Updated in the shared store when the memory is shared again."""
    MASKED = auto()
    """Free text, which may contain a secret."""
    KEPT_WHEN_REDACTED = auto()
    LOST_WHEN_FORGOTTEN = auto()


_GIVEN = Trait.RECORDED | Trait.IMPORTED
_FACT = _GIVEN | Trait.KEPT_WHEN_REDACTED
_WORDS = _GIVEN | Trait.EDITED | Trait.COPIED | Trait.MASKED | Trait.LOST_WHEN_FORGOTTEN


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """The fields of a memory before it is stored, in the order of the columns.

    Storing it fills in an empty id, title, summary, anchors and times, and sets the fields that are not IMPORTED.
    `project` is empty for a global memory. A `muted` memory is stored but never shown unasked. `quarantine` is the
    reason for showing it to its owner only; `released` is the fingerprint of a text that the owner released from it.

    `session` is where it was learned, as ASSISTANT/SESSION#TURN, and `quote` the words there that it is based on.
    `anchors` are the files, commands, identifiers and codes it is about. `loaded_by` names the assistants that load
    the file it was imported from themselves.
    """

    id: Annotated[str, _FACT] = ""
    title: Annotated[str, _WORDS] = ""
    content: Annotated[str, _WORDS] = field(kw_only=False)
    summary: Annotated[str, _WORDS] = ""
    namespace: Annotated[str, _WORDS | Trait.KEPT_WHEN_REDACTED] = DEFAULT_NAMESPACE
    tags: Annotated[tuple[str, ...], _WORDS] = ()
    related: Annotated[tuple[str, ...], _WORDS] = ()
    source: Annotated[str, _WORDS] = ""
    project: Annotated[str, _FACT | Trait.COPIED | Trait.MASKED] = ""
    sensitivity: Annotated[Sensitivity, _FACT | Trait.EDITED] = Sensitivity.NORMAL
    pinned: Annotated[bool, _GIVEN | Trait.EDITED | Trait.COPIED] = False
    redacted: Annotated[bool, _GIVEN] = False
    muted: Annotated[bool, _FACT | Trait.EDITED] = False
    origin: Annotated[Origin, _FACT] = Origin.USER
    created: Annotated[datetime | None, _FACT] = None
    updated: Annotated[datetime | None, _FACT] = None
    accessed: Annotated[datetime | None, _FACT] = None
    expires: Annotated[datetime | None, _FACT | Trait.EDITED | Trait.COPIED] = None
    supersedes: Annotated[tuple[str, ...], _FACT | Trait.EDITED | Trait.LOST_WHEN_FORGOTTEN] = ()
    superseded_by: Annotated[str, Trait.RECORDED | Trait.KEPT_WHEN_REDACTED] = ""
    aliases: Annotated[tuple[str, ...], _GIVEN | Trait.MASKED] = ()
    content_hash: Annotated[str, Trait(0)] = ""
    quarantine: Annotated[str, _GIVEN] = ""
    released: Annotated[str, Trait(0)] = ""
    session: Annotated[str, _FACT] = ""
    quote: Annotated[str, _GIVEN | Trait.MASKED | Trait.LOST_WHEN_FORGOTTEN] = ""
    anchors: Annotated[tuple[str, ...], _WORDS] = ()
    loaded_by: Annotated[tuple[str, ...], _FACT | Trait.EDITED] = ()


@dataclass(frozen=True, slots=True)
class Memory(Draft):
    """A stored memory. `store` is the name of the shared store it was found in, which is not stored."""

    id: str
    title: str
    summary: str
    created: datetime
    updated: datetime
    store: str = field(default="", kw_only=True)

    @property
    def urn(self) -> str:
        return URN_PREFIX + self.id


@dataclass(frozen=True, slots=True)
class Field:
    """A stored field: `kind` is str, bool, tuple (of str), datetime (or None) or an enumeration of strings."""

    name: str
    kind: type
    default: Any
    traits: Trait

    def read(self, value: Any) -> Any:
        """Return the value that a memory has for the value of a row: the default for an empty one."""
        if not value:
            return self.default
        return value if self.kind in (str, datetime) else self.kind(value)


def plain(value: Any) -> Any:
    """Return the value that a row has for a field: enumerations as strings, tuples as lists."""
    if isinstance(value, tuple):
        return list(value)
    return value.value if isinstance(value, Enum) else value


def _fields() -> Iterator[Field]:
    hints = get_type_hints(Draft, include_extras=True)
    for one in fields(Draft):
        hint, traits = get_args(hints[one.name])
        kind = tuple if get_origin(hint) is tuple else (get_args(hint) or (hint,))[0]
        yield Field(one.name, kind, "" if one.default is MISSING else one.default, traits)


FIELDS = tuple(_fields())


def names_with(trait: Trait, *kinds: type) -> tuple[str, ...]:
    """Return the fields that have this trait, only of these kinds if any are given."""
    return tuple(one.name for one in FIELDS if trait in one.traits and (not kinds or one.kind in kinds))


def derived_title(content: str) -> str:
    """Return the first line that is more than markup, at most 80 characters."""
    lines = (words for raw in content.splitlines() if (words := " ".join(raw.split())))
    first = next(lines, "")  # lazy: most titles need one line
    line = next((one for one in chain([first], lines) if not _MARKUP.fullmatch(one)), first)
    return shortened(_HEADING.sub("", line), TITLE_CHARS)


def derived_summary(content: str) -> str:
    """Return the first sentence outside headings and tables, with what its colon announces; at most 160 characters."""
    lines = [" ".join(line.split()) for line in content.strip()[:_SUMMARY_HORIZON].splitlines()]
    start = next((at for at, line in enumerate(lines) if _has_text(line) and not _STRUCTURE.match(line)), None)
    chosen = filter(_has_text, lines) if start is None else _statement(lines[start:])
    return shortened(_first_sentence(" ".join(chosen)), SUMMARY_CHARS)


def renewed_summary(summary: str, content: str) -> str:
    """Return the summary; derive it again if an earlier version did: up to the first full stop or line end."""
    parts = _SENTENCE_END.split(content.lstrip()[:_SUMMARY_HORIZON])
    former = shortened(next((line for part in parts if (line := " ".join(part.split()))), ""), SUMMARY_CHARS)
    return derived_summary(content) if summary == former else summary


def _has_text(line: str) -> bool:
    return bool(line) and not _MARKUP.fullmatch(line)


def _statement(lines: list[str]) -> Iterator[str]:
    """Yield the first line, those that its sentence runs on to, and the paragraph that a colon at its end announces."""
    yield lines[0]
    last, announces = lines[0], False
    for line in lines[1:]:
        is_colon = last.endswith((":", "："))
        announces = announces or is_colon
        if line and not _has_text(line):  # the fence around the announced code
            continue
        if not line and is_colon:
            continue
        if not line or line.startswith("#") or not (announces or (line[0].islower() and not _STOP.search(f"{last} "))):
            return
        yield line
        last = line


def _first_sentence(text: str) -> str:
    return next((text[: stop.end()] for stop in _STOP.finditer(text) if _is_end(text, stop)), text)


def _is_end(text: str, stop: re.Match[str]) -> bool:
    """Return whether the full stop ends a sentence; not if in doubt, for a longer summary is the lesser error."""
    if stop[0] in "。！？":
        return True
    word, following = text[: stop.start()].rpartition(" ")[2], text[stop.end() + 1 : stop.end() + 2]
    begins = (following.isalpha() and not following.islower()) or following in "\"'“‘„«([`*_"
    return stop.end() >= _SHORTEST_SENTENCE and begins and not _INITIALS.fullmatch(word)


def titled(title: str, content: str) -> str:
    """Return title and content, without a title that only repeats the beginning of the content."""
    start = title.rstrip("…").strip()
    return content if not start or content.lstrip("# \n").startswith(start) else f"{title}\n{content}"


def title_key(memory: Draft) -> str:
    """Return a hash of the memory's own title, equal for titles that a reader would call the same.

    It is "" for a title that only repeats the content. A forgotten memory stores this hash as its title.
    """
    if not memory.content:
        return memory.title
    if memory.title == derived_title(memory.content) or titled(memory.title, memory.content) == memory.content:
        return ""
    # A file in capitals (CLAUDE.md, AGENTS.md) is named for its reader: copies of a section in two of them are one.
    title = _INSTRUCTION_FILE.sub(r"\1", normalized("NFC", memory.title))
    return hashlib.sha256(" ".join(title.casefold().split()).encode("utf-8", "surrogatepass")).hexdigest()


def are_two(one: Draft, other: Draft) -> bool:
    """Return whether two drafts with the same content are different memories: both have titles, and different ones."""
    if one.content_hash != other.content_hash:
        return False
    ours, theirs = title_key(one), title_key(other)
    return bool(ours and theirs) and ours != theirs


def shortened(text: str, limit: int) -> str:
    """Return `text`, or if it is longer than `limit` characters, its start up to the end of a word and an ellipsis.

    A word is cut if less than half the limit would be used otherwise: Chinese and Japanese have hardly any spaces.
    """
    if len(text) <= limit:
        return text
    at_word = re.sub(r"\S+\Z", "", text[:limit]).rstrip()
    return (at_word if 2 * len(at_word) >= limit else text[: limit - 1]).rstrip() + "…"


def content_hash(content: str) -> str:
    """Return a hash that ignores Unicode normal forms, outer white space and white space at line ends."""
    lines = (line.rstrip() for line in normalized("NFC", content).strip().splitlines())
    return hashlib.sha256("\n".join(lines).encode("utf-8", "surrogatepass")).hexdigest()


def id_from_bytes(random: bytes) -> str:
    """Return an id made from at least 12 random bytes."""
    return "".join(_ALPHABET[byte % len(_ALPHABET)] for byte in random[:ID_LENGTH])


def id_of(reference: str) -> str:
    """Return the bare id in a URN of upper or lower case; any other reference (a bare id, an alias) unchanged."""
    start, rest = (text := reference.strip())[: len(URN_PREFIX)], text[len(URN_PREFIX) :]
    return rest.lower() if start.lower() == URN_PREFIX else text


def is_id(text: str) -> bool:
    return _ID.fullmatch(text) is not None


@dataclass(frozen=True, slots=True)
class Place:
    """A turn of a session. All fields are empty for a memory that was not learned in a session."""

    assistant: str = ""
    session: str = ""
    turn: str = ""

    @property
    def words(self) -> str:
        """The place for a person to read: claude, session 1f0c9a2e, turn 4."""
        session = f"session {self.session[:SESSION_CHARS]}" if self.session else ""
        return ", ".join(filter(None, (self.assistant, session, f"turn {self.turn}" if self.turn else "")))


def place_of(session: str) -> Place:
    """Parse the `session` of a memory."""
    assistant, slash, rest = session.partition("/")
    name, _, turn = rest.rpartition("#") if "#" in rest else (rest, "", "")
    return Place(assistant, name, turn.partition("/")[0]) if slash else Place()


def sessions_of(names: Iterable[str]) -> set[str]:
    """Return the different sessions among `names` of the form ASSISTANT/SESSION#TURN, without the turn."""
    return {name.rpartition("#")[0] for name in names if "#" in name and "/" in name.rpartition("#")[0]}
