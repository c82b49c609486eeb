"""Replace the secrets in a text by their kind: `[masked:aws-access-key]`.

masked(text)     the text without its secrets, and the kinds that were found
without(text)    the text alone, cached for texts of a usual length
is_free(*texts)  whether no text has a secret, in the time that one text takes

A provider's token is recognised by its start, which is searched for first and costs next to nothing. Any other secret
is recognised by the name it is assigned to, by its place in a URL, or by its header.
"""

from __future__ import annotations

import re
import tomllib
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import pairwise
from pathlib import Path
from urllib.parse import unquote

from memhook.patterns import regex
from memhook.screening.secret_values import (
    SPOKEN_NAMES,
    is_example,
    is_made_up,
    is_password,
    is_password_of_word,
    is_placeholder,
    is_random,
    is_secret_name,
    is_url_password,
)

CACHED_CHARS = 20_000
PASSES = 4
SHORTEST_TOKEN = 20
MASK = regex(r"\[masked:[\w-]+\]")

Span = tuple[int, int, str]


@dataclass(frozen=True, slots=True)
class Masked:
    """A text without secrets; `kinds` names each kind once."""

    text: str
    kinds: tuple[str, ...] = ()


def masked(text: str) -> Masked:
    """Mask the secrets of a text. Masking the result again changes nothing."""
    kinds: list[str] = []
    for _ in range(PASSES):  # a mask may join two pieces that then look like a secret
        spans = _disjoint(_spans(text))
        if not spans:
            break
        kinds += [kind for _, _, kind in spans]
        text = _replaced(text, spans)
    return Masked(text, tuple(dict.fromkeys(kinds)))


def without(text: str) -> str:
    return _cached(text) if len(text) <= CACHED_CHARS else masked(text).text


@lru_cache(maxsize=2048)
def _cached(text: str) -> str:
    return masked(text).text


def is_free(*texts: str) -> bool:
    """Return whether no text has a secret; maybe False if only two in a row look like one secret: then check each."""
    return next(_spans(_APART.join(texts)), None) is None


_APART = "\n\0\n"  # ends each line; no pattern for a value continues after it


def _spans(text: str) -> Iterator[Span]:
    """Yield the secrets in the text itself, and in each of its lines with escapes resolved."""
    yield from _found(text)
    for mark, escape, plain in _ESCAPES:
        if mark in text and escape.search(text):
            yield from _behind_escapes(text, mark, escape, plain)


def _found(text: str) -> Iterator[Span]:
    yield from _tokens(text)
    lowered = _lowered(text)
    if "://" in text:
        yield from _in_urls(text)
    if "PRIVATE KEY" in text or "Private-Lines" in text:
        yield from _private_keys(text)
    yield from _in_requests(text, lowered)
    yield from _assigned(text, lowered)
    yield from _in_sentences(text, lowered)


def _lowered(text: str) -> str:
    """Return the text in lower case, with every character at its offset in `text`."""
    lowered = text.lower()
    return lowered if len(lowered) == len(text) else "".join(char.lower()[0] for char in text)


# Providers' tokens


@cache
def _kinds(table: str) -> tuple[tuple[str, str, str], ...]:
    """Return the rows of a table of `secret_kinds.toml`: kind, the text to search for first, pattern."""
    data = tomllib.loads(Path(__file__).with_name("secret_kinds.toml").read_text(encoding="utf-8"))
    names = data["names"]
    named = re.compile(f"<({'|'.join(names)})>")
    return tuple((kind, text, named.sub(lambda found: names[found[1]], rest)) for kind, text, rest in data[table])


@cache
def _by_start() -> dict[str, list[tuple[str, str]]]:
    found: dict[str, list[tuple[str, str]]] = {}
    for kind, start, rest in _kinds("starting"):
        found.setdefault(start, []).append((kind, rest))
    return found


def _tokens(text: str) -> Iterator[Span]:
    runs = "\n".join([word for word in text.split() if len(word) >= SHORTEST_TOKEN])  # most text has none
    if not runs:
        return
    for start, rules in _by_start().items():
        if start in runs:
            for kind, rest in rules:
                yield from _matches(text, kind, _starting(start, rest), start)
    for kind, mark, pattern in _kinds("shaped"):
        if mark in runs and _compiled(pattern).search(runs):
            yield from _matches(text, kind, _compiled(pattern))


