"""Find the memories whose anchors a tool call touches: exact matches, in memory, without an embedding.

Every anchor is indexed under keys, and the keys of a tool call are looked up. If a key alone does not decide (a glob, a
phrase, a flag of several commands), the anchor is checked against the call.
"""

from __future__ import annotations

import posixpath
import re
import sys
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import chain, pairwise

from memhook.core.actions import Action, both_ends, message_words
from memhook.core.anchors import (
    BARE_FILE,
    COMMON_EXCEPTIONS,
    CONSTANT,
    EVERYDAY_TOOLS,
    EXIT_CODE,
    HTTP_STATUS,
    OF_SERVICES,
    Kind,
    anchors_of,
    is_distinctive,
    kind_of,
)
from memhook.core.commands import (
    GAP,
    Command,
    base,
    command_of,
    command_words,
    flag_name,
    has_all,
    hosts,
    is_run,
    is_subcommand,
    packages,
    positional,
    programs,
    readings,
    variables,
    without_release,
)
from memhook.core.mentions import (
    READ_CHARS,
    TOLD,
    Mentions,
    antecedents_of,
    decides_on,
    details_of,
    error_words,
    is_beside,
    is_predicate,
    is_reported,
    is_subject,
    mentions_of,
    place_before,
    place_of,
    scope_of,
)
from memhook.core.terms import STOP_WORDS
from memhook.patterns import regex

MOST_SHARING = 6  # memories with one key: if more have it, it is a word of the project, not an anchor
MOST_ADDED = 60  # packages: with more of them, a manifest is created, not changed
_MOST_SHARING_OF = {"cmd": 24, "path": sys.maxsize}
HEAD_WORDS = 3
DEEPEST = 12  # folders of a path
MOST_OF_HOST = 3  # memories that name it: with more of them, its name is a word
KEPT_DETAILS = 256
MOST_OF_COMMAND = 5  # words: a text of more that starts like a command is a message in lower case

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
ANOTHER = 0.01  # for each further anchor of the same memory

_IDENTIFIER = regex(r"[A-Za-z_$][\w$]*(?:(?:\.|::)[A-Za-z_$][\w$]*)*")
_KEBAB = regex(r"(?<![\w-])[A-Za-z][A-Za-z0-9]*(?:-[A-Za-z0-9]+)+")
_COMPOUND = regex(r"(?<=[a-z,] )[a-z]+(?:-[a-z]+)+(?=[.,)]|\s[a-z(])")  # in a sentence: "a case-insensitive search"
_CODE = regex(
    r"(?<![\w-])(?:0x[\dA-Fa-f]{4,16}|[A-Z]{1,5}-?\d{2,6}|[A-Z]{1,8}(?:-[A-Z]{2,8})+-\d{1,6}|\d{4,7}|\d{2,5}_\d{1,3}|[A-Z]{5,}|[A-Z][A-Z0-9]*(?:_(?:0x[\dA-Fa-f]+|[A-Z0-9]+))+)(?![\w-])"
)
_ACCUSED = regex(r"(?m)^(?![ \t]+(?:at|File) )[^\n]*?(?<![\w./-])([a-z][a-z0-9]*(?:_[a-z0-9]+)+)(?=[:=]? )")
# Not where something happened: "src/a.ts:4", "at src/a.ts (4)"
_NAMED_FILE = regex(r"(?m)^(?![ \t]*(?:at|File|-->) )[^\n]*?(?<![\w/.@-])((?:[\w-]+/)+[\w.-]*\.\w{1,10})(?![\w/:(\"])")
_QUOTED_NAME = regex(r"[`'\"‘]([A-Za-z_$][\w$.]{2,80})[`'\"’]")
# A type where code uses it; in a comment or in prose, the same word may be a product.
_USED_TYPE = regex(
    r"(?:(?<=[.<(@:\[])|(?<=class )|(?<=new )|(?<=: ))((?:[A-Z][a-z0-9]+){2})\b"
    r"|\b((?:[A-Z][a-z0-9]+){2})(?=[(<{]| \{|::|\.[A-Za-z]|\?\.| [a-z]\w* ?[=;,)(])"
)
_ATTRIBUTE = regex(r"[a-z]+(?:\.[a-z]+)*\.(?:config|env|lock|service|test)")  # a file's name as well: process.env
_LONE_FLAG = regex(r"(?<![\w-])--?[A-Za-z][\w-]{4,}")
_IMPORTED = regex(r"[\"'](@[\w.-]+/[\w./-]+)[\"']")
_PROSE_FILES = (".adoc", ".md", ".mdx", ".rst", ".txt")
_OF_ERRORS = ("code", "err", "id", "msg", "said", "type")
_OF_COMMANDS = ("alone", "cmd", "flag", "id", "lit", "path", "tool")
_NAMED_ARGUMENT = regex(r"[A-Za-z][\w.-]*")
_COUNTER = regex(r"_\d+\b")
_SELECTING = regex("-[Cpw]|--(?:cwd|dir|directory|exclude|filter|ignore|package|prefix|project|workspace)")
_ENTERING = ("cd", "pushd")
_SHORT_LITERAL = regex(r"\w+!|\d+[a-z]+")
_STATUS = regex(r"(?:exit code|HTTP) \d+")
_WHOLE_CODE = regex(r"[A-Z]{1,5}-?\d{3,6}")
_LEVELS = frozenset(("DEBUG", "ERROR", "FAILED", "FATAL", "WARNING"))
_EXCEPTION = regex(r"\b(?:[A-Z][a-z0-9]+){3,}\b|\b[a-z]*[Ee]rr(?:or)?[A-Z]\w{3,}|\b\w+(?:Error|Exception)\b")
_HOME = regex(r"^(?:\.|~|\$\w+|\$\{\w+\})/")
_ALL_BELOW = ("/", "/*", "**")
# The word after one of these is a name in code, not an argument: "import acme.util"
_OF_CODE = frozenset(
    ("await", "class", "extends", "from", "import", "new", "package", "return", "throw", "use", "using")
)
_MARKED = regex(r"^-|\w[:./=_]\w")
_UNSURE = frozenset(("cmd", "said"))
_VALUE = regex(r"[=:]\s*[\"']?(?:true|false|none|null|yes|no|on|off|[\d.]+\w?)[\"']?\W*$", re.IGNORECASE)
_ONE_WORD = regex(r"[=:]\s*[\"']?[A-Za-z]+[\"']?\W*$")


