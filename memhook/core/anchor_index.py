"""Find the memories whose anchors a tool call touches: exact matches, in memory, without an embedding.

Every anchor is indexed under keys, and the keys of a tool call are looked up. If a key alone does not decide (a glob, a
phrase, a flag of several commands), the anchor is checked against the call.
"""

from __future__ import annotations

import re
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass

from memhook.core.actions import Action
from memhook.core.anchor_checks import has_whole, holds
from memhook.core.anchor_details import Note, details_of
from memhook.core.anchor_keys import NAME
from memhook.core.call_keys import call_keys
from memhook.core.directives import decides_on
from memhook.core.sentences import SUBCOMMANDS, is_predicate
from memhook.core.terms import STOP_WORDS
from memhook.core.tool_calls import ToolCall
from memhook.patterns import regex

MOST_SHARING = 6  # memories with one key: if more have it, it is a word of the project, not an anchor
_MOST_SHARING_OF = {"cmd": 24, "path": sys.maxsize}
MOST_ADDED = 60  # packages: with more of them, a manifest is created, not changed
MOST_OF_HOST = 3  # memories that name it: with more of them, its name is a word
ANOTHER = 0.01  # for each further anchor of the same memory

_MARKED = regex(r"^-|\w[:./=_]\w")
_UNSURE = frozenset(("cmd", "said"))


@dataclass(frozen=True, slots=True)
class Match:
    """A memory and the anchors that the call touches, the most specific first."""

    memory: str
    score: float
    anchors: tuple[str, ...]


class AnchorIndex:
    """An index of memories by their anchors; file a memory again if it has changed."""

    def __init__(self) -> None:
        self._filed: dict[str, str | list[str]] = {}  # most keys are one memory's
        self._notes: dict[str, Note] = {}

    def file(self, memory: str, anchors: Sequence[str], text: str, title: str = "") -> None:
        self.remove(memory)
        note = self._notes[memory] = Note(tuple(anchors), text, title)
        for key in note.filed_under():
            sharing = self._filed.setdefault(key, memory)
            if isinstance(sharing, list):
                sharing.append(memory)
            elif sharing != memory:
                self._filed[key] = [sharing, memory]

    def remove(self, memory: str) -> None:
        note = self._notes.pop(memory, None)
        for key in note.filed_under() if note else ():
            left = [one for one in _all(self._filed.pop(key)) if one != memory]
            if left:
                self._filed[key] = left

    def matches(self, action: Action) -> list[Match]:
        """Return the matches, best first; ties are sorted by id."""
        call = ToolCall(action)
        found: dict[str, dict[str, float]] = defaultdict(dict)
        for memory, anchor, weight in self._touched(call):
            found[memory][anchor] = max(weight, found[memory].get(anchor, 0.0))
        for name, memory in (*self._deciding_on(call.packages), *self._naming(call.hosts)):
            found[memory].setdefault(name, NAME)
        return sorted((_match(*one) for one in found.items()), key=lambda one: (-one.score, one.memory))

    def _touched(self, call: ToolCall) -> Iterator[tuple[str, str, float]]:
        """Yield each memory with an anchor that the call touches, and how specific the key is for that."""
        for key in call_keys(call):
            sharing = _all(self._filed.get(key, []))
            kind = key.partition(":")[0]
            if len(sharing) > _MOST_SHARING_OF.get(kind, MOST_SHARING):
                continue
            for memory in sharing:
                note = self._notes[memory]
                # Any word of a text may be such a key: the anchors alone rule out nearly all of these.
                if kind in ("lit", "msg") and not any(has_whole(kind, one, call) for one in note.anchors):
                    continue
                details = details_of(note)
                for anchor, weight in details.anchors.get(key, {}).items():
                    if holds(key, anchor, details, call):
                        yield memory, anchor, weight

    def _deciding_on(self, packages: Sequence[str]) -> Iterator[tuple[str, str]]:
        """Yield each package with the memories that decide on it.

        This searches the texts, not the index: a package is rarely added, and its name may be any word.
        """
        lowered = {name: name.lower() for name in packages[:MOST_ADDED]}
        deciding: dict[str, list[str]] = defaultdict(list)
        for memory, note in self._notes.items() if lowered else ():
            text = note.text.lower()
            for name in (name for name, low in lowered.items() if low in text and decides_on(name, note.text)):
                deciding[name].append(memory)
        few = {name: memories for name, memories in deciding.items() if len(memories) <= MOST_SHARING}
        return ((name, memory) for name, memories in few.items() for memory in memories)

    def _naming(self, hosts: Iterable[str]) -> Iterator[tuple[str, str]]:
        """Find machines that a call reaches in the texts, but not "the archive", or a word of many texts."""
        for host in (one for one in hosts if len(one) > 3 and one not in STOP_WORDS | SUBCOMMANDS):
            named = re.compile(rf"(?<![\w./-])(?<!\bthe )(?<!\ba ){re.escape(host)}(?![\w/-]|\.\w)")
            memories = [memory for memory, note in self._notes.items() if host in note.text and named.search(note.text)]
            yield from ((host, memory) for memory in memories if len(memories) <= MOST_OF_HOST)


def _all(sharing: str | list[str]) -> list[str]:
    return [sharing] if isinstance(sharing, str) else sharing


def _match(memory: str, anchors: Mapping[str, float]) -> Match:
    ordered = sorted(anchors, key=lambda anchor: (-anchors[anchor], anchor))
    score = anchors[ordered[0]] + ANOTHER * (len(ordered) - 1)
    return Match(memory, round(score, 4), tuple(ordered))


def named_in_words(anchors: Sequence[str], content: str, title: str = "") -> tuple[str, ...]:
    """Return what the text probably names in plain words, for a person to read: a call that has it touches the memory.

    Any two words may be a command, and the first words of a text a message: those that nothing marks are left out.
    """
    found: dict[str, set[str]] = defaultdict(set)
    for key, names in details_of(Note(tuple(anchors), content, title)).anchors.items():
        for name in names.keys() - set(anchors):
            found[name].add(key.partition(":")[0])
    return tuple(sorted(name for name, kinds in found.items() if not kinds <= _UNSURE or _looks_run(name, kinds)))


def _looks_run(words: str, kinds: Set[str]) -> bool:
    """Return whether words look like a command: with a verb of tools, a flag, or a mark that no plain word has."""
    if "cmd" not in kinds:
        return False
    tool, told, *_ = parts = words.split()
    is_told = told in SUBCOMMANDS or (tool in SUBCOMMANDS and not is_predicate(told))
    return is_told or any(map(_MARKED.search, parts[1:]))
