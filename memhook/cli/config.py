"""config show, get, set, unset, path, edit."""

from __future__ import annotations

import fcntl
import json
import os
from argparse import Namespace
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from memhook.assistants.claude import budget_note
from memhook.cli.editor import editor_command, open_in_editor
from memhook.cli.models import model_named
from memhook.cli.output import say, say_json, warn
from memhook.cli.place import Place
from memhook.errors import InvalidInput
from memhook.files.toml_layout import literal
from memhook.paths import Paths, private_directory, write_private
from memhook.settings import (
    HIDDEN,
    Settings,
    checked,
    is_secret,
    is_setting,
    named_keys,
    names_in,
    refuse_credentials,
    setting_keys,
    value_of,
    what_is_allowed,
)
from memhook.settings_file import value_from, with_value, without
from memhook.store.embedding.encoder import ListedModel

WITHOUT_EDITOR = "memhook config set KEY VALUE"
STARTER = "# memhook's settings. Every one, with its value: memhook config show\n"


def config(args: Namespace, place: Place) -> int:
    actions: dict[str, Callable[[Namespace, Place], int]] = {
        "show": show,
        "get": get,
        "set": set_,
        "unset": unset,
        "path": path,
        "edit": edit,
    }
    return actions[args.action](args, place)


def show(args: Namespace, place: Place) -> int:
    loaded = place.settings()
    keys = (*setting_keys(), *named_keys(loaded.settings))
    rows = [(key, _shown(loaded.settings, key), loaded.sources.get(key, "default")) for key in keys]
    if args.json:
        settings = {key: {"value": value, "source": source} for key, value, source in rows}
        say_json({"settings": settings, "problems": loaded.problems, "unreadable": loaded.unreadable})
        return 0
    key_width = max(len(key) for key, _, _ in rows)
    value_width = max(len(literal(value)) for _, value, _ in rows)
    for key, value, source in rows:
        say(f"{key:<{key_width}}  {literal(value):<{value_width}}  {source}")
    warn(*loaded.problems)
    if loaded.unreadable:
        warn("Until that is repaired, nothing is stored, changed or shown: memhook config edit")
    return 0


def get(args: Namespace, place: Place) -> int:
    _known(args.key)
    loaded = place.settings()
    value = _shown(loaded.usable(), args.key)
    if args.json:
        say_json({"key": args.key, "value": value, "source": loaded.sources.get(args.key, "default")})
    else:
        say(value if isinstance(value, str) else literal(value))
    return 0


def set_(args: Namespace, place: Place) -> int:
    value: Any = wanted_value(args.key, args.value)
    model = _model_called(value, place) if args.key == "embedding.model" else None
    if model:
        value = model.id
    _change_file(place.paths, lambda text: with_value(text, args.key, value))
    say(f"{args.key} = {literal(value)}")
    _tell_what_overrides(args.key, value, place)
    if args.key == "max_tokens" and (note := budget_note(value)):
        warn(f"note: {note}")
    if model and not model.is_here:
        warn(f"note: it is not on this machine yet, so the model before it goes on: memhook models pull {model.id}")
    return 0


def _model_called(name: str, place: Place) -> ListedModel:
    """Which names there are is fastembed's to say; it takes a second to ask, but only here."""
    try:
        return model_named(name, place)
    except InvalidInput as error:
        raise InvalidInput(
            f"embedding.model = {name!r} is not possible: it must be {what_is_allowed('embedding.model')}.", error.hint
        ) from error


def unset(args: Namespace, place: Place) -> int:
    """Also a key that memhook does not know: it may be a slip of the pen that has to go."""
    if not _change_file(place.paths, lambda text: without(text, args.key)):
        _known(args.key)
        warn(f"{args.key} is not set in {place.paths.config_file}.")
        return 0
    if is_setting(args.key):
        say(f"{args.key} = {literal(value_of(place.settings().settings, args.key))}")
    return 0


def path(_args: Namespace, place: Place) -> int:
    say(str(place.paths.config_file))
    return 0


def edit(_args: Namespace, place: Place) -> int:
    file = place.paths.config_file
    editor_command(WITHOUT_EDITOR)  # before a file is made for nothing
    if not file.exists():
        write_private(file, STARTER)
    open_in_editor(file, WITHOUT_EDITOR)
    problems = place.settings().problems
    warn(*problems)
    return 1 if problems else 0


def wanted_value(key: str, typed: str) -> Any:
    """What was typed, as a value that `key` can have."""
    _known(key)
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


def _shown(settings: Settings, key: str) -> Any:
    value = value_of(settings, key)
    return HIDDEN if is_secret(key) and value else value


def _known(key: str) -> None:
    if not is_setting(key):
        raise InvalidInput(f"There is no setting {key!r}.", f"The settings are: {', '.join(setting_keys())}.")


def _change_file(paths: Paths, change: Callable[[str], str]) -> bool:
    """Whether the file is another one now. It is replaced in one step, where a link to it points."""
    file = paths.config_file
    with _locked(paths):
        text = _text_of(file)
        try:
            changed = change(text)
        except InvalidInput as error:
            raise InvalidInput(f"{file}: {error.message}", error.hint) from error
        if changed == text:
            return False
        write_private(file.resolve(), changed)
        return True


def _text_of(file: Path) -> str:
    try:
        return file.read_bytes().decode("utf-8")
    except FileNotFoundError:
        return ""
    except UnicodeDecodeError as error:
        raise InvalidInput(
            f"{file} is not UTF-8, so it is left as it is.", "Mend it first: memhook config edit"
        ) from error


@contextmanager
def _locked(paths: Paths) -> Iterator[None]:
    """Two changes at the same time are made one after the other."""
    lock = os.open(private_directory(paths.state) / "config.lock", os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
    finally:
        os.close(lock)


def _tell_what_overrides(key: str, value: Any, place: Place) -> None:
    loaded = place.settings()
    if json.dumps(value_of(loaded.settings, key)) != json.dumps(value):
        source = loaded.sources.get(key, "default")
        warn(f"note: here it is {literal(_shown(loaded.settings, key))}, which comes from the {source}.")
