"""Who may see what, as the filter that goes into the store's query."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from memhook.core.memory import Memory, Sensitivity
from memhook.settings import Settings
from memhook.store.table.filters import Filter

OWNER = Filter()
"""The local user at the command line: everything that was not forgotten."""


def surfacing(project: str, settings: Settings, now: datetime, reader: str = "") -> Filter:
    """Memories that may come up by themselves: this project's and global, none confidential, restricted or expired.

    Nor what `reader`, the assistant it is for, loads from a file by itself.
    """
    return replace(enriching(project, settings.namespaces, now), not_loaded_by=reader)


def enriching(project: str, namespaces: tuple[str, ...], now: datetime, restricted: bool = False) -> Filter:
    """The memories that `inject` and `pack` may bring up: those of a hook, and with `restricted`, restricted ones."""
    return replace(
        open_ones(now), projects=in_reach(project).projects, namespaces=namespaces, sensitivities=_levels(restricted)
    )


def named_ones(namespaces: tuple[str, ...], now: datetime, restricted: bool = False) -> Filter:
    """The memories that may be shown when they are named, of any project: nothing confidential, redacted or expired."""
    return Filter(
        namespaces=namespaces, sensitivities=_levels(restricted), redacted=False, quarantined=False, alive_at=now
    )


def _levels(restricted: bool) -> tuple[Sensitivity, ...]:
    return (Sensitivity.NORMAL, Sensitivity.RESTRICTED) if restricted else (Sensitivity.NORMAL,)


def open_ones(now: datetime) -> Filter:
    """The memories that may come up somewhere; captured ones do only where `core.grading` admits them."""
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
    """This project's and the global memories, also those that may not come up: to explain or count, not to show."""
    return Filter(projects=tuple(dict.fromkeys(("", project))))


def reason_withheld(memory: Memory, settings: Settings, now: datetime) -> str:
    """Why `surfacing` leaves out a memory that is in reach; empty when it does not."""
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
    """Whether it is a reason of `reason_withheld`: the memory was never weighed for an answer."""
    return reason in _ONLY_NAMED or is_closed(reason)


def is_closed(reason: str) -> bool:
    """Whether a memory that was kept back for it may be counted only, also when it no longer exists."""
    return reason.partition(":")[0] in _NAMED_NOT


def is_open(memory: Memory) -> bool:
    """Whether an explanation may name it: what is confidential, restricted, redacted or quarantined is only counted."""
    return memory.sensitivity is Sensitivity.NORMAL and not memory.redacted and not memory.quarantine
