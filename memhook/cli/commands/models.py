"""models: the embedding models one may choose from."""

from argparse import Namespace
from collections.abc import Iterable
from dataclasses import asdict

from memhook.cli.output import said_json, say, warn
from memhook.cli.parser import Commands, command, family
from memhook.cli.place import Place
from memhook.errors import InvalidInput
from memhook.store.embedding.encoder import ListedModel, listed_models, multilingual_model, pull


def add_parser(commands: Commands) -> None:
    models = command(commands, run, "models", "memhook models list", "The embedding models one may choose from.")
    actions = family(models)
    command(actions, run, "list", "memhook models list")
    download = command(actions, pull_, "pull", "memhook models pull BAAI/bge-small-en-v1.5", json=False)
    download.add_argument("name", metavar="NAME")


def run(args: Namespace, place: Place) -> None:
    """Every model, which is configured and which are on this machine.

    Nothing is asked of the network.
    """
    embedding = place.settings().settings.embedding
    configured, languages = embedding.model, embedding.languages
    listed = listed_models(place.paths.models)
    rows = [{**asdict(model), "configured": _is(model, configured)} for model in listed]
    beside = {**asdict(multilingual_model()), "languages": languages}
    if said_json(args, {"configured": configured, "models": rows, "multilingual": beside}):
        return
    say("In packages, with their dimensions; * is the configured one:")
    _table((model for model in listed if model.is_packaged), configured)
    say("", f"Beside it, for what is not in English (embedding.languages = {languages}):")
    _table([multilingual_model()], "")
    say("", "fastembed's own, with what a download takes:")
    _table((model for model in listed if not model.is_packaged), configured)
    say("", "Download one: memhook models pull NAME", "Use one: memhook config set embedding.model NAME")
    if not any(_is(model, configured) for model in listed):
        warn(f"The configured model {configured} is none of these: memhook config unset embedding.model")


def pull_(args: Namespace, place: Place) -> None:
    """Download one of fastembed's own models.

    Nothing else in memhook downloads a model.
    """
    # In this process, which has loaded no model: the daemon's never goes to the network.
    model = model_named(args.name, place)
    if not model.is_packaged and not model.is_here:
        warn(f"Downloading {model.id}, {_size(model)} ...")
    pull(model.id, place.paths.models)
    say(f"{model.id} is on this machine.")
    if _is(model, place.settings().settings.embedding.model):
        say("It is the configured one. So that it is used at once: memhook daemon restart")
    else:
        say(f"Use it: memhook config set embedding.model {model.id}")


def model_named(name: str, place: Place) -> ListedModel:
    model = next((one for one in listed_models(place.paths.models) if _is(one, name)), None)
    if model is None:
        raise InvalidInput(f"No embedding model is called {name}.", "See the names: memhook models list")
    return model


def _table(listed: Iterable[ListedModel], configured: str) -> None:
    """The names last: some are as long as the rest of a line."""
    for model in listed:
        mark = "*" if _is(model, configured) else " "
        state = "here" if model.is_here else "missing" if model.is_packaged else _size(model)
        say(f"{mark} {model.dimensions:>4}  {state:<7}  {model.id}")


def _size(model: ListedModel) -> str:
    return f"{model.megabytes} MB" if model.megabytes < 1000 else f"{model.megabytes / 1000:.1f} GB"


def _is(model: ListedModel, name: str) -> bool:
    return model.id.lower() == name.lower()
