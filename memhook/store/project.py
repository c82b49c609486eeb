"""Identify the project of a directory, so that a clone, a worktree and a subdirectory share their memories."""

from __future__ import annotations

import os
import re
import stat
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from urllib.parse import unquote, urlsplit

from memhook.core.memory import shortened
from memhook.patterns import regex

ROOT_MARKERS = (
    *(".memhook.toml", ".hg", ".jj", ".svn", "pyproject.toml", "setup.py", "package.json", "deno.json", "Cargo.toml"),
    *("go.mod", "pom.xml", "build.gradle", "build.gradle.kts", "build.sbt", "Gemfile", "composer.json", "mix.exs"),
    *("pubspec.yaml", "Package.swift"),
)
RECENT_COMMITS = 5
SUBJECT_CHARS = 200

_LARGEST_CONFIG = 16 * 1024 * 1024
_LARGEST_POINTER = 8192  # a .git or commondir file holds one path
_REMOTE_URL = regex(r"remote\.(.*)\.url")
_INCLUDE = regex(r"\[\s*include(?:if)?\b", re.IGNORECASE)
_DEFAULT_PORTS = {"https": 443, "http": 80, "git": 9418}
_SSH = ("ssh", "git+ssh", "ssh+git")
# Where large hosts serve ssh on the port of https, and the one whose ssh paths differ from its https paths.
_OTHER_DOORS = {
    "ssh.github.com": "github.com",
    "altssh.gitlab.com": "gitlab.com",
    "altssh.bitbucket.org": "bitbucket.org",
    "ssh.dev.azure.com": "dev.azure.com",
}
_AZURE_SSH_PATH = regex(r"v3/([^/]+)/([^/]+)/([^/]+)")

# Disables what a repository's own configuration could make git run; aliases cannot replace a built-in command.
_GIT = (
    *("git", "--no-pager", "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null"),
    *("-c", "safe.bareRepository=explicit"),
)
_KEPT_VARIABLES = ("PATH", "HOME", "XDG_CONFIG_HOME", "GIT_CONFIG_GLOBAL")  # safe.directory is in the user's own file
_GIT_VARIABLES = {
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
    # A partial clone fetches missing commits by a command its configuration names; older gits know only the second.
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_ALLOW_PROTOCOL": "none",
    "LC_ALL": "C",
}

# log.showSignature in the configuration would start whatever gpg.program names, and mailmap.file name any file.
LOG = ("log", "--no-show-signature", "--no-mailmap", "--encoding=UTF-8", "-z")


@dataclass(frozen=True, slots=True)
class Project:
    """`id` is equal wherever the project is checked out, `root` is the top of the checkout asked about.

    An empty `id` means no project: only global memories apply. `local_id` is the id that a repository with a remote had
    before it had one.
    """

    id: str = ""
    root: Path | None = None
    name: str = ""
    local_id: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class RecentWork:
    """The branch checked out, empty when none is, and the newest commit subjects, newest first."""

    branch: str = ""
    subjects: tuple[str, ...] = ()


NO_PROJECT = Project()


def project_of(directory: str | Path, session_root: str | Path = "") -> Project:
    """The project `directory` belongs to: by its remote, its main worktree, a root marker or, lacking all, by itself.

    A plain directory below `session_root`, where the assistant was started, is that project: entering a subfolder does
    not leave it. Starts no process.
    """
    start = _real_directory(directory)
    if start is None:
        return NO_PROJECT
    candidates = _possible_roots(start)
    return _git_project(candidates) or _marked_project(candidates) or _plain_project(candidates, session_root)


def recent_work(root: str | Path, timeout: float) -> RecentWork:
    """The recent work in the repository at `root`, read within `timeout` seconds; empty when git fails."""
    branch = git_answer(root, "symbolic-ref", "--quiet", "--short", "HEAD", timeout=timeout / 2)
    subjects = git_answer(root, *LOG, "--format=%s", f"-{RECENT_COMMITS}", "HEAD", "--", timeout=timeout / 2)
    return RecentWork(
        branch=_readable((branch or "").strip()),
        subjects=tuple(shortened(_readable(s), SUBJECT_CHARS) for s in (subjects or "").split("\0") if s),
    )


def git_dirs(root: Path) -> tuple[Path, Path]:
    """The git directory of a work tree and that of its repository: two in a linked worktree."""
    own = _git_dir_in(root) or root / ".git"
    return own, _common_dir(own) or own


def made_at(root: Path) -> float:
    """Return when the repository at `root` was created, in seconds since the epoch; infinity if unknown."""
    try:
        return (git_dirs(root)[1] / "description").stat().st_mtime  # git writes it once
    except OSError:
        return float("inf")


