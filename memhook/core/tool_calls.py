"""A tool call with the data by which it is compared with memories, each derived on first use."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cached_property

from memhook.core.actions import Action, both_ends, places_of
from memhook.core.anchors import BARE_FILE, Kind, is_distinctive, kind_of
from memhook.core.commands import Command, flag_name, has_all, hosts, is_run, packages, positional, programs
from memhook.core.error_messages import content_words, error_words, is_reported
from memhook.patterns import regex

HEAD_WORDS = 3  # of a command, among which is its tool
MOST_OF_COMMAND = 5  # words: a text of more that starts like a command is a message in lower case

_NAMED_ARGUMENT = regex(r"[A-Za-z][\w.-]*")
_COUNTER = regex(r"_\d+\b")


class ToolCall:
    """A tool call: the programs it starts, the hosts it reaches, the words of its error."""

    def __init__(self, action: Action) -> None:
        self.action: Action = action

    @cached_property
    def words(self) -> tuple[str, ...]:
        """The words of all commands."""
        return tuple(word for words in self.action.commands for word in words)

    @cached_property
    def programs(self) -> frozenset[str]:
        return frozenset(tool for words in self.action.commands for tool, _ in programs(words))

    @cached_property
    def hosts(self) -> frozenset[str]:
        return frozenset(host for words in self.action.commands for host in hosts(words))

    @property
    def packages(self) -> Sequence[str]:
        """The packages that are added by a command or to a manifest."""
        added = (name for words in self.action.commands for name in packages(words) if len(name) > 2)
        return (*added, *sorted(self.action.packages))

    @cached_property
    def error(self) -> str:
        return both_ends(self.action.error)

    @cached_property
    def error_words(self) -> list[str]:
        return error_words(self.error)

    @cached_property
    def _written_or_run(self) -> str:
        return without_spaces(" ".join((self.action.written, *self.words)))

    @cached_property
    def _everything(self) -> str:
        action = self.action
        return "\n".join((*action.paths, *self.words, action.directory, action.written, self.error))

    @cached_property
    def _places(self) -> list[str]:
        return places_of(self.action.commands, self.action.directory)

    def has_expression(self, text: str) -> bool:
        """Return whether the text is written or run, whatever its spaces."""
        return without_spaces(text) in self._written_or_run

    def writes(self, path: str) -> bool:
        """Return whether a file that is written, not run, has this path or its end."""
        return any(f"/{one}".endswith(f"/{path}") or _bare_file(one) == path for one in self.action.paths)

    def is_about(self, name: str) -> bool:
        """Return whether the call has a name anywhere, or each word of a command."""
        if " " in name:
            return all(map(self.is_about, name.split()))
        bare = name.strip("/")  # search the plain string first: compiling the pattern is slow
        return bare in self._everything and bool(re.search(rf"(?<![\w-]){re.escape(bare)}(?![\w-])", self._everything))

    def reports(self, message: str) -> bool:
        """Return whether the error has the words of the message, and of a command its names: errors advise commands."""
        if not is_reported(content_words(message), self.error_words):
            return False
        words = message.split() if kind_of(message) is Kind.COMMAND else []
        named = (word for word in words if _NAMED_ARGUMENT.fullmatch(word) and is_distinctive(word))
        return len(words) > MOST_OF_COMMAND or self.reports_names([*named])

    def reports_names(self, names: Sequence[str]) -> bool:
        """Return whether the error has all of these names; of a path outside the project, the last part is enough.

        A number behind an underscore is a counter: "_pg3_7" matches "_pg3_12".
        """
        bare = (name.rpartition("/")[2] or name if name[0] in "/~" else name for name in names)
        forms = (_COUNTER.sub(r"_\\d+", re.escape(name)) for name in bare)
        return all(re.search(rf"(?<![\w-]){form}(?![\w-])", self.error) for form in forms)

    def reports_half(self, words: Sequence[str]) -> bool:
        return 2 * len({*words}.intersection(self.error_words)) >= len(words)

    def runs(self, command: Command) -> bool:
        """Return whether the call runs the command; arguments that are only read count as values of flags only."""
        if not command.piped <= self.programs:
            return False
        whole = self.action.lines or self.action.commands
        commands = zip(self.action.commands, whole, self._places, strict=True)
        return any(
            is_run(command, words, place) and has_all(command.flags, line, place) for words, line, place in commands
        )

    def runs_or_reports(self, name: str) -> bool:
        return any(name in one for one in (*self.words, self.action.error))

    def names(self, program: str) -> bool:
        """Return whether the call names this program, not one of the same name in another folder."""
        return any(word.removeprefix("./") == program for word in self.words)

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


def without_spaces(text: str) -> str:
    return "".join(text.split())


def _bare_file(path: str) -> str:
    """Return `Dockerfile` for a/Dockerfile.web; else an empty text."""
    stem = path.rpartition("/")[2].partition(".")[0]
    return stem if BARE_FILE.fullmatch(stem) else ""
