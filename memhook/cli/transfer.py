"""import and export."""

from __future__ import annotations

import os
import stat
import sys
from argparse import Namespace
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from io import BufferedReader
from pathlib import Path
from typing import IO, Any, BinaryIO, NoReturn, cast

from tqdm import tqdm

from memhook.cli.asking import answer_to
from memhook.cli.exporting import export_folder
from memhook.cli.output import counted, json_text, say, say_json, warn
from memhook.cli.place import Place
from memhook.core.fencing import clean, collapsed
from memhook.errors import InvalidInput
from memhook.files import durable
from memhook.store.project import project_of
from memhook.store.project_aliases import ProjectAliases
from memhook.supply import files, host_memories
from memhook.supply.source import Entry

FIRST_LINES = 64  # so that something is seen soon; each further batch is twice as long
BATCH_LINES = 512  # each is one commit, which takes as long as embedding twenty
IN_FLIGHT = 2
BATCH_BYTES = 4 << 20
MAX_LINE_BYTES = 16 << 20
PAGE = 200

Line = tuple[int, str]


@dataclass(slots=True)
class Tally:
    """What has become of the lines so far."""

    outcomes: Counter[str] = field(default_factory=Counter)
    bad: list[Line] = field(default_factory=list)
    foreseen: list[tuple[str, ...]] = field(default_factory=list)
    told: int = 0
    masked: int = 0
    quarantined: int = 0

    def add(self, answer: Mapping[str, Any]) -> None:
        self.outcomes.update(answer["outcomes"])
        self.masked += answer.get("masked", 0)
        self.quarantined += answer.get("quarantined", 0)

    def tell_bad_lines(self) -> None:
        """Those not told yet, by number: what is not text was found before the rest of its batch was read."""
        fresh = sorted(self.bad[self.told :])
        self.bad[self.told :] = fresh
        self.told = len(self.bad)
        for number, reason in fresh:
            tqdm.write(clean(f"line {number}: {reason}"), file=sys.stderr)  # above the bar, when there is one


def import_(args: Namespace, place: Place) -> int:
    if args.assistants:
        return import_assistants(args, place)
    if args.file is None:
        raise InvalidInput("What to import is not said.", "Give a file, a folder, - for stdin, or --assistants.")
    if args.project:
        place.project_asked_for()
    if Path(args.file).is_dir():
        entries = list(files.folder_entries(Path(args.file)))
        if not entries:
            raise InvalidInput(f"{args.file} has nothing in it to import.", "Give a folder with Markdown files.")
        return _import_entries(args, place, entries)
    with _opened(args.file) as file:
        if source := files.source_of(file.peek(), args.file):
            return _import_entries(args, place, files.entries_of(source, file.read(), args.file))
        return _import_lines(args, place, file)


def import_assistants(args: Namespace, place: Place) -> int:
    """What assistants keep in files of their own, as far as the user names or confirms it."""
    kept = host_memories.of_assistant(_kept(place), args.file or "")
    if args.json and not (args.yes or args.dry_run):
        say_json({"found": [_named(one) for one in kept]})
        return 0
    if not kept:
        warn("Assistants keep nothing here that memhook could read.")
        return 0
    if not (args.yes or args.dry_run):
        _list_kept(kept)
        answer = answer_to("Import it? y for all, numbers (1,3-5) for some [N]", "nothing is imported")
        kept = host_memories.chosen(kept, answer)
        if not kept:
            warn("Nothing imported.")
            return 1
    return _import_entries(args, place, [entry for one in kept for entry in one.entries])


