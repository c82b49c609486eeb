"""config: see and change the settings."""

import json
from argparse import Namespace
from typing import Any

from memhook.assistants.claude import budget_note
from memhook.cli.commands.models import model_named
from memhook.cli.editor import editor_command, open_in_editor
from memhook.cli.output import said_json, say, warn
from memhook.cli.parser import Commands, command, family
from memhook.cli.place import Place
from memhook.errors import InvalidInput
from memhook.files.toml_edit import literal
from memhook.paths import write_private
from memhook.settings import (
    is_setting,
    named_keys,
    refuse_unknown,
    setting_keys,
    shown_value,
    value_of,
    what_is_allowed,
)
from memhook.settings_file import changed_file, wanted_value, with_value, without
from memhook.store.embedding.encoder import ListedModel

WITHOUT_EDITOR = "memhook config set KEY VALUE"
STARTER = "# memhook's settings. Every one, with its value: memhook config show\n"


def add_parser(commands: Commands) -> None:
    config = command(commands, run, "config", "memhook config set max_tokens 2000", "See and change the settings.")
    actions = family(config)
    command(actions, run, "show", "memhook config show", aliases=("list",))
    value = command(actions, get, "get", "memhook config get max_tokens")
    value.add_argument("key", metavar="KEY")
    change = command(actions, set_, "set", "memhook config set hooks.detail cascade", json=False)
    change.add_argument("key", metavar="KEY")
    change.add_argument("value", metavar="VALUE", help='as in TOML (2000, true, ["a", "b"]) or plain text')
    removed = command(actions, unset, "unset", "memhook config unset max_tokens", json=False)
    removed.add_argument("key", metavar="KEY")
    command(actions, path, "path", "memhook config path", json=False)
    command(actions, edit, "edit", "memhook config edit", json=False)


def run(args: Namespace, place: Place) -> None:
    """Every setting, its value and where that came from."""
    loaded = place.settings()
    keys = (*setting_keys(), *named_keys(loaded.settings))
    rows = [(key, shown_value(loaded.settings, key), loaded.sources.get(key, "default")) for key in keys]
    settings = {key: {"value": value, "source": source} for key, value, source in rows}
    if said_json(args, {"settings": settings, "problems": loaded.problems, "unreadable": loaded.unreadable}):
        return
    key_width = max(len(key) for key, _, _ in rows)
    value_width = max(len(literal(value)) for _, value, _ in rows)
    for key, value, source in rows:
        say(f"{key:<{key_width}}  {literal(value):<{value_width}}  {source}")
    warn(*loaded.problems)
    if loaded.unreadable:
        warn("Until that is repaired, nothing is stored, changed or shown: memhook config edit")


def get(args: Namespace, place: Place) -> None:
    """The value of one setting."""
    refuse_unknown(args.key)
    loaded = place.settings()
    value = shown_value(loaded.usable(), args.key)
    if not said_json(args, {"key": args.key, "value": value, "source": loaded.sources.get(args.key, "default")}):
        say(value if isinstance(value, str) else literal(value))


def set_(args: Namespace, place: Place) -> None:
    """Change one setting in your file; the rest of the file stays as it is."""
    value: Any = wanted_value(args.key, args.value)
    model = _model_called(value, place) if args.key == "embedding.model" else None
    if model:
        value = model.id
    changed_file(place.paths, lambda text: with_value(text, args.key, value))
    say(f"{args.key} = {literal(value)}")
    _warn_of_override(args.key, value, place)
    if args.key == "max_tokens" and (note := budget_note(value)):
        warn(f"note: {note}")
    if model and not model.is_here:
        warn(f"note: it is not on this machine yet, so the model before it goes on: memhook models pull {model.id}")


def _model_called(name: str, place: Place) -> ListedModel:
    """Which names there are is fastembed's to say; it takes a second to ask, but only here."""
    try:
        return model_named(name, place)
    except InvalidInput as error:
        raise InvalidInput(f"embedding.model must be {what_is_allowed('embedding.model')}.", error.hint) from error


def unset(args: Namespace, place: Place) -> None:
    """Remove one setting from your file."""
    # Also for a key that memhook does not know: it may be a typing error to be removed.
    if not changed_file(place.paths, lambda text: without(text, args.key)):
        refuse_unknown(args.key)
        warn(f"{args.key} is not set in {place.paths.config_file}.")
    elif is_setting(args.key):
        say(f"{args.key} = {literal(value_of(place.settings().settings, args.key))}")


def path(_args: Namespace, place: Place) -> None:
    """Where your settings are."""
    say(str(place.paths.config_file))


def edit(_args: Namespace, place: Place) -> int:
    """Open your settings in an editor."""
    file = place.paths.config_file
    editor_command(WITHOUT_EDITOR)  # raises before a file is made in vain
    if not file.exists():
        write_private(file, STARTER)
    open_in_editor(file, WITHOUT_EDITOR)
    problems = place.settings().problems
    warn(*problems)
    return 1 if problems else 0


def _warn_of_override(key: str, value: Any, place: Place) -> None:
    loaded = place.settings()
    if json.dumps(value_of(loaded.settings, key)) != json.dumps(value):
        source = loaded.sources.get(key, "default")
        warn(f"note: here it is {literal(shown_value(loaded.settings, key))}, which comes from the {source}.")
