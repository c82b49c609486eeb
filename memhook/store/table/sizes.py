"""How large a store may be for which way of answering. Nobody sets these; tests pass in smaller ones."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Sizes:
    """In rows, but for `held_text`, which is in bytes."""

    held: int = 50_000  # in memory as a whole: 75 MB of vectors
    held_text: int = 64_000_000
    part: int = 100_000  # of one project, in memory when the store is not
    parts: int = 100_000  # of all projects that are in memory: 400 MB
    scanned: int = 1_000  # so few are looked through as fast as indexes are asked, and each write costs less without
    exact: int = 20_000  # so few are compared one by one, which no index is faster at
    apart: int = 20_000  # from here on indexes are kept by another process: it takes seconds


SIZES = Sizes()
