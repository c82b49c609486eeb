"""Which memories a query may return, as an SQL condition that LanceDB evaluates before ranking."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime

from memhook.core.memory import Origin, Sensitivity

EVERYTHING = tuple(Sensitivity)


@dataclass(frozen=True, slots=True)
class Filter:
    """The conditions of a query. Empty tuples and None mean "any". Forgotten memories never match."""

    projects: tuple[str, ...] = ()
    namespaces: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    filed_under: tuple[str, ...] = ()
    """Names of which one must be the namespace or a tag."""
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
    """Exclude memories whose file this assistant loads by itself."""
    since: datetime | None = None
    before: datetime | None = None

    def sql(self) -> str:
        filed_under = quoted(self.filed_under)
        conditions = (
            "forgotten IS NULL",
            self.sensitivities != EVERYTHING and f"sensitivity IN ({quoted(self.sensitivities)})",
            not self.redacted and "redacted = false",
            not self.muted and "muted = false",
            not self.superseded and "superseded_by = ''",
            self.quarantined is not None and f"quarantine {'<>' if self.quarantined else '='} ''",
            self.alive_at and f"(expires IS NULL OR expires > {timestamp(self.alive_at)})",
            self.only_muted and "muted = true",
            self.origins and f"origin IN ({quoted(self.origins)})",
            self.not_loaded_by and f"(loaded_by IS NULL OR NOT array_has(loaded_by, {quoted([self.not_loaded_by])}))",
            self.except_ids and f"id NOT IN ({quoted(self.except_ids)})",
            self.indexed_sql(),
            self.tags and f"array_has_all(tags, [{quoted(self.tags)}])",
            filed_under and f"(namespace IN ({filed_under}) OR array_has_any(tags, [{filed_under}]))",
            self.pinned is not None and f"pinned = {str(self.pinned).lower()}",
            self.since and f"created >= {timestamp(self.since)}",
            self.before and f"created < {timestamp(self.before)}",
        )
        return _joined(conditions)

    def indexed_sql(self) -> str:
        """Return the part of the condition that indexes answer without reading rows."""
        return _joined(
            (
                self.projects and f"project IN ({quoted(self.projects)})",
                self.namespaces and f"namespace IN ({quoted(self.namespaces)})",
                self.captured is not None and f"origin {'=' if self.captured else '<>'} {quoted([Origin.CAPTURED])}",
            )
        )


ANY = Filter()


def _joined(conditions: Iterable[object]) -> str:
    return " AND ".join(one for one in conditions if one and isinstance(one, str))


def quoted(values: Iterable[str]) -> str:
    """Quote values for SQL, without NULs and lone surrogates, which LanceDB rejects and no stored text has."""
    storable = (str(value).encode("utf-8", "replace").decode().replace("\x00", "") for value in values)
    return ", ".join("'" + value.replace("'", "''") + "'" for value in storable)


def timestamp(moment: datetime) -> str:
    return f"TIMESTAMP '{moment.astimezone(UTC).isoformat()}'"
