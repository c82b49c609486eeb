"""import: store the memories of a file, a folder, or the assistants' own files."""

from __future__ import annotations

import os
import sys
from argparse import Namespace
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from io import BufferedReader, BytesIO
from pathlib import Path
from typing import Any, BinaryIO, cast

from tqdm import tqdm

from memhook.cli.ahead import answered
from memhook.cli.output import agreed, answer_to, counted, said_json, say, warn
from memhook.cli.parser import Commands, add_store, add_yes, command
from memhook.cli.place import Place
from memhook.cli.session_import import import_sessions
from memhook.core.fencing import clean, collapsed
from memhook.errors import InvalidInput
from memhook.store.project import in_repository, project_of
from memhook.store.project_aliases import ProjectAliases
from memhook.supply import files, git, host_memories
from memhook.supply.source import NOT_UTF8, Entry, encoding_of, in_utf8, not_utf8

FIRST_LINES = 64  # small, so that progress shows soon; each further batch is twice as long
BATCH_LINES = 512  # a batch is one commit, which takes as long as embedding twenty lines
BATCH_BYTES = 4 << 20
MAX_LINE_BYTES = 16 << 20
MOST_REPORTED = 20  # bad lines: a file that is not text has thousands
WOULD = {"stored": "would store", "updated": "would update"}

Line = tuple[int, str]


@dataclass(slots=True)
class Tally:
    """The results so far. `places` has the names of numbered entries; without it the numbers are lines of a file."""

    places: Sequence[str] = ()
    outcomes: Counter[str] = field(default_factory=Counter)
    bad: list[Line] = field(default_factory=list)
    foreseen: list[tuple[str, ...]] = field(default_factory=list)
    reported: int = 0
    noticed: Counter[str] = field(default_factory=Counter)
    filed: set[str] = field(default_factory=set)

    def add(self, answer: Mapping[str, Any]) -> None:
        self.outcomes.update(answer["outcomes"])
        self.noticed.update({name: answer.get(name, 0) for name in ("masked", "quarantined", "global")})
        for entry in answer.get("entries", ()):
            self._foresee(*entry)
        self.bad += [(number, reason) for number, reason in answer["bad"]]

    def _foresee(self, number: int, outcome: str, title: str, noticed: Sequence[str], *keys: Sequence[str]) -> None:
        """Add an entry of a dry run; one that repeats an entry of an earlier batch counts as already there."""
        repeats, filed = keys
        if outcome == "stored" and not self.filed.isdisjoint(repeats):
            self.outcomes.subtract([outcome])
            self.noticed.subtract(set(noticed) - {"masked"})
            outcome = "already there"
            self.outcomes.update([outcome])
        self.filed.update(filed)
        self.foreseen.append((self.place(number), outcome, title))

    def place(self, number: int) -> str:
        return self.places[number] if self.places else f"line {number}"

    def report_bad_lines(self) -> None:
        """Print those not reported yet, by number: undecodable lines are found before the rest of their batch."""
        first = self.reported
        new = sorted(self.bad[first:])
        self.bad[first:] = new
        self.reported = len(self.bad)
        for number, reason in new[: max(0, MOST_REPORTED - first)]:
            tqdm.write(clean(f"{self.place(number)}: {reason}"), file=sys.stderr)  # above the bar, when there is one

    def report_rest(self) -> None:
        """Print how many bad lines were not printed, and how to convert a file in another encoding."""
        if len(self.bad) > MOST_REPORTED:
            warn(f"and {len(self.bad) - MOST_REPORTED} more; all of them: --json")
        if any(reason.startswith(NOT_UTF8) for _, reason in self.bad):
            warn("What is not UTF-8 has to be converted first, for example: iconv -f latin1 -t utf-8 FILE > NEW")


def add_parser(commands: Commands) -> None:
    importing = command(commands, run, "import", "memhook import notes.jsonl")
    importing.add_argument("file", metavar="FILE", nargs="?", help="the file or folder, or - for stdin")
    importing.flag(
        "--assistants",
        "files of the assistants (CLAUDE.md, AGENTS.md, memory folders), after asking; FILE may name one of them",
    )
    importing.option(
        "--sessions",
        "DIR",
        "short notes of the sessions that assistants recorded, or of those below DIR; continues where it stopped",
        nargs="*",
    )
    importing.option(
        "--git",
        "DIR",
        "commits that say why and decision records of this repository or of DIR's, after asking; at most 200",
        nargs="?",
        const=".",
    )
    add_yes(importing)
    importing.flag("--project", "into this project, unless a line says otherwise")
    importing.flag("--again", "bring back what was forgotten before")
    importing.flag("--dry-run", "only show what would be stored")
    add_store(importing, "into this shared store instead of your own")


