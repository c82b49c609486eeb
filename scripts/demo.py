"""The demo that `scripts/demo` runs after the installation: an event in, context out, with the budget and the time."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from memhook.core.tokens import estimated_tokens

SAMPLES = Path(__file__).with_name("sample_memories.jsonl")
PROMPT = "the ledger reconciliation job fails again, what did we learn about replica lag?"
UNRELATED = "write a haiku about the sea"


def main() -> int:
    memhook = str(Path(sys.executable).with_name("memhook"))
    with tempfile.TemporaryDirectory(prefix="memhook-demo-") as home:
        environment = {"PATH": os.environ["PATH"], "HOME": home, "LANG": "C.UTF-8"}

        def run(*arguments: str, given: str = "") -> str:
            command = [memhook, *arguments]
            return subprocess.run(
                command, input=given, text=True, env=environment, cwd=home, check=True, stdout=subprocess.PIPE
            ).stdout

        try:
            print("\n== 2/4 sample memories into a temporary store")
            print(run("import", str(SAMPLES)).strip())
            print(f"\n== 3/4 a UserPromptSubmit event: {PROMPT!r}")
            answer, milliseconds = timed(lambda: run("hook", "UserPromptSubmit", "1", given=event(PROMPT)))
            context = json.loads(answer)["hookSpecificOutput"]["additionalContext"]
            print("\nThe model receives:\n")
            print(context)
            again = sorted(timed(lambda: run("hook", given=event(UNRELATED)))[1] for _ in range(9))[4]
            print(f"\nbudget used: {estimated_tokens(context)} of 4000 tokens (estimated)")
            print(f"hook time: {milliseconds:.0f} ms for this prompt, {again:.0f} ms (median) for an unrelated one")
            print(f"\n== 4/4 an event about something else: {UNRELATED!r}")
            print(f"The model receives: {run('hook', given=event(UNRELATED)).strip() or 'nothing'}")
        finally:
            run("daemon", "stop")
    print("\nCleaned up: the temporary store is deleted and its daemon stopped. Only .demo is left, for the next time.")
    return 0


def event(prompt: str) -> str:
    return json.dumps({"hook_event_name": "UserPromptSubmit", "session_id": "demo", "cwd": "/", "prompt": prompt})


def timed(action: Callable[[], str]) -> tuple[str, float]:
    started = time.perf_counter()
    result = action()
    return result, (time.perf_counter() - started) * 1000


if __name__ == "__main__":
    sys.exit(main())
