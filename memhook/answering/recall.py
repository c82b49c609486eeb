"""Find and rank memories: for a prompt, for a search."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cached_property, partial

from memhook.answering.block import Ranked
from memhook.answering.stages import Stages
from memhook.core import grading, ranking
from memhook.core.grading import FLOOR, Graded, Strictness, Verdict
from memhook.core.languages import is_english
from memhook.core.memory import Memory
from memhook.core.small_talk import gist, request_in
from memhook.core.spelling import repaired
from memhook.core.terms import terms
from memhook.library.access import OWNER, in_reach, reason_withheld, surfacing
from memhook.library.joined import Searchable
from memhook.screening.policy import judged, shown_as
from memhook.settings import Settings
from memhook.store.embedding.encoder import Vector, multilingual_calibration
from memhook.store.ledger import Considered
from memhook.store.remote.replica import in_thread
from memhook.store.table.filters import Filter

_Vectors = dict[str, "Future[Vector | None]"]

CANDIDATES = 50
DIGITS = 4  # of a score
HEAD_CHARS = 8_000
TAIL_CHARS = 4_000
BELOW_RELEVANCE = "below relevance"
SAME_TEXT = "same text as another"
QUARANTINED = "quarantined"
_QUESTION_MARKS = ("?", "？", "؟")


@dataclass(frozen=True, slots=True)
class Recalled:
    """The result of a search for a prompt: the memories worth showing, the rest, and the weights of the prompt's terms.

    `read_as` maps typing errors to their corrections.
    """

    worth_showing: tuple[Ranked, ...] = ()
    rest: tuple[Considered, ...] = ()
    weights: Mapping[str, float] = field(default_factory=dict)
    answer: Verdict = field(default_factory=Verdict)
    read_as: Mapping[str, str] = field(default_factory=dict)


def for_prompt(
    library: Searchable, prompt: str, project: str, settings: Settings, now: datetime, stages: Stages, reader: str = ""
) -> Recalled:
    """Search this project's and the global memories for the prompt, and then the captured ones.

    `reader` is the assistant that the prompt was typed into.
    """
    allowed = surfacing(project, settings, now, reader)
    known: _Vectors = {}
    found = _prompt_ranking(library, prompt, allowed, stages, known)
    worth = found.worth_showing(settings)
    once = found.once(worth)
    with stages.timed("fetch"):
        ranked = found.ranked(library, once)
    likely = {one.id for one in found.scores if worth and one.score >= FLOOR} - worth
    rest = (
        *found.quarantined(library, once),
        *found.considered(worth - once, SAME_TEXT),
        *found.considered(likely, f"beyond the best {len(worth)}"),
        *found.considered({one.id for one in found.scores} - worth - likely, BELOW_RELEVANCE),
    )
    admitted, refused = _captured(library, prompt, allowed, stages, known)
    return Recalled((*ranked, *admitted), (*rest, *refused), found.weights, found.answer, found.read_as)


def _captured(
    library: Searchable, prompt: str, allowed: Filter, stages: Stages, known: _Vectors
) -> tuple[list[Ranked], tuple[Considered, ...]]:
    """Search captured memories, separately because they must not influence the scores of the others."""
    allowed = replace(allowed, captured=True)
    _, searched = library.store.candidates(lambda: None, (), allowed, 1)
    if not searched:
        return [], ()
    found = _prompt_ranking(library, prompt, allowed, stages, known)
    likely = found.once({one.id for one in found.scores if one.score >= grading.RAISED_GATE})
    offered = found.ranked(library, likely)
    reasons = grading.reasons_withheld([(one.memory, one.score) for one in offered], found.answer)
    left_out = {one.memory.id: reason for one, reason in zip(offered, reasons, strict=True)}
    others = grading.CHORE if found.answer.is_chore else grading.BELOW
    refused = (found.record(one, reason) for one in found.scores if (reason := left_out.get(one.id, others)))
    return [one for one in offered if not left_out[one.memory.id]], tuple(refused)


def withheld_memories(
    library: Searchable, prompt: str, project: str, settings: Settings, now: datetime
) -> list[tuple[Ranked, str]]:
    """Return the memories that the filter of a hook excludes, with the reasons: for `why`, not for a hook."""
    found = _prompt_ranking(library, prompt, in_reach(project), Stages())
    worth = found.worth_showing(settings)
    everything = found.ranked(library, judge=lambda memories: [shown_as(judged(memory)) for memory in memories])
    reasons = ((one, reason_withheld(one.memory, settings, now)) for one in everything)
    return [
        (one, reason if one.memory.id in worth or (worth and one.score >= FLOOR) else BELOW_RELEVANCE)
        for one, reason in reasons
        if reason
    ]


class Matches:
    """The best matches of a query, relevant or not: the caller decides, also which of them to fetch."""

    def __init__(self, library: Searchable, query: str, allowed: Filter, limit: int) -> None:
        self._library = library
        self._found = _understood(library, query, allowed, Stages(), max(CANDIDATES, limit))
        self.scores = {one.id: round(one.score, DIGITS) for one in self._found.scores[:limit]}
        """Best first."""

    def last_used(self) -> dict[str, datetime]:
        """Return when each that still exists was last accessed, else changed."""
        return self._library.store.last_used(list(self.scores), self._found.allowed)

    def ranked(self, ids: Collection[str]) -> list[Ranked]:
        """Fetch those of `ids` that may be shown, best first."""
        return self._found.ranked(self._library, ids)


def for_search(library: Searchable, query: str, allowed: Filter, limit: int) -> list[Ranked]:
    """Fetch the best matches of a query, relevant or not: the caller decides."""
    found = Matches(library, query, allowed, limit)
    return found.ranked(found.scores)


def warm_up(library: Searchable) -> None:
    """Load what the first prompt needs, including the correction of typing errors."""
    for_search(library, "wrming up", OWNER, 1)


def for_enrichment(
    library: Searchable, query: str, allowed: Filter, relevance: str
) -> tuple[list[Ranked], list[Ranked], Mapping[str, float]]:
    """Return the relevant memories, those that may be, and the weights of the query's terms with errors corrected.

    Both lists are best first and often empty; captured memories are at the end of the second.
    """
    known: _Vectors = {}
    found = _understood(library, query, allowed, Stages(), known=known)
    relevant, weak = _worth_naming(library, found, relevance)
    admitted, _ = _captured(library, query, allowed, Stages(), known)
    return relevant, [*weak, *admitted], found.weights


def for_topic(library: Searchable, topic: str, allowed: Filter, relevance: str) -> tuple[list[Ranked], list[Ranked]]:
    """Return the memories that are relevant to a topic and those that may be, without captured ones."""
    return _worth_naming(library, _understood(library, topic, allowed, Stages()), relevance)


def _worth_naming(library: Searchable, found: _Ranking, relevance: str) -> tuple[list[Ranked], list[Ranked]]:
    relevant, weak = ({one.id for one in some} for some in found.answer.worth_naming(Strictness(relevance), CANDIDATES))
    ranked = found.ranked(library, found.once(relevant | weak))
    return [one for one in ranked if one.memory.id in relevant], [one for one in ranked if one.memory.id in weak]


def nearest(library: Searchable, text: str, allowed: Filter, stages: Stages) -> list[Ranked]:
    """Return the best matches of a text that no user typed, without screening and correction of typing errors."""
    return _ranking(library, text, allowed, stages).ranked(library, judge=list)


@dataclass(frozen=True)
class _Ranking:
    """The candidates for one text within a filter, with their scores."""

    allowed: Filter
    candidates: Mapping[str, ranking.Candidate]
    answer: Verdict
    weights: Mapping[str, float]
    read_as: Mapping[str, str] = field(default_factory=dict)

    @property
    def scores(self) -> Sequence[Graded]:
        return self.answer.candidates

    def worth_showing(self, settings: Settings) -> set[str]:
        hooks = settings.hooks
        return {one.id for one in self.answer.worth_showing(Strictness(hooks.relevance), hooks.max_memories)}

    def ranked(
        self, library: Searchable, ids: Collection[str] | None = None, judge: Callable[..., list[Memory]] | None = None
    ) -> list[Ranked]:
        """Fetch the memories, best first: all, or those with these ids, if they may be shown."""
        scores = [one for one in self.scores if ids is None or one.id in ids]
        found = library.store.by_ids([one.id for one in scores], self.allowed)
        memories = {memory.id: memory for memory in (judge or library.fit_to_show)(list(found.values()))}
        shown = [one for one in scores if one.id in memories]
        return [Ranked(memories[one.id], round(one.score, DIGITS), self._parts(one)) for one in shown]

    def quarantined(self, library: Searchable, ids: Collection[str]) -> Iterator[Considered]:
        """Yield the records of those of `ids` that screening quarantined."""
        for one in self.scores:
            if one.id in ids and (reason := library.suspicion(one.id)):
                yield self.record(one, f"{QUARANTINED}: {reason}")

    def once(self, ids: Collection[str]) -> set[str]:
        """Return `ids` without copies of a better memory: the same text and title in another project or store."""
        first: dict[tuple[str, str], str] = {}
        for one in self.scores:
            if one.id in ids:
                candidate = self.candidates[one.id]
                first.setdefault((candidate.content_hash, candidate.title), one.id)
        return set(first.values())

    def considered(self, ids: Collection[str], reason: str) -> Iterator[Considered]:
        return (self.record(one, reason) for one in self.scores if one.id in ids)

    def record(self, one: Graded, reason: str) -> Considered:
        """Return the record of a candidate that is not shown for this reason."""
        content = self.candidates[one.id].content_hash
        return Considered(one.id, content, round(one.score, DIGITS), reason, parts=self._parts(one))

    def _parts(self, one: Graded) -> dict[str, float]:
        """Return the parts of the score: the evidence for this memory, and the chance of any relevant one."""
        found = one.evidence
        parts = {
            "dense": found.dense,
            "lexical": found.lexical,
            "title": found.title,
            "companion": found.companion,
            "multilingual": found.multilingual,
        }
        return {name: round(value, DIGITS) for name, value in parts.items() if value is not None} | self._of_all

    @cached_property
    def _of_all(self) -> dict[str, float]:
        """The parts that all candidates share."""
        answer = self.answer
        request = "foreign_request" if answer.is_multilingual else "request"
        parts = {request: answer.request, "talk": answer.talk, "chance": answer.chance}
        return {name: round(value, DIGITS) for name, value in parts.items()}


def _prompt_ranking(
    library: Searchable, prompt: str, allowed: Filter, stages: Stages, known: _Vectors | None = None
) -> _Ranking:
    """Search for the whole prompt and for its author's own words, and return the better ranking."""
    prompt = request_in(prompt)
    known = {} if known is None else known
    own_words = gist(_excerpt(prompt))
    if own_words and own_words not in known:  # embed them on another core meanwhile
        known[own_words] = in_thread(partial(_vector, library, own_words), "memhook-embed")
    whole = _understood(library, prompt, allowed, stages, known=known)
    return max(whole, _understood(library, own_words, allowed, stages, known=known), key=_best) if own_words else whole


