"""The command `memhook`. Hooks, the MCP server and the page start without the other commands, which cost time."""

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
        return 0 if is_hook else 1  # a hook must never disturb the assistant
    # What assistants run at each message comes first, without importing the other commands: it starts faster.
    if is_hook:
        from memhook.daemon import hook_client  # noqa: PLC0415  see above

        return hook_client.main(arguments[1:])
    if first == "statusline":
        from memhook.cli import statusline  # noqa: PLC0415  see above

        return statusline.main()
    if first in ("mcp", "ui"):
        from memhook.cli.serving import served  # noqa: PLC0415  without the other commands

        return served(first, arguments[1:])
    try:
        from memhook.cli.run import run  # noqa: PLC0415  argparse and pydantic take longer than a whole hook may
    except KeyboardInterrupt:
        return 130
    return run(arguments)
