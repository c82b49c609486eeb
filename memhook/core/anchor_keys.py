"""The keys under which the anchors and mentions of a memory are indexed, and how specific each is.

A key finds a memory, but does not decide alone whether it matches: `glob:src` is in the index for every glob below src.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from memhook.core.anchors import (
    BARE_FILE,
    CONSTANT,
    EVERYDAY_TOOLS,
    REPORTED_CODE,
    STATUS,
    Kind,
    is_distinctive,
    kind_of,
)
from memhook.core.call_keys import IDENTIFIER, in_camel_case
from memhook.core.commands import GAP, command_words, flag_name, readings, variables
from memhook.core.error_messages import content_words, error_words
from memhook.core.mentions import Mentions
from memhook.core.sentences import SUBCOMMANDS
from memhook.core.tool_calls import without_spaces
from memhook.patterns import regex

# How specific a match is, which decides the order of matches.
ERROR = PATH = 1.0
COMMAND = 0.95
FLAG = FIRST_WORDS = FILE_NAME = 0.9
MODULE = 0.85
GLOB = 0.8
LITERAL = 0.75
NAME = 0.7
TOOL = 0.6
FOLDER = 0.4  # plus a twentieth for each level

_ALL_BELOW = ("/", "/*", "**")
_HOME = regex(r"^(?:\.|~|\$\w+|\$\{\w+\})/")
_ATTRIBUTE = regex(r"[a-z]+(?:\.[a-z]+)*\.(?:config|env|lock|service|test)")  # a file's name as well: process.env
_VALUE = regex(r"[=:]\s*[\"']?(?:true|false|none|null|yes|no|on|off|[\d.]+\w?)[\"']?\W*$", re.IGNORECASE)
_ONE_WORD = regex(r"[=:]\s*[\"']?[A-Za-z]+[\"']?\W*$")
_NAME_END = regex(r"[\s=:]")
_PART_END = regex("[.:]")
_SHORT_LITERAL = regex(r"\w+!|\d+[a-z]+")


def anchor_keys(anchors: Sequence[str], mentioned: Mentions) -> Iterator[tuple[str, str, float]]:
    """Yield the keys of a memory, each with its anchor, and how specific it is for that."""
    yield from ((key, one, weight) for one in anchors for key, weight in _keys_of(one))
    yield from ((key, one, weight) for one in mentioned.commands for key, weight in _command_keys(one))
    yield from ((f"type:{one}", one, NAME) for one in mentioned.types)
    yield from ((f"member:{one.partition('.')[0]}", one, NAME) for one in mentioned.members)
    yield from ((f"path:{one}", one, FILE_NAME) for one in mentioned.files)
    yield from ((f"use:{one}", one, TOOL) for one in mentioned.refused)
    yield from ((f"said:{' '.join(one.split()[:2])}", one, ERROR) for one in mentioned.messages)
    yield from ((key, one, TOOL) for one in mentioned.tools for key in _tool_keys(one, bool(mentioned.asked_flags)))


def glob_pattern(glob: str) -> re.Pattern[str]:
    """Return the pattern of a glob: at the end of a path, or for a folder anywhere in it.

    A wildcard or placeholder is a part of a name, `**` any number of folders. `clients/*` includes folders, and so all
    files below them. The first match of a part is final (?>...): a note with ten wildcards would else take minutes.
    """
    *parts, last = glob.removeprefix("./").split("**")
    first, *others = (*map(_names_pattern, parts), _names_pattern(last, "" if glob.endswith(_ALL_BELOW) else "$"))
    return re.compile(f"(?:^|/){first}{''.join(f'(?>.*?{one})' for one in others)}")


def _names_pattern(part: str, end: str = "") -> str:
    """Return the pattern of a part of a glob without `**`."""
    *texts, last = map(re.escape, GAP.split(part))
    first, *others = (*texts, f"{last}{end}")
    return f"{first}{''.join(f'(?>[^/]*?{one})' for one in others)}"


def _keys_of(anchor: str) -> Iterator[tuple[str, float]]:
    match kind_of(anchor):
        case Kind.PATH | Kind.FOLDER as kind:
            yield from _path_keys(anchor.strip(), is_folder=kind is Kind.FOLDER)
        case Kind.GLOB:
            yield from _glob_keys(anchor)
        case Kind.FLAG:
            yield f"flag:{flag_name(anchor)}", FLAG
        case Kind.CODE:
            yield f"code:{anchor}", ERROR
        case Kind.IDENTIFIER:
            yield from _name_keys(anchor)
        case Kind.LITERAL:
            yield from _literal_keys(anchor)
        case Kind.COMMAND | Kind.MESSAGE if STATUS.fullmatch(anchor):
            yield f"status:{anchor}", ERROR
        case Kind.COMMAND | Kind.MESSAGE as kind:
            yield from (*_command_keys(anchor), *_message_keys(anchor, kind))


def _path_keys(path: str, *, is_folder: bool) -> Iterator[tuple[str, float]]:
    """Yield the keys of a path; with a leading slash, it is outside the project, or part of a URL."""
    bare = _HOME.sub("", path).rstrip("/")
    if not bare:
        return
    is_file = not is_folder and ("." in bare.rpartition("/")[2] or BARE_FILE.fullmatch(bare))
    if is_file:
        yield f"path:{bare.removeprefix('/')}", PATH if "/" in bare else FILE_NAME
        if _ATTRIBUTE.fullmatch(bare):
            yield f"lit:{bare.partition('.')[0]}", NAME
    else:
        yield f"folder:{bare}", _folder_weight(bare)
        yield f"path:{bare}", _folder_weight(bare)
        if bare.count("/") > 1 and bare.startswith("/"):
            yield f"lit:{bare.split('/')[1]}", LITERAL


def _folder_weight(path: str) -> float:
    return FOLDER + 0.05 * min(path.count("/"), 5)


def _glob_keys(glob: str) -> Iterator[tuple[str, float]]:
    """Yield the key of the folders before the first wildcard or placeholder."""
    fixed = GAP.split(glob.removeprefix("./"), maxsplit=1)[0].rpartition("/")[0].strip("/")
    yield f"glob:{fixed}", _folder_weight(fixed) if glob.endswith(_ALL_BELOW) else GLOB


def _name_keys(anchor: str) -> Iterator[tuple[str, float]]:
    name = anchor.removesuffix("()").replace("::", ".").strip("@.")
    is_called = anchor.endswith("()")
    parts = name.split(".")
    if is_distinctive(name):
        yield f"id:{name}", NAME
        yield f"dir:{name}", _folder_weight(name)
    elif "." not in name and name == anchor and name not in EVERYDAY_TOOLS | SUBCOMMANDS and len(name) > 3:
        yield f"tool:{name}", TOOL
    if (name.isupper() or CONSTANT.fullmatch(name)) and len(name) > 4:
        yield f"code:{name}", ERROR
        yield f"lit:{name}", LITERAL
        if "_" in name:
            yield f"id:{in_camel_case(name)}", NAME
    if name.isupper() and name.endswith("_"):
        yield f"prefix:{name}", NAME
    if "." in anchor and name == anchor:
        yield f"path:{name}", FILE_NAME  # of an ending that is not known
    if len(parts) > 2 or (len(parts) > 1 and is_called):
        if is_distinctive(parts[-1]):
            yield f"id:{parts[-1]}", NAME
        yield from ((f"module:{'/'.join(parts[:size])}", MODULE) for size in range(2, len(parts) + 1))


def _literal_keys(anchor: str) -> Iterator[tuple[str, float]]:
    """Yield the key of a setting or expression: the name, if the value is a number or a boolean, or of a variable."""
    name = _NAME_END.split(anchor, maxsplit=1)[0]
    if is_distinctive(name) and (CONSTANT.fullmatch(name) or _VALUE.search(anchor) or _ONE_WORD.search(anchor)):
        yield f"id:{name}", NAME
    elif _VALUE.search(anchor):
        return
    elif (len(without_spaces(anchor)) > 6 or _SHORT_LITERAL.fullmatch(anchor)) and (found := IDENTIFIER.search(anchor)):
        yield f"lit:{_PART_END.split(found[0])[0]}", LITERAL


def _command_keys(anchor: str) -> Iterator[tuple[str, float]]:
    yield from ((f"id:{name}", NAME) for name in variables(anchor) if is_distinctive(name))
    words = command_words(anchor)
    for line in readings(words):
        if len(line) > 1:
            yield f"cmd:{' '.join(line[:2])}", COMMAND if len(line) > 2 or len(line) == len(words) else FIRST_WORDS
        elif line:
            yield from ((f"cmd:{line[0]} {flag_name(one)}", FLAG) for one in words if one.startswith("-"))
    for word in words:
        if "/" in word and kind_of(word) is Kind.PATH and "." in word.rpartition("/")[2]:
            yield f"path:{word.removeprefix('./')}", PATH


def _message_keys(text: str, kind: Kind) -> Iterator[tuple[str, float]]:
    if words := content_words(text):
        yield f"msg:{max(words, key=len)}", ERROR
        return
    if kind is Kind.MESSAGE and len(words := error_words(text)) > 1:
        yield f"said:{' '.join(words[:2])}", ERROR
    else:
        yield from ((f"err:{word}", ERROR) for word in text.split() if word[0] != "-" and is_distinctive(word))
    yield from ((f"code:{code}", ERROR) for code in REPORTED_CODE.findall(text))


def _tool_keys(tool: str, is_flag_asked: bool) -> Iterator[str]:
    """Yield the keys of a tool: its calls without a subcommand, and all of its calls if the note asks for a flag.

    An everyday tool has too many uses: it needs a flag, and then has only the first key.
    """
    is_everyday = tool in EVERYDAY_TOOLS
    if is_flag_asked or not is_everyday:
        yield f"alone:{tool}"
    if (is_flag_asked and not is_everyday) or is_distinctive(tool):
        yield f"tool:{tool}"
