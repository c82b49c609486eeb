"""The settings in a backup, which somebody else may have written, and the change that each would make here."""

from __future__ import annotations

import tomllib
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from memhook.errors import InvalidInput
from memhook.files.toml_edit import literal
from memhook.settings import HIDDEN, LONGEST_SHOWN, checked, flattened, is_secret, key_path, refuse_credentials
from memhook.settings_file import with_value

LOCATIONS = ("store", "stores", "embedding", "distill")
"""Settings of where memories are read and written, what is downloaded, and where notes of sessions are sent."""


@dataclass(frozen=True, slots=True)
class Change:
    """A setting that differs; `before` is empty if it is not set here."""

    key: str
    before: str
    after: str
    value: Any

    @property
    def names_a_location(self) -> bool:
        return key_path(self.key)[0] in LOCATIONS

    @property
    def shown(self) -> str:
        return f"{self.key} = {self.after} (here: {self.before or 'not set'})"


@dataclass(frozen=True, slots=True)
class Offered:
    """The changes that a backup would make; `unusable` has the keys that this version does not accept."""

    changes: tuple[Change, ...] = ()
    unusable: tuple[str, ...] = ()

    @property
    def plain(self) -> tuple[Change, ...]:
        return tuple(change for change in self.changes if not change.names_a_location)

    @property
    def locations(self) -> tuple[Change, ...]:
        return tuple(change for change in self.changes if change.names_a_location)


def offered(text: str | None, config_file: Path) -> Offered:
    """Return the changes: none if the backup has no readable settings."""
    if text is None:
        return Offered()
    try:
        wanted = dict(flattened(tomllib.loads(text)))
        current = _current(config_file)
    except (tomllib.TOMLDecodeError, RecursionError):
        return Offered(unusable=("config.toml",))
    differing = {key: value for key, value in wanted.items() if current.get(key) != value}
    usable = {key: value for key, value in differing.items() if _is_usable(key, value)}
    changes = tuple(Change(key, _shown(key, current), _shown(key, usable), usable[key]) for key in sorted(usable))
    return Offered(changes, tuple(sorted(key[:LONGEST_SHOWN] for key in differing.keys() - usable.keys())))


def with_settings(offer: Offered, chosen: Collection[str], config_file: Path) -> str | None:
    """Return the text of the settings file with the chosen changes, or None if there are none."""
    changes = [change for change in offer.changes if change.key in chosen]
    if not changes:
        return None
    text = config_file.read_text(encoding="utf-8") if config_file.exists() else ""
    for change in changes:
        text = with_value(text, change.key, change.value)
    return text


def _current(config_file: Path) -> dict[str, Any]:
    try:
        return dict(flattened(tomllib.loads(config_file.read_text(encoding="utf-8"))))
    except (OSError, UnicodeDecodeError):
        return {}


def _is_usable(key: str, value: Any) -> bool:
    try:
        refuse_credentials(key)
        checked(key, value)
    except InvalidInput:
        return False
    return True


def _shown(key: str, values: Mapping[str, Any]) -> str:
    if key not in values:
        return ""
    return HIDDEN if is_secret(key) else literal(values[key])[:LONGEST_SHOWN]