def _understood(
    library: Searchable,
    text: str,
    allowed: Filter,
    stages: Stages,
    limit: int = CANDIDATES,
    known: _Vectors | None = None,
) -> _Ranking:
    """Search for the text as typed and with its typing errors corrected, and return the better ranking."""
    found = _ranking(library, text, allowed, stages, limit, known)
    with stages.timed("spelling"):
        meant = repaired(_excerpt(text), library.store.statistics.frequencies, library.vocabulary)
    if meant is None:
        return found
    return max(
        found, replace(_ranking(library, meant.text, allowed, stages, limit, known), read_as=meant.words), key=_best
    )


def _best(found: _Ranking) -> float:
    return found.answer.chance


def _ranking(
    library: Searchable,
    text: str,
    allowed: Filter,
    stages: Stages,
    limit: int = CANDIDATES,
    known: _Vectors | None = None,
) -> _Ranking:
    """Score every candidate found by vector or by terms; `known` has vectors of texts that were searched for before."""
    text = _excerpt(text)
    known = {} if known is None else known

    def embedded() -> Vector | None:
        with stages.timed("embed"):
            if text not in known:
                made: Future[Vector | None] = Future()
                made.set_result(_vector(library, text))
                known[text] = made
            return known[text].result()

    with stages.timed("terms"):
        asked = terms(text)
    with stages.timed("languages"):
        multilingual = library.multilingual_vector(ranking.embedded_prompt(text), allowed)
    with stages.timed("search"):
        candidates, searched = library.store.candidates(embedded, asked, allowed, limit, multilingual)
    with stages.timed("rank"):
        statistics = library.store.statistics
        weights = ranking.term_weights(asked, statistics.frequencies, statistics.documents)
        in_english, is_question = is_english(text), text.rstrip().endswith(_QUESTION_MARKS)
        ranked = ranking.ranked(
            asked,
            candidates,
            statistics.frequencies,
            statistics.documents,
            statistics.average_length,
            searched,
            is_english=in_english,
        )

        def graded(vector: Vector | None, *, is_multilingual: bool) -> Verdict:
            as_numbers = None if vector is None else [float(value) for value in vector]
            prompt = grading.Prompt(as_numbers, len(weights), searched, in_english, is_multilingual, is_question)
            calibration = multilingual_calibration() if is_multilingual else library.calibration
            return grading.answer_to(prompt, ranked, calibration)

        is_read = multilingual is not None and any(one.multilingual is not None for one in ranked)
        if not in_english and is_read:
            answer = graded(multilingual, is_multilingual=True)
        else:
            answer = graded(known[text].result() if text in known else None, is_multilingual=False)
            if is_read and _is_foreign(library, ranked[0].id, allowed):
                answer = answer.supported_by(graded(multilingual, is_multilingual=True))
    return _Ranking(allowed, {one.id: one for one in candidates}, answer, weights)


def _vector(library: Searchable, text: str) -> Vector | None:
    return library.query_vector(ranking.embedded_prompt(text))


def _is_foreign(library: Searchable, memory: str, allowed: Filter) -> bool:
    """Return whether the memory is in another language than English, which the English model knows little of."""
    found = library.store.by_ids([memory], allowed).get(memory)
    return found is not None and not is_english(f"{found.title}\n{found.content}")


def _excerpt(text: str) -> str:
    """Return the head and tail of a long text: the subject of a log is there, and a hook has no time for the rest."""
    return text if len(text) <= HEAD_CHARS + TAIL_CHARS else f"{text[:HEAD_CHARS]}\n{text[-TAIL_CHARS:]}"
