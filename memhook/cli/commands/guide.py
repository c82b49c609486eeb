"""guide: the documentation that ships with memhook, one Markdown file per topic."""

from __future__ import annotations

import difflib
import re
from argparse import Namespace
from collections.abc import Iterator
from importlib.resources import files

from memhook.cli.output import is_terminal, said_json, say, wrapped
from memhook.cli.parser import Commands, command
from memhook.cli.place import Place
from memhook.errors import InvalidInput

_ITEM = re.compile(r" *(?:-|\d+\.) ")


def add_parser(commands: Commands) -> None:
    guide = command(commands, run, "guide", "memhook guide settings")
    guide.add_argument("topic", metavar="TOPIC", nargs="?", default="")


def run(args: Namespace, _place: Place) -> None:
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
    """The lines of a page, its paragraphs and items within the width of the terminal; code and tables stay."""
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
