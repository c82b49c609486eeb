"""Whether to speak at all, and how much of a ranked list is worth showing.

is_small_talk(prompt)            nothing to recall for: an acknowledgement, a continuation, a command
worth_showing(scored, level)     the part of a ranking that bears on the prompt, often none of it
worth_naming(scored, level)      that part, and the few next that may bear on what somebody asked for
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from memhook.core.ranking import Scored


class Level(StrEnum):
    """How sure memhook is before it speaks."""

    STRICT = "strict"
    BALANCED = "balanced"
    EAGER = "eager"


@dataclass(frozen=True, slots=True)
class Threshold:
    """Speak when the best score reaches `best`; then show what reaches `floor` and is not `odds` times less likely."""

    best: float
    floor: float
    odds: float


# Kept of the answerable / silent on the unanswerable prompts, lowest and highest of the four sets the score was chosen
# on: strict 91-99 / 98-100 %, balanced 97-100 / 94-100 %, eager 100 / 86-99 %. Expect less on others.
THRESHOLDS = {
    Level.STRICT: Threshold(best=0.70, floor=0.30, odds=5.0),
    Level.BALANCED: Threshold(best=0.50, floor=0.20, odds=20.0),
    Level.EAGER: Threshold(best=0.30, floor=0.04, odds=100.0),
}

WEAK = 5  # named beside what is shown: of the answers that are missed, four in five are among the first four

MAX_SMALL_TALK_WORDS = 10
MAX_SMALL_TALK_CHARS = 80

_COMMAND = re.compile(r"/[A-Za-z][\w:.-]*(?:\s|$)")
_ROOT_DIRECTORY = re.compile(r"/(?:bin|etc|home|lib|mnt|opt|proc|root|srv|sys|tmp|usr|var|Users)(?:\s|$)")
_CHOICE = re.compile(r"\d{1,2}|[a-zA-Z]")
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)?[+#]*")

_LANGUAGE = re.compile(r"\b(?:in|with|using|for|to) (?:go|[cdjkrv])\b", re.IGNORECASE)  # of one letter, or an answer

# A prompt is small talk when all its words are from these lists: then no word in it could find anything.
_ANSWERS = """
    yes yeah yep yup y yea ya aye no nope nah n ok okay okey k kk sure fine good great perfect nice cool awesome
    excellent amazing wonderful brilliant lovely right correct exactly agreed agree approved approve accepted accept
    confirmed confirm lgtm sgtm thanks thank thx ty cheers welcome hi hello hey bye continue proceed go next done ready
    stop wait cancel abort nevermind retry again resume more both neither all none either whatever absolutely
    definitely indeed understood noted alright carry keep do try skip works worked mind yay wow hmm hm uh um ah oh huh
    maybe perhaps later soon really seriously why how what idk dunno undo revert decide ship sense morning evening
    np nvm tysm wfm gotcha plz haha lol ugh damn sorry oops yet
    sí si claro vale gracias sigue continúa continua adelante perfecto bueno listo dale entendido hola
    oui non merci continuez continue d'accord parfait bonjour ja nein danke weiter bitte genau passt klar gut perfekt
    hallo sim não obrigado obrigada continua continuar pode perfeito certo ok isso sì grazie avanti bene perfetto
    certo ciao tak nie dzięki dziękuję dalej dobrze evet hayır teşekkürler devam tamam nee graag bedankt prima goed
    doorgaan tack fortsätt bra jo takk fortsett fortsæt nej nei kyllä jatka kiitos hyvä ano děkuji pokračuj dobře igen
    nem köszönöm folytasd da nu mulțumesc continuă ναι όχι ευχαριστώ συνέχισε так ні дякую продовжуй
    да нет спасибо продолжай продолжить хорошо давай ок понятно
    是 是的 好 好的 对 不 不是 不用 行 可以 继续 谢谢 没问题 好吧 明白了 はい いいえ 続けて 続き お願いします ありがとう
    ありがとうございます 了解 了解です 大丈夫 네 예 아니요 계속 계속해 계속해줘 좋아 감사합니다 고마워
    hej نعم لا شكرا استمر כן לא תודה vâng không cảm ơn ya tidak terima kasih lanjutkan
