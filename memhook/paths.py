"""The files of memhook: in the XDG folders, each private to the user."""

from __future__ import annotations

import os
import pwd
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from memhook.errors import StoreError
from memhook.files import durable
from memhook.files.durable import made_folder

PROJECT_FILE = ".memhook.toml"
ENVIRONMENT_PREFIX = "MEMHOOK_"
FALLBACK_PARENT = Path("/tmp")  # noqa: S108  its owner is checked


class _Below:
    """A path below one of the folders."""

    def __init__(self, folder: str, name: str) -> None:
        self._folder = folder
        self._name = name

    def __get__(self, paths: Paths, _: type[Paths]) -> Path:
        folder: Path = getattr(paths, self._folder)
        return folder / self._name


@dataclass(frozen=True, slots=True)
class Paths:
    """The four folders, and the paths below them."""

    config: Path
    data: Path
    state: Path
    cache: Path

    config_file = _Below("config", "config.toml")
    store = _Below("data", "store")
    replicas = _Below("data", "replicas")
    """Copies of remote stores; recreated if deleted."""
    backups = _Below("data", "backups")
    tokens = _Below("data", "tokens.json")
    """Access over HTTP: scopes and hashes, no token."""
    followed = _Below("data", "followed.json")
    """The files of assistants whose memories follow them."""
    models = _Below("cache", "models")
    evaluation_vectors = _Below("cache", "eval/vectors.sqlite3")
    """The cache of embeddings of `memhook eval`; may be deleted."""
    ledger = _Below("state", "ledger.sqlite3")
    spool = _Below("state", "captured.spool")
    """Captured notes that are not stored yet."""
    pauses = _Below("state", "pauses.json")
    log = _Below("state", "memhook.log")
    socket = _Below("state", "daemon.sock")
    daemon_lock = _Below("state", "daemon.lock")
    interpreter = _Below("state", "interpreter")
    """Three lines for the launcher: interpreter, client file, version."""
    one_part = _Below("state", "one-part")
    """A mark for the launcher: no answer needs a second part."""


def user_paths(environment: Mapping[str, str] | None = None) -> Paths:
    """Return the folders of this user, from the given environment or the process's own."""
    env = os.environ if environment is None else environment
    home = Path(env.get("HOME") or home_of_user())

    def folder(variable: str, default: str) -> Path:
        configured = env.get(variable, "")
        base = Path(configured) if configured.startswith("/") else home / default
        return base / "memhook"

    return Paths(
        config=folder("XDG_CONFIG_HOME", ".config"),
        data=folder("XDG_DATA_HOME", ".local/share"),
        state=writable_state(folder("XDG_STATE_HOME", ".local/state")),
        cache=folder("XDG_CACHE_HOME", ".cache"),
    )


def home_of_user() -> str:
    """Return the home from the user database, for when HOME is not set, as under some schedulers."""
    try:
        return pwd.getpwuid(os.getuid()).pw_dir
    except KeyError:  # a container may run as an unknown user
        return "/nonexistent"


def writable_state(preferred: Path) -> Path:
    """Return the state folder, or one in the temporary directory if the home is not writable.

    The hook client decides the same way: both must use the same socket.
    """
    try:
        private_directory(preferred)
    except (OSError, StoreError):
        return FALLBACK_PARENT / f"memhook-{os.getuid()}"
    return preferred


def private_directory(path: Path) -> Path:
    """Create `path` as a directory that only this user can enter; raise if it belongs to somebody else."""
    refuse_foreign(path)
    made_folder(path)
    if path.is_symlink() and path.parent == FALLBACK_PARENT:
        raise StoreError(f"{path} is a symbolic link, which anybody could have made.", "Delete it, then try again.")
    if not path.is_dir():
        raise StoreError(f"{path} is not a directory.", "Move it away, then try again.")
    if path.stat().st_uid != os.getuid():
        raise StoreError(f"{path} belongs to another user.", "Delete it or set another folder with the XDG variables.")
    if not os.access(path, os.W_OK | os.X_OK):
        raise StoreError(f"{path} cannot be written.", f"Fix its permissions: chmod u+rwx {shell_word(path)}")
    if path.stat().st_mode & 0o077:
        path.chmod(0o700)
    return path


def refuse_foreign(path: Path) -> None:
    """Raise if `path` exists and belongs to another user, even as a link: nobody else may control memhook."""
    try:
        owner = path.lstat().st_uid
    except (FileNotFoundError, NotADirectoryError):
        return
    if owner != os.getuid():
        raise StoreError(
            f"{path} belongs to another user (uid {owner}).",
            f"Check it, delete it and try again: ls -l {shell_word(path)}",
        )


def shell_word(name: str | Path) -> str:
    """Return a path or another name as one word of a proposed command."""
    return shlex.quote(str(name))


def write_private(path: Path, text: str) -> None:
    """Replace the contents of `path` atomically, readable by the user only."""
    made_folder(path.parent)
    durable.write(path, text.encode())
