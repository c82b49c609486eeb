"""Operations on captured memories."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, replace
from datetime import timedelta
from itertools import islice
from typing import Any

from memhook.core.memory import Draft
from memhook.engine.caller import Caller
from memhook.errors import InvalidInput
from memhook.screening.policy import shown_as
from memhook.store.ledger import Usage
from memhook.store.table.filters import Filter
from memhook.writing.captured import came_in, capture, captured_of, forget_captured
from memhook.writing.transfer import draft_from

DISTILLED = "distilled from"


def capture_(caller: Caller, records: Sequence[Mapping[str, Any]], again: bool = False) -> dict[str, int]:
    """Store digests of sessions, given as records of an import; return the number of each outcome."""
    drafts = list(_drafts(records, caller.project.id))
    counts = capture(caller.library, drafts, caller.now, caller.accounts.usage, again)
    return asdict(replace(counts, refused=counts.refused + len(records) - len(drafts)))


def forget_captured_(caller: Caller, session: str = "", dry_run: bool = False) -> list[dict[str, Any]]:
    """Forget captured memories that nobody reviewed, of one session or of all."""
    found = forget_captured(caller.library, session, caller.now, dry_run)
    return [{"urn": one.urn, "title": shown_as(one).title, "project": one.project} for one in found]


def supplied(caller: Caller) -> dict[str, Any]:
    """Return which sources are switched on, the memories of the last week by source, and how many are unreviewed."""
    store, since = caller.library.store, caller.now - timedelta(days=7)
    written = store.newest(Filter(captured=False, since=since), store.count())
    captured = captured_of(store)
    uses = caller.accounts.usage([one.id for one in captured]) if captured else {}
    fresh = (one for one in captured if came_in(one, uses.get(one.id, Usage())) >= since)
    sources = Counter([one.origin.value for one in written] + [one.source or one.origin.value for one in fresh])
    return {
        "digests": caller.settings.capture.enabled,
        "notes": caller.settings.hooks.capture,
        **caller.settings.capture.model_dump(include={"instruction", "cues", "follow"}),
        "this_week": dict(sources.most_common()),
        "waiting": len(captured),
    }


def undistilled(caller: Caller, limit: int = 40) -> list[dict[str, Any]]:
    """Return digests from which no facts were made yet, the newest first, without secrets."""
    found = [one for one in captured_of(caller.library.store) if not one.source.startswith(DISTILLED)]
    fresh = (one for one in found if not caller.record.was_read(_distilled(one.id)))
    return [{"id": one.id, "content": shown_as(one).content} for one in islice(fresh, limit)]


def distilled(caller: Caller, facts: Mapping[str, Sequence[Mapping[str, str]]]) -> dict[str, int]:
    """Store facts that a model made from digests, by digest id, as captured memories of the same sessions."""
    digests = caller.library.store.by_ids(list(facts))
    drafts = [
        Draft(
            one["fact"],
            project=digest.project,
            session=digest.session,
            quote=one["span"],
            created=digest.created,
            source=f"{DISTILLED} {digest.source}".strip(),
            aliases=(f"{digest.session}/fact{number}",),
        )
        for key, digest in digests.items()
        for number, one in enumerate(facts[key], 1)
    ]
    counts = capture(caller.library, drafts, caller.now, caller.accounts.usage)
    for key in digests:
        caller.record.mark_read(_distilled(key), caller.now)
    return asdict(counts)


def _distilled(key: str) -> str:
    return f"distilled {key}"


def _drafts(records: Sequence[Mapping[str, Any]], project: str) -> Iterator[Draft]:
    for record in records:
        with suppress(InvalidInput):
            yield draft_from(record, project)
