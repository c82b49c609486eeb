"""Requests to memhook in a prompt: remember something, or take back the last such note.

`remember: ...` and `#remember ...` at the start of a line; "please remember that ...", "don't forget: ...", "note to
self, ..." and the like, in the languages of `phrases.toml`, at the start of a sentence; `forget that` as a line.

After a colon, the note is the rest of the line and the indented or listed lines below it; if nothing follows the colon,
the lines up to the next blank one. Without a colon, it is the rest of the sentence, and the next sentences up to one
that addresses the assistant; for "remember that.", the sentence before. Both end before an order: "..., and then fix
the test". "Remember to ..." is an order for the task at hand, unless it says "always", when, or what to use. Questions
are ignored, and so are requests in code, quotes, memhook's own blocks and other text that looks pasted.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from memhook.core import phrases
from memhook.core.pasted import is_machine, pasted_from
from memhook.core.phrases import LONGEST_SENTENCE, Language, Opening, order_in
from memhook.core.rendering import CONTINUED, END, PROMPT_HEADING, SESSION_HEADING
from memhook.patterns import regex

TAKE_BACK = ""
MOST_NOTES = 20  # per prompt: a pasted file may have any number of such lines
FEWEST_WORDS = 3
FEWEST_UNSPACED = 5  # characters, in a script without spaces
READ_CHARS = 20_000  # searched for sentences: nobody types more

_STARTS = ("\nremember", "\n#remember", "\nforget")
_NOTE = regex(
    r"(?:#remember(?![\w-]):?|remember[ \t]*:(?![:/]))[ \t]*(?P<text>.*)",
    re.IGNORECASE,
)
_THAT = regex(r"remember[ \t]+that\b", re.IGNORECASE)
_TAKE_BACK = regex(r"forget[ \t]+that[ \t]*[.!]?[ \t]*", re.IGNORECASE)
_SENTENCE_END = regex(r"[.!?…][\"')\]]?(?=\s)|[。！？]")
_QUESTION = regex(r"[?？][\"')\]]*\s*$|[吗嗎][。]?\s*$")
_MARK = regex(r"[ \t]*(?P<mark>[:：]|[,，、]|[—–-](?=\s))[ \t]*")
_NAMES_THING = regex(r"[\w-]*[=_/(]")  # remember_me, remember(...), remember/forget
_COLONS = (":", "：")
_CONSEQUENCE = regex(r"then (?:it|they|the)\b")  # "Then the client gets a 401": no order starts like that
_JOINTS = " \t,;–—-"
_TYPE = r"(?:bool|str|int|float|string|boolean|number)\s*[=;,|)].*"
_CODE_VALUE = regex(rf"(?:true|false|null|none|yes|no|on|off|[\d.]+|{_TYPE})[,;]?\s*", re.IGNORECASE)
_PARTICLE = regex(r"(?:ということ|こと|の)?[をはと、，,:：]*\s*$")
_CONTINUATION = regex(r"[ \t]+\S|[-*+][ \t]+\S|\d+[.)][ \t]+\S")
_QUOTED = regex(r"[ \t>|*+-]")
_FENCE = regex(r" {0,3}(`{3,}|~{3,})")


@dataclass(frozen=True, slots=True)
class Asked:
    """The notes in order, or TAKE_BACK for each "forget that"; the rest of the prompt; and notes that look pasted."""

    commands: tuple[str, ...]
    rest: str
    pasted: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Command:
    """A request in the lines from `start` to `end`; `for_assistant` is the rest of its line."""

    start: int
    end: int
    text: str
    for_assistant: str = ""
    in_words: bool = False
    """Whether it is an ordinary sentence, maybe not meant for memhook: if it looks pasted, the user is not notified."""


@lru_cache(maxsize=2)  # a hook asks three times for the same prompt
def asked_in(prompt: str) -> Asked:
    lowered = f"\n{prompt.lower()}"
    is_worded = phrases.mentions_a_request(phrases.plain(prompt[:READ_CHARS]))
    # A pasted log of a megabyte must not cost a tenth of a second.
    if not is_worded and not any(start in lowered for start in _STARTS):
        return Asked((), prompt)
    lines = prompt.replace("\r\n", "\n").split("\n")
    is_open = _open_lines(lines)
    found = list(_commands(lines, is_open))
    own = _of_the_user(found, lines, is_open)[:MOST_NOTES]
    explicit = (one.text for one in found[len(own) :] if one.text != TAKE_BACK and not one.in_words)
    pasted = tuple(explicit)[:MOST_NOTES]
    if not own:
        return Asked((), prompt, pasted)
    return Asked(tuple(one.text for one in own), _rest(lines, own), pasted)


def own_words(prompt: str) -> str:
    """Return what the user typed, without code, memhook's blocks and text that looks pasted."""
    lines = prompt[:READ_CHARS].replace("\r\n", "\n").split("\n")
    is_open = _open_lines(lines)
    pasted = pasted_from(lines, [not one for one in is_open], [False] * len(lines))
    return "\n".join(line for at, line in enumerate(lines[:pasted]) if is_open[at] and not _QUOTED.match(line))


