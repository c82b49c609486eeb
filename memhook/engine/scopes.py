"""The rights of a caller: scopes and namespaces, checked before the store or the embedder is used."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from memhook.core.memory import DEFAULT_NAMESPACE, Sensitivity
from memhook.errors import AccessDenied, InvalidInput
from memhook.store.table.filters import Filter


class Scope(StrEnum):
    """A permission of a caller."""

    READ = "memory:read"
    WRITE = "memory:write"
    RESTRICTED = "memory:restricted"
    CONFIDENTIAL = "memory:confidential"


# No namespace is empty, so this lets nothing through, where an empty tuple would let everything.
NO_NAMESPACE = ("",)


@dataclass(frozen=True, slots=True)
class Rights:
    """The rights of one caller. No namespaces means all.

    All scopes together do not make an owner: some operations are covered by no scope.
    """

    scopes: frozenset[Scope]
    namespaces: tuple[str, ...] = ()
    is_owner: bool = False

    def check(self, scope: Scope | None, params: Mapping[str, Any]) -> None:
        """Raise AccessDenied unless an operation of `scope`, with these parameters, is covered.

        An operation without a scope ignores scopes and namespaces, so it is the owner's.
        """
        if scope is None and not self.is_owner:
            raise AccessDenied("Only the owner may do this.", "Run it at the command line.")
        for needed in (scope, Scope.RESTRICTED if params.get("include_restricted") else None):
            if needed is not None and needed not in self.scopes:
                raise AccessDenied(f"This needs {needed.value}, which the caller does not have.", _HINT)
        self.within(params.get("namespaces") or ())
        if params.get("namespace"):
            self.within([params["namespace"]])

    def within(self, wanted: Sequence[str]) -> tuple[str, ...]:
        """Return the namespaces asked for, or without any those granted; empty means all."""
        beyond = [name for name in wanted if self.namespaces and name not in self.namespaces]
        if beyond:
            granted = ", ".join(self.namespaces)
            raise AccessDenied(f"The namespace {beyond[0]!r} is not open to the caller.", f"Open are: {granted}.")
        return tuple(wanted) or self.namespaces

    @property
    def home(self) -> str:
        """The namespace of a memory for which none is named."""
        return DEFAULT_NAMESPACE if not self.namespaces else self.namespaces[0]

    @property
    def visible(self) -> Filter:
        """The memories that search, list and get may find. Redacted ones count as confidential."""
        levels = [Sensitivity.NORMAL]
        levels += [Sensitivity.RESTRICTED] if Scope.RESTRICTED in self.scopes else []
        levels += [Sensitivity.CONFIDENTIAL] if Scope.CONFIDENTIAL in self.scopes else []
        return Filter(
            sensitivities=tuple(levels),
            redacted=Scope.CONFIDENTIAL in self.scopes,
            quarantined=None if self.is_owner else False,
            namespaces=self.namespaces,
        )


OWNER = Rights(frozenset(Scope), is_owner=True)
"""The local user at the command line."""

DEFAULT_SCOPES = (Scope.READ, Scope.WRITE)
_HINT = (
    "Grant it where the server is set up (memhook mcp --scopes memory:read,memory:write), "
    "over HTTP with the token (memhook token create --scopes ...)."
)


def narrowed(granted: tuple[str, ...], surfacing: Iterable[str]) -> tuple[str, ...]:
    """Return the namespaces in both; an empty argument stands for all."""
    wanted = tuple(surfacing)
    if not granted or not wanted:
        return granted or wanted
    return tuple(name for name in wanted if name in granted) or NO_NAMESPACE


def scopes_of(names: Iterable[str]) -> frozenset[Scope]:
    """Return the scopes with these names; raise InvalidInput for an unknown one."""
    try:
        return frozenset(Scope(name) for name in names)
    except ValueError as error:
        raise InvalidInput(f"{error}.", f"The scopes are: {', '.join(Scope)}.") from None


def rights_of(written: Any) -> Rights:
    """Parse rights that came over the wire; None stands for the owner, whose socket it is."""
    if written is None:
        return OWNER
    try:
        scopes, namespaces = written["scopes"], written["namespaces"]
    except (TypeError, KeyError):
        raise InvalidInput("The rights of the caller cannot be read.", "memhook daemon restart") from None
    return Rights(scopes_of(scopes), tuple(str(name) for name in namespaces))


def written(rights: Rights) -> dict[str, list[str]]:
    return {"scopes": sorted(rights.scopes), "namespaces": list(rights.namespaces)}
