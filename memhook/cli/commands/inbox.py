"""inbox and tidy: review memories that were captured, proposals and possible problems, with one key per decision."""

import os
import sys
import termios
import tty
from argparse import Namespace
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from memhook.cli.editor import edited_text
from memhook.cli.output import counted, said_json, say, say_title, say_wrapped, warn
from memhook.cli.parser import Commands, add_reference, add_references, command, family, number_of
from memhook.cli.place import Place
from memhook.cli.views import show_masked, show_stored, text_given
from memhook.core.fencing import collapsed
from memhook.core.memory import URN_PREFIX, shortened
from memhook.errors import InvalidInput, MemhookError

TIDY_LISTED = 50
TIDY_EXCERPT_CHARS = 160
KEYS = "[l]ater  [u]ndo  [q]uit"
LISTED = 20
EXCERPT_CHARS = 200
DECLINABLE = ("duplicate", "contradiction", "stale")
PROPOSED = {"retire": "forget it?", "supersede": "superseded? newer:"}

Item = Mapping[str, Any]
Answer = dict[str, Any]
Action = Callable[[], Answer | None]
"""Returns the daemon's answer, which has the call to undo it; None if nothing was decided."""


@dataclass(frozen=True, slots=True)
class Choice:
    """The action of a key, and its label with the key in brackets: "[k]eep both"."""

    words: str
    action: Action

    @property
    def key(self) -> str:
        return self.words.partition("[")[2][:1]


def add_parser(commands: Commands) -> None:
    inbox = command(commands, run, "inbox", "memhook inbox review")
    inbox.option("--limit", "N", f"at most N ({LISTED})", type=number_of("items"), default=LISTED)
    inbox.flag("--project", "only of this project, and global ones")
    actions = family(inbox)
    through = command(actions, _review, "review", "memhook inbox review --project", json=False)
    through.flag("--project", "only of this project, and global ones")
    for name, done, text in (
        ("keep", "Kept", "Make captured memories your own, and decline proposals."),
        ("drop", "Dropped", "Forget captured memories, and accept proposals."),
    ):
        decision = command(
            actions, partial(_decide, name, done), name, f"memhook inbox {name} urn:memhook:k3v9x2m4p7qa", text
        )
        add_references(decision)
    edit = command(actions, _edit, "edit", "memhook inbox edit k3v9x2m4p7qa")
    add_reference(edit)
    edit.option("--content", "TEXT", "the new content, or - to read it from stdin")
    merge = command(actions, _merge, "merge", "memhook inbox merge k3v9 x2m4")
    merge.add_argument("reference", metavar="URN", help="the captured memory")
    merge.add_argument("into", metavar="OTHER", help="the memory it is added to")
    untidy = command(commands, tidy, "tidy", "memhook tidy --project")
    untidy.flag("--project", "only of this project, and global ones")
    untidy.flag("--list", "list them, and ask nothing")
    untidy.option("--limit", "N", f"at most N ({TIDY_LISTED})", type=number_of("items"), default=TIDY_LISTED)


def run(args: Namespace, place: Place) -> None:
    """Review memories captured from sessions, and proposals.

    Until they are kept, captured memories are shown seldom and expire in 60 days.
    """
    page = place.call("inbox_list", limit=args.limit, here=args.project)
    if said_json(args, page):
        return
    for item in page["items"]:
        _show_item(item)
    if not page["total"]:
        say("Nothing waits for a review.")
    elif page["total"] > len(page["items"]):
        say(f"{page['total'] - len(page['items'])} more: memhook inbox --limit {page['total']}")
    if page["total"]:
        warn("To go through them: memhook inbox review")


def _show_item(item: Item) -> None:
    memory = item["memory"]
    say_title(memory["title"])
    say_wrapped(f"  {memory['urn']}  {item['at'][:10]}  {item['from'] or memory['origin']}")
    if item["kind"] in PROPOSED:
        say_wrapped(memory["content"], indent="  ")
        other = f" {item['other']['title']}  {item['other']['urn']}" if item["other"] else ""
        say_wrapped(f"  {PROPOSED[item['kind']]}{other}  ({item['reason']})")
        if item["other"]:
            say_wrapped(item["other"]["content"], indent="    ")
    else:
        say_wrapped(shortened(collapsed(memory["content"]), EXCERPT_CHARS), indent="  ")


def _decide(name: str, done: str, args: Namespace, place: Place) -> None:
    answer = place.call(f"inbox_{name}", references=args.references)
    if not said_json(args, answer):
        for record in answer["memories"]:
            newer = record["superseded_by"] if name == "drop" else ""
            show_stored(f"Superseded by {URN_PREFIX}{newer}" if newer else done, record)


def _edit(args: Namespace, place: Place) -> None:
    """Change the text of a captured memory, and keep it."""
    if args.content is None:
        content = place.call("get", references=[args.reference], touch=False)[0]["content"]
        args.content = edited_text(content, f'memhook inbox edit {args.reference} --content "the new text"')
    answer = place.call("inbox_keep", references=[args.reference], content=text_given(args.content))
    if not said_json(args, answer):
        show_stored("Kept", answer["memories"][0])
        show_masked(answer)


def _merge(args: Namespace, place: Place) -> None:
    """Add the text of a captured memory to another one."""
    answer = place.call("inbox_merge", reference=args.reference, into=args.into)
    if not said_json(args, answer):
        show_stored("Merged into", answer["memories"][0])


def _review(args: Namespace, place: Place) -> None:
    """Go through the inbox, with one key per decision."""
    total = place.call("inbox_list", limit=1, here=args.project)["total"]
    items = place.call("inbox_list", limit=total, here=args.project)["items"] if total else []
    decided = _walked(place, items, _show_item, _reviewing, "Run: memhook inbox keep URN, or drop URN")
    say(f"{counted(decided)} reviewed.")


