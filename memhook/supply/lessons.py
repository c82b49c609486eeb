"""What a session teaches besides its digests, as far as it is plain without a model.

Commands         a command was wrong, and a sibling of it worked with no edit between
orders           what the user said should hold from then on; said in two sessions, it is worth a note
is_same_order    whether two of them, by their signatures, say the same
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator

from memhook.assistants.sessions.recording import Ran, Step, Used
from memhook.core.cues import standing_orders
from memhook.core.note_requests import own_words
from memhook.core.terms import STOP_WORDS, terms
from memhook.supply.typed import typed

LONGEST_COMMAND = 200
COMMANDS_BETWEEN = 5
SHARED = 0.5
"""Of the words of the longer command, so that two are siblings."""
SAME = 0.6
FEWEST_TERMS = 3

Signature = tuple[int, ...]

_REDIRECTED = re.compile(r"\s+(?:\d?>[>&]?\s*\S+|\|\s.*|;\s*echo\b.*)")
_TOKEN = re.compile(r"[^\s\"'=/]+")


class Commands:
    """Watches the commands of an exchange for pairs."""

    def __init__(self) -> None:
        self._wrong: list[str] = []
        self._since = 0

    def pair(self, step: Step) -> tuple[str, str] | None:
        """The command that was wrong and the one that worked, once the second one has."""
        if isinstance(step, Used) and step.is_edit:
            self._wrong.clear()
        if not isinstance(step, Ran) or not (command := _plain(step.command)):
            return None
        self._since += 1
        if self._since > COMMANDS_BETWEEN:
            self._wrong.clear()
        if step.was_wrong:
            self._wrong.append(command)
            self._since = 0
        elif not step.failed and (wrong := next((one for one in self._wrong if _are_siblings(one, command)), "")):
            self._wrong.clear()
            return wrong, command
        return None


def _plain(command: str) -> str:
    """The command alone, without where its output goes; nothing for a script."""
    alone = _REDIRECTED.sub("", command).strip()
    return "" if "\n" in alone or len(alone) > LONGEST_COMMAND else alone


def _are_siblings(one: str, other: str) -> bool:
    """Half of their words in common, among them what it is to be done to or for: the last."""
    some, others = _TOKEN.findall(one), _TOKEN.findall(other)
    shared = len({*some} & {*others})
    return one != other and some[-1:] == others[-1:] and shared >= SHARED * max(len({*some}), len({*others}), 1)


def orders(prompt: str) -> Iterator[str]:
    """What its author ordered for good, in words that were not pasted."""
    return standing_orders(own_words(typed(prompt)))


def signature(sentence: str) -> Signature:
    """What an order is about, without its words: enough to recognise it when it comes again."""
    return tuple(sorted({zlib.crc32(term.encode()) for term in terms(sentence) if term not in STOP_WORDS}))


def is_same_order(one: Signature, other: Signature) -> bool:
    common, all_of_them = len({*one} & {*other}), len({*one} | {*other})
    return common >= FEWEST_TERMS and common >= SAME * all_of_them
