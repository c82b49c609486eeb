"""Whether a note asks for something or forbids it.

is_wanted(note, start, end)   whether it asks for the text between two places, or forbids it
decides_on(name, note)        whether it asks for the thing of this name, or forbids it
is_directive(clause)          whether a clause asks for anything, or forbids it
asked_flags(note)             the flags that it asks for
refused_names(note)           what it says there shall be none of, or what was removed
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from memhook.core.sentences import AROUND, CLAUSE, SUBCOMMANDS
from memhook.core.terms import STOP_WORDS
from memhook.patterns import regex

READ_CHARS = 800  # a longer text mentions much that it is not about

# The last such word in the clause before a name counts.
_WISH = regex(
    r"\b(?P<refused>avoid|don't|jamais|keine?|never|nicht|nie|no|nobody|nor|not|nunca|pas|without)\b"
    r"|\b(?:always|ha(?:s|ve) to|immer|must|needs?|only with|pass|require[sd]?|siempre|toujours)\b"
    r"|(?:^|[:,!?]\s+|\band |\bthen )(?:run|use)\b",
    re.IGNORECASE,
)
_ANOTHER = r"[`\s]*(?:(?:and|or|et|oder|und|y)\s+(?:[`\w.-]+\s+){1,2})?"  # "moment and full lodash are banned"
_GONE = "(?:is|are|was|were|has been|have been) (?:being )?(?:banned|deprecated|dropped|forbidden|removed)\\b"
_REFUSED = regex(
    r"[`\s]*(?:is |are )?(?:banned|forbidden|never|not|verboten|nie|nunca|jamais)\b"
    rf"|{_ANOTHER}{_GONE}",
    re.IGNORECASE,
)
_NEEDED = regex(r"[`\s]*(?:(?:is|are)? ?(?:needed|required|mandatory|instead)\b|only\s*(?:[.,;:]|$))", re.IGNORECASE)
_CLAUSE_END = regex(r"[.;\n](?:\s|$)")
# "Without --atomic it stays half rolled out", "never without --atomic"; "rsync without --checksum" asks for none.
_MISSED = regex(r"\bwithout +(?:\S+ +)?`?$", re.IGNORECASE)
_CONSEQUENCE = regex(
    r"`?(?: +(?!(?:at|by|for|in|of|on)\b)[\w./-]+`?)?,? +(?:is|it|never|the|will|you|\w+[^s]s)\b", re.IGNORECASE
)
_FAILING = regex(r"(?<=[\w`] )(?!runs\b|works\b)\w{2,}[^s]s\b", re.IGNORECASE)  # "it hangs without ..."
# A flag with its value: a number, or a word at the end of the clause.
_FLAG_IN_PROSE = regex(
    r"(?<![\w-])(--?[A-Za-z][\w-]*)"
    r"(?:=([\w./-]*\w)| (\d[\w.]*|(?!first\b)[a-z]\w+(?=[`,.;)]| (?:in|on|unless)\b|(?<!s) \w+[^s]s\b|$)))?"
)


_NONE_OF = regex(
    r"\b(?:[Nn]o|[Nn]ever (?:add|import|use)|[Dd](?:o not|on't) (?:add|import|use)) `?([A-Za-z][\w-]{2,})\b(?!\.\w)`?"
    r"(?=[,.;:]|$| (?:and|any|here|in|nor|or)\b)"
)
_REMOVED = regex(rf"(?:\b([\w-]{{3,}})`? (?:and|or) (?:full )?)?`?\b([A-Za-z][\w-]{{2,}})`? {_GONE}")


def is_wanted(note: str, start: int, end: int) -> bool | None:
    """Return True if a note asks for the text between two places, False if it forbids it, None if it names it."""
    return _is_wanted(note[max(0, start - CLAUSE) : start], note[end : end + 2 * CLAUSE])


def _is_wanted(before: str, behind: str) -> bool | None:
    clause = _CLAUSE_END.split(before)[-1]
    if missed := _MISSED.search(clause):
        before = clause[: missed.start()]
        wanted = _is_wanted(before, "")
        return bool(_CONSEQUENCE.match(behind)) or wanted is False or (wanted is None and bool(_FAILING.search(before)))
    if _REFUSED.match(behind):
        return False
    wish = next(reversed([*_WISH.finditer(clause)]), None)
    return (True if _NEEDED.match(behind) else None) if wish is None else not wish["refused"]


def decides_on(name: str, note: str) -> bool:
    """Return whether the note asks for the name or forbids it, "no testify"; else the name may be any word."""
    found = re.finditer(rf"(?<![\w-]){re.escape(name)}(?![\w-])", note[:READ_CHARS], re.IGNORECASE)
    return any(is_wanted(note, *one.span()) is not None for one in found)


def is_directive(clause: str) -> bool:
    return bool(_WISH.search(clause))


def refused_names(note: str) -> Iterator[str]:
    note = note[:READ_CHARS]
    named = (*_NONE_OF.findall(note), *(name for names in _REMOVED.findall(note) for name in names))
    known = AROUND | SUBCOMMANDS | STOP_WORDS
    return (name.lower() for name in named if name and name.lower() not in known)


def asked_flags(note: str) -> Iterator[str]:
    """Yield the flags that the note asks for, each with its value if it has one: `--jobs 4`."""
    for flag in _FLAG_IN_PROSE.finditer(note):
        if is_wanted(note, *flag.span()):
            yield f"{flag[1]} {value}" if (value := flag[2] or flag[3]) and value not in AROUND else flag[1]
