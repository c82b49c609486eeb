"""Switching memhook on and off: where it is on, the changes to be shown and confirmed, then writing them.

A record of the files written allows restoring each byte for byte.
"""

from __future__ import annotations

import difflib
import hashlib
import json
import shlex
import shutil
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field, replace
from importlib.resources import files
from pathlib import Path

from memhook.assistants.assistant import Assistant, Where
from memhook.assistants.edits import Edit
from memhook.assistants.known import KNOWN
from memhook.errors import InvalidInput
from memhook.files import durable
from memhook.paths import Paths, private_directory, write_private

NEW_FILE, PROGRAM = 0o644, 0o755
BLANK = ("", "{}")
NAME = b"memhook"

Planned = dict[Path, bytes | None]
"""Files as a plan leaves them."""
GONE = (
    f"memhook: the Python it was switched on with was deleted ({sys.executable}), so no memories are shown."
    " Install memhook again and run: memhook install"
)
TEMPORARY = ("/archive-v", "/pipx/.cache/", "/.cache/uv/")


@dataclass(frozen=True, slots=True)
class Written:
    """One file: the owners of its entries, the hash of what memhook wrote, and a copy of the content before that."""

    owners: list[str]
    digest: str
    backup: str = ""
    """Empty when there was no file."""
    made_folders: Sequence[str] = ()


@dataclass(slots=True)
class Records:
    """All files memhook wrote to, stored in a folder of its data with the copies beside it."""

    folder: Path
    files: dict[str, Written] = field(default_factory=dict)

    def keep(self, content: bytes, name: str) -> str:
        """Store a copy of a file's content and return the copy's name."""
        copy = private_directory(self.folder) / f"{digest_of(content)[:12]}-{name.lstrip('.')}"
        if not copy.exists():
            write_bytes(copy, content, 0o600)
        return copy.name

    def has_kept(self, written: Written) -> bool:
        """Whether the content from before memhook is known; a copy may have been deleted."""
        return not written.backup or (self.folder / written.backup).is_file()

    def kept(self, written: Written) -> bytes | None:
        """Return the content from before memhook; None when there was no file."""
        if not written.backup:
            return None
        try:
            return (self.folder / written.backup).read_bytes()
        except OSError as error:
            raise InvalidInput(f"The copy {self.folder / written.backup} cannot be read ({error.strerror}).") from error

    def save(self) -> None:
        files = {path: asdict(written) for path, written in self.files.items()}
        write_private(self.folder / "record.json", json.dumps({"files": files}, indent=2) + "\n")


def records_of(paths: Paths) -> Records:
    """Return the records; empty when they cannot be read: entries are then removed one by one."""
    folder = paths.data / "switched-on"
    try:
        files = json.loads((folder / "record.json").read_text(encoding="utf-8"))["files"]
        return Records(folder, {path: Written(**fields) for path, fields in files.items()})
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return Records(folder)


