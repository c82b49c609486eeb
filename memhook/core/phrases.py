"""Find the phrases of `phrases.toml`, which has a section per language, in a text.

opening(sentence)          the request to remember at its start
closing(sentence)          the request at its end, and the words before it
mentions_a_request(text)   whether the text may have either: quick
starts_with(text, words)   the phrase of `words` that the text starts with
before(text, words)        the text up to the first of them
holds(text, words)         whether the text contains one of them as a word
order_in(sentence, ...)    the place at which an order to the assistant follows a note
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import chain
from pathlib import Path

from memhook.core.terms import STOP_WORDS
from memhook.patterns import regex

MOST_LEADS = 4
MOST_FILLERS = 3
LONGEST_SENTENCE = 1_000  # nobody types longer ones

# Scripts without spaces between words: a phrase in these need not end at the end of a word.
_UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff"
_ENDS_UNSPACED = regex(f"[{_UNSPACED}]$")
_NO_WORD_BEFORE, _NO_WORD_AFTER = r"(?<![\w'-])", r"(?![\w'-]|\.\w)"  # nor the name of a file
_GAP = r"(?: [\w']{1,12}){0,2}?[ -]"  # between the words of a request
_ASIDE = regex(r"(?:[\w'-]+ ){0,4}[\w'-]+(?:,| [–—-])[ \t]+")  # "before I forget, "
_CLAUSE_END = regex(r"[,;–—]| - ")
_CLAUSE = regex(r"[:;.!]\s")
_PAUSE = rf"(?:[ \t]*[,:;!.、，：！—–-]+[ \t]*|[ \t]+|(?<=[{_UNSPACED}]))"


@dataclass(frozen=True, slots=True, eq=False)
class Language:
    """The lists of one section, and the patterns of its `order`; most languages lack some."""

    words: Mapping[str, tuple[str, ...]]
    order: Mapping[str, str]

    def __getitem__(self, kind: str) -> tuple[str, ...]:
        return self.words.get(kind, ())


@cache
def languages() -> tuple[Language, ...]:
    data = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
    orders = [section.pop("order", {}) for section in data.values()]
    lists = [{kind: tuple(words) for kind, words in section.items()} for section in data.values()]
    return tuple(map(Language, lists, orders))


def plain(text: str) -> str:
    """Return the text in lower case with one kind of apostrophe, every character at its offset."""
    lowered = text.lower()
    if len(lowered) != len(text):  # a few letters become two in lower case
        lowered = "".join(low if len(low := one.lower()) == 1 else one for one in text)
    return lowered.replace("’", "'").replace("‘", "'")


@dataclass(frozen=True, slots=True)
class Opening:
    """A request at the start of a sentence; `is_plain` if its words cannot ask for anything else."""

    language: Language
    lead: str
    rest: str
    is_plain: bool

    @property
    def is_bare(self) -> bool:
        """Whether the sentence has nothing else: "keep that in mind", "remember this"."""
        left = self.rest[self.fillers :].lstrip()
        left = left[len(starts_with(left, self.language["that"])) :]
        return not left.strip(" \t.!…。！")

    @property
    def fillers(self) -> int:
        """The length of "this for later" after the request."""
        found = _fillers(self.language).match(self.rest)
        return found.end() if found else 0


def opening(sentence: str) -> Opening | None:
    """Return the request that a plain sentence opens with, or has right after a few words and a comma."""
    aside = _ASIDE.match(sentence)
    for start in (0, aside.end()) if aside else (0,):
        for language in languages():
            found = _opening(language).match(sentence, start)
            if found and _vocabulary(language).issuperset(re.split("[ -]", found["words"])):
                is_plain = found["plain"] is not None and not start
                asked = Opening(language, found["lead"], sentence[found.end() :], is_plain)
                if not (start and asked.is_bare):
                    return asked
    return None


def closing(sentence: str) -> tuple[Language, str] | None:
    """Return the language of the request that a plain sentence ends with, and the words before it."""
    text = sentence.rstrip(" \t.!。！")
    if found := _closing().search(text):
        return _languages_by_closer()[found[0]], sentence[: found.start()]
    pauses = list(_CLAUSE_END.finditer(text))
    asked = opening(text[pauses[-1].end() :].lstrip()) if pauses else None
    return (asked.language, text[: pauses[-1].start()]) if asked and asked.is_bare else None


def mentions_a_request(text: str) -> bool:
    """Return whether a plain text may have an opening or a closing: a quick check."""
    has = text.__contains__  # hundreds of phrases, at every prompt
    requests = _requests()
    return any(all(map(has, words)) for longest in filter(has, requests) for words in requests[longest])


def starts_with(text: str, words: tuple[str, ...]) -> str:
    found = _alternatives(words).match(text) if words else None
    return found[0] if found else ""


def before(text: str, words: tuple[str, ...]) -> str:
    """Return the text up to the first of the words, or all of it."""
    found = _alternatives(words).search(text) if words else None
    return text[: found.start()] if found else text


def holds(text: str, words: tuple[str, ...]) -> bool:
    # The pattern tries every phrase at every character, so first exclude the many texts that contain none.
    return any(map(text.__contains__, words)) and _alternatives(words).search(text) is not None


@cache
def all_of(kind: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(chain.from_iterable(language[kind] for language in languages())))


@cache
def _requests() -> Mapping[str, Sequence[Sequence[str]]]:
    """Return the words of each phrase, by their longest word."""
    found: dict[str, list[list[str]]] = {}
    for words in (phrase.split() for kind in ("remember", "write", "after") for phrase in all_of(kind)):
        found.setdefault(max(words, key=len), []).append(words)
    return found


@cache
def _opening(language: Language) -> re.Pattern[str]:
    """Return the pattern of a request, with the leads of its own language: "i" is a lead in Polish, not in English."""
    always = (*language["always"], *language["henceforth"])
    leads = rf"(?P<lead>(?:(?:{_either((*language['lead'], *always))}){_PAUSE}){{0,{MOST_LEADS}}})"
    plain, other = (_either(language[kind], _GAP) or "(?!)" for kind in ("remember", "write"))
    return re.compile(rf"{leads}(?P<words>(?P<plain>{plain})|(?:{other}))")


@cache
def _vocabulary(language: Language) -> frozenset[str]:
    """Return the words allowed in a request, checked after the match: a pattern of them takes long to compile."""
    kinds = ("remember", "write", "this", "always", "henceforth")
    return frozenset(re.split("[ -]", " ".join(chain.from_iterable(language[kind] for kind in kinds))))


@cache
def _fillers(language: Language) -> re.Pattern[str]:
    """Return the pattern of the words between a request and its object: "this", "from now on", "for next time"."""
    every = (*language["this"], *language["always"], *language["henceforth"])
    words = _either(word for word in every if word not in language["that"])
    that, the, on = (_either(language[kind]) or "(?!)" for kind in ("that", "the", "for"))
    occasion = rf"(?:{on})(?: \w+){{1,3}}?(?=\s*[:：,.!]|\s*$|\s+(?:{that}))"
    rule = rf"(?:{the}) \w+(?=\s*[:：])"
    return re.compile(rf"(?:\s*(?:{rule}|{occasion}|{words})){{1,{MOST_FILLERS}}}" if words else "")


@cache
def _closing() -> re.Pattern[str]:
    return re.compile(rf"(?:{_either(all_of('after'))})$")


@cache
def _languages_by_closer() -> Mapping[str, Language]:
    return {phrase: language for language in reversed(languages()) for phrase in language["after"]}


@cache
def _alternatives(words: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile(_either(words))


def _either(words: Iterable[str], gap: str = "[ ]") -> str:
    """Return a pattern for any of the phrases, the longest first, each as whole words.

    The start of a word is checked once for all of them, which is several times as quick.
    """
    longest_first = sorted(words, key=len, reverse=True)
    unspaced = [_spelled(phrase, gap) for phrase in longest_first if _ENDS_UNSPACED.search(phrase)]
    spaced = [_ended(phrase, gap) for phrase in longest_first if not _ENDS_UNSPACED.search(phrase)]
    first = [f"{_NO_WORD_BEFORE}(?:{'|'.join(spaced)})"] if spaced else []
    return "|".join([*first, *unspaced])


def _ended(phrase: str, gap: str) -> str:
    """Return the phrase up to the end of a word; after an elision, as in "qu'il", the next word follows directly."""
    return _spelled(phrase, gap) + ("" if phrase.endswith("'") else _NO_WORD_AFTER)


def _spelled(phrase: str, gap: str) -> str:
    return re.escape(phrase).replace(r"\ ", gap)


def order_in(sentence: str, language: Language | None) -> int:
    """Return the start of ", and then" or the like before an order that follows a note; the length if there is none.

    "Staging is rebuilt nightly, and then fix the test" has an order: the second verb cannot have the subject of the
    first, for then it would be "fixes". In "you run migrate and then restart it" it can, so both are part of the note.
    So an order is a bare verb with an object after "and then" or the like, if the form of the verb does not fit the
    clause before it, or if "please", "can you", "show me" or "; now" leave no doubt. In doubt, there is none.
    """
    if language is None or not language.order or len(sentence) > LONGEST_SENTENCE:
        return len(sentence)
    for joint in _joints(language).finditer(sentence):
        if _is_order(sentence[joint.end() :], sentence[: joint.start()], joint, language):
            return joint.start()
    return len(sentence)


@cache
def _joints(language: Language) -> re.Pattern[str]:
    """Return the pattern of the words between a note and an order: without "and", a comma or dash is needed."""
    words = sorted(language.order["joined"].split("|"), key=len, reverse=True)
    with_and = [word for word in words if word.split()[0].partition("(")[0] in ("and", "und", "y", "et")]
    pause = r"\s*(?P<pause>[,;]|\s[–—-])\s*"
    either = rf"(?:{pause}(?:{'|'.join(words)})|\s+(?:{'|'.join(with_and)}))"
    return re.compile(rf"{either},?\s+(?=\S)", re.IGNORECASE)


def _is_order(rest: str, note: str, joint: re.Match[str], language: Language) -> bool:
    lowered, order = plain(rest), language.order
    if re.match(order["asked"], lowered):
        return True
    verb = re.match(order["start"], rest)  # in lower case: a noun or a name is no verb
    # An apparent verb may be a subject: "and now install scripts are disabled".
    if verb is None or verb["verb"] in STOP_WORDS or holds(before(lowered, language["sub"]), language["verb"]):
        return False
    is_apart = (joint["pause"] or "").strip() not in ("", ",")
    if is_apart and joint[0].lower().split()[-1].strip(",") == order["now"]:
        return True
    clause = _CLAUSE.split(plain(note))[-1].lstrip()
    if starts_with(clause, language["whenever"]) or re.search(order["shared"], clause):
        return False
    return bool(re.search(order["alien"], clause)) if "alien" in order else holds(clause, _singular(language))


@cache
def _singular(language: Language) -> tuple[str, ...]:
    """Return the verbs in the third person singular: a bare verb cannot have their subject."""
    verbs = {*language["verb"], *language["clause"]} - {*language["always"]}
    return tuple(sorted(verb for verb in verbs if " " not in verb and verb.removesuffix("n't").endswith("s")))