def in_repository(directory: str | Path) -> bool:
    """Whether `directory` is in the work tree of a git repository. Starts no process."""
    return _repository_of(directory) is not None


def git_answer(root: str | Path, *arguments: str, timeout: float) -> str | None:
    """Return git's output for the repository at `root`; None without one, on failure, or if it includes other files."""
    repository = _repository_of(root)
    if repository is None or _leads_elsewhere(repository.common_dir):
        return None
    kept = {name: os.environ[name] for name in _KEPT_VARIABLES if name in os.environ}
    try:
        finished = subprocess.run(
            [*_GIT, "-C", str(repository.top), *arguments],
            cwd="/",  # a relative entry in PATH must not find a git inside the repository
            env=kept | _GIT_VARIABLES,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=timeout,
            check=True,
        )
    except (OSError, ValueError, subprocess.SubprocessError):  # it failed, is missing or took too long
        return None
    return finished.stdout.decode("utf-8", "surrogateescape")


def remote_identity(url: str) -> str:
    """Return `host/path` of a remote in any spelling of its URL; empty for one on this machine."""
    host, path = _host_and_path(url.strip())
    path = re.sub(r"/+", "/", path).strip("/").removesuffix(".git").rstrip("/")
    # A proxy on this machine, often on another port every time, says nothing about which project it serves.
    if not path or not host or re.fullmatch(r"(localhost|127\.[\d.]+|\[::1\])(:\d+)?", host):
        return ""
    if host in _OTHER_DOORS:
        host, path = _OTHER_DOORS[host], _AZURE_SSH_PATH.sub(r"\1/\2/_git/\3", path)
    return f"{host}/{path}"


def local_identity(url: str) -> str:
    """Return the absolute path of a remote on this machine; empty for any other.

    The path is not opened, as the repository chose it. Clones of one bare repository are one project, and so are a
    clone and the repository without a remote that it was made from.
    """
    path = unquote(urlsplit(url).path) if url.startswith("file:///") else url.strip()
    if not path.startswith("/"):
        return ""
    named = Path("/", os.path.normpath(path).lstrip("/"))
    top = named.parent if named.name == ".git" else named
    return "" if top in _too_wide() else _path_id(top)


def _host_and_path(url: str) -> tuple[str, str]:
    if "://" in url:
        return _url_host_and_path(url)
    # git's rule for [user@]host:path, where a slash before the colon means a local path; "::" names a remote helper
    # and a single letter is a drive.
    scp = re.fullmatch(r"(?:[^/:]*@)?(\[[^]/]+\]|[^/:@]{2,}):(?!:)(.*)", url)
    return (_host(scp[1].strip("[]")), scp[2]) if scp else ("", "")


def _url_host_and_path(url: str) -> tuple[str, str]:
    try:
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port
    except ValueError:
        return "", ""
    if parts.scheme in ("", "file"):
        return "", ""
    # The port of ssh says how a machine is reached; that of https may well be another server on it.
    is_usual = parts.scheme in _SSH or port in (None, _DEFAULT_PORTS.get(parts.scheme))
    foreign_port = "" if is_usual else f":{port}"
    return (_host(host) + foreign_port if host else ""), parts.path


def _host(name: str) -> str:
    host = name.lower().rstrip(".")
    return f"[{host}]" if ":" in host else host


def _real_directory(directory: str | Path) -> Path | None:
    try:
        path = Path(directory)
        real = path.resolve(strict=True) if path.is_absolute() else None
        return real if real is not None and real.is_dir() else None
    except (OSError, RuntimeError, ValueError):  # missing or unreadable; a loop of links; NULs, lone surrogates
        return None


def _possible_roots(start: Path) -> tuple[Path, ...]:
    """Return `start` and its parents, up to a directory that contains unrelated projects."""
    too_wide = _too_wide()
    roots: list[Path] = []
    for directory in (start, *start.parents):
        if directory in too_wide:
            break
        roots.append(directory)
    return tuple(roots)


def _too_wide() -> frozenset[Path]:
    try:
        return _real_paths("/", str(Path.home())) | _temporary()
    except (OSError, RuntimeError):  # a user without a home
        return _real_paths("/") | _temporary()


def _temporary() -> frozenset[Path]:
    try:
        return _real_paths(*_TEMPORARY, tempfile.gettempdir())
    except OSError:
        return _real_paths(*_TEMPORARY)


_TEMPORARY = ("/tmp", "/var/tmp")  # noqa: S108  compared with, never written to