@dataclass(frozen=True, slots=True)
class Match:
    """A memory and the anchors that the call touches, the most specific first."""

    memory: str
    score: float
    anchors: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Note:
    """The indexed data of a memory; the rest is derived again when a call has one of its keys, to save memory."""

    anchors: tuple[str, ...]
    text: str
    title: str

    def filed_under(self) -> set[str]:
        return {key for key, _, _ in _keys(self.anchors, mentions_of(self.text))}

    def mentions(self) -> Mentions:
        """Return the mentions of the text; none if the anchors are not those of the text, but set by a user."""
        is_chosen = set(self.anchors) != set(anchors_of(self.title, self.text))
        return Mentions() if is_chosen else mentions_of(self.text)


@dataclass(frozen=True, slots=True)
class _Details:
    """Data of a memory that decide whether it matches a call with one of its keys."""

    anchors: Mapping[str, Mapping[str, float]]
    """The anchors of each key, with how specific the key is for them."""
    commands: Mapping[str, Command]
    scopes: Mapping[str, tuple[str, ...]]
    """The objects that an anchor is limited to: a call must be about one of them, too."""
    details: Mapping[str, tuple[str, ...]]
    """The details of a message or an exception: the error must have all of them."""
    headed: Mapping[str, Sequence[str]]
    """The words of the message that a code starts: the error must have half of them."""
    arguments: frozenset[str]
    """Names that are only arguments of a command: a call that writes them does not run it."""
    asked_flags: frozenset[str]
    words: frozenset[str]
    """The words of the text, if a flag is an anchor: the tool that has the flag must be among them."""
    has_no_tool: bool
    """The text names no command, so that a flag may be any tool's."""
    subjects: frozenset[str]
    """The programs that the text is about with any subcommand."""

    def holds(self, key: str, anchor: str, asked: _Asked) -> bool:
        kind, _, rest = key.partition(":")
        if not self._is_meant(kind, anchor, asked):
            return False
        is_run = kind in _OF_COMMANDS and key not in asked.touched
        if is_run and asked.complies_with(self.asked_flags):
            return False
        is_started = is_run and kind in ("id", "path") and base(rest) in asked.started - asked.hosts
        if is_started and (told := self._told(base(rest))):
            is_itself = anchor in self.subjects and asked.names(anchor)
            return is_itself or any(asked.has(words, flags) for words, flags in told)
        if kind == "cmd":
            return asked.runs(self.commands[anchor])
        if kind == "flag":
            return self._holds_for_flag(flag_name(anchor), asked)
        return _CHECKS[kind](anchor, asked) if kind in _CHECKS else True

    def _is_meant(self, kind: str, anchor: str, asked: _Asked) -> bool:
        """Return whether the call is about the scope of the anchor, and its error has the details of the message."""
        scope = self.scopes.get(anchor)
        is_elsewhere = scope is not None and not any(map(asked.is_about, scope))
        is_other = kind in _OF_ERRORS and not asked.has_said(self.details.get(anchor, ()))
        is_other |= kind == "code" and not asked.says_half(self.headed.get(anchor, ()))
        is_written = kind == "id" and anchor in self.arguments and not asked.runs_or_reports(anchor)
        return not (is_elsewhere or is_other or is_written)

    def _holds_for_flag(self, flag: str, asked: _Asked) -> bool:
        """Return whether a flag of the call matches: not if the note asks for it, and only with a tool that it names.

        A definition (-DNO_WATCHDOG) or a long name needs no tool.
        """
        is_wanted = any(one.partition(" ")[0] == flag for one in self.asked_flags)
        is_plain = flag.count("-") < 4 and not self.has_no_tool  # --max-tasks-per-child can hardly be another tool's
        return not is_wanted and ("_" in flag or not is_plain or not asked.tools_with(flag).isdisjoint(self.words))

    def _told(self, program: str) -> list[tuple[Sequence[str], frozenset[str]]]:
        """Return the subcommands, with flags, that the memory has for a program: it does not apply to other ones."""
        lines = ((line, one.flags) for one in self.commands.values() for line in one.lines)
        return [
            (line[at + 1 : at + 2], flags)
            for line, flags in lines
            for at in (0, 1)
            if program in map(base, line[at : at + 1])
        ]