def _matches(text: str, kind: str, pattern: re.Pattern[str], start: str = "") -> Iterator[Span]:
    for found in pattern.finditer(text):
        if "needed" in pattern.groupindex and found["needed"] is None:
            continue
        if not is_example(found[0].removeprefix(start)):  # the fixed start itself may look like an example
            yield *found.span(), kind


@cache
def _starting(start: str, rest: str) -> re.Pattern[str]:
    """Return the pattern for a token, at the start of a word. The look-behind follows `start`, because it is slow."""
    literal = re.escape(start)
    return re.compile(f"{literal}(?<![A-Za-z0-9]{literal})(?:{rest})", re.ASCII)


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    """Compile on first use: most patterns are never needed."""
    return re.compile(pattern, re.ASCII)


# Armoured private keys, complete or truncated

_HEADER = regex(r"-{4,5} ?BEGIN (?:[A-Z0-9]+ ){0,4}PRIVATE KEY(?: BLOCK)? ?-{4,5}")
_FOOTER = regex(r"-{4,5} ?END (?:[A-Z0-9]+ ){0,4}PRIVATE KEY(?: BLOCK)? ?-{4,5}")
_ARMOURED = regex(
    r"(?:\s|\\[nr]|[>|#*+\"',]|[A-Za-z-]{4,20}: [^\n\\]{1,80}|[A-Za-z0-9+/]{16,}={0,2}|[A-Za-z0-9+/]{1,15}={1,2})*"
)
_PUTTY = regex(r"Private-Lines: \d+\s+(?:[A-Za-z0-9+/=]{4,}\s*)+")
LONGEST_KEY = 20_000
SHORTEST_BODY = 24


def _private_keys(text: str) -> Iterator[Span]:
    headers = [header.span() for header in _HEADER.finditer(text)]
    for (start, end), (following, _) in pairwise([*headers, (len(text), len(text))]):
        last = min(end + LONGEST_KEY, following)  # up to the next key
        footer = _FOOTER.search(text, end, last)
        body = _ARMOURED.match(text, end, last)
        stop = footer.end() if footer else body.end() if body else end
        stop -= 0 if footer else len(text[end:stop]) - len(text[end:stop].rstrip("\"'`,> \n\t"))
        if sum(char.isalnum() for char in text[end:stop]) >= SHORTEST_BODY:
            yield start, stop, "private-key"
    for lines in _PUTTY.finditer(text):
        yield lines.start(), lines.start() + len(lines[0].rstrip()), "private-key"


# Passwords and tokens in addresses

_SCHEME = regex(r"[a-zA-Z][a-zA-Z0-9+.-]{0,30}\Z")
_AUTHORITY = regex(
    r"://(?:(?P<user>[^\s:/?#@\"'<>`\[\]]{0,200}):(?P<password>[^\s/?#\"'<>`\[\]]{1,300})|(?P<alone>[\w.~%+-]{20,300}))@(?=\S)"
)
_IN_QUERY = regex(r"[?&;](?P<name>[\w.-]{1,60})=(?P<value>[^\s&#\"'<>`;\[\]]{8,2000})")
_ANY_HOST = frozenset({"http", "https", "ftp", "ftps", "ssh", "git", "ws", "wss"})


def _in_urls(text: str) -> Iterator[Span]:
    for found in _AUTHORITY.finditer(text):
        if password := found["password"]:
            if is_url_password(password, found["user"]):
                scheme = _SCHEME.search(text[max(0, found.start() - 31) : found.start()])
                is_any = scheme is None or scheme[0].lower() in _ANY_HOST
                yield *found.span("password"), "basic-auth" if is_any else "connection-string"
        elif is_random(found["alone"]):
            yield *found.span("alone"), "basic-auth"
    for found in _IN_QUERY.finditer(text):
        if is_secret_name(found["name"]) and is_random(found["value"]):
            yield *found.span("value"), "url-secret"


# Values assigned to the name of a secret

