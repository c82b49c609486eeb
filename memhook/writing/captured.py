"""Store memories captured from sessions, on probation: they expire, their number is limited, and none is stored twice.

A captured memory is identified by the places it came from: its aliases are ASSISTANT/SESSION#TURN of each, also after
it was dropped. Near-duplicates become one memory, in the newest words, with the places of all.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import groupby

from memhook.core.memory import URN_PREFIX, Draft, Memory, Origin, are_two, sessions_of, shortened
from memhook.core.terms import terms
from memhook.errors import InvalidInput
from memhook.library.library import Library
from memhook.screening.policy import judged
from memhook.screening.secret_values import may_hold_credentials
from memhook.store.embedding.encoder import ModelIdentity, Vector
from memhook.store.ledger import Usage
from memhook.store.memories import MemoryStore
from memhook.store.table import changes
from memhook.store.table.filters import Filter
from memhook.store.vectors import earlier_twins
from memhook.writing.closeness import NEAREST, is_contained
from memhook.writing.remember import MAX_LINE, checked_for_secrets, forgotten, memory_from
from memhook.writing.revision import write_pairs
from memhook.writing.twins import Twins

KEPT = timedelta(days=60)
MOST = 500
"""Captured memories of one project."""
SHOWINGS = 5
"""A memory that was shown so often and never used is forgotten."""
SAME = 0.93
"""The cosine from which on two texts say the same."""

TOGETHER = 128
"""Memories written under one lock: with all of an import, other writers would wait, such as for a note of the user's.
"""

UsageOf = Callable[[Sequence[str]], Mapping[str, Usage]]
Pair = tuple[Memory, "Vector | None"]


@dataclass(slots=True)
class Counts:
    """The outcomes of drafts: `refused` contained a secret or poison, `beyond` are too old for a project that is full.

    `known` were captured before, or repeat a memory that was not captured.
    """

    stored: int = 0
    merged: int = 0
    known: int = 0
    refused: int = 0
    beyond: int = 0


def capture(
    library: Library, drafts: Sequence[Draft], now: datetime, usage: UsageOf = lambda _: {}, again: bool = False
) -> Counts:
    """Store drafts as captured memories, in batches. With `again`, dropped ones are stored again."""
    store = library.store
    offered = list(_named(_acceptable(drafts, now)))
    unknown = _unknown(store, offered, again)
    fitting = _with_room(store, unknown)
    vectors, model = library.vectors(fitting)  # before any lock: it takes longest
    pairs = list(zip(fitting, vectors, strict=True))
    counts = Counts(known=len(offered) - len(unknown), refused=len(drafts) - len(offered))
    counts.beyond = len(unknown) - len(fitting)
    for start in range(0, len(pairs), TOGETHER):
        with store.writing():
            _write(store, pairs[start : start + TOGETHER], model, usage, again, counts)
    library.vectors_may_lack(vector is None for vector in vectors)
    return counts


def _write(
    store: MemoryStore, pairs: Sequence[Pair], model: ModelIdentity, usage: UsageOf, again: bool, counts: Counts
) -> None:
    """Store the memories that were not stored meanwhile, and count the outcomes."""
    new = {memory.id for memory in _unknown(store, [memory for memory, _ in pairs], again)}
    counts.known += len(pairs) - len(new)
    plan = _Plan(store, [pair for pair in pairs if pair[0].id in new], counts)
    plan.make_room(usage)
    plan.write(model, again)


def captured_of(store: MemoryStore, *projects: str) -> list[Memory]:
    """Return the captured memories of these projects, or of all, the last changed first."""
    return store.newest(Filter(projects=projects, origins=(Origin.CAPTURED,)), store.count())


def forget_captured(library: Library, session: str, now: datetime, dry: bool = False) -> list[Memory]:
    """Forget captured memories that nobody reviewed, of one session or of all; with `dry`, only return them."""
    found = [one for one in captured_of(library.store) if not session or session in _session_names(one)]
    if found and not dry:
        forgotten(library, [one.id for one in found], now)
    return found


def forget_repeated(library: Library, memory: Memory, now: datetime) -> list[Memory]:
    """Forget the captured memories that `memory`, which was remembered on purpose, repeats."""
    reach = Filter(projects=(memory.project,), captured=True)
    if memory.origin is Origin.CAPTURED or not library.store.count(reach):
        return []
    own = terms(memory.content)
    near, _ = library.store.candidates(lambda: library.vectors([memory])[0][0], own, reach, NEAREST)
    like = [one.id for one in near if (one.cosine or 0.0) >= SAME or is_contained(own, one.terms)]
    repeated = [key for key, one in library.store.by_ids(like, reach).items() if not are_two(one, memory)]
    return forgotten(library, repeated, now) if repeated else []


def expire(library: Library, usage: UsageOf, now: datetime) -> int:
    """Forget captured memories that were not shown for 60 days, or shown five times and never used; return how many."""
    captured = captured_of(library.store)
    uses = usage([memory.id for memory in captured]) if captured else {}
    ends = {memory.id: _end(memory, uses.get(memory.id, Usage())) for memory in captured}
    over = [memory.id for memory in captured if ends[memory.id] <= now]
    if over:
        forgotten(library, over, now)
    later = [one for one in captured if one.id not in over and one.expires and ends[one.id] > one.expires]
    if later:
        with library.store.writing():
            for memory in later:
                library.store.write(changes.update, [memory.id], expires=ends[memory.id])
    return len(over)


def came_in(memory: Memory, use: Usage) -> datetime:
    """Return when it was captured, derived from its expiry; if a showing has postponed that, when its exchange was."""
    came = (memory.expires or memory.created) - KEPT
    return memory.created if came in (use.last_shown, memory.accessed) else max(came, memory.created)


def _end(memory: Memory, use: Usage) -> datetime:
    """Return when probation ends: at once for a memory that was shown often and never used."""
    if use.judged >= SHOWINGS and not use.used and memory.accessed is None:
        return memory.created
    ends = [memory.expires or memory.created, *(at + KEPT for at in (use.last_shown, memory.accessed) if at)]
    return max(ends)


def _session_names(memory: Memory) -> set[str]:
    """Return the sessions it is from, with and without the assistant in front."""
    sessions = sessions_of((memory.session, *memory.aliases))
    return sessions | {name.partition("/")[2] for name in sessions}


class _Plan:
    """The changes for new memories, which are given project by project, and for the stored ones that they repeat."""

    def __init__(self, store: MemoryStore, batch: Sequence[Pair], counts: Counts) -> None:
        self._store = store
        self._counts = counts
        self._written: dict[str, Pair] = {}
        self._replaced: set[str] = set()
        self._removed: list[str] = []
        self._by_text: defaultdict[str, Twins] = defaultdict(Twins)
        for memory in store.find("content_hash", [memory.content_hash for memory, _ in batch]):
            self._by_text[memory.project].add(memory)
        for _, some in groupby(batch, key=lambda pair: pair[0].project):
            self._place_all(list(some))

    def make_room(self, usage: UsageOf) -> None:
        """Remove the oldest memories of projects over the limit, those never shown first; count new ones as beyond."""
        new = {memory.id: memory for memory, _ in self._written.values()}
        for project in {memory.project for memory in new.values()}:
            pool = {memory.id: memory for memory in captured_of(self._store, project)}
            pool |= {key: memory for key, memory in new.items() if memory.project == project}
            if len(pool) > MOST:
                shown = usage(list(pool))
                order = sorted(pool.values(), key=lambda one: (bool(shown.get(one.id, Usage()).shown), one.created))
                self._removed += [memory.id for memory in order[: len(pool) - MOST]]
        not_written = [key for key in self._removed if self._written.pop(key, None)]
        beyond = sum(key not in self._replaced for key in not_written)
        self._counts.stored -= beyond
        self._counts.beyond += beyond

    def write(self, model: ModelIdentity, again: bool) -> None:
        if again:
            names = [name for memory, _ in self._written.values() for name in memory.aliases]
            self._removed += [memory.id for memory in self._store.find("name", names, forgotten=True)]
        write_pairs(self._store, list(self._written.values()), model, self._replaced)
        if self._removed:
            self._store.write(changes.remove, self._removed)

    def _place_all(self, pairs: Sequence[Pair]) -> None:
        """Place the memories of one project: each is stored, or merged with one that it repeats."""
        by_text = Twins()
        placed: dict[str, str] = {}
        for (memory, vector), near in zip(pairs, earlier_twins([vector for _, vector in pairs], SAME), strict=True):
            is_near = near is not None and not are_two(pairs[near][0], memory)
            twin = pairs[near][0] if near is not None and is_near else by_text.twin(memory)
            placed[memory.id] = self._place(memory, vector, placed[twin.id] if twin else "")
            by_text.add(memory)

    def _place(self, memory: Memory, vector: Vector | None, twin: str) -> str:
        """Place one memory; return the id under which it is stored, or is there already."""
        if twin not in self._written:
            stored = self._repeated(memory, vector)
            if stored is None:
                self._counts.stored += 1
                self._written[memory.id] = (memory, vector)
                return memory.id
            if stored.origin is not Origin.CAPTURED:
                self._counts.known += 1
                return stored.id
            twin = stored.id
            if twin not in self._written:
                kept = self._store.vectors.of_content([stored.content_hash])
                self._written[twin] = (stored, next((known for one, known in kept if one.id == twin), None))
                self._replaced.add(twin)
        self._counts.merged += 1
        self._written[twin] = _merged(self._written[twin], (memory, vector))
        return twin

    def _repeated(self, memory: Memory, vector: Vector | None) -> Memory | None:
        """Return the stored memory, of the same project or global, that this one repeats."""
        reach = Filter(projects=tuple({memory.project, ""}), redacted=False, superseded=False, quarantined=False)
        twins = (self._by_text[project].twin(memory) for project in reach.projects)
        if (found := next(filter(None, twins), None)) or vector is None:
            return found
        nearest, _ = self._store.candidates(lambda: vector, (), reach, NEAREST)
        there = self._store.by_ids([one.id for one in nearest], reach)
        near = [one for one in nearest if not are_two(there[one.id], memory)]
        written = [one for one in near if there[one.id].origin is not Origin.CAPTURED]
        own = terms(memory.content) if written else ()
        same = [one for one in near if (one.cosine or 0.0) >= SAME or (one in written and is_contained(one.terms, own))]
        return there[max(same, key=lambda one: one.cosine or 0.0).id] if same else None


def _merged(old: Pair, new: Pair) -> Pair:
    """Return one memory in the newer words, with the name of the old one and the places of both."""
    words, vector = new if new[0].created >= old[0].created else old
    aliases = tuple(dict.fromkeys((*old[0].aliases, *new[0].aliases)))
    known = old[0]
    kept = replace(words, id=known.id, accessed=known.accessed, muted=known.muted)
    return replace(kept, aliases=aliases, expires=new[0].expires), vector


def _acceptable(drafts: Sequence[Draft], now: datetime) -> Iterator[Memory]:
    """Yield a memory for each draft without secrets or poison: nobody chose to keep it, so it is not masked either."""
    for draft in drafts:
        probation = replace(
            draft,
            origin=Origin.CAPTURED,
            expires=now + KEPT,
            quote=shortened(draft.quote, MAX_LINE),
            id="",
            pinned=False,
            redacted=False,
            supersedes=(),
        )
        try:
            checked, kinds = checked_for_secrets(probation)
        except InvalidInput:
            continue
        memory = judged(memory_from(checked, now), Origin.CAPTURED)
        texts = (memory.title, memory.content, memory.quote)
        is_own = URN_PREFIX in memory.content  # text that memhook showed or printed
        if not kinds and not memory.quarantine and not is_own and not any(map(may_hold_credentials, texts)):
            yield memory


def _named(memories: Iterator[Memory]) -> Iterator[Memory]:
    """Name each memory after its place; further ones of the same place are numbered, the same way in every run."""
    seen: Counter[str] = Counter()
    for memory in memories:
        place = memory.session
        seen[place] += 1
        own = f"{place}/{seen[place]}" if seen[place] > 1 else place
        yield replace(memory, aliases=memory.aliases or ((own,) if place else ()))


def _unknown(store: MemoryStore, memories: Sequence[Memory], again: bool) -> list[Memory]:
    """Return the memories whose places were not captured before and whose text was not forgotten."""
    places = [name for memory in memories for name in memory.aliases]
    known = {name for one in store.find("name", places, forgotten=False if again else None) for name in one.aliases}
    hashes = [memory.content_hash for memory in memories]
    dropped = Twins() if again else Twins.of(store.find("content_hash", hashes, forgotten=True))
    return [one for one in memories if known.isdisjoint(one.aliases) and dropped.twin(one) is None]


def _with_room(store: MemoryStore, memories: Sequence[Memory]) -> list[Memory]:
    """Return the memories by project, the newest first, without those older than all that a full project has."""
    found = []
    for project in sorted({memory.project for memory in memories}):
        of_it = (one for one in memories if one.project == project)
        newest = sorted(of_it, key=lambda one: one.created, reverse=True)[:MOST]
        there = captured_of(store, project)
        oldest = min((one.created for one in there), default=None) if len(there) >= MOST else None
        found += [one for one in newest if oldest is None or one.created > oldest]
    return found
