"""Parse a tool call for anchors: the files it touches, the commands it runs, the text it writes, and its error.

action_of(given, root, directory)   the action in the arguments of a tool, under the names that any assistant gives them
simple_commands(line)               the words of each command in a line of shell
places_of(commands, start)          the folder in which each command is run
both_ends(text)                     the start and the end of a long output

Any text is accepted and takes linear time. Of a long error, both ends are read; of other long texts, the start.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise, takewhile
from typing import Any

from memhook.core.manifests import is_manifest, packages_in
from memhook.patterns import regex

COMMAND_CHARS = 4_000
WRITTEN_CHARS = 16_000
ERROR_CHARS = 4_000  # at either end

# The names that the assistants give to the arguments of their tools.
_PATHS = ("file_path", "filePath", "notebook_path", "absolute_path", "path", "target_file")
_COMMANDS = ("command", "cmd", "script")
_NEW = ("new_string", "newString", "new_str", "new_source", "content", "file_text", "insert_text")
_REPLACED = ("old_string", "oldString", "old_str")
_PATCHES = ("patch", "patchText", "input", "command")

_PATCH_FILE = regex(r"^\*\*\* (?:Add|Update|Delete) File: (\S.*)$", re.MULTILINE)
_PATCH_ADDED = regex(r"^\+(.*)$", re.MULTILINE)
_PATCH_REMOVED = regex(r"^-(.*)$", re.MULTILINE)
_SHELL = regex(
    r"""[ \t\r]+|(&&|\|\||[;|&\n()`]|\$\()|((?:[^\s;|&()`"'\\$]|\\.|\\|\$(?!\()|"(?:[^"\\]|\\.)*"?|'[^']*'?)+)"""
)
_SHELLS = frozenset(("bash", "sh", "ssh", "su", "zsh"))
_KEEPERS = frozenset(("gh", "git", "glab", "tee"))  # their input is a text, not a program
# Commands that only read or print their arguments, and so touch nothing.
READERS = regex(
    "ack|ag|awk|bat|cat|cmp|comm|cut|diff|echo|[ef]?grep|file|find|head|journalctl|jq|less|ls|md5sum|more|printf|rg"
    "|sha256sum|sort|stat|tail|tree|uniq|wc|which|yq"
)
_FINDING = frozenset(("-delete", "-exec", "-execdir"))  # with one of these, find changes what it finds
# Commands that change the files they name; those of the second kind change only the last one.
_CHANGERS = regex("add|chmod|chown|mkdir|mv|nano|rm|rmdir|sed|tee|touch|truncate|vi|vim")
_COPIERS = regex("cp|install|ln|rsync|scp")
ENTERING = ("cd", "pushd")
_LOOKING = regex("blame|describe|diff|get|grep|inspect|list|log|logs|ls|show|status|view")
_MESSAGE_FLAG = regex("--(?:body|description|message|notes|title)")
_REDIRECTION = regex(r"[12&]?>{1,2}(?!&)(.*)")
# Not the message of a commit: -m "$(cat <<'EOF'
_HERE = regex(
    r"^((?:[^\n<]|<(?!<))*+)(?<!\(cat )<<-?\s*[\"']?(\w+)[\"']?([^\n]*)\n(.*?)(?:^\s*\2$|\Z)", re.DOTALL | re.MULTILINE
)
_PIPED = regex(r"[^&;|]*\|(?!\|)(.*)")
_VARIABLE = regex(r"[A-Za-z_]\w*=")
_SET = regex(r"""(?<![^\s;|&(])[A-Z][A-Z0-9_]*=(?:"[^"]*"?|'[^']*'?|[^\s;|&()"'])*""")


@dataclass(frozen=True, slots=True)
class Action:
    """A parsed tool call. `paths` below the project's root are relative to it.

    `commands` are without arguments that are only read. `written` includes the replaced text, and the variables that
    are set before a command.
    """

    paths: tuple[str, ...] = ()
    commands: tuple[tuple[str, ...], ...] = ()
    written: str = ""
    error: str = ""
    directory: str = ""
    """The working directory, relative like the paths."""
    lines: tuple[tuple[str, ...], ...] = ()
    """The commands with all of their arguments."""
    packages: frozenset[str] = frozenset()
    """The packages that are added to a manifest."""

    @property
    def is_empty(self) -> bool:
        return not (self.paths or self.commands or self.error)


def action_of(given: Mapping[str, Any], root: str, directory: str, error: str = "") -> Action:
    """Parse the arguments of a tool. The action is empty if the tool only reads: a path without command and text."""
    patch = next((text for text in _texts(given, _PATCHES) if "*** Begin Patch" in text), "")
    lines: tuple[tuple[str, ...], ...] = ()
    if patch:
        named, new, replaced = _PATCH_FILE.findall(patch), _PATCH_ADDED.findall(patch), _PATCH_REMOVED.findall(patch)
        written = "\n".join(new)
    else:
        line = next(_texts(given, _COMMANDS), "")[:COMMAND_CHARS]
        documents = [one for one in _HERE.finditer(line) if not _is_for_shell(one)]
        line = _HERE.sub(lambda one: one[0] if _is_for_shell(one) else f"{one[1]}{one[3]}\n", line)
        fed = ((words, one[4]) for one in documents if (words := _fed(one)) and not _is_kept(words))
        lines = (*simple_commands(line), *((*words, text) for words, text in fed))
        new, replaced = list(_written(given, _NEW)), list(_written(given, _REPLACED))
        edited = list(_texts(given, _PATHS))[:1] if new or replaced else []
        named = [*edited, *_changed_files(map(_touching, lines))]
        new += (one[4] for one in documents)
        written = "\n".join((*new, *replaced, *_SET.findall(line)))
    paths = tuple(_relative(path.strip(), root, directory) for path in named)
    place = _relative("", root, directory) if directory else ""
    packages = _packages(new) - _packages(replaced) if any(map(is_manifest, paths)) else frozenset()
    return Action(paths, tuple(map(_touching, lines)), written[:WRITTEN_CHARS], error, place, lines, packages)


def _packages(texts: Iterable[str]) -> frozenset[str]:
    return packages_in("\n".join(texts)[:WRITTEN_CHARS])


def simple_commands(line: str) -> Iterator[tuple[str, ...]]:
    """Yield the words of each command, without variables set before it and without quotes; a quoted text is one word.

    The quoted argument of a shell or of ssh is parsed as a line of its own as well.
    """
    for words in _commands(line):
        yield words
        if words[0].rpartition("/")[2] in _SHELLS:
            yield from (inner for word in words[1:] if " " in word for inner in _commands(word))


def places_of(commands: Iterable[Sequence[str]], start: str = "") -> list[str]:
    """Return the folder in which each command of a line is run, if the line starts in this one."""
    place, places = start, []
    for words in commands:
        if words[0] in ENTERING:
            place = posixpath.normpath(posixpath.join(place, *words[1:2]))
        places.append(place)
    return places


def _changed_files(commands: Iterable[Sequence[str]]) -> Iterator[str]:
    """Yield the files that commands write, move or delete, relative to the directory in which the line starts."""
    lines = [*commands]
    for words, place in zip(lines, places_of(lines), strict=True):
        tool, *rest = words[1:] if words[0] in ("git", "sudo") and words[1:] else words
        given = [word for word in rest if not word.startswith("-")]
        is_changer = _CHANGERS.fullmatch(tool) and (tool != "sed" or _changes_in_place(rest))
        named = given if is_changer else given[-1:] if _COPIERS.fullmatch(tool) else []
        targets = (found[1] or behind for word, behind in pairwise((*rest, "")) if (found := _REDIRECTION.match(word)))
        yield from (posixpath.join(place, name) for name in (*named, *targets) if name)


def _touching(words: tuple[str, ...]) -> tuple[str, ...]:
    """Return a command without arguments that it only reads, prints or searches for, and without commit messages.

    A redirection to a file remains.
    """
    tool = words[0].rpartition("/")[2]
    is_reader = (READERS.fullmatch(tool) and _FINDING.isdisjoint(words)) or (
        tool == "sed" and not _changes_in_place(words)
    )
    looking = (at for at, word in enumerate(words[:3]) if at and _LOOKING.fullmatch(word) and words[0] != "go")
    if (last := 0 if is_reader else next(looking, None)) is not None:
        end = next((at for at, word in enumerate(words) if _REDIRECTION.match(word)), len(words))
        return (*words[: last + 1], *(word for word in words[last + 1 : end] if word.startswith("-")), *words[end:])
    return tuple(word for before, word in pairwise(("", *words)) if not _is_message(before, word))


def _changes_in_place(words: Sequence[str]) -> bool:
    return any(word.startswith(("-i", "--in-place")) for word in words)


def _is_message(flag: str, value: str) -> bool:
    return bool(_MESSAGE_FLAG.fullmatch(flag)) or (flag in ("-m", "-am") and " " in value)


def _fed(document: re.Match[str]) -> tuple[str, ...]:
    """Return the command that reads a here-document, without its redirection: bash in `cat <<X | bash`."""
    piped = _PIPED.match(document[3])
    commands = [*_commands(piped[1])][:1] if piped else [*_commands(document[1])][-1:]
    return tuple(takewhile(lambda word: not _REDIRECTION.match(word), chain.from_iterable(commands)))


def _is_for_shell(document: re.Match[str]) -> bool:
    return any(word.rpartition("/")[2] in _SHELLS for word in _fed(document))


def _is_kept(words: Sequence[str]) -> bool:
    """Return whether a command only copies its input to a file or a message, unlike an interpreter."""
    return any(READERS.fullmatch(word) or word in _KEEPERS for word in words[:2])


def _commands(line: str) -> Iterator[tuple[str, ...]]:
    words: list[str] = []
    for separator, word in _SHELL.findall(line):
        if separator and words:
            yield tuple(words)
            words = []
        elif word and (words or not _VARIABLE.match(word)):
            words.append(re.sub(r"[\"'\\]", "", word))
    if words:
        yield tuple(words)


def both_ends(text: str) -> str:
    """Return the start and the end of a long output: an error is in one of them."""
    return text if len(text) <= 2 * ERROR_CHARS else f"{text[:ERROR_CHARS]}\n{text[-ERROR_CHARS:]}"


def _texts(given: Mapping[str, Any], names: tuple[str, ...]) -> Iterator[str]:
    for name in names:
        value = given.get(name)
        if isinstance(value, list) and all(isinstance(one, str) for one in value):
            value = value[-1] if value[1:2] in (["-c"], ["-lc"]) else " ".join(value)  # ["bash", "-lc", "make"]
        if isinstance(value, str):
            yield value


def _written(given: Mapping[str, Any], names: tuple[str, ...]) -> Iterator[str]:
    yield from _texts(given, names)
    edits = given.get("edits")
    for edit in edits[:100] if isinstance(edits, list) else ():
        if isinstance(edit, Mapping):
            yield from _texts(edit, names)


def _relative(path: str, root: str, directory: str) -> str:
    """Return the path relative to the root if its name is below it; links are not followed."""
    whole = posixpath.normpath(posixpath.join(directory or root, path))
    below = f"{root.rstrip('/')}/"
    return whole.removeprefix(below) if root and whole.startswith(below) else whole.removeprefix("./")
