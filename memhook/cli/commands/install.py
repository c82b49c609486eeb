"""install and uninstall: switch memhook on and off in the assistants. The changes are shown first."""

import os
import shutil
import sys
from argparse import Namespace
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from memhook.assistants import switching
from memhook.assistants.assistant import Assistant, Where
from memhook.assistants.known import KNOWN
from memhook.assistants.switching import Change, Planned, Records, is_found, is_temporary, launcher_path, records_of
from memhook.cli.commands.import_ import offer_assistants
from memhook.cli.output import agreed, say, warn
from memhook.cli.parser import Commands, add_yes, command
from memhook.cli.place import Place
from memhook.cli.session_import import offer_capture, offer_sessions
from memhook.daemon.control import stopped
from memhook.errors import InvalidInput
from memhook.paths import private_directory

PROJECT_NOTE = (
    "The files in the project work on this machine only: do not commit them. An assistant may ask once whether to"
    " trust them."
)
TEMPORARY_NOTE = "This environment is temporary. Better: uv tool install memhook, or pipx install memhook."
REFUSED = 1

Plan = Callable[[Assistant], Sequence[Change]]


@dataclass(frozen=True, slots=True)
class Step:
    assistant: Assistant
    owner: str
    changes: Sequence[Change]

    @property
    def title(self) -> str:
        _, project = switching.scope_of(self.owner)
        return f"{self.assistant.title} in {project}" if project else self.assistant.title


def add_parser(commands: Commands) -> None:
    on = command(commands, run, "install", "memhook install claude codex", json=False)
    off = command(commands, uninstall, "uninstall", "memhook uninstall --dry-run", json=False)
    off.flag("--purge", "delete the memories, settings and records too")
    for one in (on, off):
        one.add_argument("assistants", metavar="NAME", nargs="*", choices=tuple(KNOWN), help=f"of {', '.join(KNOWN)}")
        one.flag("--project", "only in the project you are in")
        one.flag("--dry-run", "only print the difference it would make")
        add_yes(one)


def run(args: Namespace, place: Place) -> int:
    """Switch memhook on in the assistants: their hooks and the MCP server.

    Without a name: in those found on this machine. It lists the files it will write
    and asks. Other settings and comments stay; a copy of each file is kept.
    Then it asks whether to import files of the assistants, and whether to keep
    notes of the sessions that they recorded and will record (not with --yes).
    """
    where = where_of(place, project=args.project)
    records = records_of(place.paths)
    chosen = _wanted(args.assistants, where)
    steps, failures = _planned(chosen, where, partial(switching.switching_on, where=where, records=records))
    changing = [step for step in steps if step.changes]
    launcher = switching.launcher_written(where) if steps else []
    for step in steps:
        if not step.changes:
            say(f"{step.title}: memhook is on already.")
    if not launcher and not changing:
        return bool(failures)
    if not _is_agreed(args, changing, launcher, "Switch memhook on there?"):
        return 0 if args.dry_run else REFUSED
    private_directory(place.paths.data)
    for change in launcher:
        switching.write(change)
    changed, more_failures = _carried_out(changing, "on", switching.switch_on, records)
    failures += more_failures
    with suppress(OSError):
        (place.paths.state / "interpreter.gone").rmdir()  # the problem it reported is repaired
    _say_notes(changed, where, records)
    if sys.stdin.isatty() and not args.yes:  # that yes was for the files shown, not for an import
        offer_assistants(place)
        offer_sessions(place)
        offer_capture(place)
    return bool(failures)


def uninstall(args: Namespace, place: Place) -> int:
    """Switch memhook off again, each file as it was before.

    A file that was changed since loses only memhook's entries. Your memories stay.
    """
    records = records_of(place.paths)
    steps, failures = _steps_off(args, place, records)
    where = where_of(place, project=False)
    found = {name for name, assistant in KNOWN.items() if switching.is_on(assistant, where)}
    left = {*switching.owners(records), *found} - {step.owner for step in steps}
    launcher = [] if left or failures else switching.launcher_gone(where)
    changing = [step for step in steps if step.changes]
    if changing or launcher:
        if not _is_agreed(args, changing, launcher, "Switch memhook off there?"):
            return 0 if args.dry_run else REFUSED
        _, more_failures = _carried_out(steps, "off", switching.switch_off, records)
        failures += more_failures
        for change in launcher if not failures else ():
            switching.write(change)
    else:
        say("`memhook install` has not switched memhook on anywhere.")
    for assistant in KNOWN.values():
        if assistant.has_plugin(where):  # only the assistant can remove it
            say(f"{assistant.title} has memhook as a plugin; remove it there.")
    return bool(failures) or (_purge(args, place) if args.purge else 0)


def where_of(place: Place, *, project: bool) -> Where:
    """Return where to switch memhook on or off: for the user everywhere, or in the project of `place`."""
    root = (place.project.root or Path(place.directory)).resolve() if project else None
    return Where(Path.home(), os.environ, launcher_path(place.paths), root)


