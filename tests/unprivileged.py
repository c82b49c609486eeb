"""Code run as a user without rights: root may read and write everything, and would see no refusal."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import textwrap
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

NOBODY = 65534

# Everything is imported before the rights go: the interpreter's folder may not be open to others.
_IMPORTS = """
import json, os, socket, sys
from pathlib import Path
from memhook.daemon import wire
from memhook.errors import MemhookError
from memhook.paths import user_paths
"""
_ENGINE_IMPORTS = """
from memhook.hooks.runner import Runner
from memhook.store.table.lance import lancedb
lancedb()
import importlib.readers, importlib.resources.readers, numpy.ma, onnxruntime, tokenizers, pyarrow.compute, zoneinfo
import encodings.idna
"""
_DROPPED_RIGHTS = """
os.chdir(os.environ["START_IN"])
if os.getuid() == 0:
    os.setgroups([])
    os.setgid(65534)
    os.setuid(65534)
os.umask(0o077)
"""


def ran(code: str, home: Path, *arguments: str, start_in: Path = Path("/")) -> str:
    """What the code prints, with `home` as its home; fails with what it raises."""
    with started(code, home, *arguments, start_in=start_in) as process:
        out, err = process.communicate(timeout=300)
    assert process.returncode == 0, err
    return out


def started(code: str, home: Path, *arguments: str, start_in: Path = Path("/")) -> subprocess.Popen[str]:
    imports = _IMPORTS + (_ENGINE_IMPORTS if "Runner" in code else "")
    command = [sys.executable, "-W", "ignore", "-c", imports + _DROPPED_RIGHTS + textwrap.dedent(code), *arguments]
    environment = {**os.environ, "HOME": str(home), "START_IN": str(start_in)}
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment)


@contextmanager
def open_folder() -> Iterator[Path]:
    """A folder of that user's own, outside of pytest's, which others may not enter."""
    folder = Path(tempfile.mkdtemp(prefix="memhook-test-"))
    if os.getuid() == 0:
        os.chown(folder, NOBODY, NOBODY)
    try:
        yield folder
    finally:
        shutil.rmtree(folder)