# Each alternative starts with a letter: with a look-behind first, every character of a text is tried.
_NAMED = regex(r"pass|pwd|secret|token|key|credential|auth|kennwort|contrase|senha|cookie|sess|pat(?<=_pat)(?![a-z])")
_SEPARATOR = (
    r"(?:[\"'`*\])]{0,3}[ \t]{0,8}(?:=>|:=|==?|::?|\?=)[ \t]{0,8}"
    r"|[\"'`*]{0,3}[ \t]{1,3}(?:is|was|ist|lautet|est|es)[ \t]{1,3}(?:set to )?:?"
    r"|[\"'`]?,?\s{1,40}[\"'`]?value[\"'`]?[ \t]{0,3}[:=][ \t]{0,3}"
    r"|[\"'`]\s{0,3}\{\s{0,40}(?:type\s{0,8}=\s{0,8}\w{1,20}\s{1,40})?default[ \t]{0,8}=[ \t]{0,8}"  # Terraform
    r"|[\"'`][ \t]?,[ \t]?|>)"
)
_GIVES = regex(rf"[\w.-]{{0,40}}{_SEPARATOR}", re.IGNORECASE)
_GIVEN = regex(
    rf"(?P<suffix>[\w.-]{{0,40}}){_SEPARATOR}"
    r"(?:(?P<quote>[\"'`])(?P<quoted>[^\"'`\n\[\]]{6,500})(?P=quote)"
    r"|(?:[*\"'`(]|[bru]\"){0,4}(?P<bare>[^\s\"'`<>,;|\[\]]{6,2000}))",
    re.IGNORECASE,
)
_OPTION = regex(r"(?P<suffix>[\w-]{0,10})[ \t]+[\"']?(?P<bare>[^\s\"'`<>\[\]]{6,500})")
_BEFORE_NAME = regex(r"[\w.-]*\Z")
NAME_CHARS = 40


def _assigned(text: str, lowered: str) -> Iterator[Span]:
    """Yield the values in `NAME = value`, `"name": "value"`, `name is value`, `--name value`.

    A value is read to its end once; one that is assigned inside it, only up to the next assignment. So a text that
    consists of names takes linear time.
    """
    names = [(name[0], *name.span(), _GIVES.match(text, name.end()) is not None) for name in _NAMED.finditer(lowered)]
    read = 0
    for (name, at, end, gives), limit in zip(names, _next_assignments(names, len(text)), strict=True):
        given = _GIVEN.match(text, end, limit if at < read else len(text)) if gives else None
        before = _BEFORE_NAME.search(text[max(0, at - NAME_CHARS) : at])
        start = before[0] if before else ""
        if given is None and start.startswith("-"):
            given = _OPTION.match(text, end)
        if given is not None:
            read = max(read, given.end())
            yield from _secret_given(start + name + given["suffix"], given)


def _next_assignments(names: Sequence[tuple[str, int, int, bool]], length: int) -> list[int]:
    """Return for each name the start of the next one that is assigned a value."""
    limits, limit = [], length
    for _, at, _, gives in reversed(names):
        limits.append(limit)
        limit = at if gives else limit
    return limits[::-1]


def _secret_given(name: str, given: re.Match[str]) -> Iterator[Span]:
    group = "quoted" if given.groupdict().get("quoted") else "bare"
    value = given[group] if group == "quoted" else given[group].rstrip(".,:!?)*_}")
    is_secret = is_password if _is_for_people(name) else is_random
    if is_secret_name(name) and is_secret(value):
        yield given.start(group), given.start(group) + len(value), _kind_of(name)


def _kind_of(name: str) -> str:
    lowered = name.lower()
    if _is_for_people(name):
        return "password"
    return next((kind for kind in ("token", "key", "cookie") if kind in lowered), "secret")


def _is_for_people(name: str) -> bool:
    return re.search("pass(?!port)|pwd|kennwort|contrase|senha", name, re.IGNORECASE) is not None


# Passwords in sentences

_PASSWORD = regex(SPOKEN_NAMES)
# Between the word and the password itself: "password for the wind farm is ...".
_SAID_TO_BE = regex(
    r"\w{0,5}(?:(?:\s+(?:at|da|de|del|der|des|di|dla|do|du|for|from|für|in|of|on|para|pour|van|von|voor|zum|для|от)"
    r"(?:\s+[^\s:=]{1,40}){1,6}?)?"
    r"\s*(?:[:=：]\s*|(?<=\s)(?:are|es|est|is|ist|jest|lautet|to|war|was|è|é|är)\s+|[はが是为為]\s*)|\s+)"
)
_SENTENCE = regex(r"(?:[^.!?\n]|[.!?](?!\s))*")
_ASCII_WORD = regex(r"[!-~]+")
SENTENCE_CHARS = 100