# Check whether the call has the whole anchor, for the kinds whose key is only a part of it.
_CHECKS: dict[str, Callable[[str, _Asked], bool]] = {
    "glob": lambda anchor, asked: any(map(_glob(anchor).search, asked.action.paths)),
    "lit": lambda anchor, asked: _packed(_fixed_part(anchor)) in asked.packed,
    "member": lambda anchor, asked: asked.is_about(anchor.partition(".")[2]),
    "msg": lambda anchor, asked: asked.reports(anchor),
    "said": lambda anchor, asked: is_reported(error_words(anchor), asked.said, may_end=True),
}


class AnchorIndex:
    """An index of memories by their anchors; file a memory again if it has changed."""

    def __init__(self) -> None:
        self._filed: dict[str, str | list[str]] = {}  # most keys are one memory's
        self._notes: dict[str, _Note] = {}

    def file(self, memory: str, anchors: Sequence[str], text: str, title: str = "") -> None:
        self.remove(memory)
        note = self._notes[memory] = _Note(tuple(anchors), text, title)
        for key in note.filed_under():
            sharing = self._filed.setdefault(key, memory)
            if isinstance(sharing, list):
                sharing.append(memory)
            elif sharing != memory:
                self._filed[key] = [sharing, memory]

    def remove(self, memory: str) -> None:
        note = self._notes.pop(memory, None)
        for key in note.filed_under() if note else ():
            left = [one for one in _all(self._filed.pop(key)) if one != memory]
            if left:
                self._filed[key] = left

    def matches(self, action: Action) -> list[Match]:
        """Return the matches, best first; ties are sorted by id."""
        asked = _Asked(action)
        found: dict[str, dict[str, float]] = defaultdict(dict)
        for key in asked.keys:
            sharing = _all(self._filed.get(key, []))
            kind = key.partition(":")[0]
            if len(sharing) > _MOST_SHARING_OF.get(kind, MOST_SHARING):
                continue
            for memory in sharing:
                note = self._notes[memory]
                # Any word of a text may be such a key: the anchors alone rule out nearly all of these.
                if kind in ("lit", "msg") and not any(_CHECKS[kind](one, asked) for one in note.anchors):
                    continue
                details = _details(note)
                for anchor, weight in details.anchors.get(key, {}).items():
                    if details.holds(key, anchor, asked):
                        known = found[memory]
                        known[anchor] = max(weight, known.get(anchor, 0.0))
        for name, memory in (*self._deciding_on(asked.packages), *self._naming(asked.hosts)):
            found[memory].setdefault(name, NAME)
        return sorted((_match(*one) for one in found.items()), key=lambda one: (-one.score, one.memory))

    def _deciding_on(self, packages: Sequence[str]) -> Iterator[tuple[str, str]]:
        """Yield each package with the memories that decide on it.

        This searches the texts, not the index: a package is rarely added, and its name may be any word.
        """
        lowered = {name: name.lower() for name in packages[:MOST_ADDED]}
        deciding: dict[str, list[str]] = defaultdict(list)
        for memory, note in self._notes.items() if lowered else ():
            text = note.text.lower()
            for name in (name for name, low in lowered.items() if low in text and decides_on(name, note.text)):
                deciding[name].append(memory)
        few = {name: memories for name, memories in deciding.items() if len(memories) <= MOST_SHARING}
        return ((name, memory) for name, memories in few.items() for memory in memories)

    def _naming(self, hosts: Iterable[str]) -> Iterator[tuple[str, str]]:
        """Find machines that a call reaches in the texts, but not "the archive", or a word of many texts."""
        for host in (one for one in hosts if len(one) > 3 and one not in STOP_WORDS | TOLD):
            named = re.compile(rf"(?<![\w./-])(?<!\bthe )(?<!\ba ){re.escape(host)}(?![\w/-]|\.\w)")
            memories = [memory for memory, note in self._notes.items() if host in note.text and named.search(note.text)]
            yield from ((host, memory) for memory in memories if len(memories) <= MOST_OF_HOST)


