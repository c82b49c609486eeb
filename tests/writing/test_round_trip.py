from __future__ import annotations

import json
import tempfile
from concurrent.futures import Future
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from memhook.answering.explore import record_of
from memhook.core.memory import Draft, Origin, Sensitivity
from memhook.library.library import Library
from memhook.store.embedding.encoder import Embedder
from memhook.store.memories import own_store
from memhook.writing.remember import remembered
from memhook.writing.transfer import imported
from tests.fake_embedder import HashEmbedder

NOW = datetime(2026, 11, 16, tzinfo=UTC)

line = st.text(max_size=60)
names = st.lists(line, max_size=4).map(tuple)
moments = st.datetimes(datetime(1990, 1, 1), datetime(2100, 1, 1), timezones=st.just(UTC))
drafts = st.builds(
    Draft,
    content=st.text(min_size=1, max_size=300).filter(str.strip),
    title=line,
    summary=line,
    namespace=line,
    tags=names,
    related=names,
    source=line,
    project=st.sampled_from(["", "github.com/acme/shop"]),
    sensitivity=st.sampled_from(Sensitivity),
    pinned=st.booleans(),
    redacted=st.booleans(),
    muted=st.booleans(),
    origin=st.sampled_from(Origin),
    created=moments,
    updated=moments,
    accessed=st.none() | moments,
    expires=st.none() | moments,
    aliases=names,
)


def opened(folder: str) -> Library:
    loaded: Future[Embedder] = Future()
    loaded.set_result(HashEmbedder())
    return Library(own_store(f"{folder}/store", Path(folder) / "backups"), "hash-words", lambda _: loaded)


def exported(library: Library) -> list[dict[str, Any]]:
    return [record_of(memory) for memory in library.store.after("", 100_000)]


@settings(max_examples=12, deadline=None)
@given(st.lists(drafts, min_size=2, max_size=12))
def test_what_is_exported_comes_back_exactly(given: list[Draft]) -> None:
    with tempfile.TemporaryDirectory() as one, tempfile.TemporaryDirectory() as other:
        library, copy = opened(one), opened(other)
        stored = [result.memory for result in remembered(library, given, NOW)]
        last = stored[-1]
        assert last is not None
        replacing = Draft(content="what replaces the last", supersedes=(last.id,))
        remembered(library, [replacing], NOW)
        written = [json.dumps(record) for record in exported(library)]
        result = imported(copy, list(enumerate(written, start=1)), "", NOW)
        assert result.bad == ()
        assert exported(copy) == exported(library)
