"""Find the memories whose anchors a tool call touches: exactly, from memory, without an embedding.

Every anchor is filed under keys; a tool call asks for its own keys. What a key alone cannot decide (a glob, a phrase,
a flag of which command) is checked against the call.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice, pairwise

from memhook.core.actions import Action, both_ends, message_words
from memhook.core.anchors import BARE_FILES, COMMON_EXCEPTIONS, EVERYDAY_TOOLS, EXIT_CODE, Kind, is_distinctive, kind_of

MOST_SHARING = 6  # memories of one name: more of them make it a word of the project, not an anchor
HEAD_WORDS = 3
DEEPEST = 12  # folders of a path
CLAUSE = 60  # characters around a command that tell whether it is asked for
GAP = 8  # words of an error between two of a message

# How specific a match is: the best come first.
ERROR = PATH = 1.0
COMMAND = 0.95
FLAG = FIRST_WORDS = FILE_NAME = 0.9
MODULE = 0.85
GLOB = 0.8
LITERAL = 0.75
NAME = 0.7
TOOL = 0.6
FOLDER = 0.4  # and a twentieth for each level
ANOTHER = 0.01  # anchor of the same memory

_IDENTIFIER = re.compile(r"[A-Za-z_$][\w$]*(?:(?:\.|::)[A-Za-z_$][\w$]*)*")
_KEBAB = re.compile(r"(?<![\w-])[A-Za-z][A-Za-z0-9]*(?:-[A-Za-z0-9]+)+")
_COMPOUND = re.compile(
    r"(?<=[a-z,] )[a-z]+(?:-[a-z]+)+(?=[.,)]|\s[a-z(])"
)  # in a sentence: "a case-insensitive search"
_CODE = re.compile(
    r"(?<![\w-])(?:0x[\dA-Fa-f]{4,16}|[A-Z]{1,5}-?\d{2,6}|[A-Z]{1,8}(?:-[A-Z]{2,8})+-\d{1,6}|\d{4,7}|[A-Z]{5,}|[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)(?![\w-])"
)
_QUOTED_NAME = re.compile(r"[`'\"‘]([A-Za-z_$][\w$.]{2,80})[`'\"’]")
_GLUED = re.compile(r"-[A-Za-z]\d+")  # -j16
_VALUED = re.compile(r"-[A-Za-z]")
_PLAIN_VALUE = re.compile(r"[\w.]+")
_WITH = r"\s+(?:(?:using|with)\s+)?"
_WHOLE_CODE = re.compile(r"[A-Z]{1,5}-?\d{3,6}")
_LEVELS = frozenset(("DEBUG", "ERROR", "FAILED", "FATAL", "WARNING"))
_EXCEPTION = re.compile(r"\b(?:[A-Z][a-z0-9]+){3,}\b|\b\w+(?:Error|Exception)\b")
_VARIABLE = re.compile(r"[A-Z_][A-Z0-9_]*=")
_HOME = re.compile(r"^(?:\.|~|\$\w+|\$\{\w+\})/")
_ALL_BELOW = ("/", "/*", "**")
_GAP = re.compile(r"<[^<>\s]*>|\*+")
_VALUE = re.compile(r"[=:]\s*[\"']?(?:true|false|none|null|yes|no|on|off|[\d.]+\w?)[\"']?\W*$", re.IGNORECASE)

# In the clause in front of a command, or behind it.
_FORBIDDEN = re.compile(r"\b(?:never|not|don't|no|nor|avoid|nie|nicht|kein|keine|nunca|no|jamais|pas)\b[^.;:\n]*$")
_ASKED_FOR = re.compile(
    r"\b(?:always|by|execute|must|need|needs|run|runs|through|use|uses|using|via|with"
    r"|immer|mit|nimm|nutze|per|verwende|con|siempre|usa|avec|toujours|utilise)\b[^.;\n]*$|[:→]\W*$"
)
_UNREAD = re.compile("[\u0370-\u1fff\u2e80-\ud7ff]")  # scripts of languages that the patterns do not know
_REFUSED = re.compile(r"[`\s]*(?:is |are )?(?:banned|forbidden|never|not|verboten|nie|nunca|jamais)\b")
_NEEDED = re.compile(r"[`\s]*(?:is|are)? ?(?:needed|required|mandatory|first|instead)\b")

_Filed = tuple[str, str, float]
"""The memory's id, its anchor, and how specific the key is for it."""
_Told = tuple[str, frozenset[str]]
"""What a script is told to do, and the flags of which a call must have one."""