def _all(sharing: str | list[str]) -> list[str]:
    return [sharing] if isinstance(sharing, str) else sharing


def named_in_words(anchors: Sequence[str], content: str, title: str = "") -> tuple[str, ...]:
    """Return what the text probably names in plain words, for a person to read: a call that has it touches the memory.

    Any two words may be a command, and the first words of a text a message: those that nothing marks are left out.
    """
    found: dict[str, set[str]] = defaultdict(set)
    for key, names in _details(_Note(tuple(anchors), content, title)).anchors.items():
        for name in names.keys() - set(anchors):
            found[name].add(key.partition(":")[0])
    return tuple(sorted(name for name, kinds in found.items() if not kinds <= _UNSURE or _looks_run(name, kinds)))


def _looks_run(words: str, kinds: Set[str]) -> bool:
    """Return whether words look like a command: with a verb of tools, a flag, or a mark that no plain word has."""
    if "cmd" not in kinds:
        return False
    tool, told, *_ = parts = words.split()
    is_told = told in TOLD or (tool in TOLD and not is_predicate(told))
    return is_told or any(map(_MARKED.search, parts[1:]))


@lru_cache(maxsize=KEPT_DETAILS)
def _details(note: _Note) -> _Details:
    anchors, text, mentioned = note.anchors, note.text, note.mentions()
    scoped = (*filter(_can_be_scoped, anchors), *mentioned.commands, *mentioned.tools)
    scopes = {one: scope for one in scoped if (scope := _scope(one, text))}
    of_pronouns = {one: names for one in scoped if one not in scopes and (names := antecedents_of(one, text))}
    commands = {one: command_of(one, text) for one in anchors if len(one.split()) > 1}
    spoken = {one: command_of(one, text, is_spoken=True) for one in mentioned.commands}
    has_flags = any(anchor.startswith("-") for anchor in anchors)
    words = re.findall(r"\w[\w.+-]*[\w+]", text.lower()) if has_flags else []
    # The scope of a command does not count alone: "`aws s3 rm` on acme-state" needs both.
    known = (scope for one, scope in scopes.items() if one in anchors or one.partition(" ")[0] in EVERYDAY_TOOLS)
    named = (*anchors, *mentioned.commands, *mentioned.tools)
    within = {name for scope in known for name in scope} | {one for one in named if is_beside(one, named, text)}
    details = {
        one: names
        for one in (*filter(_can_be_of_error, anchors), *mentioned.messages)
        if (names := details_of(one, text))
    }
    within.update(word.rstrip(":") for one in anchors if " " in one and details_of(one, "") for word in one.split())
    places = [one for one in anchors if kind_of(one) in (Kind.PATH, Kind.FOLDER, Kind.GLOB) or _KEBAB.fullmatch(one)]
    placed = {
        one: (place,)
        for one in (*anchors, *mentioned.types, *mentioned.members)
        if _can_be_placed(one) and (place := place_of(one, places, text))
    }
    by_key: dict[str, dict[str, float]] = defaultdict(dict)
    for key, one, weight in _keys(anchors, mentioned):
        is_place = key.startswith("id:") and one in chain.from_iterable(placed.values())
        if one not in within and not is_place:
            by_key[key][one] = max(weight, by_key[key].get(one, 0.0))
    return _Details(
        dict(by_key),
        spoken | commands,
        placed | of_pronouns | scopes,
        details,
        dict(_headed(anchors, text)),
        frozenset(_arguments(anchors, text)),
        mentioned.asked_flags,
        frozenset(words).union(*(word.split("-") for word in words)),
        not (commands or any(map(_runs_a_tool, mentioned.commands)) or EVERYDAY_TOOLS.intersection(words))
        and len(text) <= READ_CHARS,
        frozenset(one for one in anchors if " " not in one and is_subject(one, text)),
    )


def _runs_a_tool(words: str) -> bool:
    tool, *rest = words.split()
    return tool in EVERYDAY_TOOLS or any(word.startswith("-") for word in rest)


def _scope(anchor: str, text: str) -> tuple[str, ...]:
    return scope_of(anchor, text) or (place_before(anchor, text) if _is_generic(anchor) else ())


def _is_generic(command: str) -> bool:
    """Return whether many projects and folders have this very command: `cargo test`, not `make lint-api`."""
    words = [word for word in command.split() if word[0] != "-"]
    return words[:1] != words and words[0] in EVERYDAY_TOOLS and not any(map(is_distinctive, words))


def _can_be_scoped(anchor: str) -> bool:
    """Return whether it is a command, call, flag or exception, or a file name that several folders may have."""
    is_form = " " in anchor or anchor.startswith("-") or anchor.endswith(("()", "Error", "Exception"))
    return is_form or ("/" not in anchor and kind_of(anchor) is Kind.PATH)


def _can_be_of_error(anchor: str) -> bool:
    kinds = (Kind.COMMAND, Kind.MESSAGE) if " " in anchor else (Kind.IDENTIFIER, Kind.CODE)
    return kind_of(anchor) in kinds


