"""guide, help, version, and completion: the script that completes commands and options in a shell."""

import difflib
import re
from argparse import ArgumentParser, Namespace, _SubParsersAction
from collections.abc import Iterator, Mapping
from importlib.resources import files

from memhook import __version__
from memhook.cli.commands import COMMANDS
from memhook.cli.output import is_terminal, said_json, say, wrapped
from memhook.cli.parser import Commands, command, parser
from memhook.cli.place import Place
from memhook.errors import InvalidInput

SHELLS = ("bash", "zsh", "fish", "tcsh")
_ITEM = re.compile(r" *(?:-|\d+\.) ")


def add_parser(commands: Commands) -> None:
    page = command(commands, guide, "guide", "memhook guide settings")
    page.add_argument("topic", metavar="TOPIC", nargs="?", default="")
    of = command(commands, run, "help", "memhook help remember", json=False)
    of.add_argument("words", metavar="COMMAND", nargs="*")
    command(commands, version, "version", "memhook version", json=False)
    script = command(commands, completion, "completion", 'eval "$(memhook completion bash)"', json=False)
    script.add_argument("shell", choices=SHELLS)


def run(args: Namespace, _place: Place) -> None:
    """Show the help of memhook, or of one command."""
    topic = "".join(args.words[:1])
    if topic in guide_texts() and not any(topic in words.split() for words in COMMANDS.values()):
        raise InvalidInput(f"There is no command {topic!r}.", f"The guide has it: memhook guide {topic}")
    parser().parse_args([*args.words, "--help"])


def version(_args: Namespace, _place: Place) -> None:
    """Show the version of memhook."""
    say(f"memhook {__version__}")


def completion(args: Namespace, _place: Place) -> None:
    """Print the completion script for a shell."""
    import shtab  # noqa: PLC0415  nothing else needs it

    completed = parser()
    _mark(completed, {"file": shtab.FILE, "directory": shtab.DIRECTORY})
    print(shtab.complete(completed, args.shell))


def _mark(within: ArgumentParser, kinds: Mapping[str, object]) -> None:
    """Mark each argument that is a file or a directory, so that it is completed as one."""
    for action in within._actions:
        if isinstance(action, _SubParsersAction):
            for one in action.choices.values():
                _mark(one, kinds)
        elif action.dest in kinds:
            action.complete = kinds[action.dest]  # type: ignore[attr-defined]


def guide(args: Namespace, _place: Place) -> None:
    """Read the documentation that ships with memhook.

    Without a topic: the list of topics.
    With --json: {"topics": [{"topic", "title"}]}, or {"topic", "text"} for one.
    """
    texts = guide_texts()
    if not args.topic:
        _list(texts, args)
        return
    topic = args.topic.lower().removesuffix(".md")
    if topic not in texts:
        likely = difflib.get_close_matches(topic, texts, 1)
        meant = f"Did you mean: memhook guide {likely[0]}" if likely else "See the topics: memhook guide"
        raise InvalidInput(f"The guide has no topic {args.topic!r}.", meant)
    if not said_json(args, {"topic": topic, "text": texts[topic]}):
        say(*(_fitted(texts[topic]) if is_terminal() else texts[topic].splitlines()))


def _fitted(text: str) -> Iterator[str]:
    """Yield the lines of a page, with paragraphs and items wrapped to the width of the terminal."""
    lines = [""]
    for line in text.splitlines():
        if _is_prose(line) and _is_prose(lines[-1]) and not _ITEM.match(line):
            lines[-1] += f" {line.strip()}"
        else:
            lines.append(line)
    for line in lines[1:]:
        item = _ITEM.match(line)
        start = item[0] if item else ""
        yield from wrapped(line[len(start) :], " " * len(start), start) if _is_prose(line) else [line]


def _is_prose(line: str) -> bool:
    return bool(line) and not line.startswith(("    ", "|", "#", "<!--"))


def guide_texts() -> dict[str, str]:
    folder = files("memhook") / "guide"
    pages = {page.name.removesuffix(".md"): page for page in folder.iterdir() if page.name.endswith(".md")}
    return {topic: pages[topic].read_text(encoding="utf-8") for topic in sorted(pages)}


def _list(texts: dict[str, str], args: Namespace) -> None:
    titles = {topic: text.partition("\n")[0].removeprefix("# ") for topic, text in texts.items()}
    if said_json(args, {"topics": [{"topic": topic, "title": title} for topic, title in titles.items()]}):
        return
    width = max(map(len, titles))
    say(*(f"{topic:<{width}}  {title}" for topic, title in titles.items()), "", "Read one: memhook guide TOPIC")
