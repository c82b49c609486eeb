"""Run the stages of tests/soak in full, each in a process and a home of its own, with a time limit."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from tests.soak.stages import FULL  # noqa: E402  the repository is not a package


def main(names: list[str]) -> int:
    if names[:1] == ["--one"]:
        print(FULL[names[1]][0]())
        return 0
    wanted = [name for name in FULL if not names or any(part in name for part in names)]
    print(f"{'stage':<45} {'result':<7} {'seconds':>7}  measured")
    results = [row(name, *measured(name, FULL[name][1])) for name in wanted]
    return 0 if results and all(results) else 1


def measured(name: str, limit: int) -> tuple[bool, float, str]:
    """Return whether the stage passed, its duration, and its last line of output."""
    with tempfile.TemporaryDirectory(prefix="memhook-soak-", ignore_cleanup_errors=True) as home:
        kept = {key: value for key, value in os.environ.items() if not key.startswith(("MEMHOOK_", "XDG_"))}
        environment = {**kept, "HOME": home, "PYTHONWARNINGS": "ignore"}
        began = time.monotonic()
        try:
            run = subprocess.run(
                [sys.executable, __file__, "--one", name],
                capture_output=True, text=True, timeout=limit, check=False, env=environment,
            )  # fmt: skip
            ok, text = run.returncode == 0, (run.stdout or run.stderr).strip().splitlines()
        except subprocess.TimeoutExpired:
            ok, text = False, [f"not done in {limit} seconds"]
        took = time.monotonic() - began
        stop = [sys.executable, "-m", "memhook.cli", "daemon", "stop"]
        subprocess.run(stop, env=environment, capture_output=True, check=False, timeout=60, cwd=ROOT)
    return ok, took, text[-1] if text else ""


def row(name: str, ok: bool, seconds: float, text: str) -> bool:
    print(f"{name:<45} {'ok' if ok else 'FAILED':<7} {seconds:>7.0f}  {text}", flush=True)
    return ok


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
