"""The objects and places that a note limits its names to, and the names that it is not about.

scope_of(anchor, note)            the objects an anchor is limited to: "git rebase on release/courier" is on that branch
place_before(command, note)       the place that its sentence starts with: "In services/pay run npm ci with ..."
antecedents_of(anchor, note)      the names that a pronoun behind the anchor may mean: "no kubectl apply on it"
place_of(name, places, note)      the folder or file in which a note forbids a name
is_subject(name, note)            whether the note is about a program itself, not about one of its commands
is_beside(anchor, others, note)   whether the note mentions it but is not about it: "use X instead"
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from memhook.core.anchors import STATUS, statuses
from memhook.core.directives import is_wanted
from memhook.core.error_messages import EXPLAINED
from memhook.core.sentences import CLAUSE, NO_NAME, PREDICATE, bare, found_command
from memhook.patterns import regex

_NAMED = r"`?(?:(?:[~/.]|\w)[\w.@~-]*(?:[-_/.][\w@~-]+|\d)[\w.@/~-]*/?|[\w.-]+/|(?<=`)[a-z][\w-]{3,}(?=`))`?"
_SCOPE = regex(
    r"`?\s+(?:(?:against|at|from|in|inside|into|of|on|to|under) +(?:(?:an?|our|the) +)?|(?:our|the) +|(?=\d{3}))"
    rf"(?:[a-z]+ +)?({_NAMED}(?:(?:, +| +and +| +or +){_NAMED})*)"
)
_JOINED = regex(r", +| +and +| +or +")
_LITERAL = regex(r"[\"']([^\"'\n]{2,40})[\"']")  # date_trunc('quarter', …)
# "Argo CD syncs deploy/prod, so no kubectl apply on it"
_PRONOUN = r"`? (?:(?:at|for|from|in|on|to|with) )?(?:it|them|there)\b"
_MADE_UP = regex(r"(?<![\w./-])[\w.@-]*\w[_/-][\w./-]*\w(?![\w/-])")  # fct_clicks: not a word of the language
_LED_BY_PLACE = regex(rf"(?:^|[.;!?]\s+)(?:In|Inside|Under|Within) ({_NAMED})[, ](?:[^.;!?\n]|\.\w){{0,40}}$")
_GENERATED = regex(r"`?\s+from\s+`?[\w./-]*\.[a-z]\w{1,5}\b")  # "npm run gen:api from openapi.yaml": its input
# "from ogr2ogr =", "of terraform in CI": a program, because no noun follows that continues the sentence.
_OF_PROGRAM = regex(
    r"`?\s+(?:by|from|of) +`?([a-z][\w.-]*\w(?: [a-z][\w:-]+)??)`?"
    rf"(?=[.,;:)]|\s*$|\s+(?:{NO_NAME.pattern}|[=-]*>|[=→]|means?)(?!\w))"
)
_BEYOND = regex(r"\b(?:else|elsewhere|except|only|outside)\b", re.IGNORECASE)

# "In payments-core nobody calls ...": the place that a note starts with, and the words behind it.
_OPENING = regex(r"\W*(?:(?:[\w'’]+ +){0,3}(?:below|in|inside|of|under|within) +(?:the +)?)?`?", re.IGNORECASE)
_IS_SAID = regex(rf"`?(?:[:,]| +(?:[a-z]\w+ +)?(?:may|never|no|{PREDICATE.pattern})(?!\w))")
_BELOW = regex(r"(?:[^,.;\n]|, (?:and|nor?|or)\b){0,60}?\b(?:below|in|inside|under|within) +(?:the +)?`?$")
_GOES_ON = regex(rf"`? +(?:{PREDICATE.pattern})(?!\w)")  # "loadLazily in src/lazy.ts wraps": where it is

_ORIGIN = regex(r"(?:[A-Z]\w+|\w\(\)|`) (?:from|of) (?:the )?`?$")  # "a MonetaryAmount from payments-core"
_ADVISED = regex(r"[,;:.] [^,;:.]*\b(?:prefer|take|use) +(?:the +)?`?$", re.IGNORECASE)
# Words after a name that the note is not about: it is allowed, or is an exception whose message is explained.
_PASSED_OVER = regex(
    rf"`? (?:is|are) (?:fine|ok|okay|safe)[,.;]|(?:(?<=Error)|(?<=Exception)): [^.;\n]*(?:{EXPLAINED.pattern})"
)
_OF_ERROR = regex(r"(?:Error|Exception)`? +for +`?$")
_LEADING = regex(r"\W*(?:in +)?`?(?:[\w.-]+/)+[\w.-]*\w`?(?:: |, | the )", re.IGNORECASE)


def scope_of(anchor: str, note: str) -> tuple[str, ...]:
    if anchor.endswith("()"):
        called = re.search(rf"{re.escape(anchor[:-1])}([^()`\n]*)", note)
        return tuple(_LITERAL.findall(called[1])) if called else ()
    is_status = bool(STATUS.fullmatch(anchor))
    at = _end_of_status(anchor, note) if is_status else found.end() if (found := found_command(anchor, note)) else 0
    if not at or (" " not in anchor and _BEYOND.search(note)):
        return ()  # "process.env is read in config.ts only"
    scope = None if anchor.startswith("-") else _SCOPE.match(note, at)
    if is_status:
        scope = scope or _OF_PROGRAM.match(note, at)
    elif scope and _GENERATED.match(note, at):
        return ()
    return tuple(bare(one.strip("`")) for one in _JOINED.split(scope[1])) if scope else ()


def _end_of_status(anchor: str, note: str) -> int:
    return next((end for status, end in statuses(note) if status == anchor), 0)


def place_before(command: str, note: str) -> tuple[str, ...]:
    found = found_command(command, note)
    led = _LED_BY_PLACE.search(note[: found.start()]) if found else None
    return (led[1],) if led else ()


def antecedents_of(anchor: str, note: str) -> tuple[str, ...]:
    found = found_command(anchor, note, _PRONOUN)
    return tuple(_MADE_UP.findall(note[: found.start()])) if found else ()


def place_of(name: str, places: Iterable[str], note: str) -> str:
    """Return the place if the note starts with it, or has it after the name ("no Date.now in src/midi/"), else ""."""
    at = note.find(name)
    end = at + len(name)
    if at < 0 or _BEYOND.search(note) or is_wanted(note, at, end) is not False:
        return ""
    opening = _OPENING.match(note)
    start = opening.end() if opening else 0
    is_led = bool(opening and opening[0].strip(" `"))  # "In payments-core nobody calls ..."
    for place in places:
        behind = note.find(place, end, end + CLAUSE)
        is_said = note.startswith(place, start) and _IS_SAID.match(note, start + len(place))
        leads = is_said and (is_led or not {*"/*."}.isdisjoint(place))
        is_told = behind >= 0 and _BELOW.match(note[end:behind])
        if leads or (is_told and not _GOES_ON.match(note, behind + len(place))):
            return place
    return ""


def is_subject(name: str, note: str) -> bool:
    """Return whether the name is a subject: "deploy.sh takes the environment", not "run deploy.sh staging"."""
    return bool(re.search(rf"(?<![^\s`]){re.escape(name)}`? (?:{PREDICATE.pattern})(?!\w)", note))


def is_beside(anchor: str, others: Iterable[str], note: str) -> bool:
    """Return whether the note names it but is about something else: it is the alternative, or the source of an error.

    A flag of a command that the note names counts as well.
    """
    if anchor.startswith("-"):
        return any(anchor in one.split()[1:] for one in others)
    at = note.find(anchor)
    if at < 0:
        return False
    before = note[max(0, at - CLAUSE) : at]
    leading = _LEADING.match(note)
    is_in_file = leading is not None and at >= leading.end() and not {*" /"}.intersection(anchor)
    is_advised = bool(_ADVISED.search(before)) and any(0 <= note.find(one) < at for one in others)
    is_source = bool(_ORIGIN.search(before) or _OF_ERROR.search(before))
    return is_in_file or is_advised or is_source or bool(_PASSED_OVER.match(note, at + len(anchor)))
