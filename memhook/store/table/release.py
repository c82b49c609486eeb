"""Giving memory back: what reading a store took stays with the allocators, and the code of a start stays mapped."""

from __future__ import annotations

import ctypes
import re
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from memhook.patterns import regex

MADV_DONTNEED = 4  # of Linux
M_ARENA_MAX = -8  # of glibc's malloc.h
_MAPPING = regex(r"([0-9a-f]+)-([0-9a-f]+) (r-[-x]p) \S+ \S+ ([1-9]\d*) +/\S*\.so[\d.]*\n")
_CHANGED = regex(r"Anonymous: +[1-9]")


def few_arenas(number: int) -> None:
    """Have all threads allocate from these few, where glibc would have eight for each core, each with holes of its own.

    Before any thread is started.
    """
    if mallopt := _of_libc("mallopt"):  # not with musl, which has no arenas
        mallopt(M_ARENA_MAX, number)


def give_back() -> None:
    """Return unused memory to the system; takes tens of milliseconds."""
    import pyarrow as pa  # noqa: PLC0415 - a process that limits its arenas has not imported it yet

    pa.default_memory_pool().release_unused()
    if trim := _of_libc("malloc_trim"):
        trim(0)


def unmap_unused() -> None:
    """Unmap the code of libraries: half of what this process takes, most of it used once, when it started.

    What is used again is mapped again from the system's cache of files, which takes a millisecond or two for a prompt.
    """
    if advise := _of_libc("madvise"):
        for start, end in _unchanged_mappings():
            advise(ctypes.c_void_p(start), ctypes.c_size_t(end - start), MADV_DONTNEED)


def _unchanged_mappings() -> Iterator[tuple[int, int]]:
    """Read-only mappings of libraries, no page of which is a private copy: a relocated one exists nowhere else.

    Of libraries alone: while this is read, another thread may unmap any other file and use its addresses.
    """
    try:
        listed = Path("/proc/self/smaps").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return
    for entry in re.split(r"\n(?=[0-9a-f]+-[0-9a-f]+ )", listed):
        if (mapping := _MAPPING.match(entry)) and not _CHANGED.search(entry):
            yield int(mapping[1], 16), int(mapping[2], 16)


@cache
def _of_libc(name: str) -> Any:
    """A function of the C library, where it has it."""
    return getattr(ctypes.CDLL(None), name, None) if sys.platform == "linux" else None
