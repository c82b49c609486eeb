"""export: write every memory as JSONL, or as a folder of Markdown."""

import re
import sys
from argparse import Namespace
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from memhook.cli.output import counted, json_text, said_json, say
from memhook.cli.parser import Commands, add_store, command
from memhook.cli.place import Place
from memhook.core.memory import DEFAULT_NAMESPACE, ID_LENGTH
from memhook.errors import InvalidInput
from memhook.files import durable
from memhook.paths import write_private
from memhook.supply.markdown import document

PAGE = 200
SLUG_CHARS = 60
_NOT_IN_A_NAME = re.compile(r"[^\w-]+")


def add_parser(commands: Commands) -> None:
    exporting = command(commands, run, "export", "memhook export backup.jsonl")
    exporting.add_argument("file", metavar="FILE", nargs="?", default="-", help="the file; stdout without one")
    exporting.flag("--markdown", "FILE is a folder, for a Markdown file each")
    exporting.flag("--html", "FILE is one page to browse and search offline")
    exporting.flag("--sensitive", "with --html: confidential, restricted, redacted, quarantined ones too")
    exporting.flag("--replace", "overwrite an existing file")
    add_store(exporting, "of this shared store instead of your own")


def run(args: Namespace, place: Place) -> None:
    """Write every memory as JSONL, which import reads."""
    if args.markdown and args.file == "-":
        raise InvalidInput("No folder to export to.", "Give one: memhook export --markdown FOLDER")
    if args.html:
        count = _export_page(args, _everything(place))
    elif args.markdown or args.file.endswith("/"):
        count = _export_folder(Path(args.file), _everything(place))
    else:
        count = 0
        with _written(args.file, replace=args.replace) as file:
            for record in _everything(place):
                file.write(json_text(record, encoding=getattr(file, "encoding", "utf-8")) + "\n")
                count += 1
    if args.file != "-" and not said_json(args, {"exported": count, "file": args.file}):
        say(f"Exported {counted(count)} to {args.file}.")


def _export_page(args: Namespace, records: Iterable[Mapping[str, Any]]) -> int:
    from memhook.ui.rendering import exported, is_closed  # noqa: PLC0415  Jinja: only here

    kept = [one for one in records if args.sensitive or not is_closed(one)]
    with _written(args.file, replace=args.replace) as file:
        for piece in exported(kept):
            file.write(piece.encode("utf-8", "replace").decode())
    return len(kept)


def _everything(place: Place) -> Iterator[dict[str, object]]:
    after = ""
    while page := place.call("export_page", after=after, limit=PAGE):
        yield from page
        after = page[-1]["id"]


@contextmanager
def _written(name: str, *, replace: bool) -> Iterator[IO[str]]:
    """Yield stdout, or a private file that appears only when it is complete."""
    if name == "-":
        yield sys.stdout
        return
    path = Path(name).resolve()
    if path.is_file() and not replace:
        raise InvalidInput(f"{name} already exists.", "Choose another name, or add --replace.")
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


def _export_folder(folder: Path, records: Iterable[Mapping[str, Any]]) -> int:
    """Write private NAMESPACE/TITLE-ID.md files, which replace those of an earlier export; return the number."""
    count = 0
    try:
        earlier = {path.stem[-ID_LENGTH:]: path for path in folder.glob("*/*-*.md")}
        for record in records:
            name = f"{_slug(record['title'])}-{record['id']}.md"
            path = folder / (_slug(record["namespace"]) or DEFAULT_NAMESPACE) / name
            write_private(path, document(record).encode("utf-8", "replace").decode())
            if earlier.get(record["id"], path) != path:  # the title or the namespace has changed
                earlier[record["id"]].unlink()
            count += 1
    except OSError as error:
        raise InvalidInput(f"{folder} cannot be written to ({error.strerror}).", "Give a folder of yours.") from error
    return count


def _slug(text: str) -> str:
    return _NOT_IN_A_NAME.sub("-", text.lower())[:SLUG_CHARS].strip("-_")
