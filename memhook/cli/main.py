"""The command `memhook`. Hooks and the MCP server have doors of their own, before what costs time is imported."""

import sys

ON_WINDOWS = (
    "memhook runs on Linux and macOS. On Windows use it inside WSL (https://learn.microsoft.com/windows/wsl/install)."
)


def main(argv: list[str] | None = None) -> int:
    arguments = sys.argv[1:] if argv is None else argv
    first = "" if {"-h", "--help"} & set(arguments) else "".join(arguments[:1])
    is_hook = first == "hook"
    if sys.platform == "win32":
        print(ON_WINDOWS, file=sys.stderr)
        return 0 if is_hook else 1  # a hook is never in the way
    if is_hook:
        from memhook.daemon import hook_client  # noqa: PLC0415  alone: it must start fast

        return hook_client.main(arguments[1:])
    if first == "mcp":
        from memhook.mcp_server.main import main as mcp_main  # noqa: PLC0415  without the other commands

        return mcp_main(arguments[1:])
    try:
        from memhook.cli.run import run  # noqa: PLC0415  argparse and pydantic take longer than a whole hook may
    except KeyboardInterrupt:
        return 130
    return run(arguments)
