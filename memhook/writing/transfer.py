"""Import and export memories as JSONL, one record per line."""

from __future__ import annotations

import json
import logging
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import Annotated, Any, Literal, TypeVar

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, ValidationError, create_model

from memhook.core.memory import DEFAULT_NAMESPACE, FIELDS, Draft, Memory, Origin, Trait, id_of, is_id, names_with
from memhook.errors import InvalidInput, MemhookError, RemoteError, StoreError
from memhook.library.access import OWNER
from memhook.library.library import Library
from memhook.writing.remember import Outcome, Stored, checked_for_secrets, edited, foreseen, remembered

log = logging.getLogger("memhook")

M = TypeVar("M", bound=BaseModel)

Line = tuple[int, str]

PROBES = 3  # lines that must fail, with none stored, before the store is considered at fault
UPDATED_FIELDS = frozenset(names_with(Trait.EDITED))


@dataclass(frozen=True, slots=True)
class Imported:
    """The outcomes of valid lines, and the errors of the others, by line number."""

    entries: tuple[Entry, ...]
    bad: tuple[Line, ...]

    @property
    def outcomes(self) -> dict[str, int]:
        return dict(Counter(entry.outcome for entry in self.entries))


@dataclass(frozen=True, slots=True)
class Entry:
    line: int
    outcome: Outcome | Literal["updated"]
    title: str
    is_masked: bool = False
    is_quarantined: bool = False
    is_global: bool = False
    memory: Memory | None = None
    """The memory that is stored, or would be."""


@dataclass(frozen=True, slots=True)
class Mode:
    """How to import: `again` restores forgotten memories, `update` changes those imported under the same name.

    With `dry` nothing is stored; the result is the expected one.
    """

    again: bool = False
    update: bool = False
    dry: bool = False


STORING = Mode()


def imported(library: Library, lines: Sequence[Line], project: str, now: datetime, mode: Mode = STORING) -> Imported:
    """Store the valid lines; an invalid one does not affect the others."""
    drafts: dict[int, _Given] = {}
    failures = _Failures()
    for number, text in lines:
        with failures.of(number):
            drafts[number] = _given(text, project)
    entries: list[Entry] = []
    for number, earlier in _known_by_name(library, drafts).items() if mode.update else ():
        with failures.of(number):
            entries.append(_updated(library, number, earlier, drafts.pop(number), now, mode))
            failures.has_stored = True

    store = foreseen if mode.dry else partial(remembered, from_file=True)
    entries += _all_but_bad(list(drafts.items()), lambda some: store(library, some, now, mode.again), failures)
    return Imported(tuple(sorted(entries, key=lambda entry: entry.line)), tuple(sorted(failures.bad)))


class _Failures:
    """Collects the lines that could not be imported. An error of the store itself is raised and ends the import."""

    def __init__(self) -> None:
        self.bad: list[Line] = []
        self.has_stored = False
        self._refused = 0

    @contextmanager
    def of(self, number: int) -> Iterator[None]:
        try:
            yield
        except MemhookError as error:
            self._refused += isinstance(error, StoreError)
            if isinstance(error, RemoteError) or (self._refused >= PROBES and not self.has_stored):
                raise
            self.bad.append((number, error.message))
        except Exception as error:
            log.exception("line %d could not be imported", number)
            self.bad.append((number, f"memhook failed on it ({type(error).__name__}: {str(error)[:200]})"))


def _all_but_bad(
    given: Sequence[tuple[int, _Given]], stored: Callable[[Sequence[Draft]], Sequence[Stored]], failures: _Failures
) -> list[Entry]:
    """Store all lines at once; if that fails, bisect down to the failing lines."""
    found: list[Entry] = []
    if len(given) <= 1:
        for number, one in given:
            with failures.of(number):
                found = _entries(given, stored([one.draft]))
                failures.has_stored = True
        return found
    try:
        found = _entries(given, stored([one.draft for _, one in given]))
    except RemoteError:
        raise
    except Exception as error:
        log.exception("%d lines could not be imported at once", len(given))
        parts = _parts(given, one_by_one=isinstance(error, StoreError) and not failures.has_stored)
        return [entry for part in parts for entry in _all_but_bad(part, stored, failures)]
    failures.has_stored = True
    return found


def _parts(given: Sequence[tuple[int, _Given]], *, one_by_one: bool) -> list[Sequence[tuple[int, _Given]]]:
    """Return halves, or first a few single lines, which show early that nothing can be stored."""
    middle = len(given) // 2
    if one_by_one and len(given) > PROBES:
        return [given[:1], given[middle : middle + 1], given[-1:], given[1:middle], given[middle + 1 : -1]]
    return [given[:middle], given[middle:]]