def _rest(lines: Sequence[str], own: Sequence[_Command]) -> str:
    taken = _marked(own, len(lines))
    for_assistant = {one.start: one.for_assistant for one in own if one.for_assistant}
    left = (for_assistant.get(at) if taken[at] else line for at, line in enumerate(lines))
    return "\n".join(line for line in left if line is not None)


def _commands(lines: Sequence[str], is_open: Sequence[bool]) -> Iterator[_Command]:
    at, read = 0, 0
    while at < len(lines):
        command = _command_at(lines, at, is_open, may_be_worded=read < READ_CHARS)
        if command is not None:
            yield command
        end = command.end if command else at + 1
        read += sum(len(line) + 1 for line in lines[at:end])
        at = end


def _of_the_user(found: Sequence[_Command], lines: Sequence[str], is_open: Sequence[bool]) -> list[_Command]:
    """Return the commands above pasted text, and those at the top of the prompt unless a log follows directly."""
    is_note = _marked([one for one in found if not one.for_assistant], len(lines))
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


def _command_at(lines: Sequence[str], at: int, is_open: Sequence[bool], *, may_be_worded: bool) -> _Command | None:
    """Return the command that starts in this line."""
    if not is_open[at]:
        return None
    if _TAKE_BACK.fullmatch(lines[at]):
        return _Command(at, at + 1, TAKE_BACK)
    note = _NOTE.fullmatch(lines[at])
    if note is not None and not _CODE_VALUE.fullmatch(note["text"]):
        text = note["text"]
        order = order_in(text, phrases.languages()[0])
        command = _Command(at, at + 1, text[:order], text[order:].lstrip(_JOINTS))
        return _with_lines_below(command, lines, is_open)
    return _worded_command(lines, at, is_open) if may_be_worded else None


def _with_lines_below(command: _Command, lines: Sequence[str], is_open: Sequence[bool]) -> _Command | None:
    end = _end_of_note(lines, command.start, is_open, has_text=bool(command.text.strip()))
    text = "\n".join((command.text, *lines[command.start + 1 : end])).strip()
    return replace(command, end=end, text=text) if text else None


def _worded_command(lines: Sequence[str], at: int, is_open: Sequence[bool]) -> _Command | None:
    """Return the request that a sentence of this line opens with, or ends with where verbs come last."""
    line = lines[at]
    if _QUOTED.match(line):
        return None
    sentences = list(_sentences(line))
    for number, (start, end) in enumerate(sentences):
        found = phrases.opening(phrases.plain(line[start:end][:LONGEST_SENTENCE]))
        order = start + order_in(line[start:end], found.language if found else None)
        wanted = _object_of(line[start:order])
        if wanted is None:
            continue
        before, after = line[:start].strip(), line[end:]
        if not wanted and not after.strip() and line.rstrip().endswith(_COLONS):
            return _with_lines_below(_Command(at, at + 1, "", before), lines, is_open)
        if not wanted and number:  # "We squash. Remember that."
            return _about_sentence_before(at, line, sentences[number - 1], sentences[number])
        more, left = _continuation(after) if order == end else ("", line[order:].lstrip(_JOINTS).rstrip())
        text = " ".join(filter(None, (wanted.strip(), more)))
        for_assistant = " ".join(filter(None, (before, left)))
        return _Command(at, at + 1, text, for_assistant, in_words=not _THAT.match(line)) if text else None
    return None


def _about_sentence_before(at: int, line: str, before: tuple[int, int], request: tuple[int, int]) -> _Command | None:
    found = phrases.opening(phrases.plain(line[slice(*request)][:LONGEST_SENTENCE]))
    text = line[slice(*before)].strip()
    if found is None or not _can_be_note(text, found.language):
        return None
    for_assistant = " ".join(filter(None, (line[: before[0]].strip(), line[request[1] :].strip())))
    return _Command(at, at + 1, text, for_assistant, in_words=True)


def _sentences(line: str) -> Iterator[tuple[int, int]]:
    """Yield the range of each sentence."""
    start = 0
    for end in (*(found.end() for found in _SENTENCE_END.finditer(line, 0, READ_CHARS)), len(line)):
        while start < end and line[start].isspace():
            start += 1
        if start < end:
            yield start, end
        start = end


def _continuation(after: str) -> tuple[str, str]:
    """Split the sentences after a request into those that continue it, and the rest, which is for the assistant."""
    for start, end in _sentences(after):
        opening = phrases.plain(after[start : min(end, start + LONGEST_SENTENCE)])
        is_turn = phrases.starts_with(opening, phrases.all_of("turn")) and not _CONSEQUENCE.match(opening)
        if _QUESTION.search(after[start:end]) or is_turn:
            return after[:start].strip(), after[start:].strip()
    return after.strip(), ""


