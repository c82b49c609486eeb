"""Giving memory back: what reading a store took stays with the allocators, hundreds of megabytes of it."""

from __future__ import annotations

import ctypes
import sys
from functools import cache
from typing import Any

import pyarrow as pa


def give_back() -> None:
    """What is not in use, to the system; takes tens of milliseconds."""
    pa.default_memory_pool().release_unused()
    if trim := _trim():
        trim(0)


@cache
def _trim() -> Any:
    """The C library's own way, where it has one."""
    return getattr(ctypes.CDLL(None), "malloc_trim", None) if sys.platform == "linux" else None
