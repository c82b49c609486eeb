"""The command `memhook`. A hook leaves by the first door, before anything that costs time is imported."""

import sys

ON_WINDOWS = (
    "memhook runs on Linux and macOS. On Windows use it inside WSL (https://learn.microsoft.com/windows/wsl/install)."
)


def main(argv: list[str] | None = None) -> int:
    arguments = sys.argv[1:] if argv is None else argv
    is_hook = arguments[:1] == ["hook"] and not {"-h", "--help"} & set(arguments)
    if sys.platform == "win32":
        print(ON_WINDOWS, file=sys.stderr)
        return 0 if is_hook else 1  # a hook is never in the way
    if is_hook:
        from memhook.daemon import hook_client  # noqa: PLC0415  alone: it must start fast

        return hook_client.main(arguments[1:])
    try:
        from memhook.cli.run import run  # noqa: PLC0415  argparse and pydantic take longer than a whole hook may
    except KeyboardInterrupt:
        return 130
    return run(arguments)
