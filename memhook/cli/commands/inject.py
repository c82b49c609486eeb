"""inject and pack: text for a model, within a token budget."""

import json
import sys
from argparse import Namespace
from collections.abc import Collection, Iterable
from pathlib import Path
from typing import Any

from memhook.cli.parser import Commands, command, given, number_of
from memhook.cli.place import Place
from memhook.cli.views import show_block
from memhook.core.memory import URN_PREFIX
from memhook.core.ranking import Ordering
from memhook.errors import InvalidInput

_HITS = "Run: memhook search --json QUERY | memhook inject --hits -"


def add_parser(commands: Commands) -> None:
    inject = command(commands, run, "inject", 'memhook inject "why does the deploy hang" --max-tokens 1500')
    inject.add_argument("query", metavar="QUERY", nargs="*", help="what to look for; with hits, the heading")
    inject.option("--max-tokens", "N", "of the whole text (setting max_tokens)", type=number_of("tokens"))
    inject.option("--hit", "ID:SCORE", "show this memory; repeatable", action="append")
    inject.option("--hits", "FILE", "show these: what search --json prints, or - for stdin")
    inject.option("--namespace", "NAME", "of this namespace; repeatable", action="append", dest="namespaces")
    inject.add_argument("--include-restricted", action="store_true", default=None, help="restricted memories too")
    whole = command(commands, pack, "pack", 'memhook pack "release process" --budget-tokens 2000')
    whole.add_argument("topic", metavar="TOPIC", nargs="+")
    whole.add_argument("--budget-tokens", "--max-tokens", metavar="N", help="of the whole text (2000)", type=int)
    whole.option("--ordering", "ORDER", f"{', '.join(Ordering)} (the last)")


def run(args: Namespace, place: Place) -> None:
    """Print context for a prompt, within a token budget.

    With hits exactly those memories are shown, without a search:
    memhook search --json QUERY | memhook inject --hits -
    """
    asked: dict[str, Any] = {"query": " ".join(args.query)}
    if args.hit or args.hits:
        asked["hits"] = [*map(_hit, args.hit or ()), *(_hits_in(args.hits) if args.hits else ())]
    answer = place.call("inject", **asked, **given(args, "max_tokens", "namespaces", "include_restricted"))
    _refuse_wrong_scores(args.hit or (), answer["unknown"])
    show_block(args, answer)


def pack(args: Namespace, place: Place) -> None:
    """Print as many whole memories about a topic as fit a token budget."""
    options = given(args, "budget_tokens", "ordering")
    show_block(args, place.call("pack", topic=" ".join(args.topic), **options))


def _hit(text: str) -> dict[str, Any]:
    """Parse ID:SCORE; a URN and an alias contain colons too."""
    name, score = _parts(text)
    try:
        return {"id": name, "score": float(score)} if name else {"id": text}
    except ValueError:
        return {"id": text}


def _refuse_wrong_scores(hits: Iterable[str], unknown: Collection[str]) -> None:
    """Raise InvalidInput for a hit whose score is not a number, unless the whole text is a known alias."""
    for text in hits:
        name, score = _parts(text)
        if name and text in unknown:
            raise InvalidInput(f"{score!r} is not a score.", f"Give a number: --hit {name}:0.87")


def _parts(text: str) -> tuple[str, str]:
    """Split at the last colon; the first part is empty if that colon belongs to a URN."""
    name, _, score = text.rpartition(":")
    return ("", text) if f"{name}:" == URN_PREFIX else (name, score)


def _hits_in(name: str) -> list[Any]:
    """Return the hits in the output of `search --json`, or in any JSON list or lines."""
    try:
        text = sys.stdin.buffer.read() if name == "-" else Path(name).read_bytes()
        return _listed(_parsed(text.decode("utf-8-sig")))
    except OSError as error:
        raise InvalidInput(f"{name} cannot be read ({error.strerror}).", _HITS) from error
    except (ValueError, RecursionError) as error:
        raise InvalidInput(f"The hits cannot be read ({error}).", _HITS) from error


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return [json.loads(line) for line in text.splitlines() if line.strip()]


def _listed(value: Any) -> list[Any]:
    if isinstance(value, dict):
        value = value.get("results", value.get("memories", [value]))
    if not isinstance(value, list):
        raise ValueError("not a list")
    return value
