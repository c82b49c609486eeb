"""Change one setting in the user's file, in place, and read a value as it is typed."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from memhook.errors import InvalidInput
from memhook.files import toml_edit
from memhook.files.locking import exclusive
from memhook.paths import Paths, private_directory, write_private
from memhook.settings import Settings, checked, key_path, names_in, refuse_credentials, refuse_unknown, value_of

LOCK_SECONDS = 30.0
BY_HAND = "Repair or change it by hand: memhook config edit"


def with_value(text: str, key: str, value: Any) -> str:
    """Set `key` (dotted) to `value`; raise InvalidInput if that is not possible in place."""
    return _edited(toml_edit.with_value, text, key_path(key), value)


def without(text: str, key: str) -> str:
    """Remove `key`; return the same text if it is not there."""
    return _edited(toml_edit.without, text, key_path(key))


def _edited(edit: Callable[..., str], *given: Any) -> str:
    try:
        return edit(*given)
    except InvalidInput as error:
        raise InvalidInput(error.message, BY_HAND) from error


def with_values(text: str, values: Mapping[str, Any]) -> str:
    for key, value in values.items():
        text = with_value(text, key, checked(key, value))
    return text


def changed_file(paths: Paths, change: Callable[[str], str]) -> bool:
    """Replace the user's file in one step, where a link to it points; return whether it changed."""
    file = paths.config_file
    with exclusive(private_directory(paths.state) / "config.lock", LOCK_SECONDS):
        text = text_of(file)
        try:
            changed = change(text)
        except InvalidInput as error:
            raise InvalidInput(f"{file}: {error.message}", error.hint) from error
        if changed == text:
            return False
        write_private(file.resolve(), changed)
        paths.one_part.unlink(missing_ok=True)  # until the daemon knows whether the new settings need two
        return True


def text_of(file: Path) -> str:
    try:
        return file.read_bytes().decode("utf-8")
    except FileNotFoundError:
        return ""
    except UnicodeDecodeError as error:
        raise InvalidInput(f"{file} is not UTF-8, so it is left as it is.", BY_HAND) from error


def wanted_value(key: str, typed: str) -> Any:
    """The typed text as a value that `key` can have."""
    refuse_unknown(key)
    refuse_credentials(key)
    if any("\ud800" <= character <= "\udfff" for character in typed):
        raise InvalidInput(f"The value for {key} is not UTF-8.", "The file of the settings is.")
    default, meant = value_of(Settings(), key), value_from(typed)
    if isinstance(default, str) and not isinstance(meant, str):
        meant = typed
    if isinstance(default, list) and not isinstance(meant, list):
        meant = names_in(typed)
    if isinstance(meant, bool) and not isinstance(default, bool):
        meant = typed  # else true would be 1
    return checked(key, meant)


def value_from(text: str) -> Any:
    """Parse a typed value: TOML, or else the text itself."""
    try:
        parsed = tomllib.loads(f"v = {text}")
    except (tomllib.TOMLDecodeError, RecursionError):
        return text
    return parsed["v"] if parsed.keys() == {"v"} else text