def _entries(given: Sequence[tuple[int, _Given]], stored: Sequence[Stored]) -> list[Entry]:
    return [
        Entry(
            number,
            one.outcome,
            one.memory.title if one.memory else line.draft.title,
            line.is_masked,
            one.outcome == "stored" and one.memory is not None and bool(one.memory.quarantine),
            one.outcome == "stored" and not line.draft.project,
            one.memory if one.outcome == "stored" else None,
        )
        for (number, line), one in zip(given, stored, strict=True)
    ]


def draft_of(text: str, project: str) -> Draft:
    """Parse one line; raise InvalidInput with the reason if it is invalid."""
    return _given(text, project).draft


def draft_from(record: object, project: str) -> Draft:
    """Read a record as a line has it, unmasked; raise InvalidInput with the reason if it is invalid."""
    return _draft(dict(_validated(_Line, record)), project)


def _known_by_name(library: Library, drafts: Mapping[int, _Given]) -> dict[int, Memory]:
    """Return the memories imported before under the same names, into the same project."""
    names = [name for given in drafts.values() for name in given.names]
    memories = library.store.by_reference(names, OWNER)
    by_name = {(memory.project, name): memory for memory in memories for name in (*memory.aliases, memory.id)}
    found: dict[int, Memory] = {}
    for number, given in drafts.items():
        earlier = next((by_name[key] for name in given.names if (key := (given.draft.project, name)) in by_name), None)
        if earlier is not None:
            found[number] = earlier
    return found


def _updated(library: Library, number: int, earlier: Memory, given: _Given, now: datetime, mode: Mode) -> Entry:
    """Change only the fields given in the file, and nothing if they are equal."""
    changes = {
        name: value
        for name in given.fields & UPDATED_FIELDS
        if (value := getattr(given.draft, name)) != getattr(earlier, name)
    }
    if not changes or earlier.redacted:
        return Entry(number, "already there", earlier.title, given.is_masked)
    memory = earlier if mode.dry else edited(library, earlier.id, changes, now, writer=Origin.IMPORT)
    return Entry(number, "updated", memory.title, given.is_masked, bool(memory.quarantine))


def _in_utc(moment: datetime | None) -> datetime | None:
    """Convert to UTC; a time without a zone is UTC, the same on every machine."""
    if moment is None:
        return None
    try:
        return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    except OverflowError as error:
        raise ValueError("it is before the first or after the last year") from error


def _as_list(value: Any) -> Any:
    return [part for part in value.split(",") if part.strip()] if isinstance(value, str) else value


Text = Annotated[str, BeforeValidator(lambda value: "" if value is None else value)]
_Names = Annotated[tuple[str, ...], BeforeValidator(lambda value: _as_list(value) or ())]
_Moment = Annotated[datetime | None, AfterValidator(_in_utc)]


_TYPES: dict[type, Any] = {str: Text, tuple: _Names, datetime: _Moment}
_LINE: Any = {
    **{one.name: (_TYPES.get(one.kind, one.kind), one.default) for one in FIELDS if Trait.IMPORTED in one.traits},
    "text": (Text, ""),
    "project": (str | None, None),
    "origin": (Origin, Origin.IMPORT),
}
# A line of an import file; unknown fields are ignored.
_Line = create_model("_Line", __config__=ConfigDict(extra="ignore", coerce_numbers_to_str=True), **_LINE)


@dataclass(frozen=True, slots=True)
class _Given:
    """A draft, the fields its line gave, and the names it may be known by."""

    draft: Draft
    fields: frozenset[str]
    is_masked: bool = False

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(filter(None, (self.draft.id, *self.draft.aliases)))


def _given(text: str, project: str) -> _Given:
    line = parsed(_Line, text)
    given = {"content" if name == "text" else name for name in line.model_fields_set}
    draft, kinds = checked_for_secrets(_draft(dict(line), project))
    return _Given(draft, frozenset(given), bool(kinds))


def _draft(line: dict[str, Any], project: str) -> Draft:
    own_id, text = id_of(line["id"]), line.pop("text")
    names = () if is_id(own_id) or not own_id else (own_id,)
    own = {
        "id": own_id if is_id(own_id) else "",
        "content": line["content"] or text,
        "namespace": line["namespace"] or DEFAULT_NAMESPACE,
        "project": project if line["project"] is None else line["project"],
        "aliases": (*names, *line["aliases"]),
    }
    return Draft(**{**line, **own})


def parsed(model: type[M], text: str) -> M:
    """Parse one line of a file as a JSON object of this shape; raise InvalidInput with the reason if it is none."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InvalidInput(f"not JSON ({error})") from error
    return _validated(model, value)


def _validated(model: type[M], value: object) -> M:
    if not isinstance(value, dict):
        raise InvalidInput("not a JSON object")
    try:
        return model.model_validate(value)
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(str(part) for part in first["loc"])
        raise InvalidInput(f"{field}: {first['msg']}") from error