@lru_cache(maxsize=8)
def _real_paths(*paths: str) -> frozenset[Path]:
    return frozenset(Path(path).resolve() for path in paths)


def _marked_project(candidates: Sequence[Path]) -> Project | None:
    for directory in candidates:
        if any(_exists(f"{directory}/{marker}") for marker in ROOT_MARKERS):
            return Project(_path_id(directory), directory, _readable(directory.name))
    return None


def _plain_project(candidates: Sequence[Path], session_root: str | Path) -> Project:
    """Return the directory as a project; none in a temporary folder, in .git, or where unrelated projects lie."""
    if not candidates or candidates[-1].parent in _temporary() or any(one.name == ".git" for one in candidates):
        return NO_PROJECT
    root = _real_directory(session_root) if session_root else None
    directory = root if root is not None and root in candidates else candidates[0]
    return Project(_path_id(directory), directory, _readable(directory.name))


def _git_project(candidates: Sequence[Path]) -> Project | None:
    repository = _repository(candidates)
    if repository is None:
        return None
    config = _config_of(repository.common_dir)
    main = _main_worktree(repository.common_dir, config)
    if identity := config.identity:
        local = "" if main in _too_wide() else _path_id(main)
        return Project(identity, repository.top, identity.rpartition("/")[2].removesuffix(".git"), local)
    if main in _too_wide():  # a worktree of the repository some keep their home directory in
        return None
    name = _bare_name(main) if main == repository.common_dir else main.name
    return Project(_path_id(main), repository.top, _readable(name))


@dataclass(frozen=True, slots=True)
class _Repository:
    top: Path
    common_dir: Path  # shared by all worktrees


def _repository_of(directory: str | Path) -> _Repository | None:
    start = _real_directory(directory)
    return _repository(_possible_roots(start)) if start else None


def _repository(candidates: Sequence[Path]) -> _Repository | None:
    """Return the nearest repository whose work tree contains the first of `candidates`.

    What a clone contains must not make it another project. So a folder that looks like a bare repository is passed
    over, as by git's safe.bareRepository=explicit, and a `.git` that leads elsewhere counts only when the repository
    there names this work tree as its own.
    """
    for directory in candidates:
        git_dir = _git_dir_in(directory)
        common = _common_dir(git_dir) if git_dir else None
        if git_dir and common and _has_work_tree(git_dir, common, directory, candidates[0]):
            return _Repository(directory, common)
    return None


def _has_work_tree(git_dir: Path, common_dir: Path, directory: Path, start: Path) -> bool:
    """Whether `start` is in the work tree of the repository that `directory`/.git is or leads to."""
    dot_git = directory / ".git"
    is_own = git_dir == dot_git and not dot_git.is_symlink()
    if not is_own and _is_checked_out(common_dir):
        return False
    if _exists(git_dir / "commondir"):  # a linked worktree: its record is in the repository and names this folder
        recorded = _small_file(git_dir / "gitdir").strip()
        is_there = _is_same_file(git_dir / "..", common_dir / "worktrees")
        return is_there and bool(recorded) and _is_same_file(git_dir / recorded, dot_git)
    if worktree := _config_of(common_dir).worktree:
        top = _real_directory((git_dir / worktree).absolute())
        return top is not None and top not in _too_wide() and start.is_relative_to(top)
    return is_own


def _is_checked_out(git_dir: Path) -> bool:
    """Whether `git_dir` is content of another repository's work tree: git never checks out what is named .git."""
    too_wide = _too_wide()
    for directory in (git_dir, *git_dir.parents):
        if directory.name == ".git" or directory in too_wide:
            return False
        there = _git_dir_in(directory)
        if there is not None and not _is_same_file(there, git_dir):  # a .git may lead to the folder beside it
            return True
    return False


def _git_dir_in(directory: Path) -> Path | None:
    """The git directory that `.git` is or points to: a worktree and a submodule have a file there."""
    git = directory / ".git"
    try:
        mode = git.stat().st_mode
    except OSError:
        return None
    if stat.S_ISDIR(mode):
        return git
    pointer = _small_file(git) if stat.S_ISREG(mode) else ""
    return directory / pointer.removeprefix("gitdir:").strip() if pointer.startswith("gitdir:") else None


def _common_dir(git_dir: Path) -> Path | None:
    """The repository `git_dir` belongs to, if it is a git directory at all."""
    try:
        (git_dir / "HEAD").lstat()
        common = (git_dir / _small_file(git_dir / "commondir").strip()).resolve(strict=True)
        return common if (common / "objects").is_dir() and (common / "refs").is_dir() else None
    except (OSError, RuntimeError, ValueError):
        return None


