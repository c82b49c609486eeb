"""The table of `scripts/bench packages`: the installed packages, what requires each and what loads it."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from collections import defaultdict
from importlib import metadata
from pathlib import Path

from packaging.requirements import Requirement

LOADED = """
import sys
from datetime import UTC, datetime
from pathlib import Path
from memhook.hooks.runner import Runner
from memhook.paths import user_paths
runner = Runner(user_paths())
runner.open()
runner.call("remember", {"content": "The replica lags behind."}, "/", {})
runner.hook("UserPromptSubmit", 1, "/", {}, b'{"session_id": "s", "prompt": "why does the replica lag?"}')
runner.keep_house()
if sys.argv[1:] == ["mcp"]:
    import memhook.cli.run, memhook.mcp_server.server
print(*{name.partition(".")[0] for name, module in sys.modules.items() if getattr(module, "__file__", None)})
"""


def main() -> int:
    installed = closure("memhook")
    in_daemon, in_mcp = loaded(), loaded("mcp")
    sizes = {name: size_of(name) for name in installed}
    print("| package | MB | asked for by | loaded by |\n| --- | --- | --- | --- |")
    for name in sorted(installed, key=lambda name: -sizes[name]):
        modules = modules_of(name)
        by = "the daemon" if modules & in_daemon else "the MCP server" if modules & in_mcp else ""
        print(f"| {name} | {sizes[name]:.1f} | {', '.join(sorted(installed[name]))} | {by} |")
    unused = [name for name in installed if not modules_of(name) & (in_daemon | in_mcp)]
    print(
        f"\n{len(installed)} packages, {sum(sizes.values()):.0f} MB;"
        f" {len(unused)} of them, {sum(sizes[name] for name in unused):.0f} MB, are never loaded."
    )
    return 0


def closure(package: str) -> dict[str, set[str]]:
    """Return every package that this one needs here, with those that require it."""
    required_by: dict[str, set[str]] = defaultdict(set)
    waiting = [package]
    while waiting:
        dependent = waiting.pop()
        for requirement in map(Requirement, metadata.requires(dependent) or ()):
            name = re.sub(r"[-_.]+", "-", requirement.name).lower()
            if requirement.marker is None or requirement.marker.evaluate({"extra": ""}):
                if name not in required_by:
                    waiting.append(name)
                required_by[name].add(dependent)
    return required_by


def size_of(package: str) -> float:
    """Return megabytes on disk; a file with several names counts once."""
    files = {Path(str(file.locate())) for file in metadata.files(package) or ()}
    known = {(status.st_ino, status.st_size) for status in (file.stat() for file in files if file.is_file())}
    return sum(size for _, size in known) / 1e6


def modules_of(package: str) -> set[str]:
    return {file.parts[0].partition(".")[0] for file in metadata.files(package) or () if file.suffix in (".py", ".so")}


def loaded(*arguments: str) -> set[str]:
    with tempfile.TemporaryDirectory() as home:
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("XDG_", "MEMHOOK_"))}
        command = [sys.executable, "-c", LOADED, *arguments]
        return set(
            subprocess.run(
                command, check=True, capture_output=True, text=True, env={**kept, "HOME": home}
            ).stdout.split()
        )


if __name__ == "__main__":
    sys.exit(main())
