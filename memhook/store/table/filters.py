"""Which memories a query may see, as the condition LanceDB evaluates before anything is ranked."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime

from memhook.core.memory import Origin, Sensitivity

EVERYTHING = tuple(Sensitivity)


@dataclass(frozen=True, slots=True)
class Filter:
    """Empty tuples and None mean "any". Forgotten memories are never seen."""

    projects: tuple[str, ...] = ()
    namespaces: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    filed_under: tuple[str, ...] = ()
    """Names of which one is the namespace or a tag."""
    sensitivities: tuple[Sensitivity, ...] = EVERYTHING
    redacted: bool = True
    muted: bool = True
    superseded: bool = True
    quarantined: bool | None = None
    alive_at: datetime | None = None
    pinned: bool | None = None
    only_muted: bool = False
    origins: tuple[str, ...] = ()
    captured: bool | None = None
    except_ids: tuple[str, ...] = ()
    not_loaded_by: str = ""
    """An assistant that must not have read the file of the memory by itself."""
    since: datetime | None = None
    before: datetime | None = None

    def sql(self) -> str:
        return " AND ".join(self._conditions())

    def _conditions(self) -> Iterator[str]:
        yield "forgotten IS NULL"
        yield from self._who_may_see_it()
        yield from self._picked()
        if self.projects:
            yield f"project IN ({quoted(self.projects)})"
        if self.namespaces:
            yield f"namespace IN ({quoted(self.namespaces)})"
        if self.tags:
            yield f"array_has_all(tags, [{quoted(self.tags)}])"
        if names := quoted(self.filed_under):
            yield f"(namespace IN ({names}) OR array_has_any(tags, [{names}]))"
        if self.pinned is not None:
            yield f"pinned = {str(self.pinned).lower()}"
        if self.since is not None:
            yield f"created >= {timestamp(self.since)}"
        if self.before is not None:
            yield f"created < {timestamp(self.before)}"

    def _picked(self) -> Iterator[str]:
        if self.only_muted:
            yield "muted = true"
        if self.origins:
            yield f"origin IN ({quoted(self.origins)})"
        if self.not_loaded_by:
            yield f"(loaded_by IS NULL OR NOT array_has(loaded_by, {quoted([self.not_loaded_by])}))"
        if self.captured is not None:
            yield f"origin {'=' if self.captured else '<>'} {quoted([Origin.CAPTURED])}"
        if self.except_ids:
            yield f"id NOT IN ({quoted(self.except_ids)})"

    def _who_may_see_it(self) -> Iterator[str]:
        if self.sensitivities != EVERYTHING:
            yield f"sensitivity IN ({quoted(self.sensitivities)})"
        if not self.redacted:
            yield "redacted = false"
        if not self.muted:
            yield "muted = false"
        if not self.superseded:
            yield "superseded_by = ''"
        if self.quarantined is not None:
            yield "quarantine <> ''" if self.quarantined else "quarantine = ''"
        if self.alive_at is not None:
            yield f"(expires IS NULL OR expires > {timestamp(self.alive_at)})"


ANY = Filter()


def quoted(values: Iterable[str]) -> str:
    """Without what no stored text has, a NUL or half a surrogate pair: LanceDB takes neither."""
    storable = (str(value).encode("utf-8", "replace").decode().replace("\x00", "") for value in values)
    return ", ".join("'" + value.replace("'", "''") + "'" for value in storable)


def timestamp(moment: datetime) -> str:
    return f"TIMESTAMP '{moment.astimezone(UTC).isoformat()}'"