def _main_worktree(common_dir: Path, config: _Config) -> Path:
    """Return the main worktree, derived from the git directory that all worktrees share; a bare one is its own."""
    if common_dir.name == ".git":
        return common_dir.parent
    # A submodule's git directory lies in its superproject's.
    worktree = _real_directory(common_dir / config.worktree) if config.worktree else None
    return worktree if worktree is not None and worktree not in _too_wide() else common_dir


@dataclass(frozen=True, slots=True)
class _Config:
    identity: str = ""
    worktree: str = ""


def _config_of(common_dir: Path) -> _Config:
    path = common_dir / "config"
    try:
        found = path.stat()
    except OSError:
        return _Config()
    return _config_in(path, (found.st_ino, found.st_mtime_ns, found.st_size))


@lru_cache(maxsize=512)
def _config_in(path: Path, _state: tuple[int, ...]) -> _Config:
    """Parse the file as `git config --file` would: git may be missing or slow. It replaces the file, and so the inode.

    Only this file is read: the user's configuration can have remotes too, and insteadOf depends on the machine.
    """
    entries = list(_config_entries(_small_file(path, _LARGEST_CONFIG).removeprefix("\ufeff")))
    worktrees = [value for key, value in entries if key == "core.worktree"]
    return _Config(identity=_first_identity(entries), worktree=worktrees[-1] if worktrees else "")


def _leads_elsewhere(common_dir: Path) -> bool:
    """Whether the configuration includes other files, which may be outside the repository: then git is not run."""
    own = (common_dir / "config", common_dir / "config.worktree", *common_dir.glob("worktrees/*/config.worktree"))
    return any(_INCLUDE.search(_small_file(path, _LARGEST_CONFIG)) for path in own)


def _first_identity(entries: Sequence[tuple[str, str]]) -> str:
    """Return the identity of origin, else of the first remote by name; a network remote precedes a local path."""
    remotes = [(name[1], url) for key, url in entries if (name := _REMOTE_URL.fullmatch(key))]
    remotes.sort(key=lambda remote: (remote[0] != "origin", remote[0]))
    named = (identity for known in (remote_identity, local_identity) for _, url in remotes if (identity := known(url)))
    return _readable(next(named, ""))


_SECTION = regex(r'\[\s*([\w.-]+)(?:\s+"((?:[^"\\]|\\.)*)")?\s*\]')
_VALUE_PART = regex(r'"(?P<quoted>(?:[^"\\]|\\.)*)"|\\(?P<escaped>.)|(?P<comment>[#;])|(?P<plain>[^"\\#;]+)')


def _config_entries(text: str) -> Iterator[tuple[str, str]]:
    section = ""
    for raw in text.replace("\r\n", "\n").replace("\\\n", "").split("\n"):
        line = raw.strip()
        if header := _SECTION.match(line):
            section = header[1].lower() + ("" if header[2] is None else "." + _unescaped(header[2]))
            line = line[header.end() :].strip()
        key, _, value = line.partition("=")
        if re.fullmatch(r"[A-Za-z][\w-]*", key.strip()):
            yield f"{section}.{key.strip().lower()}", _config_value(value.strip())


def _config_value(text: str) -> str:
    parts: list[str] = []
    for part in _VALUE_PART.finditer(text):
        if part["comment"]:
            break
        parts.append(part["plain"] or part["escaped"] or _unescaped(part["quoted"] or ""))
    return "".join(parts).strip()


def _unescaped(text: str) -> str:
    return re.sub(r"\\(.)", r"\1", text)


def _small_file(path: Path, limit: int = _LARGEST_POINTER) -> str:
    """The text of a file, empty when it is absent, too large or not a plain file."""
    try:
        found = path.stat()
        if not stat.S_ISREG(found.st_mode) or found.st_size > limit:
            return ""
        return path.read_text("utf-8", "surrogateescape")
    except (OSError, ValueError):
        return ""


def _is_same_file(one: Path, other: Path) -> bool:
    try:
        return one.samefile(other)
    except (OSError, ValueError):
        return False


def _exists(path: str | Path) -> bool:
    return os.path.exists(path)  # noqa: PTH110  Path.exists lets a forbidden directory and a path too long through


def _path_id(path: Path) -> str:
    return os.fsencode(path).decode("utf-8", "backslashreplace")


def _bare_name(directory: Path) -> str:
    """`repo` for repo.git/ and for repo/.bare/, which some keep worktrees around."""
    named = directory.parent if directory.name.startswith(".") else directory
    return named.name.removesuffix(".git")


def _readable(text: str) -> str:
    return "".join(character if character.isprintable() else "\ufffd" for character in text)