def run(args: Namespace, place: Place) -> int:
    """Store the memories of a file or a folder, none of them twice.

    The format is detected: JSONL; Markdown (CLAUDE.md, AGENTS.md, notes),
    where front matter becomes fields and each top heading a memory, updated when
    imported again; CSV or TSV with a column content, text, note or body; the
    graph of MCP's reference memory server. UTF-16 needs its byte order mark.
    A line: {"content" or "text", "title"?, "created"?, "namespace"?, "tags"?, ...}.
    Bad lines are listed on stderr and the rest is stored, with exit code 1.
    """
    if args.assistants:
        return import_assistants(args, place)
    if args.sessions is not None:
        return import_sessions(args, place)
    if args.git is not None:
        return import_git(args, place)
    if args.file is None:
        raise InvalidInput("Nothing to import: give a FILE.", "A file, a folder, - for stdin, or --assistants.")
    if args.project:
        place.project_asked_for()
    if Path(args.file).is_dir():
        entries = list(files.folder_entries(Path(args.file)))
        if not entries:
            raise InvalidInput(f"{args.file} contains nothing to import.", "Give a folder with Markdown files.")
        return _import_entries(args, place, entries)
    with _opened(args.file) as file:
        if source := files.source_of(file.peek(), args.file):
            return _import_entries(args, place, files.entries_of(source, file.read(), args.file))
        tally = Tally()
        return _imported(args, place, tally, good_lines(file, tally), _count_lines(file))


def import_assistants(args: Namespace, place: Place) -> int:
    """Import files of the assistants that the user names or confirms."""
    kept = host_memories.of_assistant(_kept(place), args.file or "")
    if not (args.yes or args.dry_run) and said_json(args, {"found": [_named(one) for one in kept]}):
        return 0
    if not kept:
        warn("The assistants have no files here that memhook can read.")
        return 0
    if not (args.yes or args.dry_run):
        _list_kept(kept)
        answer = answer_to("Import it? y for all, numbers (1,3-5) for some [N]", "Nothing imported.")
        kept = host_memories.chosen(kept, answer)
        if not kept:
            warn("Nothing imported.")
            return 1
    code = _import_entries(args, place, [entry for one in kept for entry in one.entries])
    if not args.dry_run:
        place.call("follow", files=[one.as_followed() for one in kept])
    return code


def import_git(args: Namespace, place: Place) -> int:
    """Show commits and decisions of a repository, and import them after asking."""
    directory = Path(args.git).absolute()
    if not in_repository(directory):
        raise InvalidInput(
            f"{directory} is not in a git repository.",
            "Give a folder of one: memhook import --git DIR. One that spans your home or /tmp is not read.",
        )
    project = ProjectAliases(place.paths).resolved(project_of(directory))
    entries = git.git_entries(project.root, project.id) if project.root else []
    if not (args.yes or args.dry_run):
        if said_json(args, {"found": [{"place": one.place, **(one.record or {})} for one in entries]}):
            return 0
        warn(*(f"{one.place:<20}  {collapsed((one.record or {})['title'])}" for one in entries))
    if not entries:
        warn("No commit here gives a reason, and there is no record of a decision.")
        return 0
    if not (args.yes or args.dry_run) and not agreed(f"Import {counted(len(entries))}?", "Nothing imported."):
        return 1
    return _import_entries(args, place, entries)


def offer_assistants(place: Place) -> int:
    """Ask at the set-up which files of the assistants to import, if there are any."""
    if not _kept(place):
        return 0
    say("Your assistants have these files already:")
    return import_assistants(
        Namespace(file=None, yes=False, json=False, dry_run=False, project=False, again=False), place
    )


def _kept(place: Place) -> list[host_memories.Kept]:
    aliases = ProjectAliases(place.paths)
    return host_memories.kept_by_assistants(
        place.project, os.environ, lambda directory: aliases.resolved(project_of(directory))
    )


def _list_kept(kept: Sequence[host_memories.Kept]) -> None:
    width = max(len(one.shown_path) for one in kept)
    for number, one in enumerate(kept, start=1):
        where = one.project.name if one.project.id else "global"
        size, memories = f"{one.size / 1000:.1f} kB", counted(len(one.entries))
        warn(f"{number:>3}  {one.assistant:<8}  {one.shown_path:<{width}}  {size:>9}  {memories}, {where}")


def _named(one: host_memories.Kept) -> dict[str, object]:
    facts = {"assistant": one.assistant, "path": str(one.path), "bytes": one.size}
    return {**facts, "memories": len(one.entries), "project": one.project.id}


def _import_entries(args: Namespace, place: Place, entries: Sequence[Entry]) -> int:
    """Import entries that have names: importing them again updates them."""
    problems = [(number, one.problem) for number, one in enumerate(entries) if one.record is None]
    tally = Tally([one.place for one in entries], bad=problems)
    return _imported(args, place, tally, files.as_lines(entries), len(entries) - len(problems), update=True)


def _imported(
    args: Namespace, place: Place, tally: Tally, lines: Iterable[Line], total: int | None, **mode: bool
) -> int:
    """Store the lines batch by batch, and report."""
    mode |= {"here": args.project, "again": args.again, **({"dry_run": True} if args.dry_run else {})}

    def ask(batch: list[Line]) -> Any:
        return place.call("import_lines", lines=batch, **mode)

    is_seen = sys.stderr.isatty()
    try:
        with tqdm(total=total, unit=" memories", leave=False, disable=not is_seen, file=sys.stderr) as bar:
            for batch, answer in answered(place, batches(lines), ask):
                bar.update(len(batch))
                tally.add(answer)
                tally.report_bad_lines()
            tally.report_bad_lines()
        tally.report_rest()
    except KeyboardInterrupt:
        done = counted(sum(tally.outcomes.values()))
        stored = "" if args.dry_run else ", which are stored. Run the same command to continue: it skips them"
        warn(f"Stopped after {done}{stored}.")
        raise
    return _report(tally, args)


