"""The details of a memory that decide whether it matches a call with one of its keys."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain

from memhook.core.anchor_keys import anchor_keys
from memhook.core.anchors import EVERYDAY_TOOLS, Kind, anchors_of, is_distinctive, kind_of
from memhook.core.call_keys import KEBAB
from memhook.core.commands import Command, command_of
from memhook.core.directives import READ_CHARS
from memhook.core.error_messages import content_words, message_details
from memhook.core.mentions import Mentions, mentions_of
from memhook.core.scopes import antecedents_of, is_beside, is_subject, place_before, place_of, scope_of
from memhook.patterns import regex

CACHED_DETAILS = 256

# The word after one of these is a name in code, not an argument: "import acme.util"
_OF_CODE = frozenset(
    ("await", "class", "extends", "from", "import", "new", "package", "return", "throw", "use", "using")
)
_WORD = regex(r"\w[\w.+-]*[\w+]")
_MESSAGE_OF_CODE = r"(?:: ([^`\n]+)`|[\])]?:? [\"“'`]([^\"”'`\n]+)[\"”'`])"

Names = dict[str, tuple[str, ...]]
"""Names for each of several anchors."""


@dataclass(frozen=True, slots=True)
class Note:
    """The indexed data of a memory; the rest is derived again when a call has one of its keys, to save memory."""

    anchors: tuple[str, ...]
    text: str
    title: str

    def filed_under(self) -> set[str]:
        return {key for key, _, _ in anchor_keys(self.anchors, mentions_of(self.text))}

    def mentions(self) -> Mentions:
        """Return the mentions of the text; none if the anchors are not those of the text, but set by a user."""
        is_chosen = set(self.anchors) != set(anchors_of(self.title, self.text))
        return Mentions() if is_chosen else mentions_of(self.text)


@dataclass(frozen=True, slots=True)
class Details:
    anchors: Mapping[str, Mapping[str, float]]
    """The anchors of each key, with how specific the key is for them."""
    commands: Mapping[str, Command]
    scopes: Names
    """The objects that an anchor is limited to: a call must be about one of them, too."""
    message_details: Names
    """The details of a message or an exception: the error must have all of them."""
    messages_of_codes: Mapping[str, Sequence[str]]
    """The words of the message that a code starts: the error must have half of them."""
    arguments: frozenset[str]
    """Names that are only arguments of a command: a call that writes them does not run it."""
    asked_flags: frozenset[str]
    words: frozenset[str]
    """The words of the text, if a flag is an anchor: the tool that has the flag must be among them."""
    has_no_tool: bool
    """The text names no command, so that a flag may be any tool's."""
    subjects: frozenset[str]
    """The programs that the text is about with any subcommand."""


@lru_cache(maxsize=CACHED_DETAILS)
def details_of(note: Note) -> Details:
    anchors, text, mentioned = note.anchors, note.text, note.mentions()
    scopes = _scopes(note, mentioned)
    places = _places(note, mentioned)
    words = {*_WORD.findall(text.lower())} if any(anchor.startswith("-") for anchor in anchors) else set()
    commands = {one: command_of(one, text) for one in anchors if len(one.split()) > 1}
    spoken = {one: command_of(one, text, is_spoken=True) for one in mentioned.commands}
    has_tool = commands or any(map(_runs_a_tool, spoken)) or not EVERYDAY_TOOLS.isdisjoint(words)
    return Details(
        _anchors_by_key(note, mentioned, scopes, places),
        spoken | commands,
        places | _antecedents(note, mentioned) | scopes,
        _message_details(note, mentioned),
        dict(_messages_of_codes(anchors, text)),
        frozenset(_arguments(anchors, text)),
        mentioned.asked_flags,
        frozenset(words).union(*(word.split("-") for word in words)),
        not has_tool and len(text) <= READ_CHARS,
        frozenset(one for one in anchors if " " not in one and is_subject(one, text)),
    )


def _anchors_by_key(note: Note, mentioned: Mentions, scopes: Names, places: Names) -> Mapping[str, Mapping[str, float]]:
    """Return the anchors of each key, without those that are only a part of what the note says of another one."""
    parts = {*_limiting(note, mentioned, scopes), *_parts_of_messages(note.anchors)}
    objects = {*chain.from_iterable(places.values())}
    by_key: dict[str, dict[str, float]] = defaultdict(dict)
    for key, one, weight in anchor_keys(note.anchors, mentioned):
        if one not in parts and not (key.startswith("id:") and one in objects):
            by_key[key][one] = max(weight, by_key[key].get(one, 0.0))
    return dict(by_key)


