"""The keys for which a tool call is looked up in the index of anchors.

A key is the kind of a name and the name: `path:src/a.py`, `cmd:make test`, `id:InvoiceCounter`. Most are looked up in
vain: which words of a call are names is known only to the memories.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Sequence
from itertools import pairwise

from memhook.core.actions import ENTERING, Action, places_of
from memhook.core.anchors import (
    BARE_FILE,
    COMMON_EXCEPTIONS,
    EVERYDAY_TOOLS,
    OF_SERVICES,
    REPORTED_CODE,
    is_distinctive,
    statuses,
)
from memhook.core.commands import base, flag_name, is_subcommand, programs, readings, without_release
from memhook.core.sentences import SUBCOMMANDS
from memhook.core.tool_calls import HEAD_WORDS, ToolCall
from memhook.patterns import regex

DEEPEST = 12  # folders of a path
DEEPEST_MODULE = 4

_WORD = regex(r"\w+")
_PLAIN_NAME = regex(r"[A-Za-z_$][\w$]*")
IDENTIFIER = regex(r"[A-Za-z_$][\w$]*(?:(?:\.|::)[A-Za-z_$][\w$]*)*")
KEBAB = regex(r"(?<![\w-])[A-Za-z][A-Za-z0-9]*(?:-[A-Za-z0-9]+)+")
_COMPOUND = regex(r"(?<=[a-z,] )[a-z]+(?:-[a-z]+)+(?=[.,)]|\s[a-z(])")  # in a sentence: "a case-insensitive search"

# In errors.
_LEVELS = frozenset(("DEBUG", "ERROR", "FAILED", "FATAL", "WARNING"))
_ACCUSED = regex(r"(?m)^(?![ \t]+(?:at|File) )[^\n]*?(?<![\w./-])([a-z][a-z0-9]*(?:_[a-z0-9]+)+)(?=[:=]? )")
# Not where something happened: "src/a.ts:4", "at src/a.ts (4)"
_NAMED_FILE = regex(r"(?m)^(?![ \t]*(?:at|File|-->) )[^\n]*?(?<![\w/.@-])((?:[\w-]+/)+[\w.-]*\.\w{1,10})(?![\w/:(\"])")
# "Error: Limit reached (rate_limit_exceeded, 5d1e)", not an argument in a line of code
_FAILURE = regex(r"(?i)\b(?:denied|error|failed|failure|invalid|refused|status)\b")
_REASON = regex(r"(?:[(\[]|: )([a-z][a-z0-9]*(?:_[a-z0-9]+)+)(?=[)\],]|$)")
_QUOTED_NAME = regex(r"[`'\"‘]([A-Za-z_$][\w$.]{2,80})[`'\"’]")
_EXCEPTION = regex(r"\b(?:[A-Z][a-z0-9]+){3,}\b|\b[a-z]*[Ee]rr(?:or)?[A-Z]\w{3,}|\b\w+(?:Error|Exception)\b")

# A type where code uses it; in a comment or in prose, the same word may be a product.
_USED_TYPE = regex(
    r"(?:(?<=[.<(@:\[/])|(?<=class )|(?<=new )|(?<=: ))((?:[A-Z][a-z0-9]+){2})\b"
    r"|\b((?:[A-Z][a-z0-9]+){2})(?=[(<{]| \{|::|\.[A-Za-z]|\?\.| [a-z]\w* ?[=;,)(])"
)
_LONE_FLAG = regex(r"(?<![\w-])--?[A-Za-z][\w-]{4,}")
_IMPORTED = regex(r"[\"'](@[\w.-]+/[\w./-]+)[\"']")
_CONSTANT = regex(r"\b[A-Z][A-Z0-9]*_[A-Z0-9_]*")
_RECEIVER = regex(r"\b([a-z]\w*)\.(\w+)\(")  # terminal.clear() is Terminal::clear
_USED_MODULE = regex(
    r"(?m)^[ \t]*(?:from|import|use) +([A-Za-z][\w-]+)|\bfrom +[\"']([A-Za-z][\w-]+)[\"']"
    r"|\brequire\([\"']([A-Za-z][\w-]+)[\"']"
)
_PROSE_FILES = (".adoc", ".md", ".mdx", ".rst", ".txt")

# In commands.
_SELECTING = regex("-[Cpw]|--(?:cwd|dir|directory|exclude|filter|ignore|package|prefix|project|workspace)")
_ARGUMENT_CODE = regex(r"[A-Z]{1,5}-?\d{3,6}")
_ARGUMENT_END = regex(r"[\s;@]+")


def call_keys(call: ToolCall) -> dict[str, None]:
    """Return the keys, each once, those of the error first."""
    action = call.action
    places = places_of(action.commands)
    commands = (
        key for words, place in zip(action.commands, places, strict=True) for key in _command_keys(words, place)
    )
    hosts = (f"{kind}:{host}" for host in call.hosts for kind in ("alone", "tool"))
    paths = (key for path in action.paths for key in _file_keys(path))
    return dict.fromkeys((*_error_keys(call), *paths, *commands, *hosts, *_text_keys(action), *_word_keys(call.words)))


def in_camel_case(constant: str) -> str:
    """Return DeadlineExceeded for DEADLINE_EXCEEDED: the names of one code in two languages."""
    return "".join(part.capitalize() for part in constant.split("_"))


def _error_keys(call: ToolCall) -> Iterator[str]:
    error = call.error
    if not error:
        return
    codes = [one for one in REPORTED_CODE.findall(error) if one not in _LEVELS]
    yield from (f"code:{one}" for one in codes)
    yield from (f"id:{in_camel_case(one)}" for one in codes if "_" in one)
    yield from (f"status:{status}" for status, _ in statuses(error))
    yield from (f"id:{one}" for one in _EXCEPTION.findall(error) if one not in COMMON_EXCEPTIONS)
    types = [one for one in _used_types(error) if one not in COMMON_EXCEPTIONS]
    yield from (f"{kind}:{one}" for one in types for kind in ("type", "id"))
    yield from (f"path:{one}" for one in _NAMED_FILE.findall(error))
    yield from (f"{kind}:{one}" for one in _named_in_error(error) for kind in ("id", "err"))
    yield from (f"msg:{word}" for word in call.error_words)
    yield from (f"said:{' '.join(pair)}" for pair in pairwise(call.error_words))


def _named_in_error(error: str) -> list[str]:
    """Return the names with several parts that are quoted, that have dots or hyphens, or that a line starts with."""
    dotted = (one.replace("::", ".") for one in IDENTIFIER.findall(error) if "." in one or "::" in one)
    failures = (line.strip() for line in error.splitlines() if _FAILURE.search(line))
    reasons = (one for line in failures for one in _REASON.findall(line))
    named = (*_QUOTED_NAME.findall(error), *dotted, *_ACCUSED.findall(error), *reasons)
    return sorted({*KEBAB.findall(error), *filter(is_distinctive, named)})


def _used_types(text: str) -> list[str]:
    return [one or other for one, other in _USED_TYPE.findall(text)]


def _file_keys(path: str) -> Iterator[str]:
    yield from _path_keys(path)
    yield from _folder_keys(path)
    *folders, name = path.split("/")
    stem = name.partition(".")[0]
    yield from (f"dir:{folder}" for folder in folders if is_distinctive(folder))
    yield from (f"id:{one}" for one in (stem,) if is_distinctive(one))
    yield from (f"type:{stem}", f"member:{stem}")
    modules = [*folders[-DEEPEST_MODULE:], stem]
    yield from (f"module:{'/'.join(modules[at:])}" for at in range(len(modules) - 1))


def _path_keys(path: str) -> Iterator[str]:
    parts = path.removeprefix("./").split("/")
    for at in range(max(0, len(parts) - DEEPEST), len(parts)):
        yield f"path:{'/'.join(parts[at:])}"
    stem = parts[-1].partition(".")[0]
    if BARE_FILE.fullmatch(stem):
        yield f"path:{stem}"


def _folder_keys(path: str) -> Iterator[str]:
    """Yield the keys of every run of folders above the file, for folders and for globs."""
    parts = path.split("/")[:-1][-DEEPEST:]
    yield "glob:"
    for start in range(len(parts)):
        for end in range(start + 1, len(parts) + 1):
            run = "/".join(parts[start:end])
            yield from (f"folder:{run}", f"glob:{run}")


def _command_keys(words: Sequence[str], place: str) -> Iterator[str]:
    """Yield the keys of a command: its programs, its first words, its flags, and the names in its arguments."""
    for tool, given in dict(programs(words)).items():
        yield from (f"tool:{tool}", f"use:{tool}")
        if _is_alone(tool, given, words):
            yield f"alone:{tool}"
    yield from (f"alone:{name}" for verb, name in pairwise(words) if verb in OF_SERVICES)
    for line in readings(words):
        yield from (f"cmd:{tool} {above}" for tool, given in pairwise(line) for above in _and_folders(given))
        yield from (f"cmd:{line[0]} {last}" for last in line[2:][-1:])
    yield from _flag_keys(words)
    if words[0] not in ENTERING:
        yield from _argument_keys(words, place)


def _is_alone(tool: str, given: Sequence[str], words: Sequence[str]) -> bool:
    """Return whether a tool is run without a subcommand; an everyday tool not with a long flag either."""
    is_mode = tool in EVERYDAY_TOOLS and words[1:] and words[1].startswith("--")
    is_told = bool(given) and is_subcommand(given[0]) and (len(given) > 1 or given[0] in SUBCOMMANDS)
    return not is_mode and not is_told


def _and_folders(argument: str) -> Iterator[str]:
    """Yield the argument, and the folders above it if it is a path."""
    yield argument
    parts = argument.split("/")
    yield from ("/".join(parts[:end]) for end in range(1, min(len(parts), DEEPEST)))


def _flag_keys(words: Sequence[str]) -> Iterator[str]:
    flags = [flag_name(word) for word in words if word.startswith("-")]
    yield from (f"flag:{flag}" for flag in flags)
    named = [*words[:HEAD_WORDS], *map(base, words[:HEAD_WORDS])]
    heads = dict.fromkeys((*named, *map(without_release, named)))
    yield from (f"cmd:{word} {flag}" for word in heads for flag in flags)
    yield from (f"id:{one.strip('-').partition('-')[0]}-{word}" for word in words[1:2] for one in flags)


def _argument_keys(words: Sequence[str], place: str) -> Iterator[str]:
    """Yield the keys of the arguments that do not only select where the command works."""
    for before, word in pairwise(("", *words)):
        if _SELECTING.fullmatch(before):
            continue
        for part in _ARGUMENT_END.split(word):
            if part.startswith("~/"):
                yield from _folder_keys(part)
            if "/" in part or "." in part:
                yield from _path_keys(posixpath.join(place, part.removeprefix("./")))
        if _ARGUMENT_CODE.fullmatch(word):
            yield f"code:{word}"
        if words[0] != "git":  # its arguments are branches and messages
            yield from _name_keys(word)


def _text_keys(action: Action) -> Iterator[str]:
    written = action.written
    if not all(path.endswith(_PROSE_FILES) for path in action.paths):
        yield from (f"type:{one}" for one in _used_types(written))
    yield from (f"path:{one}" for one in _IMPORTED.findall(written))
    yield from (f"flag:{one}" for one in _LONE_FLAG.findall(written))
    yield from _name_keys(written)
    for name in dict.fromkeys(_PLAIN_NAME.findall(written)):
        yield from (f"lit:{name}", f"member:{name}")
    constants = dict.fromkeys(_CONSTANT.findall(written))
    yield from (f"prefix:{one[: at + 1]}" for one in constants for at, mark in enumerate(one) if mark == "_")
    receivers = dict.fromkeys(_RECEIVER.findall(written))
    yield from (f"id:{name[:1].upper()}{name[1:]}.{member}" for name, member in receivers)
    yield from (f"use:{name.lower()}" for groups in _USED_MODULE.findall(written) for name in groups if name)


def _word_keys(words: Sequence[str]) -> Iterator[str]:
    yield from (f"lit:{one}" for word in words for one in _WORD.findall(word))


def _name_keys(text: str) -> Iterator[str]:
    """Yield the keys of the names in a text, and of up to three parts of each in a row."""
    for name in dict.fromkeys(IDENTIFIER.findall(text)):
        parts = name.replace("::", ".").split(".")[:DEEPEST]
        for size in (1, 2, 3):
            runs = (".".join(parts[at : at + size]) for at in range(len(parts) - size + 1))
            yield from (f"id:{run}" for run in runs if is_distinctive(run))
    yield from (f"id:{name}" for name in dict.fromkeys(KEBAB.findall(_COMPOUND.sub(" ", text))))
