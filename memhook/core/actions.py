"""A tool call as far as anchors can match it: files it touches, commands it runs, text it writes, the error it met.

action_of(given, root, directory)   what the arguments of a tool say, whatever the assistant calls them
simple_commands(line)               the words of each command in a line of shell
message_words(text)                 the words of an error without numbers, names and paths

Any text, in linear time; long ones are read at both ends.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from memhook.patterns import regex

COMMAND_CHARS = 4_000
WRITTEN_CHARS = 16_000
ERROR_CHARS = 4_000  # at either end

# The names that the assistants give to the arguments of their tools.
_PATHS = ("file_path", "filePath", "notebook_path", "absolute_path", "path", "target_file")
_COMMANDS = ("command", "cmd", "script")
_WRITTEN = (
    "new_string", "newString", "new_str", "new_source", "content", "file_text", "insert_text",
    "old_string", "oldString", "old_str",
)  # fmt: skip
_PATCHES = ("patch", "patchText", "input", "command")

_PATCH_FILE = regex(r"^\*\*\* (?:Add|Update|Delete) File: (\S.*)$", re.MULTILINE)
_PATCH_ADDED = regex(r"^\+(.*)$", re.MULTILINE)
_SHELL = regex(
    r"""[ \t\r]+|(&&|\|\||[;|&\n()`]|\$\()|((?:[^\s;|&()`"'\\$]|\\.|\\|\$(?!\()|"(?:[^"\\]|\\.)*"?|'[^']*'?)+)"""
)
_SHELLS = ("bash", "sh", "ssh", "su", "zsh")
# They only read what they name, or print it: what is searched for is not touched.
_READERS = regex(
    "ack|ag|awk|bat|cat|cmp|comm|cut|diff|echo|[ef]?grep|file|find|head|journalctl|jq|less|ls|md5sum|more|printf|rg"
    "|sha256sum|sort|stat|tail|tree|uniq|wc|which|yq"
)
_FINDING = frozenset(("-delete", "-exec", "-execdir"))  # with one of these, find changes what it finds
# They change the files they name; of the second kind only the last.
_CHANGERS = regex("add|chmod|chown|mkdir|mv|nano|rm|rmdir|sed|tee|touch|truncate|vi|vim")
_COPIERS = regex("cp|install|ln|rsync|scp")
_LOOKING = regex("blame|describe|diff|get|grep|inspect|list|log|logs|ls|show|status|view")
_MESSAGE_FLAG = regex("--(?:body|description|message|notes|title)")
_REDIRECTION = regex(r"[12&]?>{1,2}(?!&)(.*)")
# Not the message of a commit: -m "$(cat <<'EOF'
_HERE = regex(r"^([^\n]*)(?<!\(cat )<<-?\s*[\"']?(\w+)[\"']?([^\n]*)\n(.*?)(?:^\s*\2$|\Z)", re.DOTALL | re.MULTILINE)
_VARIABLE = regex(r"[A-Za-z_]\w*=")
_SET = regex(r"""(?<![^\s;|&(])[A-Z][A-Z0-9_]*=(?:"[^"]*"?|'[^']*'?|[^\s;|&()"'])*""")
_QUOTED = regex(r"""`[^`\n]{0,120}`|"[^"\n]{0,120}"|(?<!\w)'[^'\n]{0,120}'(?!\w)|<[^<>\n]{0,80}>""")
_TOKEN = regex(r"[^\s,;]+")
_QUALIFIER = regex(r"^\W*(?:\w+\.)+(?=[A-Z])")  # of an exception: psycopg2.OperationalError
_OF_NAMES = regex(r"[/\\@\d_]")
_MESSAGE_WORD = regex(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")


@dataclass(frozen=True, slots=True)
class Action:
    """`paths` are relative to the project's root where they are below it.

    `written` also has the text that is replaced, and the variables that are set in front of a command.
    """

    paths: tuple[str, ...] = ()
    commands: tuple[tuple[str, ...], ...] = ()
    written: str = ""
    error: str = ""
    directory: str = ""
    """Where it is run, relative like the paths."""

    @property
    def is_empty(self) -> bool:
        return not (self.paths or self.commands or self.error)


def action_of(given: Mapping[str, Any], root: str, directory: str, error: str = "") -> Action:
    """A tool that only reads a file does nothing: it has a path, and neither a command nor text for it."""
    patch = next((text for text in _texts(given, _PATCHES) if "*** Begin Patch" in text), "")
    if patch:
        named, written = _PATCH_FILE.findall(patch), "\n".join(_PATCH_ADDED.findall(patch))
        commands: tuple[tuple[str, ...], ...] = ()
    else:
        line = next(_texts(given, _COMMANDS), "")[:COMMAND_CHARS]
        documents = [text for before, _, _, text in _HERE.findall(line) if not _is_shell(before)]
        line = _HERE.sub(lambda found: found[0] if _is_shell(found[1]) else f"{found[1]}{found[3]}\n", line)
        commands = tuple(simple_commands(line))
        texts = list(_written(given))
        named = [*(list(_texts(given, _PATHS))[:1] if texts else []), *_changed_files(commands)]
        written = "\n".join((*texts, *documents, *_SET.findall(line)))
    paths = tuple(_relative(path.strip(), root, directory) for path in named)
    place = _relative("", root, directory) if directory else ""
    return Action(paths, commands, written[:WRITTEN_CHARS], error, place)


def simple_commands(line: str) -> Iterator[tuple[str, ...]]:
    """Without variables that are set in front of one; quotes are removed, and what they hold is one word.

    What a shell is given in quotes, here or on another machine, is a line of its own.
    """
    for words in _commands(line):
        yield _touching(words)
        if words[0].rpartition("/")[2] in _SHELLS:
            yield from (_touching(inner) for word in words[1:] if " " in word for inner in _commands(word))


def _changed_files(commands: Iterable[Sequence[str]]) -> Iterator[str]:
    """The files that commands write, move or delete, each from where the line starts."""
    place = ""
    for words in commands:
        tool, *rest = words[1:] if words[0] in ("git", "sudo") and words[1:] else words
        given = [word for word in rest if not word.startswith("-")]
        if tool == "cd":
            place = posixpath.join(place, *given[:1])
        is_changer = _CHANGERS.fullmatch(tool) and (tool != "sed" or _changes_in_place(rest))
        named = given if is_changer else given[-1:] if _COPIERS.fullmatch(tool) else []
        targets = (found[1] or behind for word, behind in pairwise((*rest, "")) if (found := _REDIRECTION.match(word)))
        yield from (posixpath.join(place, name) for name in (*named, *targets) if name)


def _touching(words: tuple[str, ...]) -> tuple[str, ...]:
    """Without what is only read, printed, searched for or said in a message; what that is written to stays."""
    tool = words[0].rpartition("/")[2]
    is_reader = (_READERS.fullmatch(tool) and _FINDING.isdisjoint(words)) or (
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


def _is_shell(line: str) -> bool:
    return not set(_SHELLS).isdisjoint(line.split())


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


def message_words(text: str) -> list[str]:
    tokens = (_QUALIFIER.sub("", token) for token in _TOKEN.findall(_QUOTED.sub(" ", text)))
    plain = " ".join(token for token in tokens if not _OF_NAMES.search(token))
    return [word.lower().replace("’", "'") for word in _MESSAGE_WORD.findall(plain)]


def both_ends(text: str) -> str:
    """An error is at the start of what a command printed, or at its end."""
    return text if len(text) <= 2 * ERROR_CHARS else f"{text[:ERROR_CHARS]}\n{text[-ERROR_CHARS:]}"


def _texts(given: Mapping[str, Any], names: tuple[str, ...]) -> Iterator[str]:
    for name in names:
        value = given.get(name)
        if isinstance(value, list) and all(isinstance(one, str) for one in value):
            value = value[-1] if value[1:2] in (["-c"], ["-lc"]) else " ".join(value)  # ["bash", "-lc", "make"]
        if isinstance(value, str):
            yield value


def _written(given: Mapping[str, Any]) -> Iterator[str]:
    yield from _texts(given, _WRITTEN)
    edits = given.get("edits")
    for edit in edits[:100] if isinstance(edits, list) else ():
        if isinstance(edit, Mapping):
            yield from _texts(edit, _WRITTEN)


def _relative(path: str, root: str, directory: str) -> str:
    """As far as the names say; a link is not followed."""
    whole = posixpath.normpath(posixpath.join(directory or root, path))
    below = f"{root.rstrip('/')}/"
    return whole.removeprefix(below) if root and whole.startswith(below) else whole.removeprefix("./")
