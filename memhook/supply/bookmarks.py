"""How far each recorded session was read, and what the user ordered in it: a file, so that reading goes on from there.

Of an order only its signature is kept, which says nothing by itself.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from memhook.assistants.recording import Recording
from memhook.paths import write_private
from memhook.supply.lessons import Signature, is_same_order, signature
from memhook.supply.sessions import Order
from memhook.supply.source import Record

MOST_ORDERS = 500
"""Of a project, the last ones."""


class Bookmarks:
    """A file that cannot be read counts as none: everything is read again, and stored once all the same."""

    def __init__(self, file: Path) -> None:
        self._file = file
        known = _read(file)
        self._turns: dict[str, tuple[str, int]] = known[0]
        self._orders: dict[str, list[tuple[str, Signature]]] = known[1]

    def is_read(self, recording: Recording) -> bool:
        return self._turns.get(recording.key, ("", 0))[0] == recording.stamp

    def turns(self, recording: Recording) -> int:
        return self._turns.get(recording.key, ("", 0))[1]

    def put(self, recording: Recording, turns: int) -> None:
        self._turns[recording.key] = (recording.stamp, turns)

    def recurring(self, order: Order) -> Record | None:
        """The record of an order that another session has heard, else None; either way it is known from now on."""
        mark = signature(order.record["quote"])
        known = self._orders.setdefault(order.record["project"], [])
        same = [session for session, other in known if is_same_order(mark, other)]
        if order.session not in same:
            known.append((order.session, mark))
            del known[:-MOST_ORDERS]
        return order.record if any(session != order.session for session in same) else None

    def save(self) -> None:
        write_private(self._file, json.dumps({"read": self._turns, "orders": self._orders}) + "\n")


def _read(file: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    try:
        known = json.loads(file.read_text(encoding="utf-8"))
        read = {str(key): (str(stamp), int(turns)) for key, (stamp, turns) in known["read"].items()}
        orders = {
            str(project): [(str(session), tuple(map(int, mark))) for session, mark in some]
            for project, some in known["orders"].items()
        }
    except (OSError, ValueError, TypeError, AttributeError, KeyError, RecursionError):
        return {}, {}
    return read, orders
