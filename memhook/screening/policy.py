"""The policy for models: mask secrets, and quarantine texts that try to command the model.

Both happen when a memory is stored and again when it is shown, because the rules may be newer than the memory.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import replace
from operator import attrgetter
from typing import Any

from memhook.core.memory import Memory, Origin, Trait, names_with
from memhook.screening.poison import reason_to_distrust
from memhook.screening.secrets import is_free, masked

_TEXTS = names_with(Trait.MASKED, str)
_NAMES = names_with(Trait.MASKED, tuple)


def masked_fields(fields: dict[str, Any]) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Return the fields of a memory without their secrets, and the kinds that were found."""
    kinds: list[str] = []

    def clean(text: str) -> str:
        found = masked(text)
        kinds.extend(found.kinds)
        return found.text

    texts = {name: clean(fields[name]) for name in _TEXTS if fields.get(name)}
    names = {name: tuple(map(clean, fields[name])) for name in _NAMES if fields.get(name)}
    return {**fields, **texts, **names}, tuple(dict.fromkeys(kinds))


def shown_as(memory: Memory) -> Memory:
    """Return `memory` without secrets: itself if it has none."""
    fields = {name: getattr(memory, name) for name in (*_TEXTS, *_NAMES)}
    if is_free(*(fields[name] for name in _TEXTS), *(text for name in _NAMES for text in fields[name])):
        return memory
    changed, kinds = masked_fields(fields)
    return replace(memory, **changed) if kinds else memory


def judged(memory: Memory, writer: Origin = Origin.USER) -> Memory:
    """Return `memory` with its quarantine decided: none if the user typed it or has released this very text.

    `writer` is the source of the text now: if a file or an assistant claims that the user wrote a suspicious text, its
    origin becomes `writer`. In a shared store, every user's memories claim that, so all are judged as SHARED.
    """
    if memory.redacted or (memory.released and memory.released == fingerprint(memory)):
        return replace(memory, quarantine="") if memory.quarantine else memory
    origin = memory.origin if writer is Origin.USER or memory.origin is not Origin.USER else writer
    provenance = Origin.SHARED if memory.store else origin
    if reason := reason_to_distrust(_own_text(memory), provenance):
        return replace(memory, quarantine=reason, released="", origin=origin)
    if provenance is Origin.USER and memory.quarantine:
        memory = replace(memory, quarantine="")
    return replace(memory, released="") if memory.released else memory


def let_through(memory: Memory) -> Memory:
    """Return `memory` as released from quarantine by its owner, for as long as its text stays the same."""
    return replace(memory, quarantine="", released=fingerprint(memory))


def fingerprint(memory: Memory) -> str:
    return hashlib.sha256(_own_text(memory).encode("utf-8", "surrogatepass")).hexdigest()


def sorted_out(memories: Sequence[Memory]) -> tuple[list[Memory], list[Memory]]:
    """Return the memories that may be shown, without secrets, and those that must be quarantined."""
    screened = [memory if hash(_screened_fields(memory)) in _fit else _screened(memory) for memory in memories]
    return [one for one in screened if not one.quarantine], [one for one in screened if one.quarantine]


# Hashes of memories that passed unchanged: the same memories come up again and again.
_fit: set[int] = set()
MOST_FIT = 20_000
_screened_fields = attrgetter("origin", "store", "released", "quarantine", "redacted", *_TEXTS, *_NAMES)


def _screened(memory: Memory) -> Memory:
    """Return the memory without secrets, or with the reason for its quarantine."""
    found = judged(memory)
    shown = found if found.quarantine else shown_as(found)
    if shown is memory and not shown.quarantine:
        if len(_fit) >= MOST_FIT:
            _fit.clear()
        _fit.add(hash(_screened_fields(memory)))
    return shown


def _own_text(memory: Memory) -> str:
    """Return the texts of a memory, without a title or summary that only repeats its content."""
    names = " ".join((memory.namespace, memory.source, *memory.tags, *memory.related))
    own_title = "" if memory.content.startswith(memory.title.removesuffix("…")) else memory.title
    own_summary = "" if memory.summary.removesuffix("…") in memory.content else memory.summary
    return "\n".join(filter(None, (own_title, memory.content, own_summary, names)))
