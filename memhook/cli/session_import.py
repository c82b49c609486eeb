"""Import the sessions that assistants recorded: make notes of them, store these, and record how far it got."""

from __future__ import annotations

import os
import sys
from argparse import Namespace
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cache, partial
from pathlib import Path
from typing import Any

from tqdm import tqdm

from memhook.assistants.assistant import Where
from memhook.assistants.reading import About
from memhook.cli.ahead import answered
from memhook.cli.output import agreed, said_json, say, warn
from memhook.cli.place import Place
from memhook.settings_file import changed_file, with_value
from memhook.store.project import project_of
from memhook.store.project_aliases import ProjectAliases, name_of
from memhook.supply.recorded import Bookmarks, Found, found, project_for
from memhook.supply.sessions import Learned, learned
from memhook.supply.source import Record

FIRST_RECORDS = 64  # so that something is stored soon; each further batch is twice as long
BATCH_RECORDS = 512
BOOKMARKS = "sessions-read.json"
OUTCOMES = ("stored", "merged", "known", "refused", "beyond")
PROMISE = "Tool output is never kept, secrets are dropped, unreviewed notes expire."

ProjectOf = Callable[[About], str]


@dataclass(slots=True)
class Batch:
    """Records to store together, and the sessions that count as read once the records are stored."""

    records: list[Record] = field(default_factory=list)
    read: list[tuple[Found, Learned]] = field(default_factory=list)


@dataclass(slots=True)
class Tally:
    sessions: int = 0
    projects: set[str] = field(default_factory=set)
    notes: int = 0
    outcomes: Counter[str] = field(default_factory=Counter)
    skipped: Counter[str] = field(default_factory=Counter)
    """Files and sessions, by reason."""
    left_out: Counter[str] = field(default_factory=Counter)
    """Exchanges, by reason."""

    def add(self, one: Learned) -> None:
        kept = sum(entry.record is not None for entry in one.entries)
        self.sessions += bool(one.entries)
        self.projects |= {one.project} if kept else set()
        self.skipped.update(dict.fromkeys(one.problems, 1))
        self.left_out.update(entry.problem for entry in one.entries if entry.record is None)


def import_sessions(args: Namespace, place: Place) -> int:
    """Import new sessions in the named folders, or in those of all assistants."""
    tally = Tally()
    bookmarks = Bookmarks(place.paths.state / BOOKMARKS)
    every, skipped = found(_where(), [Path(name).expanduser() for name in args.sessions])
    new = [one for one in every if args.again or not bookmarks.is_read(one.recording)]
    tally.skipped.update(skipped)
    tally.skipped["read before"] += len(every) - len(new)
    batches = _batches(new, bookmarks, tally, _projects(place), again=args.again)
    try:
        if args.dry_run:
            tally.notes = sum(len(batch.records) for batch in batches)
        else:
            _store(place, batches, bookmarks, tally, again=args.again)
    except KeyboardInterrupt:
        done = f" ({_outcomes(tally)})" if tally.notes and not args.dry_run else ""
        warn(f"Stopped after {_some(tally.notes, 'note')}{done}. Run the same command to continue from there.")
        raise
    return _report(args, tally)


def offer_sessions(place: Place) -> None:
    """Ask at the set-up whether to keep notes of recorded sessions, if there are any."""
    project_of_session = _projects(place)
    bookmarks = Bookmarks(place.paths.state / BOOKMARKS)
    new = [one for one in found(_where())[0] if not bookmarks.is_read(one.recording)]
    there = [(one, project) for one in new if (project := _project_in(one, project_of_session))]
    if not there:
        return
    since = datetime.fromtimestamp(min(one.recording.modified for one, _ in there), UTC)
    count = _where_from(len(there), len({project for _, project in there}))
    if agreed(f"{count} since {since:%B %Y}: keep short notes of them? {PROMISE}", "No notes are kept."):
        import_sessions(Namespace(sessions=[], again=False, dry_run=False, json=False), place)


def offer_capture(place: Place) -> None:
    """Ask at the set-up whether to keep notes of later sessions too, unless that is switched on."""
    question = f"Keep such notes of the sessions to come, too? {PROMISE}"
    if not place.settings().settings.capture.enabled and agreed(
        question, "Later: memhook config set capture.enabled true"
    ):
        changed_file(place.paths, lambda text: with_value(text, "capture.enabled", True))


