"""Find the line of a prompt at which pasted text begins.

Users type first and paste below, with or without an introduction; the pasted text may end with anything. So everything
after the first sign of pasted text counts as pasted, and so do paragraphs in nobody's own voice. Two kinds of signs
differ in what they imply for the lines before them: a log or a program starts with its own paragraph, but a heading or
the end of a mail may be far below the start of its text.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

LETTERS = 0.6  # of a line; with fewer it is a table, numbers or code
SHORTEST_LINE = 20
SHORT_LINE = 80
WRAPPED_CHARS = 50  # a line this long that ends within a sentence was wrapped by a program
LABELS = 2  # "name: ..." at the start of a line: once it may be the user's, twice it is a chat or a settings file
STATEMENTS = 2  # below the first paragraph: two that neither ask nor mention their author are from an article
STATEMENT_WORDS = 7
LONG_WORDS = 45
MOST_LINES = 300  # that somebody types into a prompt

_MACHINE = re.compile(
    r"""
      \t|\ {4}
    | \s*(?:at\ \S+[(:]|File\ "|Traceback\b|Caused\ by:|\#\d+\s+0x|\d+:\s+\w+::|goroutine\ \d|thread\ '|panic:)
    | [\[(<]?\d{4}[-/]\d\d[-/]\d\d|[\[(]?\d{1,2}:\d\d\b|\d{1,3}(?:\.\d{1,3}){3}\b|\d{9,}
    | (?:Mon|Tue|Wed|Thu|Fri|Sat|Sun|Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)\ +(?:\d{1,2}\ \d\d:|\w{3}\ +\d)
    | [\[(<](?i:trace|debug|info|notice|warn(?:ing)?|error|err|fatal|critical|\d+/\d+)[\])>]
    | (?:TRACE|DEBUG|INFO|NOTICE|WARN(?:ING)?|ERROR|ERR|FATAL|CRITICAL|PASS(?:ED)?|FAIL(?:ED)?)\b[:\s]
    | (?i:error|warning|fatal|remote|make|ld|gcc|clang)(?:\[\w+\])?:\s|npm\ (?:ERR!|WARN|error|warn|notice)|E\ {2,}
    | \w+\[\d+\]:|[\w.$/-]*(?:Error|Exception):|[\w$]+(?:\.[\w$]+)+:\s|[\w./-]+\.\w+:\d+|\w+-\d+\ +\|
    | [$%❯➜]\ |\w+@[\w.-]+[:~\ ].*[$\#%]|(?:PS\ )?[A-Z]:\\|>>>\ |(?:In|Out)\ ?\[\d+\]|==>|-->|Step\ \d+/\d+
    | diff\ --git|@@\ |(?:\+\+\+|---)\ \S|index\ [0-9a-f]{7}|commit\ [0-9a-f]{7,40}\b|\+\ {2,}
    | <[/!?a-zA-Z][^>]*>|[{}\[\]();]+,?\s*$|["'][\w.-]+["']\s*[:=]|//|/\*|\*/|\#!|\#\#\[|\#include|@\w+(?:\(|$)
    | (?:def|class|function|func|fn)\ \w+\s*[({:<]|(?:const|let|var|export)\ \w+\s*[=:]|exit\ (?:status|code)\ \d
    | from\ [\w.]+\ import\b|import\ .+\ from\ ["']
    | (?:public|private|static|package|using|namespace)\ .*[;{(]\s*$|(?:if|for|while|with|try|else|elif)\b.*:\s*$
    | (?:SELECT|INSERT\ INTO|CREATE\ TABLE|DELETE\ FROM|FROM|RUN|COPY|ENV|WORKDIR|ENTRYPOINT)\ \S
    | [A-Z][A-Z0-9_]+=|[\w.-]+\s*=\s*["'\[{\d]|\[[\w.-]+\]\s*$|%\s
    """,
    re.VERBOSE,
)
_COLUMNS = re.compile(r"\S {2,}\S.*\S {2,}\S")
_CODE_END = re.compile(r"(?:.*[;{}\\|]|.*=>)\s*$")
_DOCUMENT = re.compile(
    r"""
      \#{1,6}\s\S|={3,}\s*$|-{3,}\s*$|\*{3,}\s*$|_{5,}|\|.*\||>|[»|│┃]|\*\*[^*]+\*\*\s*$
    | [•●○◦▪■–—→⇒✓✔✗✘⚠☐☑❌✅⎿├└┌╭╰▶►★“„«]
    | (?:from|to|cc|subject|date|sent|reply-to|von|an|betreff|gesendet|de|para|asunto|objet)\s*:\s+\S
    | dear\ .{1,40}[,:!]\s*$|(?:hi|hello|hey|hallo|good\ \w+)\ (?:all|team|everyone|everybody|folks|both|zusammen)\b
    | (?:(?:best|kind|warm|many)\s+)*(?:regards|wishes|sincerely|cheers|greetings)\b.{0,30}$|--\s*$|best,\s*$
    | (?:viele|liebe|beste|mit\ freundlichen)\ gr(?:ü|ue)(?:ß|ss)en?\b|sent\ from\ my\b|on\ .{6,80}\ wrote:
    | (?:published|posted|updated|last\ updated|written\ by|by)\b.{0,60}\b(?:19|20)\d\d\b|\d+\ min\ read|©|copyright\b
    | (?:sign\ in|log\ in|sign\ up|subscribe|skip\ to\ (?:main\ )?content|(?:table\ of\ )?contents|menu|home)\s*$
    | (?:chapter|section|figure|table|appendix|tip|caution|faq)\s*\d*[.:]\s
    | \d+(?:\.\d+)+\s+\S|\d+\.\s+(?-i:[A-Z])\w+\s*$
    | (?:user|assistant|human|system|ai)\s*:
    """,
    re.VERBOSE | re.IGNORECASE,
)
_TITLE_WORD = r"(?:[A-Z][\w'-]+|\d+|and|of|the|in|for|to|with|a|an|on|&)"
_TITLE = re.compile(rf"[A-Z][\w'-]+(?: {_TITLE_WORD})* [A-Z][\w'-]+\s*|[A-Z][A-Z ]{{4,40}}\s*")
_SPEAKER = re.compile(
    r"@?[\w.'-]+\s+\[?\d{1,2}:\d\d(?:\s?[AaPp][Mm])?\]?\s*$"
    r"|@?[A-Z][\w.'-]*(?: [A-Z][\w.'-]*)?,?\s+(?:\[?\d{1,2}:\d\d|—|\d{1,2}/\d)|<@?[\w.-]+>\s"
)
_LABEL = re.compile(r"@?([\w.-]+(?: [A-Z][\w.-]*)?)\s*:(?:\s|$)")
_OWN_LABELS = frozenset(
    {
        *("task", "context", "goal", "question", "problem", "bug", "todo", "ps", "btw", "also"),
        *("plan", "expected", "actual", "background", "requirements", "note"),
    }
)
_LISTED = re.compile(r"\s*(?:[-*+]|\d+[.)])\s")
_OTHERS_TEXT = re.compile(
    r"""
    \b(?:logs?|output|trace|traceback|stack|page|article|docs?|documentation|readme|wiki|e-?mail|mail|messages?|ticket
    |thread|chat|slack|conversation|post|blog|answer|response|transcript|excerpt|snippet|text|paragraph|notes|minutes
    |instructions|guide|tutorial|manual|policy|terminal|console|reply|review|comment|quote|spec|handbook|changelog|config
    |wrote|said|says|replied|answered|posted)\b
    """,
    re.VERBOSE | re.IGNORECASE,
)
_HANDED_OVER = re.compile(
    r"\b(?:below|above|here'?s|here (?:is|are)|pasted|copied|from|got|received|found|this|following|see)\b",
    re.IGNORECASE,
)
_HERE_IS = re.compile(
    r"^here(?:'s| is| are)\b|\b(?:copied|pasted) (?:this|it|from)\b"
    r"|\b(?:was|is|says|said|sent|wrote|gives|prints|shows|reads|got)$",
    re.IGNORECASE,
)
_POINTS_BELOW = re.compile(
    r"\b(?:this|these|the following|dies(?:es|e|er)?|esto|ceci)(?: \S+){0,2}$"
    r"|\b(?:found|got|saw|read|received|see) (?:this|the)\b",
    re.IGNORECASE,
)
_ABOUT_A_TEXT = re.compile(
    r"(?:please |pls |can you |could you )?(?:summari[sz]e|translate|proofread|rephrase|reply to|tl;?dr)\b(?! what)",
    re.IGNORECASE,
)
_GOES_ON = re.compile(
    r"(?:then|and|also|but|now|next|after|afterwards|finally|so|ok|okay|or|plus|btw|thanks|ps)\b"
    r"|(?-i:[a-z])\S*(?: \S+){0,2}\s*$",
    re.IGNORECASE,
)
_OWN_VOICE = re.compile(r"\b(?:i|i'm|i've|i'd|i'll|my|me|mine|please|pls|can you|could you|let's)\b|\?", re.IGNORECASE)


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
    says_nothing = [fenced or note for fenced, note in zip(is_fenced, is_note, strict=True)]
    (first_ends, _), *others = _paragraphs(lines[:start], says_nothing) or [(start, "")]
    return start if all(_is_said(text) for _, text in others) else min(start, first_ends)


def _paragraphs(lines: Sequence[str], says_nothing: Sequence[bool]) -> list[tuple[int, str]]:
    """Return the end and the text of each paragraph that has text."""
    found: list[tuple[int, str]] = []
    spoken: list[str] = []
    for at, line in enumerate([*lines, ""]):
        if at < len(lines) and (line.strip() or says_nothing[at]):
            spoken += [] if says_nothing[at] else [line]
        elif spoken:
            found.append((at, "\n".join(spoken)))
            spoken = []
    return found


def _is_said(paragraph: str) -> bool:
    """Return whether the user says this to the assistant."""
    return bool(_OWN_VOICE.search(paragraph) or _GOES_ON.match(paragraph)) or paragraph.rstrip().endswith(":")


def _goes_on_after_a_note(line: str) -> bool:
    """Return whether the line continues a request that a note interrupted, as "then push" does."""
    return line[:1].islower() or _is_said(line)


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