def _reviewing(place: Place, item: Item) -> list[Choice]:
    reference = item["memory"]["id"]
    keep = "[k]eep as it is" if item["kind"] in PROPOSED else "[k]eep as your own"
    drop = "[d]rop: the newer one supersedes it" if item["other"] else "[d]rop: forget it"
    return [
        Choice(keep, partial(place.call, "inbox_keep", references=[reference])),
        Choice(drop, partial(place.call, "inbox_drop", references=[reference])),
        Choice("[e]dit and keep", partial(_edited, place, item["memory"])),
        Choice("[m]erge into another", partial(_merged, place, reference)),
    ]


def _edited(place: Place, memory: Mapping[str, Any]) -> Any:
    changed = edited_text(memory["content"], f"memhook inbox edit {memory['id']} --content TEXT")
    return place.call("inbox_keep", references=[memory["id"]], content=changed) if changed.strip() else None


def _merged(place: Place, reference: str) -> Any:
    near = place.call("inbox_near", reference=reference)
    for number, other in enumerate(near, 1):
        say_wrapped(f"  {number}  {other['title']}  {other['urn']}")
    say("  into which one? a number, or another key for none" if near else "  there is no other memory near it")
    choice = _pressed_key() if near else ""
    if not (choice.isdigit() and 0 < int(choice) <= len(near)):
        return None
    return place.call("inbox_merge", reference=reference, into=near[int(choice) - 1]["id"])


def tidy(args: Namespace, place: Place) -> None:
    """Go through duplicates, contradictions, stale and unused memories.

    Each has one key per decision; nothing is changed without one. keep leaves the
    memories as they are and does not ask again, supersede replaces the memory by
    the newer one, forget deletes it, mute keeps it from coming up.
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
            _show_untidy(item)
        warn("To go through them: memhook tidy")
        return
    decided = _walked(place, page["items"], _show_untidy, _tidying, "Run: memhook tidy --list")
    say(f"{counted(decided)} changed.")


def _show_untidy(item: Item) -> None:
    memory, other = item["memory"], item["other"]
    say_title(f"{item['kind']}: {memory['title']}")
    say_wrapped(f"  {memory['urn']}  {memory['updated'][:10]}  ({item['reason']})")
    # A title says too little to decide by: the older one may have several facts, the newer one of them.
    if not other:
        say_wrapped(shortened(collapsed(memory["content"]), TIDY_EXCERPT_CHARS), indent="  ")
        return
    say_wrapped(memory["content"], indent="  ")
    say_wrapped(f"  newer: {other['title']}  {other['urn']}  {other['updated'][:10]}")
    say_wrapped(other["content"], indent="    ")


def _tidying(place: Place, item: Item) -> list[Choice]:
    memory, other = item["memory"], item["other"]
    this = " the older" if other else ""
    choices = [
        Choice(f"[f]orget{this}", partial(place.call, "retract", references=[memory["id"]])),
        Choice(f"[m]ute{this}", partial(place.call, "revise", references=[memory["id"]], muted=True)),
    ]
    if item["kind"] in DECLINABLE:
        named = {"reference": memory["id"], "other": other["id"] if other else ""}
        both = "both" if other else "it"
        choices.insert(0, Choice(f"[k]eep {both}, do not ask again", partial(place.call, "tidy_keep", **named)))
    if other:
        successors = list(dict.fromkeys([*other["supersedes"], memory["id"]]))
        supersede = partial(place.call, "revise", references=[other["id"]], supersedes=successors)
        choices.insert(1, Choice("[s]upersede the older by the newer", supersede))
    return choices


def _walked(
    place: Place,
    items: Sequence[Item],
    show: Callable[[Item], None],
    choices_of: Callable[[Place, Item], Sequence[Choice]],
    otherwise: str,
) -> int:
    """Show one item after the other and run the actions of the keys pressed; return how many items were decided.

    `otherwise` is the command to name if there is no terminal.
    """
    if not sys.stdin.isatty():
        raise InvalidInput("There is no terminal to review at.", otherwise)
    done: list[tuple[int, Answer]] = []
    at, key = 0, ""
    while at < len(items) and key not in ("q", "\x03", "\x04"):
        say("", f"{at + 1} of {len(items)}")
        show(items[at])
        choices = choices_of(place, items[at])
        say_wrapped("  ".join((*(one.words for one in choices), KEYS)))
        key = _pressed_key()
        if key == "u" and done:
            at, answer = done.pop()
            if undo := answer["undo"]:
                place.call(undo["method"], **undo["params"])
        elif key == "u":
            warn("There is nothing to undo.")
        elif chosen := next((one for one in choices if one.key == key), None):
            if (answered := _answered(chosen.action)) is not None:
                done.append((at, answered))
                at += 1
        elif key in ("l", " "):
            at += 1
    return len(done)


def _answered(action: Action) -> Answer | None:
    try:
        return action()
    except MemhookError as error:
        warn(f"{error.message} {error.hint}".strip())
        return None


def _pressed_key() -> str:
    """Return the next key, without waiting for a line; "q" if the terminal was closed."""
    terminal = sys.stdin.fileno()
    before = termios.tcgetattr(terminal)
    try:
        tty.setcbreak(terminal, termios.TCSANOW)  # what was typed ahead stays
        return os.read(terminal, 1).decode("ascii", "replace").lower() or "q"
    finally:
        termios.tcsetattr(terminal, termios.TCSANOW, before)
