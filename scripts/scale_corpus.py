"""Generate a developer's memories, a million in minutes, with vectors distributed like the real model's.

The real model embeds a few thousand texts. Every memory is a variant of one of them: the same subject with other
details, its vector moved along the principal directions of the real ones, in proportion to their size.
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from itertools import accumulate
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from memhook.core.memory import Memory, content_hash, derived_summary, id_from_bytes
from memhook.store.embedding.encoder import DEFAULT_MODEL, Embedder, ModelIdentity, load_embedder
from memhook.store.embedding.model_files import PACKAGED
from memhook.store.table.schema import row_of, table_schema

SUBJECTS = 3_000  # texts embedded by the model
PROJECTS = 1_000
GLOBAL_SHARE = 0.05
WITH_ALIAS = 0.3  # share imported under another name
CHUNK = 10_000
SPREAD = (0.35, 0.9)  # distance of a variant from its subject: cosines from .94 to .75
FIRST_DAY = datetime(2024, 1, 1, tzinfo=UTC)

Vectors = npt.NDArray[np.float32]

AREAS = (
    *("ledger", "invoice", "session", "cache", "queue", "replica", "migration", "webhook", "token", "deploy"),
    *("parser", "index", "scheduler", "importer", "router", "gateway", "billing", "upload", "mailer", "audit"),
    *("search", "checkout", "profile", "export", "quota", "tracing", "config", "secret", "shard", "backup"),
)
PARTS = (
    *("handler", "timeout", "retry", "schema", "batch", "cursor", "lock", "header", "payload", "fixture", "pool"),
    *("worker", "client", "listener", "encoder", "policy", "snapshot", "buffer", "registry", "pipeline", "adapter"),
)
TOOLS = (
    *("Postgres", "Redis", "Kafka", "nginx", "Terraform", "Django", "React", "pytest", "Docker", "Kubernetes"),
    *("gRPC", "Webpack", "SQLAlchemy", "Celery", "Prometheus", "GitHub Actions", "Rust", "TypeScript", "Go", "Bash"),
)
EVENTS = (
    *("fails with a deadlock", "times out under load", "loops forever", "leaks memory", "returns stale data"),
    *("drops rows silently", "runs twice", "rejects valid input", "is slow after a restart", "ignores the setting"),
)
CAUSES = (
    *("the connection was reused after a fork", "the clock of the host was behind", "two workers took one lease"),
    *("the default changed in the last release", "the header is case sensitive there", "a transaction stayed open"),
    *("the index was dropped by a migration", "the proxy cuts idle connections", "the cache key lacks the tenant"),
    *("the batch is larger than the limit", "DNS answers are kept too long", "the worker inherits the signal mask"),
)
FIXES = (
    *("pin the version and restart", "read from the primary", "raise the limit and alert on it", "close it in finally"),
    *("make it idempotent", "put the lock around both steps", "retry with jitter", "validate it at the edge"),
    *("write a regression test first", "document it in the runbook", "switch the flag off", "split the migration"),
)
SYLLABLES = (
    "ba",
    "cor",
    "del",
    "fen",
    "gra",
    "hol",
    "ir",
    "jun",
    "kel",
    "lom",
    "mar",
    "nis",
    "or",
    "pel",
    "quo",
    "rin",
)
NAMES = tuple(f"{a}{b}{c}" for a in SYLLABLES for b in SYLLABLES for c in SYLLABLES)
"""Names of services, functions and customers: a few are common, most are rare."""

_BY_ZIPF = list(accumulate(1 / (rank + 3) for rank in range(len(NAMES))))
_PROJECT_WEIGHTS = list(accumulate(1 / (rank + 10) for rank in range(PROJECTS)))


@dataclass(frozen=True, slots=True)
class Model:
    """The real vectors of the subjects, and their principal directions, scaled by their relative singular values."""

    identity: ModelIdentity
    subjects: Vectors
    directions: Vectors


def model(cache: Path, models: Path) -> Model:
    """Embed the subjects, which takes a minute, and cache the vectors for the next run."""
    packaged = PACKAGED[DEFAULT_MODEL]
    identity = ModelIdentity(DEFAULT_MODEL, packaged.weights.sha256, packaged.dimensions)
    file = cache / f"subjects-{SUBJECTS}-{identity.sha256[:12]}-{fingerprint()}.npy"
    if not file.exists():
        embedder: Embedder = load_embedder(DEFAULT_MODEL, models)
        vectors = np.asarray(embedder.embed_documents([about(number) for number in range(SUBJECTS)]), dtype=np.float32)
        cache.mkdir(parents=True, exist_ok=True)
        np.save(file, vectors)
    subjects = np.load(file)
    _, lengths, directions = np.linalg.svd(subjects - subjects.mean(axis=0), full_matrices=False)
    scaled = directions * (lengths / np.sqrt((lengths**2).sum()))[:, None]
    return Model(identity, subjects, scaled.astype(np.float32))


def about(subject: int) -> str:
    """Return the text that the memories of a subject share."""
    chance = random.Random(f"subject {subject}")
    area, part, tool = chance.choice(AREAS), chance.choice(PARTS), chance.choice(TOOLS)
    return (
        f"The {area} {part} with {tool} {chance.choice(EVENTS)} because {chance.choice(CAUSES)}. "
        f"We decided to {chance.choice(FIXES)}."
    )


def project_name(number: int) -> str:
    return f"github.com/team{number % 40}/{NAMES[number]}"


def prompt(number: int) -> str:
    """Return a prompt about one subject, in other words, mostly short."""
    chance = random.Random(f"prompt {number}")
    asked = about(_subject(chance)).partition(". ")[0].removeprefix("The ")
    length = round(60 * 40 ** chance.random())
    text = f"why is it that the {asked}? "
    while len(text) < length:
        text += f"I saw it in {_name(chance)} at line {chance.randint(1, 999)}: {chance.choice(CAUSES)}. "
    return text[: max(length, 60)]


def tables(size: int, made_by: Model) -> Iterator[pa.Table]:
    """Yield the rows of a store of `size` memories in chunks, generated on all cores."""
    chunks = [(start, min(CHUNK, size - start), made_by) for start in range(0, size, CHUNK)]
    with ProcessPoolExecutor(mp_context=get_context("spawn")) as workers:
        for start in range(0, len(chunks), 4):  # a few at a time: chunks wait in memory to be stored
            yield from workers.map(_table, chunks[start : start + 4])


def memory(number: int) -> Memory:
    chance = random.Random(number)
    subject = _subject(chance)
    name, other = _name(chance), _name(chance)
    area, part = chance.choice(AREAS), chance.choice(PARTS)
    content = (
        f"{about(subject)} Seen in {name}_{part} of src/{area}/{other}.py, error E{chance.randint(1000, 9999)}, "
        f"ticket {name[:3].upper()}-{number}. {_name(chance).title()} and {_name(chance).title()} "
        f"{chance.choice(EVENTS)} there, too, when {chance.choice(CAUSES)}; "
        f"{area}.{part}_limit = {chance.randint(2, 900)} helps."
    )
    created = FIRST_DAY + timedelta(seconds=chance.randrange(2 * 365 * 86_400))
    return Memory(
        id=id_from_bytes(chance.randbytes(12)),
        title=f"{area} {part} of {name}: {content[4:40].rstrip()}",
        content=content,
        summary=derived_summary(content),
        created=created,
        updated=created,
        tags=(area, part),
        project="" if chance.random() < GLOBAL_SHARE else project_name(_project(chance)),
        aliases=(f"note-{number}",) if chance.random() < WITH_ALIAS else (),
        content_hash=content_hash(content),
    )


def _table(chunk: tuple[int, int, Model]) -> pa.Table:
    start, count, made_by = chunk
    rows = [row_of(memory(number), None) for number in range(start, start + count)]
    schema = table_schema(made_by.identity)
    table = pa.Table.from_pylist(rows, schema=schema)
    vectors = _vectors(start, count, made_by)
    column = pa.FixedSizeListArray.from_arrays(pa.array(vectors.ravel()), vectors.shape[1])
    return table.set_column(schema.get_field_index("vector"), schema.field("vector"), column)


def _vectors(start: int, count: int, made_by: Model) -> Vectors:
    """Return the vectors of the memories with these numbers."""
    chance = np.random.default_rng(start)
    centres = made_by.subjects[[_subject(random.Random(number)) for number in range(start, start + count)]]
    away = chance.uniform(*SPREAD, size=(count, 1)).astype(np.float32)
    moved = centres + away * (chance.standard_normal((count, len(made_by.directions)), np.float32) @ made_by.directions)
    unit: Vectors = moved / np.linalg.norm(moved, axis=1, keepdims=True)
    return unit


def _subject(chance: random.Random) -> int:
    """Return a subject; some are more frequent."""
    return int(SUBJECTS * chance.random() ** 1.5)


def _name(chance: random.Random) -> str:
    return chance.choices(NAMES, cum_weights=_BY_ZIPF)[0]


def _project(chance: random.Random) -> int:
    return chance.choices(range(PROJECTS), cum_weights=_PROJECT_WEIGHTS)[0]


@lru_cache
def fingerprint() -> str:
    """Return a hash of the generated texts: a cache of other texts is useless."""
    return hashlib.sha256("\n".join(str(memory(number)) for number in range(100)).encode()).hexdigest()[:8]
