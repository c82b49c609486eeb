"""Compare the commands that a memory names with those of a tool call.

command_of(anchor, text)            the command that a memory names, parsed
is_run(command, words)              whether a call runs that command
positional(words), flags_of(words)  the words of a command that are no flags, and its flags
programs(words)                     the programs that it starts, each with its arguments
packages(words)                     the packages that it adds to a project
hosts(words)                        the machines that it connects to
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise, takewhile

from memhook.core.actions import READERS
from memhook.core.anchors import Kind, kind_of
from memhook.core.directives import is_wanted
from memhook.core.sentences import CLAUSE, found_command
from memhook.patterns import regex

GAP = regex(r"<[^<>\s]*>|\*+")  # a placeholder
_FILLED_IN = regex(r"<[^<>]*>")  # also of several words: `make curve CSV=<lab file>`
_ENDS = ("|", ">", "<", "&&")
_PIPE = regex(r"(?<!\|)\|(?!\|)\s*([\w.-]+)")
_VARIABLE = regex(r"[A-Z_][A-Z0-9_]*=")
_GLUED = regex(r"-[A-Za-z](?:\d+|[${].*)")  # -j16, -j$(nproc), -I{}
_VALUE = regex(r"[^\s-]\S*")
_SUBCOMMAND = regex(r"[a-z][a-z-]*")
# Commands that run the command in their arguments; those that run it elsewhere may have the place before it.
_LAUNCHERS = regex(
    "bash|bunx|cargo|doas|env|exec|mix|mvn|nice|nohup|npx|php|pipx|pnpm|python3?|run|sh|sudo|time|timeout|uvx|watch|xargs|yarn"
)
_ELSEWHERE = ("exec", "run", "ssh")
_REMOTE = regex("autossh|mosh|rsync|scp|sftp|ssh|ssh-copy-id|sshfs")
_HOST = regex(r"(?:[\w.-]+@)?([A-Za-z][\w.-]*)(?::(?!//)\S*)?")
_ENTERING = ("autossh", "mosh", "sftp", "ssh", "ssh-copy-id")
_NAMED = regex(r"[a-z]+/[a-z][\w-]*")  # deployment/gateway
_RELEASE = regex(r"(?<=[a-z])-\d+$")
_OBJECT = regex(r"[a-z][\w-]*")
_KEBAB = regex(r"[a-z]\w*(?:-\w+)+")  # wasm32-wasip2
_MANAGERS = regex(
    "apk|apt|apt-get|brew|dnf|yum|bun|bundle|cargo|composer|conda|dotnet|flutter|gem|go|mix|npm|pip3?|pnpm|poetry|uv|yarn"
)
_ADDING = ("add", "get", "i", "install", "require")
_VERSION = regex(r"(?<=.)[@=<>~^\[:]")
_CHOOSING = regex(r"--[a-z][\w-]+ [A-Za-z][\w.-]*")
_LETTERS = {"-f": "--force", "-r": "--recursive"}  # which mean the same everywhere
_FILE = regex(r"[./]")  # after -f
_OF_FOLDER = regex("-C|--?[a-z-]*(?:cwd|dir|folder|path|prefix|root)[a-z-]*")

# Text before a recipe, which is about calls with or without its flags; or text in a language that is not parsed.
_RECIPE = regex(
    r"\b(?:by|con|execute|mit|nimm|nutze|per|runs?|through|usa|uses?|using|utilise|verwende|via|with)\b[^.;\n]*$"
    "|[:→]\\W*$|[\u0370-\u1fff\u2e80-\ud7ff][^.;\\n]*$",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Command:
    """A command: its words without flags, in each reading, and the flags that a call must have.

    If `is_spoken`, it is part of a sentence, so that its last words may belong to the sentence.
    """

    lines: tuple[tuple[str, ...], ...]
    flags: frozenset[str]
    is_spoken: bool = False
    named: frozenset[str] = frozenset()
    """The flags of a recipe that choose by name: `--profile prod` is not `--profile dev`, but a number may differ."""
    piped: frozenset[str] = frozenset()
    """The programs that it is piped to: `kubectl logs | tw -` is not about other logs."""


def command_of(anchor: str, text: str, *, is_spoken: bool = False) -> Command:
    words = command_words(anchor)
    named = frozenset(one for one in flags_of(words) if _CHOOSING.fullmatch(one))
    piped = frozenset(program for program in _PIPE.findall(anchor) if not READERS.fullmatch(program))
    return Command(readings(words), needed_flags(anchor, text), is_spoken, named, piped)


def command_words(anchor: str) -> list[str]:
    """Return the words of a command up to a pipe, redirection or placeholder, without variables and quotes."""
    words = _FILLED_IN.sub("<>", anchor).split()
    end = next((at for at, word in enumerate(words) if word in _ENDS or GAP.search(word)), len(words))
    return [re.sub(r"[\"']", "", word) for word in words[:end] if not _VARIABLE.match(word)]


def variables(anchor: str) -> list[str]:
    """Return the names of the variables that are set in front of a command."""
    return [word.partition("=")[0] for word in takewhile(_VARIABLE.match, anchor.split())]


def readings(words: Sequence[str]) -> tuple[tuple[str, ...], ...]:
    """Return the positional words, once with and once without those after flags, which may be values."""
    if not any(word.startswith(("-", "@")) for word in words):
        return (positional(words),)
    return tuple(dict.fromkeys((positional(words), positional(words, without_values=True))))


def positional(words: Sequence[str], *, without_values: bool = False) -> tuple[str, ...]:
    """Return the words of a command that are no flags; if `without_values`, without possible values of flags."""
    kept = [
        word
        for before, word in pairwise(("", *words))
        if not word.startswith("-") and not (without_values and _is_value(before, word))
    ]
    is_remote = any(map(_REMOTE.fullmatch, kept[:2]))
    plain = [_plain(_host(word) if is_remote else word) for word in kept]
    tools = (not at or _LAUNCHERS.fullmatch(plain[at - 1]) for at in range(len(plain)))
    return tuple(without_release(word) if is_tool else word for word, is_tool in zip(plain, tools, strict=True))


def hosts(words: Sequence[str]) -> Iterator[str]:
    """Yield the machines that a command logs in to or copies from or to: `ssh pi@tower uptime`, `scp a.txt tower:`."""
    kept = positional(words, without_values=True)
    tool = next(filter(_REMOTE.fullmatch, kept[:2]), "")
    named = (host for word in words if (host := _host(word)) != word)
    entered = kept[kept.index(tool) + 1 :][:1] if tool in _ENTERING else ()
    return iter((*named, *entered) if tool else ())


def _host(word: str) -> str:
    """Return the host in `pi@tower`, `tower:` or `tower:/etc`; any other word unchanged."""
    found = _HOST.fullmatch(word) if "@" in word or ":" in word else None
    return found[1] if found else word


def _is_value(before: str, word: str) -> bool:
    """Return whether a word may be the value of the flag before it, or the alias of a site: `drush @live`."""
    takes_one = before.startswith("-") and "=" not in before and not _GLUED.fullmatch(before)
    return takes_one or word.startswith("@")


def _plain(word: str) -> str:
    """Return a word without folders such as `vendor/bin/`, `.sh`, and the project of a task: `:app:test` is `test`."""
    bare = word.removesuffix(".sh").rpartition("/bin/")[2].rpartition("./")[2]
    bare = bare.removesuffix("/...").rstrip("/") or bare
    bare = bare.rpartition(":")[2] if bare.startswith(":") else bare
    return bare.lower() if bare.isupper() and bare.isalpha() else bare  # redis-cli FLUSHALL


def programs(words: Sequence[str]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield the programs that a command may start, with the words after each: npx and vitest in `npx vitest run`."""
    for line in readings(words):
        for at, word in enumerate(line):
            before = line[max(0, at - 2) : at]
            if not at or _LAUNCHERS.fullmatch(before[-1]) or any(one in _ELSEWHERE for one in before):
                yield base(word), line[at + 1 :]