def digest_of(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def write_bytes(path: Path, content: bytes, mode: int) -> None:
    """Replace the file in one step, where a link to it points, with the permissions it has or `mode`."""
    target = path.resolve()
    durable.made_folder(target.parent, 0o777)
    durable.write(target, content, target.stat().st_mode & 0o7777 if target.exists() else mode)


@dataclass(frozen=True, slots=True)
class Change:
    """One file before and after; None is no file. `original` is its content from before memhook."""

    path: Path
    before: bytes | None
    after: bytes | None
    original: bytes | None = None
    mode: int = NEW_FILE

    @property
    def diff(self) -> str:
        name, none = str(self.path), "/dev/null"
        old, new = (none if content is None else name for content in (self.before, self.after))
        lines = difflib.unified_diff(_lines(self.before), _lines(self.after), old, new)
        return "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines)


@dataclass(frozen=True, slots=True)
class Presence:
    """The ways in which memhook is on in an assistant: settings, extension, project, plugin. One is enough."""

    assistant: Assistant
    found: bool
    ways: tuple[str, ...]


def owner_of(assistant: str, project: Path | None) -> str:
    """Name the owner of entries in a file: an assistant, in one project or everywhere."""
    return f"{assistant}:{project}" if project else assistant


def scope_of(owner: str) -> tuple[str, Path | None]:
    name, _, project = owner.partition(":")
    return name, Path(project) if project else None


def switching_on(assistant: Assistant, where: Where, records: Records) -> list[Change]:
    """Return the changes that switch memhook on there; none when it is on already."""
    changes = (_added(edit, records) for edit in assistant.edits(where))
    return [change for change in changes if change.after != change.before]


def switching_off(assistant: Assistant, where: Where, records: Records, planned: Planned) -> list[Change]:
    """Return the changes that restore each file byte for byte, or remove memhook's entries if it was changed since.

    `records` and `planned` are those of a plan and are updated. A file may have several owners, as the servers of all
    projects are in one file in Claude Code: each removes its entries from what the previous one left.
    """
    owner = owner_of(assistant.name, where.project)
    found = (_removed(edit, owner, records, planned) for edit in _all_edits(assistant, where, records))
    changes = [change for change in found if change.after != change.before]
    planned |= {change.path: change.after for change in changes}
    disown(records, owner, changes)
    return changes


def launcher_written(where: Where) -> list[Change]:
    before, after = _content(where.launcher), launcher_text().encode()
    return [Change(where.launcher, before, after, mode=PROGRAM)] if before != after else []


def launcher_gone(where: Where) -> list[Change]:
    before = _content(where.launcher)
    return [Change(where.launcher, before, None)] if before is not None else []


def switch_on(changes: Sequence[Change], owner: str, records: Records) -> None:
    """Write the copy, the record and then the file: wherever it stops, the file can be restored."""
    for change in changes:
        before = records.files.get(str(change.path))
        folders = [str(folder) for folder in change.path.parents if not folder.exists()]
        records.files[str(change.path)] = Written(
            owners=list(dict.fromkeys([*(before.owners if before else ()), owner])),
            digest=digest_of(change.after or b""),
            backup=records.keep(change.original, change.path.name) if change.original is not None else "",
            made_folders=list(dict.fromkeys([*(before.made_folders if before else ()), *folders])),
        )
        records.save()
        write(change)


def switch_off(changes: Sequence[Change], owner: str, records: Records) -> None:
    for change in changes:
        write(change)
    folders = disown(records, owner, changes)
    records.save()
    for folder in sorted(set(folders), key=len, reverse=True):
        with suppress(OSError):  # it is not empty
            Path(folder).rmdir()


def disown(records: Records, owner: str, changes: Sequence[Change]) -> list[str]:
    """Remove that owner from the record after these changes; return the folders that nobody needs any more."""
    after = {str(change.path): change.after for change in changes}
    folders: list[str] = []
    for path, written in list(records.files.items()):
        left = [other for other in written.owners if other != owner]
        if left == written.owners:
            continue
        if left:
            content = after.get(path)
            digest = written.digest if content is None else digest_of(content)
            records.files[path] = replace(written, owners=left, digest=digest)
        else:
            del records.files[path]
            folders += written.made_folders
    return folders


def write(change: Change) -> None:
    try:
        if change.after is None:
            change.path.resolve().unlink(missing_ok=True)  # a link to a missing file becomes one again
        else:
            write_bytes(change.path, change.after, change.mode)
    except OSError as error:
        hint = "Check its permissions and its folder's."
        raise InvalidInput(f"{change.path} cannot be written ({error.strerror}).", hint) from error


def owners(records: Records) -> list[str]:
    """Return the owners for which `memhook install` switched memhook on."""
    return sorted({owner for written in records.files.values() for owner in written.owners})


def presences(where: Where) -> list[Presence]:
    """Return the presence in every assistant; `where.project` is checked too, if given."""
    return [
        Presence(assistant, is_found(assistant, where), tuple(_ways(assistant, where))) for assistant in KNOWN.values()
    ]


def is_found(assistant: Assistant, where: Where) -> bool:
    path = where.environment.get("PATH", "")
    return assistant.folder(where).is_dir() or shutil.which(assistant.name, path=path) is not None


def _ways(assistant: Assistant, where: Where) -> Iterator[str]:
    if is_on(assistant, replace(where, project=None)):
        yield assistant.way
    if where.project and is_on(assistant, where):
        yield "project"
    if assistant.has_plugin(where):
        yield "plugin"


def is_on(assistant: Assistant, where: Where) -> bool:
    """Whether its hooks are there, whoever wrote them."""
    hooks = assistant.edits(where)[0]
    try:
        content = _content(hooks.path)
        return content is not None and hooks.is_in(content.decode())
    except (InvalidInput, UnicodeDecodeError):
        return False


def _added(edit: Edit, records: Records) -> Change:
    before = _content(edit.path)
    with _naming(edit.path):
        text = (before or b"").decode()
        after = edit.add(text)
        rest = edit.remove(text, "")
    written = records.files.get(str(edit.path))
    if written is not None and before is not None and written.digest == digest_of(before):
        original = records.kept(written)
    elif rest == text:
        original = before
    else:  # entries of memhook's without a record: restoring means removing them
        original = rest.encode() if rest else None
    return Change(edit.path, before, after.encode(), original)


def _removed(edit: Edit, owner: str, records: Records, planned: Planned) -> Change:
    before = planned[edit.path] if edit.path in planned else _content(edit.path)
    written = records.files.get(str(edit.path))
    if before is None or (written is None and NAME not in before):  # then it need not even be valid
        return Change(edit.path, before, before)
    found, is_ours = None, False
    if written is not None:
        is_alone, is_kept = written.owners == [owner], records.has_kept(written)
        found = records.kept(written) if is_kept else None
        if is_alone and is_kept and written.digest == digest_of(before):
            return Change(edit.path, before, found)
        is_ours = is_alone and not written.backup
    with _naming(edit.path):
        rest = edit.remove(before.decode(), (found or b"").decode())
    gone = (is_ours and rest.strip() in BLANK) or (not rest and bool(before))
    return Change(edit.path, before, None if gone else rest.encode())


def _all_edits(assistant: Assistant, where: Where, records: Records) -> Iterator[Edit]:
    """Yield the edits, also of files that the assistant no longer uses since its folder moved, to restore these."""
    edits = assistant.edits(where)
    yield from edits
    named = {str(edit.path) for edit in edits}
    for path, written in records.files.items():
        if owner_of(assistant.name, where.project) in written.owners and path not in named:
            alike = next((edit for edit in edits if edit.path.name == Path(path).name), None)
            yield Edit(Path(path), str, alike.remove if alike else lambda text, _: text)


@contextmanager
def _naming(path: Path) -> Iterator[None]:
    """Add the file's name to errors raised inside."""
    try:
        yield
    except UnicodeDecodeError as error:
        raise InvalidInput(f"{path} is not UTF-8, so it is left as it is.", "Repair it first.") from error
    except InvalidInput as error:
        raise InvalidInput(f"{path}: {error.message}", error.hint) from error


def _content(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise InvalidInput(f"{path} cannot be read ({error.strerror}).", "Check its permissions.") from error


def _lines(content: bytes | None) -> list[str]:
    return (content or b"").decode("utf-8", "replace").splitlines(keepends=True)


def launcher_path(paths: Paths) -> Path:
    return paths.data / "launch"


def launcher_text() -> str:
    """Return the script for the interpreter and the client of the environment that runs this."""
    text = files("memhook").joinpath("resources/launch.sh").read_text(encoding="utf-8")
    return (
        text.replace("@PYTHON@", shlex.quote(sys.executable))
        .replace("@FOLDER@", shlex.quote(str(files("memhook") / "daemon")))
        .replace("@GONE@", shlex.quote(json.dumps({"systemMessage": GONE})))
    )


def is_temporary() -> bool:
    """Whether this environment is one of uvx or `pipx run`, which are deleted one day."""
    return any(mark in sys.prefix for mark in TEMPORARY)
