"""Find the stored memory that a new one repeats: equal text is one memory, unless each has its own title.

A stored memory is filed under several keys, so that looking one up takes the same time however many have its text.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime

from memhook.core.memory import Memory, title_key

EDITED_FROM = "sha256:"
"""The prefix of the alias for each earlier content of a memory, and for each earlier title with its content."""

_ANY = "*"


@dataclass(frozen=True, slots=True)
class Twins:
    """Memories by their present and earlier text; the first of equals stays."""

    _by_key: dict[str, Memory] = field(default_factory=dict)

    @classmethod
    def of(cls, memories: Iterable[Memory]) -> Twins:
        twins = cls()
        for memory in memories:
            twins.add(memory)
        return twins

    def add(self, memory: Memory) -> None:
        self._file(memory, [memory.content_hash])

    def add_earlier(self, memory: Memory) -> None:
        """File it under the texts that it had before it was edited."""
        self._file(memory, [one.removeprefix(EDITED_FROM) for one in memory.aliases if _is_earlier(one)])

    def replace(self, memory: Memory, by: Memory) -> None:
        """File another memory in place of this one."""
        for key in filed_under(memory, memory.content_hash):
            if self._by_key.get(key) is memory:
                del self._by_key[key]
        self.add(by)

    def twin(self, memory: Memory) -> Memory | None:
        """Return the memory that this one repeats, one with the same title first."""
        return next((self._by_key[key] for key in looked_up(memory) if key in self._by_key), None)

    def _file(self, memory: Memory, texts: Iterable[str]) -> None:
        for key in (key for text in texts for key in filed_under(memory, text)):
            self._by_key.setdefault(key, memory)


def filed_under(memory: Memory, text: str) -> Iterator[str]:
    """Yield the keys of a stored memory with this text: with its title, and with each of its names."""
    return (_key(text, one) for one in (title_key(memory), _ANY, *_names(memory)))


def looked_up(memory: Memory) -> Iterator[str]:
    """Yield the keys of stored memories that a new one would repeat, the best first."""
    own, text = title_key(memory), memory.content_hash
    yield _key(text, own)
    if own:
        yield _key(_joined(own, text), _ANY)
        yield _key(text, "")
        yield from (_key(text, name) for name in _names(memory))
    else:
        yield _key(text, _ANY)


def earlier_names(before: Memory, after: Memory) -> Iterator[str]:
    """Yield the aliases by which an edited memory is recognised when its earlier text is imported again."""
    if before.content_hash != after.content_hash:
        yield EDITED_FROM + before.content_hash
    if title_key(before) and titled_hash(before) != titled_hash(after):
        yield EDITED_FROM + titled_hash(before)


def worded_at(memory: Memory) -> datetime:
    """Return when its text was written, or later: of a memory that was never reworded, other changes do not count."""
    is_reworded = any(_is_earlier(name) for name in memory.aliases)
    return memory.updated if is_reworded else memory.created


def titled_hash(memory: Memory) -> str:
    """Return a hash of title and text; of a memory without a title of its own, that of its text."""
    own = title_key(memory)
    return _joined(own, memory.content_hash) if own else memory.content_hash


def short_key(project: str, key: str) -> str:
    """Return a key of one project in a form that is short to send."""
    return hashlib.blake2b(f"{project}\n{key}".encode("utf-8", "replace"), digest_size=12).hexdigest()


def _joined(title: str, text: str) -> str:
    return hashlib.sha256(f"{title}\n{text}".encode()).hexdigest()


def _names(memory: Memory) -> Iterator[str]:
    return (name for name in (memory.id, *memory.aliases) if not _is_earlier(name))


def _is_earlier(name: str) -> bool:
    return name.startswith(EDITED_FROM)


def _key(text: str, what: str) -> str:
    return f"{text} {what}"
