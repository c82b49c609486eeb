"""Read an evaluation set: a folder with memories.jsonl and queries.jsonl.

memories.jsonl  {"id", "text" or "content", "title"?, "created"?, "namespace"?, "superseded_by"?, ...}, as for import
queries.jsonl   {"prompt", "gold": [ids], "id"?, "kind"?, "namespace"?, "answerable"?, "needs"?}
                {"tool", "input": {...}, "gold": [ids], "error"?, ...}: a tool call instead of a prompt, paths relative
                to the project's root; with `error`, after it failed with these words

Without gold it is unanswerable. `needs` is the verbatim part of a gold memory that must reach the model.
"""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from glob import glob
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict

from memhook.core.actions import Action, action_of
from memhook.core.memory import Draft, id_from_bytes, id_of, is_id
from memhook.errors import InvalidInput
from memhook.writing.transfer import Text, draft_of, parsed

MEMORIES = "memories.jsonl"
QUERIES = "queries.jsonl"
ANY_KIND = "answerable"
NO_KIND = "unanswerable"

_SHAPE = (
    f"A set has {MEMORIES} with lines {{id, text, ...}} and {QUERIES} with lines {{prompt, gold: [ids], ...}}"
    " or {tool, input, gold: [ids], ...}."
)


@dataclass(frozen=True, slots=True)
class Query:
    """A prompt, the ids of the memories that answer it, and the project it is asked in."""

    id: str
    prompt: str
    gold: tuple[str, ...]
    kind: str
    namespace: str
    needs: str = ""
    """Words of a gold memory, verbatim, that the answer needs."""
    action: Action | None = None
    """The tool call that is asked about instead of a prompt."""


@dataclass(frozen=True, slots=True)
class EvaluationSet:
    """Drafts by their ids in the file; each has an id of memhook's that is the same in every run."""

    name: str
    drafts: Mapping[str, Draft]
    queries: tuple[Query, ...]

    @property
    def namespaces(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(draft.namespace for draft in self.drafts.values()))


def read_set(folder: Path, name: str = "") -> EvaluationSet:
    """Read a set; raise InvalidInput with the file and the line of an error."""
    drafts = _drafts(folder / MEMORIES)
    _refuse_empty(folder / MEMORIES, drafts)
    queries = tuple(_queries(folder / QUERIES, drafts))
    _refuse_empty(folder / QUERIES, queries)
    return EvaluationSet(name or folder.resolve().name, drafts, queries)


def sets_in(folders: Sequence[Path]) -> list[EvaluationSet]:
    found = [read_set(one, name) for folder in folders for one, name in _set_folders(folder)]
    if len({one.name for one in found}) < len(found):
        raise InvalidInput("Two sets have the same name.", "A set is named after its folder: rename one.")
    return found


def _set_folders(folder: Path) -> list[tuple[Path, str]]:
    """Return folder and name of each set; the folder itself if there is none, so that reading it reports the error."""
    if (folder / MEMORIES).exists():
        return [(folder, "")]
    files = sorted(glob(f"**/{MEMORIES}", root_dir=folder, recursive=True), reverse=True)  # noqa: PTH207  follows links
    inner = {(folder / name).resolve(): Path(name).parent for name in files}  # links may form a circle
    return [(folder / one, one.as_posix()) for one in sorted(inner.values())] or [(folder, "")]


def sampled(queries: Sequence[Query], size: int, seed: int) -> tuple[Query, ...]:
    """Return `size` queries in their order: the same for a seed on every machine, and nearly so if some are added."""
    drawn = set(sorted(range(len(queries)), key=lambda index: (lot(queries[index], str(seed)), index))[:size])
    return tuple(query for index, query in enumerate(queries) if index in drawn)


def lot(query: Query, *seed: str) -> bytes:
    """Return a sort key for an order that is random and the same on every machine."""
    return hashlib.sha256("\n".join((*seed, query.id, query.prompt)).encode("utf-8", "surrogatepass")).digest()


