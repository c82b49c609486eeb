"""Prompts that need no search: nothing in them could find a memory.

is_small_talk(prompt)   an acknowledgement, a continuation, a command

Only the plainest are recognised here, by their words; the others `grading` finds to be far by their meaning.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

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
