"""Find the commands and tools that a text may name in plain words: "adb reverse is lost with the cable".

spoken_commands(prose)   the commands
spoken_tools(prose)      the tools that sentences are about, each with a flag if the sentence has one
with_joined_flags(text)  the text with a command and a flag that is named behind it in one
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Sequence

from memhook.core.sentences import AROUND, NO_NAME, PREDICATE, SUBCOMMANDS, bare, is_predicate, sentences
from memhook.core.terms import STOP_WORDS
from memhook.patterns import regex

MOST_WORDS = 8

_SCRIPT_RUNNERS = frozenset(("bun", "npm", "pnpm", "poetry", "uv", "yarn"))  # they run nothing without a name
_TOOL = regex(r"(?:\./)?[a-z][a-z0-9]+(?:[._/:-][a-z0-9_]+)*")
# A tool within a sentence: "stock openocd 0.12 hangs", "never call the openocd of the system", "on bench01".
_NAMED_TOOL = regex(
    r"(?<![\w./-])([a-z][a-z0-9]+(?:[_-][a-z0-9]+)*) v?\d+\.[\d.]+ (?:\w{2,}(?:[^s]s|ed)|can|cannot|does|is|needs)\b"
    r"|\b(?:[Cc]all(?:ing)? (?:the )?([a-z][a-z0-9]+(?:[_-][a-z0-9]+)*)|[Oo]n ([a-z]{3,}\d+))\b"
    r"|\b(?:[Rr]un|[Ss]tart|[Uu]se) ([a-z][a-z0-9]+(?:[_-][a-z0-9]+)*)"
    r"(?= (?:after|as|at|before|by|during|from|in|on|outside|until|while|without)\b|[,.;]|$)"
)
_PARTED = regex(r"[._-]")
_ARGUMENT = regex(r"[a-z.:@/-][\w@:./+=<>*-]*|[A-Z]{4,}")
FLAG = regex(r"-[A-Za-z]|--?[A-Za-z][\w:-]+(?:=\S+)?")
SHORT_FLAG = regex(r"-[A-Za-z]")
_FLAG_SPAN = regex(r"(?<=with )`(--?[A-Za-z][\w-]*)`")  # "git push with `--force`" is one command
_TWO_SPANS = regex(r"`([^`\s]+ [^`\n]+)` with `(--?[A-Za-z][^`\s]*)`")
_PLURAL = regex(r"(?!(?:does|has|is|needs)$)\w+(?:s|ed)")


def with_joined_flags(text: str) -> str:
    """Return "`git commit --no-verify`" for "`git commit` with `--no-verify`"."""
    return _FLAG_SPAN.sub(r"\1", _TWO_SPANS.sub(r"`\1 \2`", text))


def spoken_commands(prose: str, tools: Container[str] | None = None) -> Iterator[str]:
    """Yield the possible commands in plain words, of these tools or of any."""
    for words in sentences(prose):
        for at, (before, tool, behind) in enumerate(zip(("", *words), words, words[1:], strict=False)):
            if (tool in AROUND or not _TOOL.fullmatch(tool)) if tools is None else tool not in tools:
                continue
            argument = bare(behind)
            is_verb = argument == "runs" and NO_NAME.fullmatch(bare("".join(words[at + 2 : at + 3])))  # dbt runs on
            if argument[-1:] == "s" and argument[:-1] in SUBCOMMANDS and argument not in SUBCOMMANDS and not is_verb:
                yield f"{tool} {argument[:-1]}"  # "playwright tests fail"
            is_described = (before in STOP_WORDS or PREDICATE.fullmatch(argument)) and _PARTED.search(tool)
            if not is_described and _may_be_run(before, tool, argument):
                yield " ".join(_command(words[at:]))


def spoken_tools(prose: str, asked_flags: Iterable[str]) -> Iterator[str]:
    for words in sentences(prose):
        yield from _tools(words, asked_flags)
    named = ("".join(groups) for groups in _NAMED_TOOL.findall(prose))
    yield from (one for one in named if one not in AROUND | SUBCOMMANDS)


def _may_be_run(before: str, tool: str, argument: str) -> bool:
    if not _TOOL.fullmatch(tool) or tool in AROUND or argument in STOP_WORDS:
        return False
    if argument.startswith("-"):
        # Not "install -r" of "galaxy install -r", nor of "the archive with --delete".
        return not _TOOL.fullmatch(before) or (before in AROUND and before != "the")
    return bool(_ARGUMENT.fullmatch(argument))


def _command(words: list[str]) -> Iterator[str]:
    """Yield two words, and those after them, flags included, up to the first that continues the sentence."""
    runs_script = words[0] in _SCRIPT_RUNNERS and words[1] == "run"
    kept: list[str] = []
    for at, (word, plain) in enumerate(zip(words, map(bare, words[:MOST_WORDS]), strict=False)):
        is_value = bool(kept) and SHORT_FLAG.fullmatch(kept[-1]) and _is_name(plain)
        # Of `make -C docs html`, not of "pytest -n auto hangs".
        is_first = at == 3 and bool(SHORT_FLAG.fullmatch(kept[1])) and _is_name(plain) and not is_predicate(plain)
        is_script = at == 2 and ((runs_script and _is_name(plain)) or plain in SUBCOMMANDS)
        if at > 1 and not (is_value or is_first or is_script or FLAG.fullmatch(plain) or _is_given(plain)):
            return
        kept.append(plain)
        yield plain
        if plain != word:
            return


def _is_name(word: str) -> bool:
    """Return whether a word may be the name of a script, such as `docs` or `tests`."""
    return bool(_ARGUMENT.fullmatch(word)) and word not in AROUND and not NO_NAME.fullmatch(word)


def _is_given(word: str) -> bool:
    """Return whether a word is an argument of a command, not a word with which the sentence continues."""
    goes_on = word in AROUND or word.endswith(("s", "ed", "ing", "-"))
    is_marked = any(mark in word for mark in ":_/.")
    return "=" in word or (bool(_ARGUMENT.fullmatch(word)) and (is_marked or not goes_on))


def _tools(words: Sequence[str], asked: Iterable[str]) -> Iterator[str]:
    """Yield the first word of a sentence if it is a tool that the sentence is about.

    If the note asks for a flag, the sentence need not be about the tool. With another flag in the sentence, it is about
    the tool with that flag.
    """
    tool, behind, third = (bare("".join(words[at : at + 1])) for at in range(3))
    names = {flag.partition(" ")[0] for flag in asked}
    others = [word for word in map(bare, words) if FLAG.fullmatch(word) and word.partition("=")[0] not in names]
    if not _TOOL.fullmatch(tool) or tool in AROUND or tool in SUBCOMMANDS:
        return
    is_command = (
        bool(_PLURAL.fullmatch(behind) and _TOOL.fullmatch(third)) and third not in AROUND
    )  # airflow tasks clear
    is_subject = words[0].endswith(":") or (behind not in SUBCOMMANDS and is_predicate(behind))
    if not is_command and (is_subject or (names and not _may_be_run("", tool, behind))):
        yield " ".join((tool, *others[:1]))