def _can_be_placed(name: str) -> bool:
    """Return whether it is a name or setting, which is written, not run."""
    return kind_of(name) in (Kind.IDENTIFIER, Kind.LITERAL)


def _headed(anchors: Sequence[str], text: str) -> Iterator[tuple[str, list[str]]]:
    """Each code that starts a message, with the words of that: E0277 alone is any bound that is not met."""
    for code in (one for one in anchors if kind_of(one) is Kind.CODE):
        said = re.search(rf"{re.escape(code)}(?:: ([^`\n]+)`|[\])]?:? [\"“'`]([^\"”'`\n]+)[\"”'`])", text)
        if said and (words := _content_words(said[1] or said[2])):
            yield code, words


def _arguments(anchors: Sequence[str], text: str) -> Iterator[str]:
    commands = [one for one in anchors if kind_of(one) is Kind.COMMAND and one.split()[0] not in _OF_CODE]
    named = {word for one in commands for word in one.split()[1:]}.intersection(anchors)
    rest = re.sub("|".join(map(re.escape, commands)), "", text) if named else ""
    return (name for name in named if name not in rest)


def _match(memory: str, anchors: Mapping[str, float]) -> Match:
    ordered = sorted(anchors, key=lambda anchor: (-anchors[anchor], anchor))
    score = anchors[ordered[0]] + ANOTHER * (len(ordered) - 1)
    return Match(memory, round(score, 4), tuple(ordered))


# The keys of a memory


def _keys(anchors: Sequence[str], mentioned: Mentions) -> Iterator[tuple[str, str, float]]:
    """Yield the keys of a memory, each with its anchor, and how specific it is for that."""
    yield from ((key, one, weight) for one in anchors for key, weight in _keys_of(one))
    yield from ((key, one, weight) for one in mentioned.commands for key, weight in _command_keys(one))
    yield from ((f"type:{one}", one, NAME) for one in mentioned.types)
    yield from ((f"member:{one.partition('.')[0]}", one, NAME) for one in mentioned.members)
    yield from ((f"path:{one}", one, FILE_NAME) for one in mentioned.files)
    yield from ((f"said:{' '.join(one.split()[:2])}", one, ERROR) for one in mentioned.messages)
    yield from ((key, one, TOOL) for one in mentioned.tools for key in _tool_keys(one, bool(mentioned.asked_flags)))


def _tool_keys(tool: str, is_flag_asked: bool) -> Iterator[str]:
    """Yield the keys of a tool: its calls without a subcommand, and all of its calls if the note asks for a flag.

    An everyday tool has too many uses: it needs a flag, and then has only the first key.
    """
    is_everyday = tool in EVERYDAY_TOOLS
    if is_flag_asked or not is_everyday:
        yield f"alone:{tool}"
    if (is_flag_asked and not is_everyday) or is_distinctive(tool):
        yield f"tool:{tool}"


def _keys_of(anchor: str) -> Iterator[tuple[str, float]]:
    kind = kind_of(anchor)
    if kind is Kind.PATH or kind is Kind.FOLDER:
        yield from _path_keys(anchor.strip(), is_folder=kind is Kind.FOLDER)
    elif kind is Kind.GLOB:
        fixed = _fixed_folder(anchor)
        yield f"glob:{fixed}", _folder_weight(fixed) if anchor.endswith(_ALL_BELOW) else GLOB
    elif kind is Kind.FLAG:
        yield f"flag:{flag_name(anchor)}", FLAG
    elif kind is Kind.CODE:
        yield f"code:{anchor}", ERROR
    elif kind is Kind.IDENTIFIER:
        yield from _name_keys(anchor)
    elif kind is Kind.LITERAL:
        yield from _literal_keys(anchor)
    elif _STATUS.fullmatch(anchor):
        yield f"status:{anchor}", ERROR
    elif kind is not None:
        yield from (*_command_keys(anchor), *_message_keys(anchor, kind))


def _message_keys(text: str, kind: Kind) -> Iterator[tuple[str, float]]:
    if words := _content_words(text):
        yield f"msg:{max(words, key=len)}", ERROR
        return
    if kind is Kind.MESSAGE and len(said := error_words(text)) > 1:
        yield f"said:{' '.join(said[:2])}", ERROR
    else:
        yield from ((f"err:{word}", ERROR) for word in text.split() if word[0] != "-" and is_distinctive(word))
    yield from ((f"code:{code}", ERROR) for code in _CODE.findall(text))


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


