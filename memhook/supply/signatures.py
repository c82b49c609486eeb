"""What a command that failed is known by when it fails again, on whatever it is run: its words and flags.

signature(wrong, right)   without the operands, which the command that worked has too: `render --out` of
                          `render --out week.pdf` and `render --output week.pdf`
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from memhook.core.actions import simple_commands
from memhook.core.anchors import MOST_CHARS, Kind, kind_of
from memhook.core.commands import base, flag_name, flags_of, is_subcommand, positional, programs

MOST_WORDS = 3  # four plain words are read as a sentence


def signature(wrong: str, right: str) -> str:
    """Return an anchor for the command of `wrong` that `right` has otherwise; empty if that has only operands."""
    given = list(simple_commands(right))
    shared = {word for one in given for word in (*one, *positional(one), *_values(one))}
    failed = (one for one in simple_commands(wrong) if one not in given)
    words = max(failed, key=lambda one: len(shared.intersection(one)), default=())
    anchor = " ".join((*_line(words, shared), *_flags(words, given, shared)))
    return anchor if len(anchor) <= MOST_CHARS and kind_of(anchor) is Kind.COMMAND else ""


def _line(words: Sequence[str], shared: set[str]) -> tuple[str, ...]:
    """The last words of the command without shared operands behind them; what is started is none."""
    line = positional(words, without_values=True)
    started = {name for name, _ in programs(words)}
    while line and _is_operand(line[-1], shared) and base(line[-1]) not in started:
        line = line[:-1]
    return line[-MOST_WORDS:]


def _flags(words: Sequence[str], given: Sequence[Sequence[str]], shared: set[str]) -> Iterator[str]:
    """The flags that the command that worked lacks, or all; each with its value if that may be what was wrong."""
    theirs = {flag for one in given for flag in flags_of(one)}
    names = {flag.partition(" ")[0] for flag in theirs}
    ours = dict.fromkeys(flags_of(words))
    for flag in [one for one in ours if one not in theirs] or ours:
        name, _, value = flag.partition(" ")
        yield name if name not in names or _is_operand(value, shared) else flag


def _values(words: Sequence[str]) -> Iterator[str]:
    """What is glued to flags: `week.pdf` of `--out=week.pdf`."""
    yield from (word[len(flag_name(word)) :].removeprefix("=") for word in words if word.startswith("-"))


def _is_operand(word: str, shared: set[str]) -> bool:
    """Whether it is what the command is run on: a file, a number, a name in parts, and not what was wrong."""
    return word in shared and not is_subcommand(word)