def packages(words: Sequence[str]) -> Iterator[str]:
    """Yield the packages that a command adds, without version and without the address before the name."""
    for line in readings(words):
        if len(line) > 2 and _MANAGERS.fullmatch(line[0]) and line[1] in _ADDING:
            yield from (bare for one in line[2:] if (bare := _VERSION.split(one.rpartition("/")[2], maxsplit=1)[0]))


def base(program: str) -> str:
    """Return the name of a program without its folder and `.sh`."""
    return program.rpartition("/")[2].removesuffix(".sh")


def is_subcommand(word: str) -> bool:
    """Return whether a word may be a subcommand: no path, number or name with dots or underscores."""
    return bool(_SUBCOMMAND.fullmatch(word))


def without_release(tool: str) -> str:
    """Return `clang-format` for clang-format-17."""
    return _RELEASE.sub("", tool)


def flag_name(word: str) -> str:
    return word[:2] if _GLUED.fullmatch(word) else word.partition("=")[0]


def flags_of(words: Sequence[str]) -> Iterator[str]:
    """Yield the flags of a command, each with the word that may be its value: `-L hardware`, `--jobs 4`."""
    for word, behind in pairwise((*words, "")):
        if word.startswith("-") and word.strip("-"):
            name = flag_name(word)
            value = word[len(name) :].removeprefix("=") or behind
            yield f"{name} {value}" if _VALUE.fullmatch(value) else name