def _in_sentences(text: str, lowered: str) -> Iterator[Span]:
    """Yield the words after a word for a password that cannot be names: `the root password for kaze is Xk29pQz7w`."""
    for name in _PASSWORD.finditer(lowered):
        rest = _SENTENCE.match(text, name.end(), name.end() + SENTENCE_CHARS)
        for word in _ASCII_WORD.finditer(text, *rest.span()) if rest else ():
            value = word[0].strip(_AROUND)
            if is_made_up(value):
                start = word.start() + word[0].index(value)
                yield start, start + len(value), "password"
        given = _SAID_TO_BE.match(lowered, name.end(), name.end() + SENTENCE_CHARS)
        found = _ASCII_WORD.match(text, given.end()) if given else None
        if found and is_password_of_word(value := found[0].strip(_AROUND)):
            start = found.start() + found[0].index(value)
            yield start, start + len(value), "password"


_AROUND = "\"'`()[]{}<>*,;:."


# Headers and command lines


def _in_requests(text: str, lowered: str) -> Iterator[Span]:
    for kind, mark, rest in _kinds("requested"):
        at, read = lowered.find(mark), 0
        while at >= 0:
            following = lowered.find(mark, at + len(mark))
            is_inside = at < read and following >= 0  # of a value already read: read this one up to the next mark only
            found = _request(rest).match(text, at + len(mark), following if is_inside else len(text))
            if found:
                read = max(read, found.end())
                if _is_credential(kind, found["value"]):
                    yield *found.span("value"), kind
            at = following


_request = cache(re.compile)


def _is_credential(kind: str, value: str) -> bool:
    match kind:
        case "bearer-token" | "api-key":
            return is_random(value)
        case "password":
            return is_password(value)
    return not is_placeholder(value)


# Escaped secrets: found in the unescaped text, masked in the text itself

Plain = Callable[[str], str]

_ENTITIES = {"&amp;": "&", "&quot;": '"', "&#39;": "'", "&#x27;": "'", "&lt;": "<", "&gt;": ">"}

_ESCAPES: tuple[tuple[str, re.Pattern[str], Plain], ...] = (
    ("%", regex(r"(?:%[0-9A-Fa-f]{2})+"), lambda escape: unquote(escape, errors="replace")),
    ("\\", regex(r"\\(?=[!-/:-@\[-`{-~])"), lambda _: ""),
    ("\\u00", regex(r"\\u00[2-7][0-9a-fA-F]"), lambda escape: escape.encode().decode("unicode-escape")),
    ("&", regex(r"&(?:amp|quot|#39|#x27|lt|gt);"), lambda escape: _ENTITIES[escape]),
    *((char, regex(char), lambda _: "") for char in "\u200b\u200c\u200d\u2060\ufeff\u00ad"),
)


def _behind_escapes(text: str, mark: str, escape: re.Pattern[str], plain: Plain) -> Iterator[Span]:
    at = 0
    for line in text.splitlines(keepends=True):
        if mark in line:
            yield from ((at + start, at + end, kind) for start, end, kind in _in_plain(line, escape, plain))
        at += len(line)


def _in_plain(line: str, escape: re.Pattern[str], plain: Plain) -> Iterator[Span]:
    pieces: list[str] = []
    places, offsets = [0], [0]  # from each place of the plain line on, the characters dropped before it
    at = length = 0
    for found in escape.finditer(line):
        put = plain(found[0])
        pieces += [line[at : found.start()], put]
        length += found.start() - at + len(put)
        at = found.end()
        places.append(length)
        offsets.append(at - length)

    def original(place: int) -> int:
        return place + offsets[bisect_right(places, place) - 1]

    for start, end, kind in _found("".join((*pieces, line[at:]))) if pieces else ():
        yield original(start), _end_of_escape(line, escape, original(end - 1)), kind


def _end_of_escape(line: str, escape: re.Pattern[str], last: int) -> int:
    """Return the end of the character at `last`, or of the escape that starts there."""
    found = escape.match(line, last)
    return found.end() if found else last + 1


def _disjoint(spans: Iterable[Span]) -> list[Span]:
    """Return the spans in text order; overlapping ones are merged and get the kind that was found first."""
    ordered = sorted(enumerate(spans), key=lambda pair: (pair[1][0], pair[0]))
    joined: list[tuple[int, int, str, int]] = []
    for rank, (start, end, kind) in ordered:
        if joined and start < joined[-1][1]:
            first, last, named, best = joined[-1]
            joined[-1] = (first, max(last, end), named if best <= rank else kind, min(best, rank))
        else:
            joined.append((start, end, kind, rank))
    return [(start, end, kind) for start, end, kind, _ in joined]


def _replaced(text: str, spans: Sequence[Span]) -> str:
    pieces: list[str] = []
    at = 0
    for start, end, kind in spans:
        pieces += [text[at:start], f"[masked:{kind}]"]
        at = end
    return "".join((*pieces, text[at:]))