def _name_keys(anchor: str) -> Iterator[tuple[str, float]]:
    name = anchor.removesuffix("()").replace("::", ".").strip("@")
    parts = name.split(".")
    if is_distinctive(name):
        yield f"id:{name}", NAME
        yield f"dir:{name}", _folder_weight(name)
    elif "." not in name and name == anchor and name not in EVERYDAY_TOOLS | TOLD and len(name) > 3:
        yield f"tool:{name}", TOOL
    if (name.isupper() or CONSTANT.fullmatch(name)) and len(name) > 4:
        yield f"code:{name}", ERROR
        yield f"lit:{name}", LITERAL
        if "_" in name:
            yield f"id:{_in_camel_case(name)}", NAME  # DEADLINE_EXCEEDED is DeadlineExceeded in Go
    if "." in anchor and name == anchor:
        yield f"path:{name}", FILE_NAME  # of an ending that is not known
    if len(parts) > 2 or (len(parts) > 1 and anchor.endswith("()")):
        if is_distinctive(parts[-1]):
            yield f"id:{parts[-1]}", NAME
        for size in range(2, len(parts) + 1):
            yield f"module:{'/'.join(parts[:size])}", MODULE


def _in_camel_case(constant: str) -> str:
    return "".join(part.capitalize() for part in constant.split("_"))


def _fixed_part(anchor: str) -> str:
    """Return an address up to its first placeholder: `s3://lake/<zone>/<table>/`."""
    return re.split(r"<|\{|\*", anchor, maxsplit=1)[0] if "://" in anchor else anchor


def _literal_keys(anchor: str) -> Iterator[tuple[str, float]]:
    """Yield the key of a setting or expression: the name, if the value is a number or a boolean, or of a variable."""
    name = re.split(r"[\s=:]", anchor, maxsplit=1)[0]
    if is_distinctive(name) and (CONSTANT.fullmatch(name) or _VALUE.search(anchor) or _ONE_WORD.search(anchor)):
        yield f"id:{name}", NAME
    elif _VALUE.search(anchor):
        return
    elif (len(_packed(anchor)) > 6 or _SHORT_LITERAL.fullmatch(anchor)) and (first := _IDENTIFIER.search(anchor)):
        yield f"lit:{re.split(r'[.:]', first[0])[0]}", LITERAL


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


def _fixed_folder(glob: str) -> str:
    """Return the folders before the first wildcard or placeholder."""
    head = GAP.split(glob.removeprefix("./"), maxsplit=1)[0]
    return head.rpartition("/")[0].strip("/")


def _glob(glob: str) -> re.Pattern[str]:
    """Return the pattern of a glob: at the end of a path, or for a folder anywhere in it.

    A wildcard or placeholder is a part of a name, `**` any number of folders. `clients/*` includes folders, and so all
    files below them.
    """
    is_folder = glob.endswith(_ALL_BELOW)
    pieces = re.split(r"(<[^<>\s]*>|\*+)", glob.removeprefix("./"))
    pattern = "".join(
        (".*" if piece == "**" else "[^/]*") if at % 2 else re.escape(piece) for at, piece in enumerate(pieces)
    )
    return re.compile(rf"(?:^|/){pattern}{'' if is_folder else '$'}")


# The keys of a call


