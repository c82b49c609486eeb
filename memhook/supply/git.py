"""Memories from git: commits that explain why, and decision records."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from memhook.core.fencing import clean
from memhook.core.memory import derived_title
from memhook.core.passages import front
from memhook.patterns import regex
from memhook.store.project import LOG, git_answer
from memhook.supply import markdown
from memhook.supply.source import Entry, alias_of

MOST = 200
MOST_COMMITS = 5_000
SECONDS = 30.0
FEWEST_WORDS = 12
CONTENT_CHARS = 1_200
LARGEST_BYTES = 1 << 20

_FORMAT = "--format=%x1e%H%x1f%cI%x1f%s%x1f%b%x1f"
_TRAILER = regex(
    r"^(?:[A-Z][A-Za-z-]+-(?:by|Id|Checkpoint|Trailer)|Refs?|Link|PR|Issue): .*$|^(?:Closes|Fixes|Resolves):? #\d+.*$"
    r"|^.{0,4}Generated with .*$",
    re.MULTILINE,
)
_KIND = regex(
    r"^revert|\bfix(?:e[sd])?\b|\bbugs?\b|\bregression\b|\bhotfix\b|\bwork ?around\b|\bcrash|\bdeadlock|\brace\b"
    r"|\bleaks?\b|\bdecid|\bchoose\b|\bchose\b|\bswitch(?:ed)? (?:from|to|back)\b|\binstead of\b|\bdrop\b|\bpin\b"
    r"|\bavoid\b|\bprevent",
    re.IGNORECASE,
)
_REASON = regex(
    r"\bbecause\b|\bsince\b|\bso that\b|\botherwise\b|\binstead of\b|\brather than\b|\bcaused? by\b|\bdue to\b"
    r"|\b(?:root|the) cause\b|\breason\b|\bwhy\b|\bturns? out\b|\bwould (?:have|be|fail|break|lose)\b|\bthis reverts\b"
    r"|\bbroke\b|\bfail(?:s|ed)\b|\bwas (?:wrong|missing|never)\b|\bwhich (?:made|meant|caused|left)\b"
    r"|\b(?:did|could) not\b",
    re.IGNORECASE,
)
_BEFORE = regex(  # a feature is described by what it does, a reason by what was wrong
    r"n't\b|\b(?:was|were|had|did|not|never|nobody|nothing|none|neither|cannot|silently|previous(?:ly)?|until|still|without"
    r"|unnecessary|errors?|fail|missing|unfortunately|requires?|must)\b",
    re.IGNORECASE,
)
_NO_PROSE = regex(r"^(?:\s|[-*+•>|#]|\d+[.)]\s|\W*https?://|Refs?\b|Thanks\b).*$", re.MULTILINE | re.IGNORECASE)
_BOT = regex(r"^(?:Bumps? \[|chore\(deps\)|build\(deps)", re.IGNORECASE)
_RECORD = regex(
    r"(?:^|/)(?:adrs?|decisions|decision-records|architecture-decisions)/[^/]+\.(?:md|markdown)$", re.IGNORECASE
)
_NO_RECORD = regex(r"(?:^|/)(?:readme|index|template|0+-template)[^/]*$", re.IGNORECASE)
_OVER = regex(r"^\W*(?:status\W*)?(?:superseded|rejected|deprecated)\b", re.IGNORECASE | re.MULTILINE)


@dataclass(frozen=True, slots=True)
class _Commit:
    hash: str
    when: str
    subject: str
    body: str
    files: tuple[str, ...]


def git_entries(root: Path, project: str) -> list[Entry]:
    """Return at most 200 memories with stable ids, newest first; none of a commit whose files were all deleted."""
    commits = list(_commits(root))
    changed: dict[str, str] = {}
    for commit in commits:
        for name in commit.files:
            changed.setdefault(name, commit.when)
    found = [(commit.when, _of_commit(commit, project)) for commit in commits if _says_why(commit, root)]
    found += [(changed.get(name, ""), entry) for name in _records(root) if (entry := _of_record(root, name, project))]
    return [entry for _, entry in sorted(found, key=lambda pair: pair[0], reverse=True)[:MOST]]


def _commits(root: Path) -> Iterator[_Commit]:
    options = ("--no-merges", "--no-renames", "--no-ext-diff", "--no-textconv", "--name-only", f"-{MOST_COMMITS}")
    answer = git_answer(root, *LOG, *options, _FORMAT, "HEAD", "--", timeout=SECONDS) or ""
    for part in answer.split("\x1e")[1:]:
        name, *rest = part.split("\x1f")
        if len(rest) == 4 and re.fullmatch(r"[0-9a-f]{40,64}", name):
            when, subject, body, files = rest
            yield _Commit(name, when, subject, body, tuple(filter(None, files.replace("\n", "\0").split("\0"))))


def _says_why(commit: _Commit, root: Path) -> bool:
    """Whether it explains why: in prose with a reason or what was wrong, or as a fix or a decision with a reason."""
    body = _told(commit)
    if len(body.split()) < FEWEST_WORDS or _BOT.match(commit.subject):
        return False
    prose, has_reason = _NO_PROSE.sub("", body), _REASON.search(body) is not None
    explains = len(prose.split()) >= FEWEST_WORDS and (has_reason or _BEFORE.search(prose) is not None)
    is_fix = (_KIND.search(commit.subject) or _KIND.search(body)) is not None
    # Path.exists raises below a folder that may not be entered.
    is_there = any(os.path.exists(root / one) for one in commit.files)  # noqa: PTH110  as said above
    return (explains or (is_fix and has_reason)) and is_there


def _told(commit: _Commit) -> str:
    return re.sub(r"\n{3,}", "\n\n", _TRAILER.sub("", clean(commit.body))).strip()


def _of_commit(commit: _Commit, project: str) -> Entry:
    place = f"commit {commit.hash[:12]}"
    content = f"{clean(commit.subject)}\n\n{front(_told(commit), CONTENT_CHARS).text}"
    record = {"id": f"git-{commit.hash[:16]}", "title": commit.subject, "content": content, "source": place}
    return Entry(place, {**record, "project": project, "created": commit.when, "tags": ["git"]})


def _records(root: Path) -> list[str]:
    names = (git_answer(root, "ls-files", "-z", timeout=SECONDS) or "").split("\0")
    return [name for name in names if _RECORD.search(name) and not _NO_RECORD.search(name)]


def _of_record(root: Path, name: str, project: str) -> Entry | None:
    """Return a decision record that was not superseded, as one memory: its headings belong together."""
    path = root / name
    try:
        is_own = path.resolve().is_relative_to(root.resolve()) and path.is_file()
        text = path.read_text(encoding="utf-8-sig") if is_own and path.stat().st_size <= LARGEST_BYTES else ""
    except (OSError, ValueError, RuntimeError):
        return None
    if not text.strip() or _OVER.search(text):
        return None
    content = front(markdown.front_matter(text)[1].strip(), CONTENT_CHARS).text
    key = alias_of(f"{project}\0{name}")
    record = {"id": f"md-{key}", "title": derived_title(content), "content": content, "source": name}
    return Entry(name, {**record, "project": project, "tags": ["decision"]})
