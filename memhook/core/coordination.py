"""Find where a sentence that asks to remember something goes on with an order to the assistant.

order_in(sentence, language)   where the order starts: ", and then fix the test"; the sentence's length if there is none

"Staging is rebuilt nightly, and then fix the test" has two parts: the second verb cannot have the subject of the first,
for then it would be "fixes". In "you run migrate and then restart it" it can, and the sequence is the fact. So an order
is a bare verb with an object behind "and then" or the like, where the form of the verb does not fit the clause before
it, or where "please", "can you", "show me" or "; now" leave no doubt. In doubt there is none.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

from memhook.core import phrases
from memhook.core.phrases import Language
from memhook.core.terms import STOP_WORDS

LONGEST_SENTENCE = 1_000  # nobody types longer ones

_CLAUSE = re.compile(r"[:;.!]\s")


@dataclass(frozen=True, slots=True)
class _Grammar:
    """Patterns of one language: what joins an order, which verbs and clauses can stand in one.

    `order` is the start of one: a verb that is no order of words of a statement, and an object. `alien` is a clause
    whose subject cannot have that verb, `shared` one whose subject may have it.
    """

    joined: str
    now: str
    asked: str
    order: str
    alien: str
    shared: str


_GRAMMARS = {
    "english": _Grammar(
        joined=r"and then|and now|and after that|and afterwards|and next|then|after that|afterwards|next|now",
        now="now",
        asked=r"please\b|let's\b|(?:can|could|would|will) you\b|(?:show|tell|give|help) me\b",
        order=r"(?P<verb>[a-z]+)(?<!s)(?<!ed)(?<!ing)(?<!ly) "
        r"(?!(?:in|on|at|to|by|for|from|into|with|and|or|as|again)\b)\S",
        alien=r"",
        shared=r"\b(?:i|you|we|they|one|are|aren't|were|have|do|don't|to|may|might|can|could|will|would|must|should)\b",
    ),
    "german": _Grammar(
        joined=r"und dann|und danach|und jetzt|und anschließend|dann|danach|anschließend|jetzt|und(?= \w+e dann\b)",
        now="jetzt",
        asked=r"bitte\b|(?:kannst|könntest) du\b|zeig(?:e)? mir\b",
        order=r"(?P<verb>[a-zäöüß]+e) (?:bitte |dann )?(?:de[rnms]|die|das|eine?[nmrs]?|mir|alle|[^\sA-ZÄÖÜ]+(?:$|\s))",
        alien=r"^",
        shared=r"\bich\b",
    ),
    "spanish": _Grammar(
        joined=r"y luego|y después|y ahora|luego|después|ahora",
        now="ahora",
        asked=r"por favor\b|(?:puedes|podrías) \w+|(?:muéstra|di|da|explíca)me\b",
        order=r"(?P<verb>[a-záéíóúñ]+)(?<!mos) \S",
        alien=r"\w{2}[aei]mos\b",
        shared=r"\b(?:tú|usted|hay que)\b",
    ),
    "french": _Grammar(
        joined=r"et ensuite|et puis|et maintenant|et après|ensuite|puis|maintenant",
        now="maintenant",
        asked=r"s'il te plaît\b|stp\b|(?:peux|pourrais)-tu\b|\w+-moi\b",
        order=r"(?P<verb>[a-zàâçéèêëîïôûù]+)(?<!ons) \S",
        alien=r"\bnous\b",
        shared=r"\b(?:tu|vous|il faut)\b",
    ),
}


def order_in(sentence: str, language: Language) -> int:
    """Return where the order starts, with what joins it to the note."""
    grammar = _GRAMMARS.get(language.name)
    if grammar is None or len(sentence) > LONGEST_SENTENCE:
        return len(sentence)
    for joint in _joints(grammar).finditer(sentence):
        if _is_order(sentence[joint.end() :], sentence[: joint.start()], joint, grammar, language):
            return joint.start()
    return len(sentence)


@cache
def _joints(grammar: _Grammar) -> re.Pattern[str]:
    """What may stand between a note and an order: without "and", a pause is needed."""
    words = sorted(grammar.joined.split("|"), key=len, reverse=True)
    with_and = [word for word in words if word.split()[0].partition("(")[0] in ("and", "und", "y", "et")]
    pause = r"\s*(?P<pause>[,;]|\s[–—-])\s*"
    either = rf"(?:{pause}(?:{'|'.join(words)})|\s+(?:{'|'.join(with_and)}))"
    return re.compile(rf"{either},?\s+(?=\S)", re.IGNORECASE)


def _is_order(rest: str, note: str, joint: re.Match[str], grammar: _Grammar, language: Language) -> bool:
    lowered, said = phrases.plain(rest), phrases.plain(note)
    if re.match(grammar.asked, lowered):
        return True
    verb = re.match(grammar.order, rest)  # in small letters: a noun or a name is none
    if verb is None or verb["verb"] in STOP_WORDS or _is_statement(lowered, language):
        return False
    is_apart = (joint["pause"] or "").strip() not in ("", ",")
    if is_apart and joint[0].lower().split()[-1].strip(",") == grammar.now:
        return True
    clause = _CLAUSE.split(said)[-1].lstrip()
    if phrases.starts_with(clause, language["whenever"]) or re.search(grammar.shared, clause):
        return False
    return bool(re.search(grammar.alien, clause)) if grammar.alien else phrases.holds(clause, _singular(language))


def _is_statement(lowered: str, language: Language) -> bool:
    """Whether what looks like a verb is a subject: "and now install scripts are disabled"."""
    return phrases.holds(phrases.before(lowered, language["sub"]), language["verb"])


@cache
def _singular(language: Language) -> tuple[str, ...]:
    """Verbs that show a subject which a bare verb cannot have."""
    verbs = {*language["verb"], *language["clause"]} - {*language["always"]}
    return tuple(sorted(verb for verb in verbs if " " not in verb and verb.removesuffix("n't").endswith("s")))