class _Asked:
    """A tool call, and the data derived from it, each computed on first use."""

    def __init__(self, action: Action) -> None:
        self.action: Action = action

    @property
    def keys(self) -> dict[str, None]:
        return dict.fromkeys((*self._of_error(), *self._of_paths(), *self._of_commands(), *self._of_text()))

    @cached_property
    def touched(self) -> frozenset[str]:
        """The keys of the files that are written, not run."""
        return frozenset(key for path in self.action.paths for key in _suffixes(path))

    @cached_property
    def said(self) -> list[str]:
        return error_words(both_ends(self.action.error))

    @cached_property
    def started(self) -> frozenset[str]:
        return frozenset(tool for words in self.action.commands for tool, _ in programs(words))

    @cached_property
    def hosts(self) -> frozenset[str]:
        return frozenset(host for words in self.action.commands for host in hosts(words))

    @property
    def packages(self) -> Sequence[str]:
        run = (name for words in self.action.commands for name in packages(words) if len(name) > 2)
        return (*run, *sorted(self.action.packages))

    @cached_property
    def packed(self) -> str:
        """All text that is written or run, without spaces."""
        return _packed(" ".join((self.action.written, *(word for words in self.action.commands for word in words))))

    @cached_property
    def _everything(self) -> str:
        action = self.action
        words = (word for words in action.commands for word in words)
        return "\n".join((*action.paths, *words, action.directory, action.written, both_ends(action.error)))

    def is_about(self, name: str) -> bool:
        if " " in name:
            return all(map(self.is_about, name.split()))
        bare = name.strip("/")  # search the plain string first: compiling the pattern is slow
        return bare in self._everything and bool(re.search(rf"(?<![\w-]){re.escape(bare)}(?![\w-])", self._everything))

    def reports(self, message: str) -> bool:
        """Return whether the error has the words of the message, and of a command its names: errors advise commands."""
        if not is_reported(_content_words(message), self.said):
            return False
        words = message.split() if kind_of(message) is Kind.COMMAND else []
        named = (word for word in words if _NAMED_ARGUMENT.fullmatch(word) and is_distinctive(word))
        return len(words) > MOST_OF_COMMAND or self.has_said([*named])

    def has_said(self, names: Sequence[str]) -> bool:
        """Return whether the error has all of these names; of a path outside the project, the last part is enough.

        A number behind an underscore is a counter: "_pg3_7" matches "_pg3_12".
        """
        bare = (name.rpartition("/")[2] or name if name[0] in "/~" else name for name in names)
        forms = (_COUNTER.sub(r"_\\d+", re.escape(name)) for name in bare)
        error = both_ends(self.action.error)
        return all(re.search(rf"(?<![\w-]){form}(?![\w-])", error) for form in forms)

    def says_half(self, words: Sequence[str]) -> bool:
        return 2 * len({*words}.intersection(self.said)) >= len(words)

    def runs(self, command: Command) -> bool:
        """Return whether the call runs the command; arguments that are only read count as values of flags only."""
        if not command.piped <= self.started:
            return False
        whole = self.action.lines or self.action.commands
        for words, line, place in zip(self.action.commands, whole, self.places, strict=True):
            if is_run(command, words, place) and has_all(command.flags, line, place):
                return True
        return False

    @cached_property
    def places(self) -> list[str]:
        """The folder in which each command is run."""
        place, places = self.action.directory, []
        for words in self.action.commands:
            if words[0] in _ENTERING:
                place = posixpath.normpath(posixpath.join(place, *words[1:2]))
            places.append(place)
        return places

    def runs_or_reports(self, name: str) -> bool:
        words = (word for line in self.action.commands for word in line)
        return any(name in one for one in (*words, self.action.error))

    def names(self, program: str) -> bool:
        """Return whether the call names this program, not one of the same name in another folder."""
        return any(word.removeprefix("./") == program for line in self.action.commands for word in line)

    def complies_with(self, flags: frozenset[str]) -> bool:
        """Return whether a command has the flags that a note asks for."""
        return bool(flags) and any(has_all(flags, line) for line in self.action.commands)

    def has(self, words: Sequence[str], flags: frozenset[str]) -> bool:
        """Return whether a command has these words and flags."""
        lines = ((line, {*positional(line), *map(flag_name, line)}) for line in self.action.commands)
        return any(known.issuperset(words) and has_all(flags, line) for line, known in lines)

    def tools_with(self, flag: str) -> set[str]:
        """Return the words before the first flag, of each command that has this one."""
        having = (words for words in self.action.commands if flag in map(flag_name, words))
        return {
            word.rpartition("/")[2].lower()
            for words in having
            for word in words[: next(at for at, one in enumerate(words) if one.startswith("-"))][:HEAD_WORDS]
        }

    def _of_error(self) -> Iterator[str]:
        error = both_ends(self.action.error)
        if not error:
            return
        codes = [one for one in _CODE.findall(error) if one not in _LEVELS]
        yield from (f"code:{one}" for one in codes)
        yield from (f"id:{_in_camel_case(one)}" for one in codes if "_" in one)
        yield from (f"status:exit code {one}" for one in EXIT_CODE.findall(error))
        yield from (f"status:HTTP {one}" for one in HTTP_STATUS.findall(error))
        yield from (f"id:{one}" for one in _EXCEPTION.findall(error) if one not in COMMON_EXCEPTIONS)
        named = {*_KEBAB.findall(error), *filter(is_distinctive, _QUOTED_NAME.findall(error))}
        whole = (one.replace("::", ".") for one in _IDENTIFIER.findall(error))
        named |= {one for one in whole if "." in one and is_distinctive(one)}
        named |= {*filter(is_distinctive, _ACCUSED.findall(error))}
        types = [one or other for one, other in _USED_TYPE.findall(error)]
        yield from (f"{kind}:{one}" for one in types if one not in COMMON_EXCEPTIONS for kind in ("type", "id"))
        yield from (f"path:{one}" for one in _NAMED_FILE.findall(error))
        yield from (f"{kind}:{one}" for one in sorted(named) for kind in ("id", "err"))
        yield from (f"msg:{word}" for word in self.said)
        yield from (f"said:{' '.join(pair)}" for pair in pairwise(self.said))

    def _of_paths(self) -> Iterator[str]:
        for path in self.action.paths:
            yield from _suffixes(path)
            yield from _folders(path)
            parts = path.split("/")
            stem = parts[-1].partition(".")[0]
            yield from (f"dir:{part}" for part in parts[:-1] if is_distinctive(part))
            yield from (f"id:{stem}" for _ in (stem,) if is_distinctive(stem))
            yield from (f"type:{stem}", f"member:{stem}")
            modules = [*parts[:-1], stem]
            yield from (f"module:{'/'.join(modules[at:])}" for at in range(max(0, len(modules) - 5), len(modules) - 1))

    def _of_commands(self) -> Iterator[str]:
        place = ""
        for words in self.action.commands:
            if words[0] == "cd":
                place = posixpath.join(place, *words[1:2])
            started = dict(programs(words))
            yield from (f"tool:{tool}" for tool in started)
            yield from (f"alone:{tool}" for tool, told in started.items() if _is_alone(tool, told, words))
            yield from (f"{kind}:{host}" for host in self.hosts for kind in ("alone", "tool"))
            yield from (f"alone:{name}" for told, name in pairwise(words) if told in OF_SERVICES)
            for line in readings(words):
                yield from (f"cmd:{tool} {place}" for tool, given in pairwise(line) for place in _places(given))
                yield from (f"cmd:{line[0]} {last}" for last in line[2:][-1:])
            flags = [flag_name(word) for word in words if word.startswith("-")]
            yield from (f"flag:{flag}" for flag in flags)
            named = [*words[:HEAD_WORDS], *map(base, words[:HEAD_WORDS])]
            heads = dict.fromkeys((*named, *map(without_release, named)))
            yield from (f"cmd:{word} {flag}" for word in heads for flag in flags)
            yield from (f"id:{one.strip('-').partition('-')[0]}-{word}" for word in words[1:2] for one in flags)
            for before, word in pairwise(("", *words)) if words[0] not in _ENTERING else ():
                if not _SELECTING.fullmatch(before):
                    yield from _argument_keys(word, place)
                    yield from _names(word) if words[0] != "git" else ()  # its arguments are branches and messages

    def _of_text(self) -> Iterator[str]:
        if not all(path.endswith(_PROSE_FILES) for path in self.action.paths):
            yield from (f"type:{one or other}" for one, other in _USED_TYPE.findall(self.action.written))
        yield from (f"path:{one}" for one in _IMPORTED.findall(self.action.written))
        yield from (f"flag:{one}" for one in _LONE_FLAG.findall(self.action.written))
        yield from _names(self.action.written)
        for name in dict.fromkeys(re.findall(r"[A-Za-z_$][\w$]*", self.action.written)):
            yield from (f"lit:{name}", f"member:{name}")
        yield from (
            f"lit:{one}" for words in self.action.commands for word in words for one in re.findall(r"\w+", word)
        )