def _wanted(names: Sequence[str], where: Where) -> list[Assistant]:
    """Return the assistants named, or those found; not those that have memhook as a plugin: it would run twice."""
    chosen = [KNOWN[name] for name in dict.fromkeys(names)] or [one for one in KNOWN.values() if is_found(one, where)]
    if not chosen:
        known = ", ".join(KNOWN)
        raise InvalidInput("No assistant was found on this machine.", f"Name one: memhook install NAME, of {known}.")
    for assistant in chosen:
        if assistant.has_plugin(where):
            say(f"{assistant.title}: memhook is on as a plugin, so its settings stay as they are.")
    return [assistant for assistant in chosen if not assistant.has_plugin(where)]


def _steps_off(args: Namespace, place: Place, records: Records) -> tuple[list[Step], list[InvalidInput]]:
    """Return the steps to switch memhook off everywhere, or in this project, even if it is on without a record."""
    names = set(args.assistants or KNOWN)
    if args.project:
        scopes = [where_of(place, project=True).project]
    else:
        scopes = list(dict.fromkeys([None, *(switching.scope_of(owner)[1] for owner in switching.owners(records))]))
    steps: list[Step] = []
    failures: list[InvalidInput] = []
    recorded, plan = switching.owners(records), Records(records.folder, dict(records.files))
    left: Planned = {}
    for scope in scopes:
        where = replace(where_of(place, project=False), project=scope)
        chosen = [assistant for assistant in KNOWN.values() if assistant.name in names]
        changes_of = partial(switching.switching_off, where=where, records=plan, planned=left)
        more, failed = _planned(chosen, where, changes_of)
        steps += [step for step in more if step.changes or step.owner in recorded]
        failures += failed
    return steps, failures


def _planned(chosen: Iterable[Assistant], where: Where, changes_of: Plan) -> tuple[list[Step], list[InvalidInput]]:
    """Return the steps of all assistants, and the failures: an assistant with unreadable files is reported."""
    steps, failures = [], []
    for assistant in chosen:
        try:
            steps.append(Step(assistant, switching.owner_of(assistant.name, where.project), changes_of(assistant)))
        except InvalidInput as error:
            warn(f"memhook: {assistant.title} is left unchanged. {error.message}", error.hint)
            failures.append(error)
    return steps, failures


def _carried_out(
    steps: Sequence[Step], state: str, switch: Callable[[Sequence[Change], str, Records], None], records: Records
) -> tuple[list[Step], list[InvalidInput]]:
    """Carry out all steps; return those done, and the failures: files that cannot be written are reported."""
    done, failures = [], []
    for step in steps:
        try:
            switch(step.changes, step.owner, records)
        except InvalidInput as error:
            warn(f"memhook: {step.title} is not switched {state}. {error.message}", error.hint)
            failures.append(error)
            continue
        done.append(step)
        if step.changes:
            say(f"{step.title}: memhook is {state}.")
    return done, failures


def _is_agreed(args: Namespace, steps: Sequence[Step], launcher: Sequence[Change], question: str) -> bool:
    changes = [*launcher, *(change for step in steps for change in step.changes)]
    if args.dry_run:
        for change in changes:
            say(*change.diff.splitlines())
        return False
    for step in steps:
        say(f"{step.title}:", *(f"  {_described(change)}" for change in step.changes))
    if launcher:
        say("Started by all of them:", *(f"  {_described(change)}" for change in launcher))
    return args.yes or agreed(question, "Nothing changed.")


def _described(change: Change) -> str:
    kind = "new" if change.before is None else "removed" if change.after is None else "changed"
    return f"{kind:<7}  {change.path}"


def _say_notes(steps: Sequence[Step], where: Where, records: Records) -> None:
    for step in steps:
        if step.assistant.note:
            say(f"note: {step.assistant.note}")
    if where.project and steps:
        say(f"note: {PROJECT_NOTE}")
    if is_temporary():
        warn(f"note: {TEMPORARY_NOTE}")
    if any(change.before is not None for step in steps for change in step.changes):
        say(f"Copies of the files as they were: {records.folder}")


def _purge(args: Namespace, place: Place) -> int:
    """Delete all folders of memhook, but not a store that the settings put elsewhere."""
    if args.dry_run:
        return 0
    paths = place.paths
    folders = [folder for folder in (paths.data, paths.state, paths.cache, paths.config) if folder.exists()]
    elsewhere = place.settings().settings.store.uri
    say("These folders, with all memories, settings and records in them:", *(f"  {folder}" for folder in folders))
    if not args.yes and not agreed("Delete them for good?", "Nothing deleted."):
        return REFUSED
    stopped(place.paths)
    for folder in folders:
        shutil.rmtree(folder)
    say("All of it is deleted." if not elsewhere else f"All of it is deleted, except the store in {elsewhere}.")
    return 0