def _object_of(sentence: str) -> str | None:
    """Return what the sentence asks to remember, "" if it is elsewhere ("remember this"); None if it is no request."""
    lowered = phrases.plain(sentence[:LONGEST_SENTENCE])
    found = phrases.opening(lowered)
    if found is None:
        return _object_before(sentence, lowered)
    is_polite = phrases.holds(found.lead, found.language["polite"])
    if (_QUESTION.search(sentence) and not is_polite) or _names_thing(found):
        return None
    if found.is_bare:
        return ""
    mark, start = _mark_after(found)
    words = sentence[len(lowered) - len(found.rest) + start :].rstrip("?？ \t" if is_polite else " \t")
    if mark in _COLONS and not words:
        return ""
    return _understood(words, found, mark)


def _names_thing(found: Opening) -> bool:
    is_subject = phrases.starts_with(found.rest.lstrip(), found.language["verb"])
    return bool(is_subject) or _NAMES_THING.match(found.rest) is not None


def _mark_after(found: Opening) -> tuple[str, int]:
    """Return the colon, comma or dash after "remember" or "remember this for later", and the start of the note."""
    rest, at = found.rest, found.fillers
    mark = _MARK.match(rest, at) or _MARK.match(rest)
    if mark is not None:
        return mark["mark"], mark.end()
    behind = rest[at:].lstrip()
    return "", len(rest) - len(behind if phrases.starts_with(behind, found.language["that"]) else rest.lstrip())


def _understood(words: str, found: Opening, mark: str) -> str | None:
    """Return the note in the words after a request, without "that"; None if they name a thing or an action."""
    language, lowered = found.language, phrases.plain(words)
    if that := phrases.starts_with(lowered, language["that"]):
        words, lowered = (text[len(that) :].lstrip(" \t:,，：") for text in (words, lowered))
    is_explicit = bool(that) or mark in _COLONS
    if _CODE_VALUE.fullmatch(words):
        return None
    asks = not is_explicit and not mark and phrases.starts_with(lowered, language["asks"])
    if asks or not _is_enough(lowered, is_explicit=is_explicit):
        return None
    to = "" if that else phrases.starts_with(lowered, language["to"])
    if (to and mark not in _COLONS) or (not is_explicit and phrases.holds(lowered, language["zu"])):
        return words[len(to) :].lstrip() if _is_rule(lowered[len(to) :].lstrip(), language) else None
    return words if is_explicit or mark or (found.is_plain and _is_statement(lowered, language)) else None


def _is_statement(lowered: str, language: Language) -> bool:
    """Return whether words without "that" make a statement rather than name a thing."""
    if not language["clause"]:
        return not language["that"] or _is_rule(lowered, language)
    if phrases.starts_with(lowered, language["subject"]):
        return True
    main = phrases.before(lowered, language["sub"])
    has_verb = phrases.holds(main, (*language["verb"], *language["clause"]))
    return has_verb and not phrases.holds(main, language["broken"])


def _is_rule(lowered: str, language: Language) -> bool:
    """Return whether an order is a standing one: it says "always", when or how, and nothing of the task at hand."""
    if phrases.holds(lowered, (*phrases.all_of("always"), *language["ours"])):
        return True
    if phrases.holds(lowered, language["once"]):
        return False
    says_how = phrases.starts_with(lowered, (*language["use"], *language["no"]))
    is_choice = phrases.holds(lowered, language["instead"])
    before_last_word = lowered.rpartition(" ")[0]  # "run the tests after" is about now
    return bool(says_how) or is_choice or phrases.holds(before_last_word, language["whenever"])


def _object_before(sentence: str, lowered: str) -> str | None:
    found = phrases.closing(lowered)
    if found is None or _QUESTION.search(sentence):
        return None
    language, before = found
    words = _PARTICLE.sub("", sentence[: len(before)])
    is_order = before.endswith("の") and "忘" in lowered[len(before) :]  # "do not forget to"
    return None if is_order or not _can_be_note(words, language) else words


def _can_be_note(words: str, language: Language) -> bool:
    """Return whether words that a request refers back to can be its note."""
    lowered = phrases.plain(words)
    if _QUESTION.search(words) or not _is_enough(words, is_explicit=False):
        return False
    if phrases.starts_with(lowered, (*language["asks"], *language["clause"])):  # a question, or an order
        return False
    is_about = not language["clause"] or phrases.starts_with(lowered, language["the"])
    return bool(is_about) or _is_statement(lowered, language)


def _is_enough(words: str, *, is_explicit: bool) -> bool:
    if not words.isascii() and len(words.split()) < FEWEST_WORDS:
        return len(words.strip()) >= FEWEST_UNSPACED
    return len(words.split()) >= (2 if is_explicit else FEWEST_WORDS)


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
