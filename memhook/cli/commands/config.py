"""config and models: show and change the settings, and list and download embedding models."""

import json
import tomllib
from argparse import Namespace
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from memhook.assistants.claude import budget_note
from memhook.cli.editor import editor_command, open_in_editor
from memhook.cli.output import said_json, say, warn
from memhook.cli.parser import Commands, command, family, likely
from memhook.cli.place import Place
from memhook.core.fencing import collapsed
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
from memhook.settings_file import changed_file, text_of, wanted_value, with_value, without
from memhook.store.embedding.encoder import ListedModel, listed_models, multilingual_model, pull

STARTER = "# memhook's settings. Every one, with its value: memhook config show\n"


def add_parser(commands: Commands) -> None:
    config = command(commands, run, "config", "memhook config set max_tokens 2000", "See and change the settings.")
    config.instead = _getting
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
    about = "List and download embedding models."
    of_models = family(command(commands, list_models, "models", "memhook models list", about))
    command(of_models, list_models, "list", "memhook models list")
    download = command(of_models, pull_model, "pull", "memhook models pull BAAI/bge-small-en-v1.5", json=False)
    download.add_argument("name", metavar="NAME")


def run(args: Namespace, place: Place) -> None:
    """Show every setting, its value and its source."""
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
    """Show the value of one setting."""
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
        warn(f"note: it is not downloaded yet, so the previous model stays in use: memhook models pull {model.id}")


def _model_called(name: str, place: Place) -> ListedModel:
    """Return the model of this name. Only here fastembed is asked for its names, which takes a second."""
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
    """Print the path of your settings."""
    say(str(place.paths.config_file))


def _getting(word: str) -> str:
    meant = [word] if is_setting(word) else likely(word, setting_keys())
    return f"memhook config get {meant[0]}" if meant else ""


def edit(_args: Namespace, place: Place) -> int:
    """Open your settings in an editor."""
    file = place.paths.config_file
    otherwise = _without_editor(file)
    editor_command(otherwise)  # raises before a file is created in vain
    if not file.exists():
        write_private(file, STARTER)
    open_in_editor(file, otherwise)
    problems = place.settings().problems
    warn(*problems)
    return 1 if problems else 0


def _without_editor(file: Path) -> str:
    """Return what to run if no editor opens: no command can change a file that is not TOML."""
    try:
        tomllib.loads(text_of(file))
    except (InvalidInput, OSError, RecursionError, tomllib.TOMLDecodeError) as error:
        return f"memhook config path, and correct that file ({collapsed(str(error))})"
    return "memhook config set KEY VALUE"


def _warn_of_override(key: str, value: Any, place: Place) -> None:
    loaded = place.settings()
    if json.dumps(value_of(loaded.settings, key)) != json.dumps(value):
        source = loaded.sources.get(key, "default")
        warn(f"note: here its value is {literal(shown_value(loaded.settings, key))}, which comes from the {source}.")


def list_models(args: Namespace, place: Place) -> None:
    """List the models: which one is configured and which are downloaded.

    It does not use the network.
    """
    embedding = place.settings().settings.embedding
    configured, languages = embedding.model, embedding.languages
    listed = listed_models(place.paths.models)
    rows = [{**asdict(model), "configured": _is(model, configured)} for model in listed]
    beside = {**asdict(multilingual_model()), "languages": languages}
    if said_json(args, {"configured": configured, "models": rows, "multilingual": beside}):
        return
    say("Installed as packages, with their dimensions (* is the configured model):")
    _table((model for model in listed if model.is_packaged), configured)
    say("", f"In addition, for texts that are not in English (embedding.languages = {languages}):")
    _table([multilingual_model()], "")
    say("", "From fastembed, with the size of the download:")
    _table((model for model in listed if not model.is_packaged), configured)
    say("", "Download one: memhook models pull NAME", "Use one: memhook config set embedding.model NAME")
    if not any(_is(model, configured) for model in listed):
        warn(f"The configured model {configured} is not one of these: memhook config unset embedding.model")


def pull_model(args: Namespace, place: Place) -> None:
    """Download one of fastembed's own models.

    Nothing else in memhook downloads a model.
    """
    # In this process, not in the daemon, which never uses the network.
    model = model_named(args.name, place)
    if not model.is_packaged and not model.is_here:
        warn(f"Downloading {model.id}, {_size(model)} ...")
    pull(model.id, place.paths.models)
    say(f"{model.id} is downloaded.")
    if _is(model, place.settings().settings.embedding.model):
        say("It is the configured model. To use it at once: memhook daemon restart")
    else:
        say(f"Use it: memhook config set embedding.model {model.id}")


def model_named(name: str, place: Place) -> ListedModel:
    model = next((one for one in listed_models(place.paths.models) if _is(one, name)), None)
    if model is None:
        raise InvalidInput(f"No embedding model is called {name}.", "See the names: memhook models list")
    return model


def _table(listed: Iterable[ListedModel], configured: str) -> None:
    """Print the models, their names last: some are as long as the rest of a line."""
    for model in listed:
        mark = "*" if _is(model, configured) else " "
        state = "here" if model.is_here else "missing" if model.is_packaged else _size(model)
        say(f"{mark} {model.dimensions:>4}  {state:<7}  {model.id}")


def _size(model: ListedModel) -> str:
    return f"{model.megabytes} MB" if model.megabytes < 1000 else f"{model.megabytes / 1000:.1f} GB"


def _is(model: ListedModel, name: str) -> bool:
    return model.id.lower() == name.lower()
