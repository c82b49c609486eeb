"""inject, pack, mcp."""

from __future__ import annotations

import json
import sys
from argparse import Namespace
from pathlib import Path
from typing import Any

from memhook.cli.output import say, say_json, warn
from memhook.cli.place import Place
from memhook.core.memory import URN_PREFIX
from memhook.errors import InvalidInput
from memhook.mcp_server.main import serve


def inject(args: Namespace, place: Place) -> int:
    asked: dict[str, Any] = {"query": " ".join(args.query)}
    if args.hit or args.hits:
        asked["hits"] = [*map(_hit, args.hit or ()), *(_hits_in(args.hits) if args.hits else ())]
    options = {
        "max_tokens": args.max_tokens,
        "namespaces": args.namespace,
        "include_restricted": args.include_restricted or None,
    }
    asked |= {name: value for name, value in options.items() if value is not None}
    return _shown(place.call("inject", **asked), as_json=args.json)


def pack(args: Namespace, place: Place) -> int:
    options = {"budget_tokens": args.budget_tokens, "ordering": args.ordering}
    given = {name: value for name, value in options.items() if value is not None}
    return _shown(place.call("pack", topic=" ".join(args.topic), **given), as_json=args.json)


def mcp(args: Namespace, place: Place) -> int:
    return serve(args, place.paths, place.directory)


def _shown(answer: dict[str, Any], *, as_json: bool) -> int:
    if as_json:
        say_json(answer)
    elif answer["text"]:
        say(answer["text"])
    elif answer["note"]:
        warn(answer["note"])
    return 0


def _hit(text: str) -> dict[str, Any]:
    """ID:SCORE; a URN has colons of its own."""
    name, _, score = text.rpartition(":")
    if not name or f"{name}:" == URN_PREFIX:
        return {"id": text}
    try:
        return {"id": name, "score": float(score)}
    except ValueError:
        return {"id": text}


def _hits_in(name: str) -> list[Any]:
    """What `search --json` printed, or any JSON list or lines of hits."""
    try:
        text = sys.stdin.buffer.read() if name == "-" else Path(name).read_bytes()
        return _listed(_parsed(text.decode("utf-8-sig")))
    except OSError as error:
        raise InvalidInput(f"{name} cannot be read ({error.strerror}).", _HITS) from error
    except (ValueError, RecursionError) as error:
        raise InvalidInput(f"The hits cannot be read ({error}).", _HITS) from error


_HITS = "Say: memhook search --json QUERY | memhook inject --hits -"


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