def _project_in(one: Found, project_of_session: ProjectOf) -> str:
    """Return the project that the recording names, or "" for a subagent's."""
    about = next((step for step in one.recording.steps() if isinstance(step, About)), None)
    return project_of_session(about) if about and not about.is_subagent else ""


def _where() -> Where:
    return Where(Path.home(), os.environ, launcher=Path())


def _projects(place: Place) -> ProjectOf:
    aliases = ProjectAliases(place.paths)
    of_session = cache(partial(project_for, project_of=cache(project_of)))

    excluded = {str(Path(one).expanduser()) for one in place.settings().settings.capture.exclude}

    def counting_as(about: About) -> str:
        project = of_session(About("", about.directory, about.remote))
        project = aliases.all().get(project, project)
        return "" if {project, name_of(project), about.directory} & excluded else project

    return counting_as


def _batches(
    new: Sequence[Found], bookmarks: Bookmarks, tally: Tally, project_of_session: ProjectOf, *, again: bool
) -> Iterator[Batch]:
    batch, limit = Batch(), FIRST_RECORDS
    bar = tqdm(new, unit=" sessions", leave=False, disable=not sys.stderr.isatty(), file=sys.stderr)
    for one in bar:
        turns_read = 0 if again else bookmarks.turns(one.recording)
        result = learned(one.recording.steps(), one.assistant, project_of_session, turns_read)
        tally.add(result)
        batch.records += [entry.record for entry in result.entries if entry.record is not None]
        batch.records += filter(None, map(bookmarks.recurring, result.orders))
        batch.read.append((one, result))
        if len(batch.records) >= limit:
            yield batch
            batch, limit = Batch(), min(2 * limit, BATCH_RECORDS)
    yield batch


def _store(place: Place, batches: Iterator[Batch], bookmarks: Bookmarks, tally: Tally, *, again: bool) -> None:
    """Store the batches; a session counts as read once its notes are stored."""
    for batch, answer in answered(place, batches, lambda one: _captured(place, one.records, again)):
        tally.outcomes.update({name: answer.get(name, 0) for name in OUTCOMES})
        tally.notes += len(batch.records)
        for one, result in batch.read:
            bookmarks.put(one.recording, result.turns)
        bookmarks.save()


def _captured(place: Place, records: Sequence[Record], again: bool) -> Any:
    return place.call("capture", records=records, **({"again": True} if again else {})) if records else {}


def _report(args: Namespace, tally: Tally) -> int:
    skipped, left_out = (+counts for counts in (tally.skipped, tally.left_out))
    facts: dict[str, Any] = {"sessions": tally.sessions, "projects": len(tally.projects), "notes": tally.notes}
    facts |= {name: tally.outcomes[name] for name in OUTCOMES} if not args.dry_run else {"dry_run": True}
    if said_json(args, {**facts, "skipped": skipped, "left_out": left_out}):
        return 0
    if not tally.sessions and not skipped:
        say("No recorded sessions were found. In another folder: memhook import --sessions DIR")
        return 0
    would = "would be kept" if args.dry_run else "found"
    say(f"{_some(tally.notes, 'note')} of {_where_from(tally.sessions, len(tally.projects))} {would}.")
    if not args.dry_run and tally.notes:
        say(_outcomes(tally))
    for title, counts in (("Skipped", skipped), ("Exchanges without a note", left_out)):
        if counts:
            say(f"{title}: {', '.join(f'{count} {reason}' for reason, count in counts.most_common())}")
    if tally.outcomes["stored"]:
        say("Look through them: memhook inbox. Undo: memhook forget --captured")
    return 0


def _outcomes(tally: Tally) -> str:
    return ", ".join(f"{name} {tally.outcomes[name]}" for name in OUTCOMES if tally.outcomes[name])


def _where_from(sessions: int, projects: int) -> str:
    return f"{_some(sessions, 'session')} in {_some(projects, 'project')}"


def _some(count: int, noun: str) -> str:
    return f"{count} {noun}{'s' * (count != 1)}"
