"""Return memory to the system: allocators keep what reading a store took, and start-up code stays mapped."""

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
# Libraries; and the packed model, which only ONNX Runtime maps as writable, for as long as its session exists.
_MAPPING = regex(
    r"([0-9a-f]+)-([0-9a-f]+) (?:r-[-x]p \S+ \S+ [1-9]\d* +/\S*\.so[\d.]*|rw-p \S+ \S+ [1-9]\d* +/[^\n]*\.hmsemb)\n"
)
_CHANGED = regex(r"Anonymous: +[1-9]")


def few_arenas(number: int) -> None:
    """Limit all threads to this many arenas; glibc has eight for each core, each with its own fragmentation.

    To be called before any thread is started.
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
    """Unmap the code of libraries and the packed model: half of this process's memory, most of it used once.

    What is used again is mapped again from the page cache, which takes a millisecond or two for a prompt. The caller
    keeps the session of the model.
    """
    if advise := _of_libc("madvise"):
        for start, end in _unchanged_mappings():
            advise(ctypes.c_void_p(start), ctypes.c_size_t(end - start), MADV_DONTNEED)


def _unchanged_mappings() -> Iterator[tuple[int, int]]:
    """Yield these mappings without private pages: a relocated or changed page exists nowhere else.

    No other files: while this is read, another thread may unmap them and reuse their addresses.
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
    """Return a function of the C library; None if it has none of this name."""
    return getattr(ctypes.CDLL(None), name, None) if sys.platform == "linux" else None