def offer_assistants(place: Place, *, yes: bool = False) -> int:
    """For whoever sets memhook up: ask, and import what is agreed to. Where there is nothing, nothing is said."""
    if not _kept(place):
        return 0
    say("This is what your assistants keep already:")
    return import_assistants(
        Namespace(file=None, yes=yes, json=False, dry_run=False, project=False, again=False), place
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
        size = f"{one.size / 1000:.1f} kB"
        warn(f"{number:>3}  {one.assistant:<8}  {one.shown_path:<{width}}  {size:>9}  {counted(one.memories)}, {where}")


def _named(one: host_memories.Kept) -> dict[str, object]:
    facts = {"assistant": one.assistant, "path": str(one.path), "bytes": one.size}
    return {**facts, "memories": one.memories, "project": one.project.id}


def _import_lines(args: Namespace, place: Place, file: BufferedReader) -> int:
    tally = Tally()
    with _progress(file) as bar, _told_how_to_go_on(tally):
        for lines, answer in _answers(place, batches(good_lines(file, tally)), _mode(args)):
            bar.update(lines)
            tally.add(answer)
            tally.foreseen += [(f"line {number}", *rest) for number, *rest in answer.get("entries", ())]
            tally.bad.extend((number, reason) for number, reason in answer["bad"])
            tally.tell_bad_lines()
        tally.tell_bad_lines()
    return _report(tally, [{"line": number, "reason": reason} for number, reason in tally.bad], args)


def _answers(place: Place, wanted: Iterable[list[Line]], mode: Mapping[str, bool]) -> Iterator[tuple[int, Any]]:
    """Of each batch its size and what became of it: while one is embedded, the next is read and the last stored."""
    pending: deque[tuple[int, Future[Any]]] = deque()
    calls = ThreadPoolExecutor(IN_FLIGHT, "memhook-import")
    try:
        for batch in wanted:
            call = calls.submit(place.call, "import_lines", lines=batch, **mode)
            pending.append((len(batch), call))
            if len(pending) >= IN_FLIGHT:
                size, first = pending.popleft()
                yield size, first.result()
        for size, last in pending:
            yield size, last.result()
    finally:
        calls.shutdown(wait=False, cancel_futures=True)


@contextmanager
def _told_how_to_go_on(tally: Tally) -> Iterator[None]:
    try:
        yield
    except KeyboardInterrupt:
        done = sum(tally.outcomes.values())
        warn(f"Stopped after {counted(done)}, which are stored. The same command goes on from there: it skips them.")
        raise


def _import_entries(args: Namespace, place: Place, entries: Sequence[Entry]) -> int:
    """What has a name of its own there: importing it again updates it."""
    tally = Tally()
    bad = [(number, one.problem) for number, one in enumerate(entries) if one.record is None]
    for batch in batches(files.as_lines(entries)):
        answer = place.call("import_lines", lines=batch, update=True, **_mode(args))
        tally.add(answer)
        tally.foreseen += [(entries[number].place, *rest) for number, *rest in answer.get("entries", ())]
        bad += [(number, reason) for number, reason in answer["bad"]]
    told = [{"entry": entries[number].place, "reason": reason} for number, reason in sorted(bad)]
    for one in told:
        warn(f"{one['entry']}: {one['reason']}")
    return _report(tally, told, args)


def _mode(args: Namespace) -> dict[str, bool]:
    dry_run = {"dry_run": True} if args.dry_run else {}
    return {"here": args.project, "again": args.again, **dry_run}


def export(args: Namespace, place: Place) -> int:
    if args.markdown and args.file == "-":
        raise InvalidInput("Which folder is not said.", "Say: memhook export --markdown FOLDER")
    if args.markdown or args.file.endswith("/"):
        count = export_folder(Path(args.file), _everything(place))
        return _exported(count, args)
    count = 0
    with _written(args.file) as file:
        for record in _everything(place):
            file.write(json_text(record, encoding=getattr(file, "encoding", "utf-8")) + "\n")
            count += 1
    return _exported(count, args)


def _exported(count: int, args: Namespace) -> int:
    if args.json and args.file != "-":
        say_json({"exported": count, "file": args.file})
    elif args.file != "-":
        say(f"Exported {counted(count)} to {args.file}.")
    return 0


def good_lines(file: BinaryIO, tally: Tally) -> Iterator[Line]:
    """The lines that are text, with their numbers; the others go to the tally."""
    for number, (raw, size) in enumerate(_raw_lines(file), start=1):
        if size > MAX_LINE_BYTES:
            tally.bad.append((number, f"longer than {MAX_LINE_BYTES >> 20} MB"))
            continue
        try:
            text = raw.decode("utf-8-sig" if number == 1 else "utf-8").strip()
        except UnicodeDecodeError as error:
            tally.bad.append((number, f"not UTF-8 ({error.reason} at byte {error.start + 1})"))
            continue
        if text:
            yield number, text


def batches(lines: Iterable[Line]) -> Iterator[list[Line]]:
    """Lists of 64 up to 512 lines and, but for a single long line, 4 million characters."""
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
    """Each line with its size; of one longer than any memory only the start is kept."""
    while start := file.readline(MAX_LINE_BYTES):
        size, end = len(start), start
        while not end.endswith(b"\n") and (end := file.readline(MAX_LINE_BYTES)):
            size += len(end)
        yield start, size


def _report(tally: Tally, bad: Sequence[Mapping[str, object]], args: Namespace) -> int:
    """What has come of it, or would; the exit code."""
    counts = {
        outcome: tally.outcomes[outcome] for outcome in ("stored", "updated", "already there", "forgotten before")
    }
    if args.json:
        named = {outcome.replace(" ", "_"): count for outcome, count in counts.items()}
        entries = [{"from": where, "outcome": what, "title": title} for where, what, title in tally.foreseen]
        named |= {"masked": tally.masked, "quarantined": tally.quarantined}
        say_json({**named, "bad_lines": bad, **({"dry_run": True, "entries": entries} if args.dry_run else {})})
        return 1 if bad else 0
    for where, what, title in tally.foreseen:
        say(f"{what}: {collapsed(title)}  ({collapsed(where)})")
    shown = {outcome: count for outcome, count in counts.items() if count or outcome != "updated"}
    total = ", ".join(f"{outcome} {count}" for outcome, count in shown.items())
    say(f"{'would be ' if args.dry_run else ''}{total}, bad lines {len(bad)}")
    if tally.masked:
        warn(f"{counted(tally.masked)} held secrets, which {'would be' if args.dry_run else 'were'} masked.")
    if tally.quarantined:
        warn(f"In quarantine: {counted(tally.quarantined)}. See: memhook list --quarantined")
    if counts["forgotten before"]:
        warn("What was forgotten before stays so. To bring it back: memhook import --again")
    return 1 if bad else 0


@contextmanager
def _opened(name: str) -> Iterator[BufferedReader]:
    if name == "-":
        yield cast(BufferedReader, sys.stdin.buffer)
        return
    try:
        file = Path(name).open("rb")  # noqa: SIM115  closed below; only the opening is translated
    except OSError as error:
        raise InvalidInput(
            f"{name} cannot be read ({error.strerror}).", "Give a file, a folder, or - for stdin."
        ) from error
    with file:
        yield file


def _progress(file: BinaryIO) -> tqdm[NoReturn]:
    """Memories a second and the time left, on a terminal; of a pipe nobody knows how many are left."""
    is_seen = sys.stderr.isatty()
    total = _count_lines(file) if is_seen and stat.S_ISREG(os.fstat(file.fileno()).st_mode) else None
    return tqdm(total=total, unit=" memories", leave=False, disable=not is_seen, file=sys.stderr)


def _count_lines(file: BinaryIO) -> int:
    """Those that say something, from here on."""
    here = file.tell()
    count = sum(1 for raw, _ in _raw_lines(file) if raw.strip())
    file.seek(here)
    return count


def _everything(place: Place) -> Iterator[dict[str, object]]:
    after = ""
    while page := place.call("export_page", after=after, limit=PAGE):
        yield from page
        after = page[-1]["id"]


@contextmanager
def _written(name: str) -> Iterator[IO[str]]:
    """stdout, or a file that is there when it is complete, for the user's eyes alone."""
    if name == "-":
        yield sys.stdout
        return
    path = Path(name).resolve()
    try:
        if path.exists() and not path.is_file():  # a pipe or a device is not to be replaced
            with path.open("w", encoding="utf-8") as file:
                yield file
            return
        with durable.replacing(path) as temporary, temporary.open("w", encoding="utf-8") as file:
            yield file
    except OSError as error:
        raise InvalidInput(
            f"{name} cannot be written ({error.strerror}).", "Give a file in a folder of yours."
        ) from error
