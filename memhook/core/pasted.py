"""Find the line of a prompt at which pasted text begins.

Users type first and paste below, with or without an introduction; the pasted text may end with anything. So everything
after the first sign of pasted text counts as pasted, and so do paragraphs that do not address the assistant. There are
two kinds of signs: a log or a program starts with its own paragraph, so that the lines above are the user's, but a
heading or the end of a mail may be far below the start of its text. `pasted.toml` has the signs.
"""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from pathlib import Path

from memhook.patterns import regex

LETTERS = 0.6  # of a line; with fewer it is a table, numbers or code
SHORTEST_LINE = 20
SHORT_LINE = 80
WRAPPED_CHARS = 50  # a line this long that ends within a sentence was wrapped by a program
LABELS = 2  # "name: ..." at the start of a line: once it may be the user's, twice it is a chat or a settings file
STATEMENTS = 2  # below the first paragraph: two that neither ask nor mention their author are from an article
STATEMENT_WORDS = 7
LONG_WORDS = 45
MOST_LINES = 300  # that somebody types into a prompt

_DATA = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
_OWN_LABELS = frozenset(_DATA.pop("own_labels").split())
_PATTERNS = {name: regex(pattern) for name, pattern in _DATA.items()}
_MACHINE, _CODE_END, _COLUMNS = (_PATTERNS[name] for name in ("machine", "code_end", "columns"))
_DOCUMENT, _TITLE, _SPEAKER = (_PATTERNS[name] for name in ("document", "title", "speaker"))
_LABEL, _LISTED = (_PATTERNS[name] for name in ("label", "listed"))
_OTHERS_TEXT, _HANDED_OVER, _HERE_IS = (_PATTERNS[name] for name in ("others_text", "handed_over", "here_is"))
_POINTS_BELOW, _ABOUT_A_TEXT = (_PATTERNS[name] for name in ("points_below", "about_a_text"))
_GOES_ON, _OWN_VOICE = (_PATTERNS[name] for name in ("goes_on", "own_voice"))


def pasted_from(lines: Sequence[str], is_fenced: Sequence[bool], is_note: Sequence[bool]) -> int:
    """Return the first line that counts as pasted; the lines before it are the user's own.

    Fenced lines have an explicit end, so they imply nothing for the lines around them; nor do the notes themselves.
    """
    start, typed, labels, statements = len(lines), 0, 0, 0
    first_paragraph_ends = _first_paragraph_ends(lines)
    for at, line in enumerate(lines):
        if at >= start:
            break
        if is_fenced[at] or is_note[at] or not line.strip():
            continue
        typed += 1
        labels += _is_label(line)
        statements += at >= first_paragraph_ends and _is_statement(line)
        is_single = at > 0 and not _is_within(lines, at, is_fenced)
        if typed > MOST_LINES or labels >= LABELS or statements >= STATEMENTS:
            return 0
        if _is_document(line, is_single=is_single):
            return 0
        if _is_wrapped(lines, at) and not is_note[at + 1]:
            return 0
        if is_machine(line) or (at > 0 and is_note[at - 1] and not _goes_on_after_a_note(line)):
            start = _start_of_paragraph(lines, at)
        elif _introduces(lines, at, is_fenced, is_note):
            start = at + 1
    is_ignored = [fenced or note for fenced, note in zip(is_fenced, is_note, strict=True)]
    (first_ends, _), *others = _paragraphs(lines[:start], is_ignored) or [(start, "")]
    return start if all(_is_to_assistant(text) for _, text in others) else min(start, first_ends)


def _paragraphs(lines: Sequence[str], is_ignored: Sequence[bool]) -> list[tuple[int, str]]:
    """Return the end and the text of each paragraph, without ignored lines, that has text."""
    found: list[tuple[int, str]] = []
    text: list[str] = []
    for at, line in enumerate([*lines, ""]):
        if at < len(lines) and (line.strip() or is_ignored[at]):
            text += [] if is_ignored[at] else [line]
        elif text:
            found.append((at, "\n".join(text)))
            text = []
    return found


def _is_to_assistant(paragraph: str) -> bool:
    """Return whether the user addresses this to the assistant."""
    return bool(_OWN_VOICE.search(paragraph) or _GOES_ON.match(paragraph)) or paragraph.rstrip().endswith(":")


def _goes_on_after_a_note(line: str) -> bool:
    """Return whether the line continues a request that a note interrupted, as "then push" does."""
    return line[:1].islower() or _is_to_assistant(line)


def is_machine(line: str) -> bool:
    """Return whether a program wrote the line: a log, a trace, code, a table."""
    if _MACHINE.match(line) or _CODE_END.match(line) or _COLUMNS.search(line):
        return True
    letters = sum(map(str.isalpha, line)) + sum(map(str.isspace, line))
    return len(line) >= SHORTEST_LINE and letters < LETTERS * len(line)


def _is_document(line: str, *, is_single: bool) -> bool:
    if _DOCUMENT.match(line) or _SPEAKER.match(line) or (is_single and _TITLE.fullmatch(line)):
        return True
    return len(line.split()) >= LONG_WORDS and not _OWN_VOICE.search(line)


def _is_within(lines: Sequence[str], at: int, is_fenced: Sequence[bool]) -> bool:
    """Return whether the paragraph starts above this line: a title is alone or on top."""
    return bool(lines[at - 1].strip()) and not is_fenced[at - 1]


def _is_wrapped(lines: Sequence[str], at: int) -> bool:
    following = lines[at + 1] if at + 1 < len(lines) else ""
    line = lines[at].rstrip()
    return len(line) >= WRAPPED_CHARS and line[-1] not in ".!?:;" and following[:1].islower()


def _is_statement(line: str) -> bool:
    is_sentence = line[:1].isupper() and line.rstrip().endswith((".", ".)", ".”", '."'))
    return is_sentence and len(line.split()) >= STATEMENT_WORDS and not _OWN_VOICE.search(line)


def _is_label(line: str) -> bool:
    label = _LABEL.match(line)
    return label is not None and label[1].lower() not in _OWN_LABELS


def _introduces(lines: Sequence[str], at: int, is_fenced: Sequence[bool], is_note: Sequence[bool]) -> bool:
    """Return whether the line introduces somebody else's text."""
    line = lines[at].rstrip()
    after = next((number for number in range(at + 1, len(lines)) if lines[number].strip()), None)
    if after is None or is_fenced[after]:
        return False
    is_others_text = _OTHERS_TEXT.search(line) is not None
    if line.endswith(":"):
        return is_others_text or not _LISTED.match(lines[after])
    if _ABOUT_A_TEXT.match(line) or _opens_a_quotation(line):
        return True
    is_apart = len(line) <= SHORT_LINE and not lines[at + 1].strip()
    is_handed_over = bool(_HERE_IS.search(line) or (is_others_text and _HANDED_OVER.search(line)))
    return is_apart and (is_handed_over or (not is_note[after] and _POINTS_BELOW.search(line) is not None))


def _opens_a_quotation(line: str) -> bool:
    return line.count('"') % 2 == 1 or line.count("“") > line.count("”") or line.count("«") > line.count("»")


def _start_of_paragraph(lines: Sequence[str], at: int) -> int:
    while at > 0 and lines[at - 1].strip():
        at -= 1
    return at


def _first_paragraph_ends(lines: Sequence[str]) -> int:
    first = next((number for number, line in enumerate(lines) if line.strip()), 0)
    return next((number for number in range(first, len(lines)) if not lines[number].strip()), len(lines))
