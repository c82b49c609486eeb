"""Requests to memhook in a prompt: remember something, or take back the last such note.

`remember: ...`, `remember that ...` and `#remember ...` at the start of a line; `forget that` as a line of its own.
A note is the rest of its line and the indented or listed lines below it; if nothing follows on that line, the lines up
to the next blank one. Requests in code, quotes, memhook's own blocks and other text that looks pasted are ignored.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from memhook.core.pasted import is_machine, pasted_from
from memhook.core.rendering import CONTINUED, END, PROMPT_HEADING, SESSION_HEADING

TAKE_BACK = ""
MOST_NOTES = 20  # per prompt: a pasted file may have any number of such lines

_STARTS = ("\nremember", "\n#remember", "\nforget")
_NOTE = re.compile(
    r"(?:#remember(?![\w-]):?|remember[ \t]*:(?![:/])|(?P<that>remember[ \t]+that\b:?))[ \t]*(?P<text>.*)",
    re.IGNORECASE,
)
_TAKE_BACK = re.compile(r"forget[ \t]+that[ \t]*[.!]?[ \t]*", re.IGNORECASE)
_QUESTION = re.compile(r"(?:[^.!?]*[\w\"'`)])?\?(?=\s|$)")  # "remember that bug we had?" is for the assistant
_CONTINUATION = re.compile(r"[ \t]+\S|[-*+][ \t]+\S|\d+[.)][ \t]+\S")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")


@dataclass(frozen=True, slots=True)
class Asked:
    """The notes in their order, including TAKE_BACK; the rest of the prompt; and notes that look pasted."""

    commands: tuple[str, ...]
    rest: str
    pasted: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Command:
    start: int
    end: int
    text: str


def asked_in(prompt: str) -> Asked:
    lowered = f"\n{prompt.lower()}"
    if not any(start in lowered for start in _STARTS):  # a pasted log of a megabyte must not cost a tenth of a second
        return Asked((), prompt)
    lines = prompt.replace("\r\n", "\n").split("\n")
    is_open = _open_lines(lines)
    found = list(_commands(lines, is_open))
    own = _of_the_user(found, lines, is_open)[:MOST_NOTES]
    pasted = tuple(one.text for one in found[len(own) :] if one.text != TAKE_BACK)[:MOST_NOTES]
    if not own:
        return Asked((), prompt, pasted)
    taken = _marked(own, len(lines))
    rest = "\n".join(line for line, is_taken in zip(lines, taken, strict=True) if not is_taken)
    return Asked(tuple(one.text for one in own), rest, pasted)


def _commands(lines: Sequence[str], is_open: Sequence[bool]) -> Iterator[_Command]:
    at = 0
    while at < len(lines):
        end, text = _command_at(lines, at, is_open)
        if text is not None:
            yield _Command(at, end, text)
        at = max(end, at + 1)


def _of_the_user(found: Sequence[_Command], lines: Sequence[str], is_open: Sequence[bool]) -> list[_Command]:
    """Return the commands above pasted text, and those above everything else unless a log follows directly."""
    is_note = _marked(found, len(lines))
    pasted = pasted_from(lines, [not one for one in is_open], is_note)
    first_other = next((at for at, line in enumerate(lines) if line.strip() and not is_note[at]), len(lines))
    is_in_a_log = first_other < len(lines) and is_open[first_other] and is_machine(lines[first_other])
    on_top = 0 if is_in_a_log and first_other > 0 and lines[first_other - 1].strip() else first_other
    return [one for one in found if one.start < max(pasted, on_top)]


def _marked(commands: Sequence[_Command], count: int) -> list[bool]:
    marks = [False] * count
    for one in commands:
        marks[one.start : one.end] = [True] * (one.end - one.start)
    return marks


def _command_at(lines: Sequence[str], at: int, is_open: Sequence[bool]) -> tuple[int, str | None]:
    """Return the end and the text of the command that starts in this line; the text is None if none does."""
    if not is_open[at]:
        return at, None
    if _TAKE_BACK.fullmatch(lines[at]):
        return at + 1, TAKE_BACK
    note = _NOTE.fullmatch(lines[at])
    if note is None or (note["that"] and _QUESTION.match(note["text"])):
        return at, None
    end = _end_of_note(lines, at, is_open, has_text=bool(note["text"].strip()))
    text = "\n".join((note["text"], *lines[at + 1 : end])).strip()
    return (end, text) if text else (at, None)


def _end_of_note(lines: Sequence[str], at: int, is_open: Sequence[bool], *, has_text: bool) -> int:
    end = at + 1
    while end < len(lines):
        line = lines[end]
        if is_open[end] and (_NOTE.fullmatch(line) or _TAKE_BACK.fullmatch(line)):
            break
        if has_text and not (is_open[end] and _CONTINUATION.match(line)):
            break
        if not has_text and ((not line.strip() and is_open[end]) or _starts_block(line)):
            break
        end += 1
    return end


def _open_lines(lines: Sequence[str]) -> list[bool]:
    """Return for each line whether it is outside code and memhook's blocks."""
    found: list[bool] = []
    fence, in_block = "", False
    for line in lines:
        mark = _FENCE.match(line)
        if in_block:
            in_block = END not in line
            found.append(False)
        elif fence:
            fence = "" if mark and mark[1].startswith(fence) and not line.strip(" `~") else fence
            found.append(False)
        elif mark or _starts_block(line):
            fence = mark[1] if mark else ""
            in_block = not mark
            found.append(False)
        else:
            found.append(True)
    return found


def _starts_block(line: str) -> bool:
    heading = line.rstrip().removesuffix(CONTINUED)
    if heading.endswith((PROMPT_HEADING, SESSION_HEADING)):
        return True
    # The heading of earlier versions, which old sessions still contain.
    head, _, rest = heading.rpartition(" (memhook)")
    return not rest and "## " in head
