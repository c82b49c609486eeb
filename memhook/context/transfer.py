"""Memories from and to JSONL, one record a line."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, ValidationError

from memhook.context.library import Library
from memhook.context.remember import Draft, Outcome, checked, remembered
from memhook.core.memory import DEFAULT_NAMESPACE, Origin, Sensitivity, id_of, is_id
from memhook.errors import InvalidInput

Line = tuple[int, str]


@dataclass(frozen=True, slots=True)
class Imported:
    """How many lines came to which outcome, and what was wrong with the others, by line number."""

    outcomes: dict[Outcome, int]
    bad: tuple[Line, ...]


def imported(library: Library, lines: Sequence[Line], project: str, now: datetime, again: bool = False) -> Imported:
    """Store the good lines; the bad ones cost only themselves."""
    drafts: list[Draft] = []
    bad: list[Line] = []
    for number, text in lines:
        try:
            drafts.append(checked(_draft(text, project)))
        except InvalidInput as error:
            bad.append((number, error.message))
    outcomes: dict[Outcome, int] = {}
    for stored in remembered(library, drafts, now, again) if drafts else ():
        outcomes[stored.outcome] = outcomes.get(stored.outcome, 0) + 1
    return Imported(outcomes, tuple(bad))


def _in_utc(moment: datetime | None) -> datetime | None:
    """A time without a zone is taken as UTC, on every machine alike."""
    if moment is None:
        return None
    try:
        return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    except OverflowError as error:
        raise ValueError("it is before the first or after the last year") from error


def _as_list(value: Any) -> Any:
    return [part for part in value.split(",") if part.strip()] if isinstance(value, str) else value


def _or_empty(value: Any) -> Any:
    return "" if value is None else value


_Text = Annotated[str, BeforeValidator(_or_empty)]
_Names = Annotated[tuple[str, ...], BeforeValidator(lambda value: _as_list(value) or ())]
_Moment = Annotated[datetime | None, AfterValidator(_in_utc)]


class _Line(BaseModel):
    """A line of somebody's file. What memhook does not know it leaves aside."""

    model_config = ConfigDict(extra="ignore", coerce_numbers_to_str=True)

    id: _Text = ""
    title: _Text = ""
    text: _Text = ""
    content: _Text = ""
    summary: _Text = ""
    namespace: _Text = ""
    tags: _Names = ()
    related: _Names = ()
    source: _Text = ""
    project: str | None = None
    sensitivity: Sensitivity = Sensitivity.NORMAL
    pinned: bool = False
    redacted: bool = False
    muted: bool = False
    origin: Origin = Origin.IMPORT
    created: _Moment = None
    updated: _Moment = None
    accessed: _Moment = None
    expires: _Moment = None
    supersedes: _Names = ()
    aliases: _Names = ()


def _draft(text: str, project: str) -> Draft:
    line = _parsed(text)
    own_id = id_of(line.id)
    names = () if is_id(own_id) or not own_id else (own_id,)
    return Draft(
        content=line.content or line.text,
        title=line.title,
        summary=line.summary,
        namespace=line.namespace or DEFAULT_NAMESPACE,
        tags=line.tags,
        related=line.related,
        source=line.source,
        project=project if line.project is None else line.project,
        sensitivity=line.sensitivity,
        pinned=line.pinned,
        redacted=line.redacted,
        muted=line.muted,
        origin=line.origin,
        created=line.created,
        updated=line.updated,
        accessed=line.accessed,
        expires=line.expires,
        supersedes=line.supersedes,
        aliases=(*names, *line.aliases),
        id=own_id if is_id(own_id) else "",
    )


def _parsed(text: str) -> _Line:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InvalidInput(f"not JSON ({error})") from error
    if not isinstance(value, dict):
        raise InvalidInput("not a JSON object")
    try:
        return _Line.model_validate(value)
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(str(part) for part in first["loc"])
        raise InvalidInput(f"{field}: {first['msg']}") from error
