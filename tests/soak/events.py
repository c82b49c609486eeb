"""Events as no assistant should send them, from a seed, so that a failure can be repeated."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator
from typing import Any

NAMES = ("UserPromptSubmit", "SessionStart", "Stop", "PreCompact", "", "\0", "Üserprompt", "x" * 5000)
FIELDS = ("hook_event_name", "session_id", "prompt", "cwd", "agent_id", "source", "prompt_id", "transcript_path")
CHARACTERS = 'a €\0\n\x1b[31m\u202e\u200b\ud800\udfff𝕏\ufffe"\\{}[]<>&'
HUGE = 10 << 20


def bodies(seed: int, count: int, largest: int = HUGE) -> Iterator[bytes]:
    """One in a thousand is of `largest` size."""
    chance = random.Random(seed)
    kinds: tuple[Callable[[random.Random], bytes], ...] = (broken, mistyped, nested, garbage, cut, foreign)
    for number in range(count):
        if number % 1000 == 500:
            yield _encoded({"hook_event_name": "UserPromptSubmit", "prompt": "log line\n" * (largest // 9)})
        else:
            yield chance.choice(kinds)(chance)


def broken(chance: random.Random) -> bytes:
    return chance.choice(
        [b"", b"{", b"[]", b"null", b"1e999", b'"text"', b"{}{}", b"{'a': 1}", b"\xef\xbb\xbf{}", b"\0"]
    )


def mistyped(chance: random.Random) -> bytes:
    return _encoded({field: value(chance) for field in FIELDS if chance.random() < 0.7})


def nested(chance: random.Random) -> bytes:
    depth = chance.choice([10, 900, 5000, 100_000])
    opening, closing = chance.choice([("[", "]"), ('{"a":', "}")])
    inner = opening * depth + "1" + closing * depth
    return f'{{"hook_event_name": "UserPromptSubmit", "prompt": {inner}}}'.encode()


def garbage(chance: random.Random) -> bytes:
    return chance.randbytes(chance.choice([1, 100, 10_000]))


def cut(chance: random.Random) -> bytes:
    whole = mistyped(chance)
    return whole[: chance.randrange(len(whole) + 1)]


def foreign(chance: random.Random) -> bytes:
    """Well-formed, with texts nobody would type."""
    places = ("/", "/nonexistent", "relative", "/dev/zero", "/" + "d" * 5000, "\0")
    return _encoded(
        {
            "hook_event_name": chance.choice(NAMES),
            "session_id": text(chance),
            "prompt": text(chance),
            "cwd": chance.choice(places),
        }
    )


def value(chance: random.Random) -> Any:
    return chance.choice(
        [None, True, -1, 1e308, 10**400, [], {}, [[]], {"a": None}, chance.choice(NAMES), text(chance), [text(chance)]]
    )


def text(chance: random.Random) -> str:
    return "".join(chance.choices(CHARACTERS, k=chance.choice([0, 1, 30, 3000])))


def _encoded(payload: Any) -> bytes:
    return json.dumps(payload, ensure_ascii=random.Random(len(payload)).random() < 0.5).encode("utf-8", "surrogatepass")