def _drafts(file: Path) -> dict[str, Draft]:
    drafts: dict[str, Draft] = {}
    lines: dict[str, int] = {}
    replaced: dict[str, list[str]] = defaultdict(list)
    for number, text in _lines(file):
        try:
            line = parsed(_Named, text)
            name = line.id
            if not name:
                raise InvalidInput("id is missing")
            if name in drafts:
                raise InvalidInput(f"line {lines[name]} already has the id {name!r}")
            draft = draft_of(text, "")
        except InvalidInput as error:
            raise _at(file, number, error.message) from error
        lines[name] = number
        drafts[name] = replace(draft, id=_own_id(name))
        if line.superseded_by:
            replaced[line.superseded_by].append(name)
    for successor, names in replaced.items():
        if successor in drafts:
            old = drafts[successor]
            drafts[successor] = replace(old, supersedes=tuple(dict.fromkeys((*old.supersedes, *map(_own_id, names)))))
    return drafts


def _own_id(name: str) -> str:
    """Derive the id from the name: ids break ties between scores, so they must be the same in every run."""
    return (
        id_of(name) if is_id(id_of(name)) else id_from_bytes(hashlib.sha256(name.encode("utf-8", "replace")).digest())
    )


class _Named(BaseModel):
    """The fields that a set adds to the line of a memory."""

    model_config = ConfigDict(extra="ignore", coerce_numbers_to_str=True)

    id: Text = ""
    superseded_by: Text = ""


class _Line(BaseModel):
    model_config = ConfigDict(extra="ignore", coerce_numbers_to_str=True)

    prompt: Text = ""
    tool: Text = ""
    input: dict[str, Any] = {}
    error: Text = ""
    id: Text = ""
    gold: tuple[str, ...] = ()
    kind: Text = ""
    namespace: Text = ""
    answerable: bool | None = None
    needs: Text = ""


def _queries(file: Path, drafts: Mapping[str, Draft]) -> Iterator[Query]:
    for number, text in _lines(file):
        try:
            yield _query(parsed(_Line, text), number, drafts)
        except InvalidInput as error:
            raise _at(file, number, error.message) from error


def _query(line: _Line, number: int, drafts: Mapping[str, Draft]) -> Query:
    if not (line.prompt or line.tool):
        raise InvalidInput("prompt: Field required")
    missing = [name for name in line.gold if name not in drafts]
    if missing:
        raise InvalidInput(f"gold {missing[0]!r} is not the id of a memory in {MEMORIES}")
    if line.answerable is not None and line.answerable != bool(line.gold):
        raise InvalidInput("answerable, but without gold" if line.answerable else "gold, but not answerable")
    texts = (" ".join(f"{drafts[name].title} {drafts[name].content}".split()) for name in line.gold)
    if line.needs and not any(" ".join(line.needs.split()) in text for text in texts):
        raise InvalidInput("needs is not in any gold memory")
    kind = line.kind or (ANY_KIND if line.gold else NO_KIND)
    gold = tuple(dict.fromkeys(line.gold))
    action = action_of(line.input, "", "", line.error) if line.tool else None
    prompt = line.prompt or f"{line.tool} {json.dumps(line.input)} {line.error}"
    return Query(line.id or str(number), prompt, gold, kind, line.namespace, line.needs, action)


def _lines(file: Path) -> Iterator[tuple[int, str]]:
    try:
        data = file.read_bytes()
    except OSError as error:
        raise InvalidInput(f"{file} cannot be read ({error.strerror}).", _SHAPE) from error
    for number, raw in enumerate(data.split(b"\n"), start=1):
        try:
            text = raw.decode("utf-8-sig" if number == 1 else "utf-8").strip()
        except UnicodeDecodeError as error:
            raise _at(file, number, f"not UTF-8 ({error.reason})") from error
        if text:
            yield number, text


def _refuse_empty(file: Path, found: Collection[object]) -> None:
    if not found:
        raise InvalidInput(f"{file} is empty.", _SHAPE)


def _at(file: Path, number: int, what: str) -> InvalidInput:
    return InvalidInput(f"{file}, line {number}: {what.removesuffix('.')}.", _SHAPE)