def _limiting(note: Note, mentioned: Mentions, scopes: Names) -> Iterator[str]:
    """Yield the names that only limit others, or that the note is not about.

    The scope of a command does not count alone: "`aws s3 rm` on acme-state" needs both.
    """
    for one, names in scopes.items():
        if one in note.anchors or one.partition(" ")[0] in EVERYDAY_TOOLS:
            yield from names
    named = (*note.anchors, *mentioned.commands, *mentioned.tools)
    yield from (one for one in named if is_beside(one, named, note.text))


def _parts_of_messages(anchors: Sequence[str]) -> Iterator[str]:
    """Yield the words of messages that have details: a message counts as a whole."""
    messages = (one for one in anchors if " " in one and message_details(one, ""))
    yield from (word.rstrip(":") for one in messages for word in one.split())


def _scopes(note: Note, mentioned: Mentions) -> Names:
    """Return the scopes of commands, calls, flags, exceptions and files; of a generic command, its place counts."""
    found = {one: scope_of(one, note.text) or _place(one, note.text) for one in _scoped(note, mentioned)}
    return {one: scope for one, scope in found.items() if scope}


def _antecedents(note: Note, mentioned: Mentions) -> Names:
    found = {one: antecedents_of(one, note.text) for one in _scoped(note, mentioned)}
    return {one: names for one, names in found.items() if names}


def _scoped(note: Note, mentioned: Mentions) -> tuple[str, ...]:
    return (*filter(_can_be_scoped, note.anchors), *mentioned.commands, *mentioned.tools)


def _can_be_scoped(anchor: str) -> bool:
    """Return whether it is a command, call, flag or exception, or a file name that several folders may have."""
    is_form = " " in anchor or anchor.startswith("-") or anchor.endswith(("()", "Error", "Exception"))
    return is_form or ("/" not in anchor and kind_of(anchor) is Kind.PATH)


def _place(command: str, text: str) -> tuple[str, ...]:
    """Return the place of a command that many projects and folders have: `cargo test`, not `make lint-api`."""
    words = [word for word in command.split() if word[0] != "-"]
    is_generic = len(words) > 1 and words[0] in EVERYDAY_TOOLS and not any(map(is_distinctive, words))
    return place_before(command, text) if is_generic else ()


def _places(note: Note, mentioned: Mentions) -> Names:
    """Return the place in which the note forbids a name or setting: it is written there, not run."""
    kinds = (Kind.PATH, Kind.FOLDER, Kind.GLOB)
    places = [one for one in note.anchors if kind_of(one) in kinds or KEBAB.fullmatch(one)]
    names = (*note.anchors, *mentioned.types, *mentioned.members)
    written = (one for one in names if kind_of(one) in (Kind.IDENTIFIER, Kind.LITERAL))
    return {one: (place,) for one in written if (place := place_of(one, places, note.text))}


def _message_details(note: Note, mentioned: Mentions) -> Names:
    found = {one: message_details(one, note.text) for one in (*filter(_is_of_error, note.anchors), *mentioned.messages)}
    return {one: names for one, names in found.items() if names}


def _is_of_error(anchor: str) -> bool:
    kinds = (Kind.COMMAND, Kind.MESSAGE) if " " in anchor else (Kind.IDENTIFIER, Kind.CODE)
    return kind_of(anchor) in kinds


def _messages_of_codes(anchors: Sequence[str], text: str) -> Iterator[tuple[str, list[str]]]:
    """Yield each code that starts a message, with the words of that: E0277 alone is any bound that is not met."""
    for code in (one for one in anchors if kind_of(one) is Kind.CODE):
        found = re.search(re.escape(code) + _MESSAGE_OF_CODE, text)
        if found and (words := content_words(found[1] or found[2])):
            yield code, words


def _arguments(anchors: Sequence[str], text: str) -> Iterator[str]:
    commands = [one for one in anchors if kind_of(one) is Kind.COMMAND and one.split()[0] not in _OF_CODE]
    named = {word for one in commands for word in one.split()[1:]}.intersection(anchors)
    rest = re.sub("|".join(map(re.escape, commands)), "", text) if named else ""
    return (name for name in named if name not in rest)


def _runs_a_tool(command: str) -> bool:
    tool, *rest = command.split()
    return tool in EVERYDAY_TOOLS or any(word.startswith("-") for word in rest)