@dataclass(frozen=True, slots=True)
class Match:
    """A memory and the anchors that the call touches, the most specific first."""

    memory: str
    score: float
    anchors: tuple[str, ...]


class AnchorIndex:
    """The anchors of memories, each with the text they were taken from; a memory that changed is filed again."""

    def __init__(self) -> None:
        self._filed: dict[str, list[_Filed]] = defaultdict(list)
        self._keys: dict[str, tuple[str, ...]] = {}
        self._words: dict[str, frozenset[str]] = {}
        self._flags: dict[str, dict[str, frozenset[str]]] = {}
        self._told: dict[str, dict[str, list[_Told]]] = {}

    def file(self, memory: str, anchors: Sequence[str], text: str) -> None:
        self.remove(memory)
        filed = [(key, (memory, anchor, weight)) for anchor in anchors for key, weight in _keys_of(anchor)]
        for key, entry in filed:
            self._filed[key].append(entry)
        self._keys[memory] = tuple({key for key, _ in filed})
        if needed := {anchor: flags for anchor in anchors if (flags := _needed_flags(anchor, text))}:
            self._flags[memory] = needed
        if told := _told_to_scripts(anchors, text):
            self._told[memory] = told
        if any(anchor.startswith("-") for anchor in anchors):
            words = re.findall(r"\w[\w.-]*\w", text.lower())
            self._words[memory] = frozenset(words).union(*(word.split("-") for word in words))

    def remove(self, memory: str) -> None:
        self._words.pop(memory, None)
        self._flags.pop(memory, None)
        self._told.pop(memory, None)
        for key in self._keys.pop(memory, ()):
            left = [entry for entry in self._filed.pop(key) if entry[0] != memory]
            if left:
                self._filed[key] = left

    def matches(self, action: Action) -> list[Match]:
        """The best first; ties keep the order of their ids."""
        asked = _Asked(action)
        found: dict[str, dict[str, float]] = defaultdict(dict)
        for key in asked.keys:
            filed = self._filed.get(key, ())
            if len(filed) > MOST_SHARING and not key.startswith(("path:", "cmd:")):
                continue
            for memory, anchor, weight in filed:
                if self._holds(key, memory, anchor, asked):
                    known = found[memory]
                    known[anchor] = max(weight, known.get(anchor, 0.0))
        return sorted((_match(*one) for one in found.items()), key=lambda one: (-one.score, one.memory))

    def _holds(self, key: str, memory: str, anchor: str, asked: _Asked) -> bool:
        kind, _, rest = key.partition(":")
        if kind == "cmd" and (flags := self._flags.get(memory, {}).get(anchor)):
            return asked.runs(rest.split(), flags)
        if kind == "path" and (told := self._told.get(memory, {}).get(rest)):
            return key in asked.touched or any(asked.runs([word], flags) for word, flags in told)
        if kind == "flag":
            return not asked.tools_with(_flag(anchor)).isdisjoint(self._words[memory])
        if kind == "msg":
            return _is_said(_content_words(anchor), asked.message)
        if kind == "lit":
            return _packed(anchor) in asked.packed
        return kind != "glob" or any(map(_glob(anchor).search, asked.action.paths))