"""
_FILLERS = """
    a an and as at back be but by for from i i'd i'll i'm in is it it's its just let let's lets like looks look me my
    now of on one ones option please pls so sounds sound that that's the then there these they this those to too up
    very way we well work you your ahead away first second third last start did it'll think want much
    lot far got don't not dont never worries problem going with are was were sure know them time other same best makes
    make job forget here or if stp svp ça marche variant variante opción opção opzione optie
    vas y para por pour le la les und mach das es los el lo muy bien va s'il te plaît vous ga door tiếp tục
"""
# With a word for going on, these say with what; with nothing but a pronoun for an object, those say what to do with it.
_CONTINUATIONS = """
    continue proceed go resume carry keep next start begin finish complete implement implementing execute move
"""
_PLACES = """
    from where left off step steps plan task tasks part point item items phase stopped were implementation implementing
    rest remaining remainder work working change changes written proposed suggested until everything implement
"""
_DEEDS = """
    add apply change check clean close complete copy delete drop explain finish fix ignore implement improve leave move
    open put redo remove repeat rerun rewrite save send show update use write
"""  # not commit, push, merge, build, test, run: projects have rules for these
_ON = frozenset(_CONTINUATIONS.split())
_WHERE_TO_GO_ON = frozenset(_PLACES.split())
_PRONOUNS = frozenset({"it", "this", "that", "them", "these", "those"})
_DONE_TO_A_PRONOUN = frozenset(_DEEDS.split())
_SMALL_WORDS = frozenset(_ANSWERS.split()) | frozenset(_FILLERS.split())


def is_small_talk(prompt: str) -> bool:
    """Whether there is nothing in `prompt` to recall for."""
    text = prompt.strip()
    if _COMMAND.match(text):
        return not _ROOT_DIRECTORY.match(text)
    if not may_be_small_talk(text):
        return False
    words = [word.casefold().replace("’", "'") for word in _WORD.findall(text)]
    return not words or _is_acknowledgement(words)


def may_be_small_talk(prompt: str) -> bool:
    """Whether it is as short as what people say to keep a conversation going, and names no language of one letter."""
    text = prompt.strip()
    is_short = len(text) <= MAX_SMALL_TALK_CHARS and len(_WORD.findall(text)) <= MAX_SMALL_TALK_WORDS
    return is_short and not _LANGUAGE.search(text)


def _is_acknowledgement(words: Sequence[str]) -> bool:
    small = _SMALL_WORDS
    if _ON.intersection(words):
        small |= _ON | _WHERE_TO_GO_ON
    if _PRONOUNS.intersection(words):
        small |= _DONE_TO_A_PRONOUN
    return all(word in small or _CHOICE.fullmatch(word) for word in words)


def worth_showing(ranked: Sequence[Scored], level: Level | str = Level.BALANCED) -> list[Scored]:
    """The head of `ranked` (best first) that bears on the prompt; empty where nothing does."""
    threshold = THRESHOLDS[Level(level)]
    if not ranked or ranked[0].score < threshold.best:
        return []
    least = _odds(ranked[0].score) / threshold.odds
    return [result for result in ranked if result.score >= threshold.floor and _odds(result.score) >= least]


def worth_naming(ranked: Sequence[Scored], level: Level | str = Level.BALANCED) -> tuple[list[Scored], list[Scored]]:
    """What is worth showing and, for somebody who asked, the few next that may bear on the query as well."""
    shown = worth_showing(ranked, level)
    may = THRESHOLDS[Level.EAGER]
    if not ranked or ranked[0].score < may.best:
        return shown, []
    return shown, [result for result in ranked[len(shown) :] if result.score >= may.floor][:WEAK]


def _odds(score: float) -> float:
    return score / max(1.0 - score, 1e-12)
