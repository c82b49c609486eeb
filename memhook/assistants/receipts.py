"""A record of what memhook wrote into whose files, so that each can be restored byte for byte."""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

from memhook.errors import InvalidInput
from memhook.files import durable
from memhook.paths import Paths, private_directory, write_private


@dataclass(frozen=True, slots=True)
class Written:
    """One file: who has entries in it, the hash of what memhook wrote, and the copy of what was there before."""

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
