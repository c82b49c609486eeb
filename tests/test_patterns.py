"""Patterns that are compiled at their first use behave as those that are compiled at once."""

from __future__ import annotations

import importlib
import pkgutil
import re

import pytest

import memhook
from memhook.patterns import regex


@pytest.mark.parametrize(
    ("name", "given"),
    [
        ("findall", ("a1 B22",)),
        ("match", ("x", 3)),
        ("search", ("A1",)),
        ("fullmatch", ("b22",)),
        ("split", ("x a1 y",)),
        ("sub", (r"<\1>", "a1 b2")),
        ("subn", ("-", "a1 b2", 1)),
    ],
)
def test_each_method_gives_what_the_compiled_pattern_gives(name: str, given: tuple[str | int, ...]) -> None:
    written, flags = r"([a-z])(\d+)", re.IGNORECASE
    lazy, compiled = regex(written, flags), re.compile(written, flags)
    for _ in range(2):  # at the first use and after it
        assert str(getattr(lazy, name)(*given)) == str(getattr(compiled, name)(*given))


def test_nothing_is_compiled_before_it_is_used() -> None:
    broken = regex("(")
    assert broken.pattern == "("
    with pytest.raises(re.error, match="unterminated"):
        broken.search("")


def test_what_the_pattern_says_of_itself_and_bytes() -> None:
    lazy = regex(rb"(\d)(?P<rest>\w*)", re.ASCII)
    assert (lazy.pattern, lazy.groups, lazy.groupindex) == (rb"(\d)(?P<rest>\w*)", 2, {"rest": 2})
    assert lazy.flags & re.ASCII
    assert [found[0] for found in lazy.finditer(b"1a 2")] == [b"1a", b"2"]


def test_every_pattern_of_the_package_can_be_compiled() -> None:
    lazy = []
    for module in pkgutil.walk_packages(memhook.__path__, "memhook."):
        if not module.name.endswith("__main__"):
            lazy += lazy_in([*vars(importlib.import_module(module.name)).values()])
    assert len(lazy) > 200
    assert all(one.groups >= 0 for one in lazy)


def lazy_in(value: object) -> list[re.Pattern[str]]:
    """The patterns in a value of a module, also those in tables."""
    if isinstance(value, dict):
        value = [*value.values()]
    if isinstance(value, list | tuple):
        return [one for inner in value for one in lazy_in(inner)]
    return [value] if type(value) is type(regex("")) else []