def _needed_flags(anchor: str, text: str) -> frozenset[str]:
    """The flags of a command, one of which a call must have to be what the text is about.

    "Never `git push --force`" says nothing of other pushes. "Run `npm ci --prefer-offline`" is about every `npm ci`;
    so is a call with several flags that is not forbidden, which is a recipe.
    """
    if kind_of(anchor) is not Kind.COMMAND:
        return frozenset()
    flags = frozenset(_flags_of(anchor.split()))
    found = re.search(_WITH.join(map(re.escape, anchor.split())), text) if flags else None
    if not found:
        return flags
    clause, rest = text[: found.start()][-CLAUSE:].lower(), text[found.end() :][:CLAUSE].lower()
    if _FORBIDDEN.search(clause) or _REFUSED.match(rest):
        return flags
    is_recipe = len(flags) > 1 or _ASKED_FOR.search(clause) or _NEEDED.match(rest) or _UNREAD.search(clause)
    return frozenset() if is_recipe else flags


def _flags_of(words: Sequence[str]) -> Iterator[str]:
    """The flags of a command, a short one with the word behind it, which is its value: `-L hardware`."""
    for word, behind in pairwise((*words, "")):
        if word.startswith("-") and word.strip("-"):
            value = word[2:] if _GLUED.fullmatch(word) else behind if _VALUED.fullmatch(word) else ""
            yield f"{_flag(word)} {value}" if _PLAIN_VALUE.fullmatch(value) else _flag(word)


def _told_to_scripts(anchors: Sequence[str], text: str) -> dict[str, list[_Told]]:
    """What each script is told to do: a memory on one of its commands is none on the others."""
    told = defaultdict(list)
    for anchor in anchors:
        words = anchor.split()
        for at, (script, word) in enumerate(islice(pairwise(words), 2)):  # `python manage.py flush`
            if (not at or "." in script) and word[0] != "-" and kind_of(script) is Kind.PATH:
                told[script.removeprefix("./")].append((word, _needed_flags(anchor, text)))
    return dict(told)


def _match(memory: str, anchors: Mapping[str, float]) -> Match:
    ordered = sorted(anchors, key=lambda anchor: (-anchors[anchor], anchor))
    score = anchors[ordered[0]] + ANOTHER * (len(ordered) - 1)
    return Match(memory, round(score, 4), tuple(ordered))


# The keys of an anchor


def _keys_of(anchor: str) -> Iterator[tuple[str, float]]:
    kind = kind_of(anchor)
    if kind is Kind.PATH or kind is Kind.FOLDER:
        yield from _path_keys(anchor.strip(), is_folder=kind is Kind.FOLDER)
    elif kind is Kind.GLOB:
        fixed = _fixed_folder(anchor)
        yield f"glob:{fixed}", _folder_weight(fixed) if anchor.endswith(_ALL_BELOW) else GLOB
    elif kind is Kind.FLAG:
        yield f"flag:{_flag(anchor)}", FLAG
    elif kind is Kind.CODE:
        yield f"code:{anchor}", ERROR
    elif kind is Kind.IDENTIFIER:
        yield from _name_keys(anchor)
    elif kind is Kind.LITERAL:
        yield from _literal_keys(anchor)
    elif kind is not None:
        yield from _command_keys(anchor.split())
        if words := _content_words(anchor):
            yield f"msg:{max(words, key=len)}", ERROR
        else:
            yield from ((f"err:{word}", ERROR) for word in anchor.split() if word[0] != "-" and is_distinctive(word))


def _path_keys(path: str, *, is_folder: bool) -> Iterator[tuple[str, float]]:
    """A path that starts with a slash is one outside of the project, or an address of a site."""
    bare = _HOME.sub("", path).rstrip("/")
    is_file = not is_folder and ("." in bare.rpartition("/")[2] or bare in BARE_FILES)
    if is_file:
        yield f"path:{bare}", PATH if "/" in bare else FILE_NAME
    else:
        yield f"folder:{bare}", _folder_weight(bare)
        yield f"path:{bare}", _folder_weight(bare)


def _folder_weight(path: str) -> float:
    return FOLDER + 0.05 * min(path.count("/"), 5)


