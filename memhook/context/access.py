"""Who may see what, as the filter that goes into the store's query."""

from __future__ import annotations

from datetime import datetime

from memhook.core.memory import Sensitivity
from memhook.settings import Settings
from memhook.store.filters import Filter

OWNER = Filter()
"""The local user at the command line: everything that was not forgotten."""


def surfacing(project: str, settings: Settings, now: datetime) -> Filter:
    """What may come up by itself: this project's and the global memories, nothing confidential, restricted or gone."""
    return Filter(
        projects=tuple(dict.fromkeys(("", project))),
        namespaces=settings.namespaces,
        sensitivities=(Sensitivity.NORMAL,),
        redacted=False,
        superseded=False,
        alive_at=now,
    )
