"""The hook client of this code with a deadline that no busy machine exceeds."""

from __future__ import annotations

from pathlib import Path

from memhook.daemon import hook_client

SECONDS = 300


def patient_source() -> str:
    return patient(Path(hook_client.__file__).read_text(encoding="utf-8"))


def patient(source: str) -> str:
    """The client's own code; all but its two deadlines is as it is."""
    for name in ("DEADLINE", "DEADLINE_WITH_START"):
        line = f"\n{name} = {getattr(hook_client, name)}\n"
        assert line in source
        source = source.replace(line, f"\n{name} = {SECONDS}.0\n")
    return source