def _name_keys(anchor: str) -> Iterator[tuple[str, float]]:
    name = anchor.removesuffix("()").replace("::", ".").strip("@")
    parts = name.split(".")
    if is_distinctive(name):
        yield f"id:{name}", NAME
    elif "." not in name and name == anchor and name not in EVERYDAY_TOOLS and len(name) > 3:
        yield f"tool:{name}", TOOL
    if name.isupper() and len(name) > 4:
        yield f"code:{name}", ERROR
    if len(parts) > 2 or (len(parts) > 1 and anchor.endswith("()")):
        if is_distinctive(parts[-1]):
            yield f"id:{parts[-1]}", NAME
        for size in range(2, len(parts) + 1):
            yield f"module:{'/'.join(parts[:size])}", MODULE


def _literal_keys(anchor: str) -> Iterator[tuple[str, float]]:
    """With a number or yes or no as its value, only the name of a setting tells it from others."""
    name = re.split(r"[\s=:]", anchor, maxsplit=1)[0]
    if _VALUE.search(anchor):
        if is_distinctive(name):
            yield f"id:{name}", NAME
    elif len(_packed(anchor)) > 6 and (first := _IDENTIFIER.search(anchor)):
        yield f"lit:{re.split(r'[.:]', first[0])[0]}", LITERAL


def _command_keys(words: Sequence[str]) -> Iterator[tuple[str, float]]:
    end = next((at for at, word in enumerate(words) if word in ("|", ">", "<", "&&") or _GAP.search(word)), len(words))
    words = [re.sub(r"[\"']", "", word) for word in words[:end] if not _VARIABLE.match(word)]
    for line in {_positional(words), _positional(words, without_values=True)}:
        if len(line) > 1:
            head = line[:HEAD_WORDS]
            yield f"cmd:{' '.join(head)}", COMMAND if len(head) > 2 or len(line) == len(words) else FIRST_WORDS
        elif line:
            yield from ((f"cmd:{line[0]} {_flag(one)}", FLAG) for one in words if one.startswith("-"))
    for word in words:
        if "/" in word and kind_of(word) is Kind.PATH and "." in word.rpartition("/")[2]:
            yield f"path:{word.removeprefix('./')}", PATH


def _positional(words: Sequence[str], *, without_values: bool = False) -> tuple[str, ...]:
    """The words of a command that are no flags; without what may be the value of the flag before it."""
    kept = [
        word
        for before, word in pairwise(("", *words))
        if not word.startswith("-") and not (without_values and before.startswith("-") and "=" not in before)
    ]
    return tuple(word.removeprefix("./") for word in kept)


def _flag(word: str) -> str:
    return word[:2] if _GLUED.fullmatch(word) else word.partition("=")[0]


def _fixed_folder(glob: str) -> str:
    """The folders before the first gap."""
    head = _GAP.split(glob.removeprefix("./"), maxsplit=1)[0]
    return head.rpartition("/")[0].strip("/")


def _glob(glob: str) -> re.Pattern[str]:
    """At the end of a path, or for a folder anywhere in it; one gap is a part of a name, `**` any number of folders.

    `clients/*` are files and folders, so that all below it is meant.
    """
    is_folder = glob.endswith(_ALL_BELOW)
    pieces = re.split(r"(<[^<>\s]*>|\*+)", glob.removeprefix("./"))
    pattern = "".join(
        (".*" if piece == "**" else "[^/]*") if at % 2 else re.escape(piece) for at, piece in enumerate(pieces)
    )
    return re.compile(rf"(?:^|/){pattern}{'' if is_folder else '$'}")


# The keys of a call


