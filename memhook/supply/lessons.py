"""What a session teaches besides its digests, as far as it is plain without a model."""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator
from dataclasses import dataclass

from memhook.assistants.recording import Ran, Step, Used
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


@dataclass(frozen=True, slots=True)
class Pair:
    """A command that failed and its sibling that worked; `is_plain` where it failed for its own words."""

    wrong: str
    right: str
    is_plain: bool

    @property
    def words(self) -> str:
        return f"`{self.wrong}` does not work here; `{self.right}` does."

    @property
    def quote(self) -> str:
        return f"{self.wrong} → {self.right}"


class Commands:
    """Watches the commands of an exchange for pairs: one failed, and a sibling worked with no edit between."""

    def __init__(self) -> None:
        self._failed: dict[str, bool] = {}
        self._since = 0

    def pair(self, step: Step) -> Pair | None:
        """Return a pair once its second command has worked."""
        if isinstance(step, Used) and step.is_edit:
            self._failed.clear()
        if not isinstance(step, Ran) or not (command := _plain(step.command)):
            return None
        self._since += 1
        if self._since > COMMANDS_BETWEEN:
            self._failed.clear()
        if step.failed:
            self._failed[command] = step.was_wrong
            self._since = 0
        elif failed := [one for one in self._failed if _are_siblings(one, command)]:
            wrong = max(failed, key=self._failed.__getitem__)
            pair = Pair(wrong, command, self._failed[wrong])
            self._failed.clear()
            return pair
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
    """What its author ordered for good, in words that were not pasted; said in two sessions, it is worth a note."""
    return standing_orders(own_words(typed(prompt)))


def signature(sentence: str) -> Signature:
    """What an order is about, without its words: enough to recognise it when it comes again."""
    return tuple(sorted({zlib.crc32(term.encode()) for term in terms(sentence) if term not in STOP_WORDS}))


def is_same_order(one: Signature, other: Signature) -> bool:
    common, all_of_them = len({*one} & {*other}), len({*one} | {*other})
    return common >= FEWEST_TERMS and common >= SAME * all_of_them
