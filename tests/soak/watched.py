"""A command whose file operations are recorded, in a home of its own."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path

from tests.soak.recording import Change, recorded


def changes_of(arguments: Sequence[str], folder: Path) -> list[Change]:
    """Of a Python program, which gets the file to say things in as its first argument; its home is empty at first."""
    home, marks = folder / "recorded", folder / "marks"
    home.mkdir(mode=0o700)
    marks.touch()
    where, *rest = arguments
    command = [sys.executable, *(("-m", where) if "/" not in where else (where,)), str(marks), *rest]
    return recorded(command, home, marks, {**os.environ, "HOME": str(home)})
