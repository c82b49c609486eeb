"""The shell script that every assistant runs: it knows the interpreter, and what to do when that was deleted."""

from __future__ import annotations

import json
import shlex
import sys
from importlib.resources import files
from pathlib import Path

from memhook.paths import Paths

GONE = (
    f"memhook: the Python it was switched on with was deleted ({sys.executable}), so no memories are shown."
    " Install memhook again and run: memhook install"
)
TEMPORARY = ("/archive-v", "/pipx/.cache/", "/.cache/uv/")


def launcher_path(paths: Paths) -> Path:
    return paths.data / "launch"


def launcher_text() -> str:
    """Return the script for the interpreter and the client of the environment that runs this."""
    text = files("memhook").joinpath("resources/launch.sh").read_text(encoding="utf-8")
    return (
        text.replace("@PYTHON@", shlex.quote(sys.executable))
        .replace("@FOLDER@", shlex.quote(str(files("memhook") / "daemon")))
        .replace("@GONE@", shlex.quote(json.dumps({"systemMessage": GONE})))
    )


def is_temporary() -> bool:
    """Whether this environment is one of uvx or `pipx run`, which are deleted one day."""
    return any(mark in sys.prefix for mark in TEMPORARY)
