"""What a memory is, and the name it is called by."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from memhook.core.normal import normalized

URN_PREFIX = "urn:memhook:"
ID_LENGTH = 12
TITLE_CHARS = 80
SUMMARY_CHARS = 160
DEFAULT_NAMESPACE = "general"

_ID = re.compile(rf"[a-z0-9]{{{ID_LENGTH}}}")
_SENTENCE_END = re.compile(r"(?<=[.!?])\s|(?<=[。！？])|\n")
_ALPHABET = "0123456789abcdefghijklmnopqrstuvwxyz"


class Sensitivity(StrEnum):
    """How far a memory may travel, from anywhere to search and get alone."""

    NORMAL = "normal"
    RESTRICTED = "restricted"
    CONFIDENTIAL = "confidential"


class Origin(StrEnum):
    """Who wrote a memory down."""

    USER = "user"
    AGENT = "agent"
    IMPORT = "import"
    CAPTURE = "capture"
    SHARED = "shared"
    """Whoever it was: it is from a store that is not the user's own."""


@dataclass(frozen=True, slots=True)
class Memory:
    """One thing learned. `project` is empty for a global memory; a muted one is kept and never comes up by itself.

    `quarantine` is the reason for which it is shown to nobody but its owner; `released` is the fingerprint of the text
    that the owner looked at and let through all the same. `store` is the name of the shared store it was found in.
    """

    id: str
    title: str
    content: str
    summary: str
    created: datetime
    updated: datetime
    namespace: str = DEFAULT_NAMESPACE
    tags: tuple[str, ...] = ()
    related: tuple[str, ...] = ()
    source: str = ""
    project: str = ""
    sensitivity: Sensitivity = Sensitivity.NORMAL
    pinned: bool = False
    redacted: bool = False
    muted: bool = False
    origin: Origin = Origin.USER
    accessed: datetime | None = None
    expires: datetime | None = None
    supersedes: tuple[str, ...] = ()
    superseded_by: str = ""
    aliases: tuple[str, ...] = ()
    content_hash: str = ""
    quarantine: str = ""
    released: str = ""
    store: str = ""

    @property
    def urn(self) -> str:
        return URN_PREFIX + self.id


def derived_title(content: str) -> str:
    """The first line that says something, at most 80 characters."""
    line = next((words for raw in content.splitlines() if (words := " ".join(raw.split()))), "")
    return shortened(line.lstrip("# ") or line, TITLE_CHARS)


def derived_summary(content: str) -> str:
    """The first sentence, at most 160 characters."""
    sentence = next((s for part in _SENTENCE_END.split(content) if (s := " ".join(part.split()))), "")
    return shortened(sentence, SUMMARY_CHARS)


def shortened(text: str, limit: int) -> str:
    """`text`, or its start up to a word within `limit` characters, marked as cut."""
    if len(text) <= limit:
        return text
    head = text[: limit - 1]
    at_word = head.rsplit(maxsplit=1)[0] if len(head.split()) > 1 and not text[limit - 1].isspace() else head
    return at_word.rstrip() + "…"


def content_hash(content: str) -> str:
    """Equal for texts that a reader would call the same: normalised, outer and trailing white space aside."""
    lines = (line.rstrip() for line in normalized("NFC", content).strip().splitlines())
    return hashlib.sha256("\n".join(lines).encode("utf-8", "surrogatepass")).hexdigest()


def id_from_bytes(random: bytes) -> str:
    """An id from at least 12 random bytes."""
    return "".join(_ALPHABET[byte % len(_ALPHABET)] for byte in random[:ID_LENGTH])


def id_of(reference: str) -> str:
    """The bare id in a URN; anything else (a bare id, an alias) as it stands."""
    return reference.strip().removeprefix(URN_PREFIX)


def is_id(text: str) -> bool:
    return _ID.fullmatch(text) is not None
