"""Detect prompts, and parts of prompts, that need no search.

is_small_talk(prompt)   whether it is a bare acknowledgement, a choice or a command
request_in(prompt)      the prompt without the acknowledgements at its start
gist(prompt)            its author's own words, without pasted text and courtesies

Only the plainest small talk is detected here, by its words, so that "yes" costs nothing in any language and without a
model; `grading` detects the rest by its meaning.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from memhook.core.pasted import is_machine
from memhook.core.terms import STOP_WORDS
from memhook.patterns import regex

MAX_CHARS = 80

_COMMAND = regex(r"/[A-Za-z][\w:.-]*(?:\s|$)")
_ROOT_DIRECTORY = regex(r"/(?:bin|etc|home|lib|mnt|opt|proc|root|srv|sys|tmp|usr|var|Users)(?:\s|$)")
_CHOICE = regex(r"\d{1,2}|[a-zA-Z]")
_WORD = regex(r"[^\W_]+(?:['’][^\W_]+)?[+#]*")

_OPENING = regex(rf"[^.!?…\n]{{0,{MAX_CHARS}}}[^\W\d_]{{2}}[.!?…]+[ \t]+(?=\S)")  # not "J. K.", not "1. Deploy"

_QUESTION = regex(r"(?:how|what|when|where|which|who|why) ([a-z]+)\b", re.IGNORECASE)
_LANGUAGE = regex(r"\b(?:in|with|using|for|to) (?:go|[cdjkrv])\b", re.IGNORECASE)  # not the answers "go" and "c"

# A prompt that consists of these and stop words has no word to search for.
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
_ACKNOWLEDGEMENTS = frozenset(_ANSWERS.split()) | STOP_WORDS


def is_small_talk(prompt: str) -> bool:
    """Return whether `prompt` has nothing to search for."""
    text = prompt.strip()
    if _COMMAND.match(text):
        return not _ROOT_DIRECTORY.match(text)
    if len(text) > MAX_CHARS or _LANGUAGE.search(text):
        return False
    words = [word.casefold().replace("’", "'") for word in _WORD.findall(text)]
    if not all(word in _ACKNOWLEDGEMENTS or _CHOICE.fullmatch(word) for word in words):
        return False
    return not _is_question(text) or STOP_WORDS.issuperset(words)


def _is_question(text: str) -> bool:
    """Return whether it is a question with a verb: "when do we ship", where "ship" alone would be an answer."""
    asked = _QUESTION.match(text)
    return asked is not None and asked[1].casefold() in STOP_WORDS


def request_in(prompt: str) -> str:
    """Return `prompt` without small talk at its start: "great. now deploy it" is about deploying.

    An acknowledgement answers the assistant: a memory with the same words is not relevant for that, and the embedding
    of the prompt moves away from the request.
    """
    start = 0
    while (sentence := _OPENING.match(prompt, start)) and is_small_talk(sentence[0]):
        start = sentence.end()
    return prompt[start:]


WORTH_LEAVING_OUT = 0.8  # a gist longer than this share of the prompt gets the same answer as the prompt
FEWEST_WORDS = 2  # "any idea?" above a log is nothing to search for: the log is searched for

_FENCE = regex(r" {0,3}(?:`{3,}|~{3,})")
_LONG_WORD = regex(r"\w{3,}")
_SENTENCE = regex(r"(?<=[.!?])\s+|\n+")
_COURTESY = regex(
    r"""
    \b(?:(?:can|could|would|will|may|might)\ (?:you|i|we|someone)|please|kindly|help(?:\ me)?|have|take|a\ look|when|
    you\ (?:have|get)|need|anything|else|know|let|moment|minute|chance|question|quick|everyone|team|there|see|below|
    above|following|attached|a\ lot|in\ advance|many|appreciate[d]?|i\ (?:get|got|see|am\ getting)|any\ ideas?|would|be|
    great|glad|hope|day|having|issue|problem|look(?:ing)?|into|check|find|here\ is|here's|log|logs|output|trace)\b
    """,
    re.VERBOSE | re.IGNORECASE,
)


def gist(prompt: str) -> str:
    """Return the author's words, or "" if they are nearly the whole prompt or too few to search for.

    A log of forty lines below a question of two lines dominates the vector of the prompt. So the author's words are
    searched for separately as well, and the better of the two answers counts.
    """
    own = "\n".join(_own_lines(prompt))
    requests = (sentence for sentence in _SENTENCE.split(own) if not is_small_talk(_COURTESY.sub(" ", sentence)))
    own_words = " ".join(requests).strip()
    is_less = len(own_words) < WORTH_LEAVING_OUT * len(prompt)
    return own_words if is_less and len(_LONG_WORD.findall(own_words)) >= FEWEST_WORDS else ""


def _own_lines(prompt: str) -> Iterator[str]:
    fenced = False
    for line in prompt.splitlines():
        if _FENCE.match(line):
            fenced = not fenced
        elif not fenced and line.strip() and not is_machine(line):
            yield line