def _argument_keys(word: str, place: str) -> Iterator[str]:
    for part in re.split(r"[\s;@]+", word):
        if part.startswith("~/"):
            yield from _folders(part)
        if "/" in part or "." in part:
            yield from _suffixes(posixpath.join(place, part.removeprefix("./")))
    if _WHOLE_CODE.fullmatch(word):
        yield f"code:{word}"


def _places(argument: str) -> Iterator[str]:
    """Yield the argument, and the folders above it if it is a path."""
    yield argument
    parts = argument.split("/")
    yield from ("/".join(parts[:end]) for end in range(1, min(len(parts), DEEPEST)))


def _is_alone(tool: str, told: Sequence[str], words: Sequence[str]) -> bool:
    """Return whether a tool is run without a subcommand; an everyday tool not with a long flag either."""
    is_mode = tool in EVERYDAY_TOOLS and words[1:] and words[1].startswith("--")
    is_told = bool(told) and is_subcommand(told[0]) and (len(told) > 1 or told[0] in TOLD)
    return not is_mode and not is_told


def _names(text: str) -> Iterator[str]:
    for name in dict.fromkeys(_IDENTIFIER.findall(text)):
        parts = name.replace("::", ".").split(".")[:DEEPEST]
        for size in (1, 2, 3):
            runs = (".".join(parts[at : at + size]) for at in range(len(parts) - size + 1))
            yield from (f"id:{run}" for run in runs if is_distinctive(run))
    yield from (f"id:{name}" for name in dict.fromkeys(_KEBAB.findall(_COMPOUND.sub(" ", text))))


def _suffixes(path: str) -> Iterator[str]:
    parts = path.removeprefix("./").split("/")
    for at in range(max(0, len(parts) - DEEPEST), len(parts)):
        yield f"path:{'/'.join(parts[at:])}"
    stem = parts[-1].partition(".")[0]
    if BARE_FILE.fullmatch(stem):
        yield f"path:{stem}"


def _folders(path: str) -> Iterator[str]:
    """Yield the keys of every run of folders above the file, for folders and for globs."""
    parts = path.split("/")[:-1][-DEEPEST:]
    yield "glob:"
    for start in range(len(parts)):
        for end in range(start + 1, len(parts) + 1):
            run = "/".join(parts[start:end])
            yield from (f"folder:{run}", f"glob:{run}")


def _packed(text: str) -> str:
    return "".join(text.split())


# Messages


def _content_words(message: str) -> list[str]:
    """Return the words that an error must have; none if the message has too few to be recognised."""
    words = message_words(message)
    content = [word for word in words if len(word) > 3]
    if len(content) > 2 or (len(content) == 2 and min(map(len, content)) > 5):
        return content
    return words if content and len(words) > 3 else []