def _has_flag(flag: str, words: Sequence[str], place: str) -> bool:
    """Return whether a call has a flag, and not with another value; its value may be any word of the call.

    A flag that names the current folder is not needed: `make -C firmware` is `cd firmware && make`.
    """
    name, _, value = flag.partition(" ")
    if value and _OF_FOLDER.fullmatch(name) and f"/{place}".endswith(f"/{value.removeprefix('./').rstrip('/')}"):
        return True
    given = [behind for one, _, behind in (other.partition(" ") for other in flags_of(words)) if one == name]
    letters = [word for word, behind in pairwise((*words, "")) if len(word) == 2 and not _FILE.search(behind)]
    if any(
        name == _LETTERS.get(word) or (word[1].isupper() and name[:3] == f"--{word[1].lower()}") for word in letters
    ):
        return True
    return any(not value or not other or other == value for other in given) or (bool(given) and value in words)


def has_all(flags: Iterable[str], words: Sequence[str], place: str = "") -> bool:
    return all(_has_flag(flag, words, place) for flag in flags)


def _has_other(flag: str, words: Sequence[str]) -> bool:
    """Return whether a call has the same flag with another name as its value."""
    name = flag.partition(" ")[0]
    given = [one for one in flags_of(words) if one.partition(" ")[0] == name and _CHOOSING.fullmatch(one)]
    return bool(given) and flag not in given


def needed_flags(anchor: str, text: str) -> frozenset[str]:
    """Return the flags that a call must have for the text to apply.

    "Never `git push --force`" does not apply to other pushes. "Run `npm ci --prefer-offline`" applies to every
    `npm ci`; so does a command with several flags that is not forbidden, because it is a recipe.
    """
    flags = frozenset(flags_of(anchor.split())) if kind_of(anchor) is Kind.COMMAND else frozenset()
    found = found_command(anchor, text) if flags else None
    if not found:
        return flags
    wanted = is_wanted(text, *found.span())
    is_recipe = wanted is None and (len(flags) > 1 or _RECIPE.search(text[: found.start()][-CLAUSE:]))
    return frozenset() if wanted or is_recipe else flags


def is_run(command: Command, words: Sequence[str], place: str = "") -> bool:
    """Return whether a call has the first two words of the command, continues like it, and has its flags."""
    if not has_all(command.flags, words, place) or any(_has_other(flag, words) for flag in command.named):
        return False
    return any(_goes_like(ours, theirs, command.is_spoken) for ours in command.lines for theirs in readings(words))


def _goes_like(ours: Sequence[str], theirs: Sequence[str], is_spoken: bool) -> bool:
    if len(ours) < 2:
        return all(any(_is_in(one, other) for other in theirs) for one in ours)
    pairs = enumerate(pairwise(theirs))
    if not is_spoken and ours == (*theirs[:1], *theirs[-1:]):  # goose -dir migrations postgres $DSN down
        return True
    behind = (theirs[at + 2 :] for at, (tool, first) in pairs if tool == ours[0] and _is_in(ours[1], first))
    return any(_agree(ours[2:], rest, is_spoken) for rest in behind)


def _is_in(named: str, given: str) -> bool:
    """Return whether an argument is the named one, a file or folder below it, or a script or object of that name."""
    is_last = "/" not in named and ("." in named or _KEBAB.fullmatch(named)) and given.endswith(f"/{named}")
    return given == named or given.startswith(f"{named}/") or bool(is_last)


def _last(word: str) -> str:
    """Return the name in `deploy/settlement-worker`."""
    return word.rpartition("/")[2]


def _agree(ours: Sequence[str], theirs: Sequence[str], is_spoken: bool) -> bool:
    """Return whether the words after the second agree.

    The third word must be the same, unless the command is in a sentence, where it may not belong to the command. There,
    and after the third word, only a different word of the same form disagrees: "pm clear" is not `pm list`.
    """
    if ours and not is_spoken and not any(_is_in(ours[0], one) for one in theirs[:1]):
        return False
    for place, (one, other) in enumerate(zip(ours, theirs, strict=False)):
        is_told = is_subcommand(one)
        is_named = not is_spoken and _NAMED.fullmatch(one) and _NAMED.fullmatch(other)
        is_named = is_named or (_KEBAB.fullmatch(_last(one)) and _OBJECT.fullmatch(_last(other)))
        is_alike = is_told == is_subcommand(other) and (is_told or not place)
        if not _is_in(one, other) and (is_named or is_alike):
            return False
    return True
