"""tidy: go through what in the store may need a decision."""

from argparse import Namespace
from functools import partial

from memhook.cli.output import counted, said_json, say, say_title, say_wrapped, warn
from memhook.cli.parser import Commands, command, number_of
from memhook.cli.place import Place
from memhook.cli.reviewing import Action, Item, walked
from memhook.core.fencing import collapsed
from memhook.core.memory import shortened

LISTED = 50
EXCERPT_CHARS = 160
KEYS = "[f]orget  [s]upersede  [m]ute  [l]ater  [u]ndo  [q]uit"


def add_parser(commands: Commands) -> None:
    tidy = command(commands, run, "tidy", "memhook tidy --project")
    tidy.flag("--project", "only of this project, and global ones")
    tidy.flag("--list", "list them, and ask nothing")
    tidy.option("--limit", "N", f"at most N ({LISTED})", type=number_of("items"), default=LISTED)


def run(args: Namespace, place: Place) -> None:
    """Go through duplicates, contradictions, stale and unused memories.

    Each is shown with one key for each decision; nothing is changed without one.
    forget deletes the memory shown, supersede replaces it by the other
    one, mute keeps it from coming up.
    """
    page = place.call("tidy_list", here=args.project, limit=args.limit)
    if said_json(args, page):
        return
    if not page["total"]:
        say("Everything is tidy.")
        return
    say(", ".join(f"{kind}: {count}" for kind, count in page["kinds"].items()))
    if args.list:
        for item in page["items"]:
            show_item(item)
        warn("To go through them: memhook tidy")
        return
    decided = walked(place, page["items"], show_item, _actions, KEYS, "Run: memhook tidy --list")
    say(f"{counted(decided)} changed.")


def show_item(item: Item) -> None:
    memory, other = item["memory"], item["other"]
    say_title(f"{item['kind']}: {memory['title']}")
    say_wrapped(f"  {memory['urn']}  {memory['updated'][:10]}  ({item['reason']})")
    say_wrapped(shortened(collapsed(memory["content"]), EXCERPT_CHARS), indent="  ")
    if other:
        say_wrapped(f"  newer: {other['title']}  {other['urn']}  {other['updated'][:10]}")
        say_wrapped(shortened(collapsed(other["content"]), EXCERPT_CHARS), indent="    ")


def _actions(place: Place, item: Item) -> dict[str, Action]:
    memory, other = item["memory"], item["other"]
    actions: dict[str, Action] = {
        "f": partial(place.call, "retract", references=[memory["id"]]),
        "m": partial(place.call, "revise", references=[memory["id"]], muted=True),
    }
    if other:
        successors = list(dict.fromkeys([*other["supersedes"], memory["id"]]))
        actions["s"] = partial(place.call, "revise", references=[other["id"]], supersedes=successors)
    return actions
