"""Which memories may be shown to whom, as a filter for the store's query."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from memhook.core.memory import Memory, Sensitivity
from memhook.settings import Settings
from memhook.store.table.filters import Filter

OWNER = Filter()
"""The filter of the local user at the command line: everything that was not forgotten."""


def surfacing(project: str, settings: Settings, now: datetime, reader: str = "") -> Filter:
    """Return the memories that hooks may show: this project's and global, none confidential, restricted or expired.

    Memories that `reader`, the assistant, loads from a file by itself are excluded too.
    """
    return replace(enriching(project, settings.namespaces, now), not_loaded_by=reader)


def enriching(project: str, namespaces: tuple[str, ...], now: datetime, restricted: bool = False) -> Filter:
    """Return the memories that `inject` and `pack` may show: as for hooks, and with `restricted`, restricted ones."""
    return replace(
        open_ones(now), projects=in_reach(project).projects, namespaces=namespaces, sensitivities=_levels(restricted)
    )


def named_ones(namespaces: tuple[str, ...], now: datetime, restricted: bool = False) -> Filter:
    """Return the memories, of any project, that may be shown by name: none confidential, redacted or expired."""
    return Filter(
        namespaces=namespaces, sensitivities=_levels(restricted), redacted=False, quarantined=False, alive_at=now
    )


def _levels(restricted: bool) -> tuple[Sensitivity, ...]:
    return (Sensitivity.NORMAL, Sensitivity.RESTRICTED) if restricted else (Sensitivity.NORMAL,)


def open_ones(now: datetime) -> Filter:
    """Return the memories that hooks may show in some project; `core.grading` admits captured ones separately."""
    return Filter(
        captured=False,
        sensitivities=(Sensitivity.NORMAL,),
        redacted=False,
        muted=False,
        superseded=False,
        quarantined=False,
        alive_at=now,
    )


def in_reach(project: str) -> Filter:
    """Return this project's and the global memories, also those not to be shown: to explain or count them."""
    return Filter(projects=tuple(dict.fromkeys(("", project))))


def reason_withheld(memory: Memory, settings: Settings, now: datetime) -> str:
    """Return why `surfacing` excludes a memory that is in reach; empty when it does not."""
    reasons = {
        memory.sensitivity.value: memory.sensitivity is not Sensitivity.NORMAL,
        "redacted": memory.redacted,
        f"quarantined: {memory.quarantine}": bool(memory.quarantine),
        "muted": memory.muted,
        "superseded": bool(memory.superseded_by),
        "expired": memory.expires is not None and memory.expires <= now,
        "another namespace": bool(settings.namespaces) and memory.namespace not in settings.namespaces,
    }
    return next((reason for reason, holds in reasons.items() if holds), "")


_NAMED_NOT = ("confidential", "restricted", "redacted", "quarantined")
_ONLY_NAMED = ("muted", "superseded", "expired", "another namespace")


def was_withheld(reason: str) -> bool:
    """Whether it is a reason of `reason_withheld`: the memory was excluded before ranking."""
    return reason in _ONLY_NAMED or is_closed(reason)


def is_closed(reason: str) -> bool:
    """Whether a memory withheld for this reason may only be counted, never named, even after its deletion."""
    return reason.partition(":")[0] in _NAMED_NOT


def is_open(memory: Memory) -> bool:
    """Whether an explanation may name it: confidential, restricted, redacted and quarantined ones are only counted."""
    return memory.sensitivity is Sensitivity.NORMAL and not memory.redacted and not memory.quarantine
