"""import and export."""

from __future__ import annotations

import os
import stat
import sys
import tempfile
from argparse import Namespace
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, BinaryIO, NoReturn

from tqdm import tqdm

from memhook.cli.output import counted, json_text, say, say_json, warn
from memhook.cli.place import Place
from memhook.core.fencing import clean
from memhook.errors import InvalidInput

BATCH_LINES = 64
BATCH_BYTES = 4 << 20
MAX_LINE_BYTES = 16 << 20
PAGE = 200

Line = tuple[int, str]


@dataclass(slots=True)
class Tally:
    """What has become of the lines so far."""

    outcomes: Counter[str] = field(default_factory=Counter)
    bad: list[Line] = field(default_factory=list)
    told: int = 0

    def tell_bad_lines(self) -> None:
        """Those not told yet, by number: what is not text was found before the rest of its batch was read."""
        fresh = sorted(self.bad[self.told :])
        self.bad[self.told :] = fresh
        self.told = len(self.bad)
        for number, reason in fresh:
            tqdm.write(clean(f"line {number}: {reason}"), file=sys.stderr)  # above the bar, when there is one


def import_(args: Namespace, place: Place) -> int:
    if args.project:
        place.project_asked_for()
    tally = Tally()
    with _opened(args.file) as file, _progress(file) as bar:
        for batch in batches(good_lines(file, tally, bar)):
            answer = place.call("import_lines", lines=batch, here=args.project, again=args.again)
            tally.outcomes.update(answer["outcomes"])
            tally.bad.extend((number, reason) for number, reason in answer["bad"])
            tally.tell_bad_lines()
        tally.tell_bad_lines()
    _report(tally, as_json=args.json)
    return 1 if tally.bad else 0


def export(args: Namespace, place: Place) -> int:
    count = 0
    with _written(args.file) as file:
        for record in _everything(place):
            file.write(json_text(record, encoding=getattr(file, "encoding", "utf-8")) + "\n")
            count += 1
    if args.json and args.file != "-":
        say_json({"exported": count, "file": args.file})
    elif args.file != "-":
        say(f"Exported {counted(count)} to {args.file}.")
    return 0


def good_lines(file: BinaryIO, tally: Tally, bar: tqdm[NoReturn]) -> Iterator[Line]:
    """The lines that are text, with their numbers; the others go to the tally."""
    for number, (raw, size) in enumerate(_raw_lines(file), start=1):
        bar.update(size)
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
    """Lists of up to 64 lines and, but for a single long line, 4 million characters."""
    batch: list[Line] = []
    size = 0
    for line in lines:
        if batch and (len(batch) == BATCH_LINES or size + len(line[1]) > BATCH_BYTES):
            yield batch
            batch, size = [], 0
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


def _report(tally: Tally, *, as_json: bool) -> None:
    stored, there, gone = (tally.outcomes[outcome] for outcome in ("stored", "already there", "forgotten before"))
    if as_json:
        bad = [{"line": number, "reason": reason} for number, reason in tally.bad]
        say_json({"stored": stored, "already_there": there, "forgotten_before": gone, "bad_lines": bad})
        return
    say(f"stored {stored}, already there {there}, forgotten before {gone}, bad lines {len(tally.bad)}")
    if gone:
        warn("What was forgotten before stays so. To bring it back: memhook import --again")


@contextmanager
def _opened(name: str) -> Iterator[BinaryIO]:
    if name == "-":
        yield sys.stdin.buffer
        return
    try:
        file = Path(name).open("rb")  # noqa: SIM115  closed below; only the opening is translated
    except OSError as error:
        raise InvalidInput(
            f"{name} cannot be read ({error.strerror}).", "Give a JSONL file, or - for stdin."
        ) from error
    with file:
        yield file


def _progress(file: BinaryIO) -> tqdm[NoReturn]:
    status = os.fstat(file.fileno())
    total = status.st_size if stat.S_ISREG(status.st_mode) else None
    return tqdm(total=total, unit="B", unit_scale=True, leave=False, disable=not sys.stderr.isatty(), file=sys.stderr)


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
        with tempfile.NamedTemporaryFile(
            "w", encoding="utf-8", dir=path.parent, prefix=f".{path.name}.", delete=False
        ) as temporary:
            try:
                yield temporary
                temporary.flush()
                os.fsync(temporary.fileno())
                Path(temporary.name).replace(path)
            except BaseException:
                Path(temporary.name).unlink(missing_ok=True)
                raise
    except OSError as error:
        raise InvalidInput(
            f"{name} cannot be written ({error.strerror}).", "Give a file in a folder of yours."
        ) from error