def good_lines(file: BinaryIO, tally: Tally) -> Iterator[Line]:
    """Yield the lines that are text, with their numbers; add the others to the tally."""
    for number, (raw, size) in enumerate(_raw_lines(file), start=1):
        if size > MAX_LINE_BYTES:
            tally.bad.append((number, f"longer than {MAX_LINE_BYTES >> 20} MB"))
            continue
        try:
            text = raw.decode("utf-8-sig" if number == 1 else "utf-8").strip()
        except UnicodeDecodeError as error:
            tally.bad.append((number, not_utf8(error)))
            continue
        if text:
            yield number, text


def batches(lines: Iterable[Line]) -> Iterator[list[Line]]:
    """Yield batches of 64 up to 512 lines and at most 4 million characters, except for a single longer line."""
    batch: list[Line] = []
    size, limit = 0, FIRST_LINES
    for line in lines:
        if batch and (len(batch) == limit or size + len(line[1]) > BATCH_BYTES):
            yield batch
            batch, size, limit = [], 0, min(2 * limit, BATCH_LINES)
        batch.append(line)
        size += len(line[1])
    if batch:
        yield batch


def _raw_lines(file: BinaryIO) -> Iterator[tuple[bytes, int]]:
    """Yield each line with its size; of one longer than any memory, only the start."""
    while start := file.readline(MAX_LINE_BYTES):
        size, end = len(start), start
        while not end.endswith(b"\n") and (end := file.readline(MAX_LINE_BYTES)):
            size += len(end)
        yield start, size


def _report(tally: Tally, args: Namespace) -> int:
    """Report what was stored, or would be; return the exit code."""
    bad = [
        {"entry": tally.places[number], "reason": reason} if tally.places else {"line": number, "reason": reason}
        for number, reason in tally.bad
    ]
    counts = {
        outcome: tally.outcomes[outcome] for outcome in ("stored", "updated", "already there", "forgotten before")
    }
    words = WOULD if args.dry_run else {}
    named = {words.get(outcome, outcome).replace(" ", "_"): count for outcome, count in counts.items()}
    foreseen = [(where, words.get(what, what), title) for where, what, title in tally.foreseen]
    entries = [{"from": where, "outcome": what, "title": title} for where, what, title in foreseen]
    named |= {name: tally.noticed[name] for name in ("masked", "quarantined")}
    if said_json(args, {**named, "bad_lines": bad, **({"dry_run": True, "entries": entries} if args.dry_run else {})}):
        return 1 if bad else 0
    for where, what, title in foreseen:
        say(f"{what}: {collapsed(title)}  ({collapsed(where)})")
    shown = {outcome: count for outcome, count in counts.items() if count or outcome != "updated"}
    total = ", ".join(f"{words.get(outcome, outcome)} {count}" for outcome, count in shown.items())
    say(f"{total}, bad lines {len(bad)}")
    masked, quarantined, made_global = (tally.noticed[name] for name in ("masked", "quarantined", "global"))
    if masked:
        warn(f"{counted(masked)} contained secrets, which {'would be' if args.dry_run else 'were'} masked.")
    if quarantined:
        see = "" if args.dry_run else ". See: memhook list --quarantined"
        warn(f"{'Would be quarantined' if args.dry_run else 'In quarantine'}: {counted(quarantined)}{see}")
    if made_global:
        state = "Would be global" if args.dry_run else "Global"
        warn(f"{state}, so seen in every project: {counted(made_global)}. For this project only: --project")
    if counts["forgotten before"]:
        warn("Memories that were forgotten before stay so. To bring them back: memhook import --again")
    return 1 if bad else 0


@contextmanager
def _opened(name: str) -> Iterator[BufferedReader]:
    """Yield the file as UTF-8."""
    if name == "-":
        yield _in_utf8(cast(BufferedReader, sys.stdin.buffer))
        return
    try:
        file = Path(name).open("rb")  # noqa: SIM115  closed below; only the opening is translated
    except OSError as error:
        raise InvalidInput(
            f"{name} cannot be read ({error.strerror}).", "Give a file, a folder, or - for stdin."
        ) from error
    with file:
        yield _in_utf8(file)


def _in_utf8(file: BufferedReader) -> BufferedReader:
    _, encoding = encoding_of(file.peek(4))
    return file if encoding == "utf-8" else BufferedReader(BytesIO(in_utf8(file.read())))


def _count_lines(file: BinaryIO) -> int | None:
    """Return how many lines are not empty, for a progress bar; None without one, and for a pipe."""
    if not sys.stderr.isatty() or not file.seekable():
        return None
    here = file.tell()
    count = sum(1 for raw, _ in _raw_lines(file) if raw.strip())
    file.seek(here)
    return count