class _Asked:
    """A tool call with what is derived from it, each part when it is first needed."""

    def __init__(self, action: Action) -> None:
        self.action = action

    @property
    def keys(self) -> dict[str, None]:
        return dict.fromkeys((*self._of_error(), *self._of_paths(), *self._of_commands(), *self._of_text()))

    @cached_property
    def touched(self) -> frozenset[str]:
        """The keys of the files that are written, not run."""
        return frozenset(key for path in self.action.paths for key in _suffixes(path))

    @cached_property
    def message(self) -> list[str]:
        return message_words(both_ends(self.action.error))

    @cached_property
    def packed(self) -> str:
        """What is written or run, without spaces."""
        return _packed(" ".join((self.action.written, *(word for words in self.action.commands for word in words))))

    def runs(self, words: Sequence[str], flags: frozenset[str]) -> bool:
        """Whether a command has these words and one of these flags, if there are any."""
        lines = ({*_positional(line), *map(_flag, line), *_flags_of(line)} for line in self.action.commands)
        return any(line.issuperset(words) and not (flags and flags.isdisjoint(line)) for line in lines)

    def tools_with(self, flag: str) -> set[str]:
        """The command words before the first flag of each command that has this one."""
        having = (words for words in self.action.commands if flag in map(_flag, words))
        return {
            word.rpartition("/")[2].lower()
            for words in having
            for word in words[: next(at for at, one in enumerate(words) if one.startswith("-"))][:HEAD_WORDS]
        }

    def _of_error(self) -> Iterator[str]:
        error = both_ends(self.action.error)
        if not error:
            return
        yield from (f"code:{one}" for one in _CODE.findall(error) if one not in _LEVELS)
        yield from (f"cmd:exit code {one}" for one in EXIT_CODE.findall(error))
        yield from (f"id:{one}" for one in _EXCEPTION.findall(error) if one not in COMMON_EXCEPTIONS)
        named = {*_KEBAB.findall(error), *filter(is_distinctive, _QUOTED_NAME.findall(error))}
        yield from (f"{kind}:{one}" for one in sorted(named) for kind in ("id", "err"))
        yield from (f"msg:{word}" for word in self.message)

    def _of_paths(self) -> Iterator[str]:
        for path in self.action.paths:
            yield from _suffixes(path)
            yield from _folders(path)
            parts = path.split("/")
            stem = parts[-1].partition(".")[0]
            yield from (f"id:{part}" for part in (*parts[:-1], stem) if is_distinctive(part))
            modules = [*parts[:-1], stem]
            yield from (f"module:{'/'.join(modules[at:])}" for at in range(max(0, len(modules) - 5), len(modules) - 1))

    def _of_commands(self) -> Iterator[str]:
        for words in self.action.commands:
            yield f"tool:{words[0].rpartition('/')[2]}"
            for line in (_positional(words), _positional(words, without_values=True)):
                for size in (2, HEAD_WORDS):
                    yield from (f"cmd:{' '.join(line[at : at + size])}" for at in range(len(line) - size + 1))
            flags = [_flag(word) for word in words if word.startswith("-")]
            yield from (f"flag:{flag}" for flag in flags)
            yield from (f"cmd:{word} {flag}" for word in words[:HEAD_WORDS] for flag in flags)
            for word in words:
                if "/" in word or "." in word:
                    yield from _suffixes(word)
                if words[0] != "git":  # its arguments are branches and messages
                    yield from _names(word)
                if _WHOLE_CODE.fullmatch(word):
                    yield f"code:{word}"

    def _of_text(self) -> Iterator[str]:
        yield from _names(self.action.written)
        yield from (f"lit:{one}" for one in dict.fromkeys(re.findall(r"[A-Za-z_$][\w$]*", self.action.written)))
        yield from (
            f"lit:{one}" for words in self.action.commands for word in words for one in re.findall(r"\w+", word)
        )


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
    if stem in BARE_FILES:
        yield f"path:{stem}"


def _folders(path: str) -> Iterator[str]:
    """Every run of folders above the file, for folders and for globs."""
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
    """Those that must be there; empty when the message has too few to be recognised by."""
    words = [word for word in message_words(message) if len(word) > 3]
    is_long_enough = len(words) > 2 or (len(words) == 2 and min(map(len, words)) > 5)
    return words if is_long_enough else []


def _is_said(words: Sequence[str], error: Sequence[str]) -> bool:
    """Whether all the words occur in the error, in their order, none far from the one before."""
    starts = [at for at, word in enumerate(error) if word == words[0]][:50]
    return any(_goes_on(words[1:], error[start + 1 : start + 1 + (GAP + 1) * len(words)]) for start in starts)


def _goes_on(words: Sequence[str], error: Sequence[str]) -> bool:
    at = 0
    for word in words:
        near = error[at : at + GAP + 1]
        if word not in near:
            return False
        at += near.index(word) + 1
    return True
