"""Detect whether a text is in English, by its script and its function words.

is_english(text)   True also for text in no language: code, names, numbers, a log

This decides only whether an English model is enough, not which language the text is in. Function words that two
languages share (die, in, was, on, so) are not evidence.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

from memhook.core.normal import normalized

READ_CHARS = 2_000
FEW_WORDS, SEVERAL = 8, 2  # in a longer text a single word of another language is a name or a quotation
THREE_WORDS, WEAK_IN = 3, 4  # "corrige le test" is not English, "le test" may be; one weak word in four is evidence
OTHER_SCRIPT = 0.3  # of the letters outside code
DENSE = 3  # letters that one Chinese, Japanese or Korean character stands for

_CODE = re.compile(r"```.*?(?:```|\Z)|`[^`\n]*`|\b[a-z]+://\S*", re.DOTALL)
_EDGES = ".,;:!?…\"'“”„«»‘’‚()[]{}<>¿¡*~-–—/。、！？「」（）"
_OTHER_LETTER = re.compile("[^\\W\\d_\u0000-\u036f\u1e00-\u1eff\u2000-\u2bff\ufb00-\ufb06\uff21-\uff5a]")
_DENSE_LETTER = re.compile("[\u2e80-\ud7ff\uf900-\ufaff\uff66-\uffdc\U00020000-\U0003ffff]")

_ENGLISH = """
the and of to is for with that this it be are not we you but when from by have has had should which if or at can does
how what why will would could must never only all into than then there their they been were where while without after
before because about its our your my i'm don't doesn't isn't it's let's can't won't didn't any each every some other
more most these those who whose always new until between through during both same just also please use used using make
need needs want get instead still since across against whether out up over his she took ago one
"""
_OTHERS = {
    "german": """
        der das und ist nicht ein eine einen einem einer eines den dem des mit für auf von zu zum zur im ich wir sie er
        es dass wie aber auch noch nur oder wenn weil beim bei nach vor über unter durch ohne gegen wird werden wurde
        kann können soll sollen muss müssen darf haben hatte sind sein bitte warum wieso wo welche welcher keine kein
        immer schon mehr sich uns unser unsere mir mich dir euch vom ins ab bis seit damit hier dort jetzt heute mach
        """,
    "french": """
        le la les des une et est dans pour avec sur pas que qui du au aux ce cette ces il elle nous vous ils je tu mon
        notre votre leur plus mais où donc sont être avoir fait faire peut doit sans sous entre quand comme pourquoi
        comment quel quelle c'est n'est qu'il d'un d'une j'ai ajoute après avant toujours jamais chaque si ne
        """,
    "spanish": """
        el la los las una y es en por para con del al que se no lo su sus como más pero cuando hay está están son ser
        este esta esto ese esa nos sin sobre entre desde hasta también muy ya porque qué cómo cuándo dónde cuál puedo
        puede debe hacer hace tiene nunca siempre le les mi unos unas hemos
        """,
    "portuguese": """
        o os um uma e é em para com não da dos das na nas nos ao que se por mais mas como quando está são ser foi este
        esta isso essa seu sua sem sobre entre até também muito já porque você eu ele ela tem fazer pode deve nunca
        sempre pelo pela depois antes qual onde onde
        """,
    "italian": """
        il lo la gli le una e è di da del della dei delle nel nella che non si con su sul sulla ma come quando perché
        anche più sono essere ha hanno questo questa quello questi senza tra fra ogni sempre mai dove quale posso può
        deve fare al alla dal dalla ci mi ne qui così
        """,
    "dutch": """
        de het een en van niet dat met voor op te zijn er ook maar als bij naar om aan uit nog wel dan deze dit worden
        wordt kan kunnen moet moeten mag geen wat waarom hoe waar ik je wij jij hij ze hun ons onze door tegen zonder
        tussen altijd nooit alleen graag
        """,
    "polish": """
        i w z na nie się jest że to jak ale czy od dla przez po za przy tego tym ten ta te są być może można musi tylko
        już jeszcze gdy kiedy dlaczego gdzie który która które nigdy zawsze oraz lub bez pod nad między ich jego mnie
        """,
    "turkish": """
        ve bir bu için ile da de ne mi mı mu mü değil var yok çok daha gibi ama olarak olan olduğu sonra önce her hiç
        neden nasıl nerede hangi ben sen biz siz onlar şu kadar göre ya veya ise eğer lütfen ki
        """,
}
# Also English, part of a name (Los Angeles, Rio de Janeiro) or a variable: not evidence by itself.
_WEAK = """
a al com d da de del den der des do du e el en er es et i il im ins la las le les lo los ma mi mu na ne nos o om op os
per se si son sub sur ta te tu um una van var von w y ya z zu
"""
# Also common English words.
_NO_PROOF = (
    "comment dan dem die dos dove fare fait ha her hun ki mag mai me no on par plus pod pour sans sen ten to was"
)


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_ENGLISH_WORDS = _words(_ENGLISH)
_OTHER_WORDS = _words(" ".join(_OTHERS.values())) - _ENGLISH_WORDS - _words(_NO_PROOF)
_WEAK_WORDS = _OTHER_WORDS & _words(_WEAK)


def is_english(text: str) -> bool:
    """Return whether `text` is in English, or in no language at all."""
    return _is_english(text[:READ_CHARS])


@lru_cache(maxsize=2)  # a prompt is asked about twice
def _is_english(text: str) -> bool:
    said = _CODE.sub(" ", text)
    words = list(_prose(said))
    if _is_in_another_script(said, words):
        return False
    english = sum(word in _ENGLISH_WORDS for word in words)
    weak = sum(word in _WEAK_WORDS for word in words)
    strong = sum(word in _OTHER_WORDS or (len(word) > 1 and not word.isascii()) for word in words) - weak
    if strong + weak <= english:
        return True
    if len(words) > FEW_WORDS:
        return strong + weak < SEVERAL or not (strong or weak > SEVERAL)
    return not strong and (len(words) < THREE_WORDS or weak * WEAK_IN < len(words))


def _prose(text: str) -> Iterator[str]:
    """Yield the words in lower case, without identifiers (fooBar, foo_bar, a.b, v2) and abbreviations."""
    for token in text.split():
        word = token.strip(_EDGES)
        if word.replace("'", "").replace("’", "").isalpha() and (len(word) == 1 or word[1:].islower()):
            yield normalized("NFC", word.lower().replace("’", "'"))


def _is_in_another_script(text: str, words: Sequence[str]) -> bool:
    if text.isascii():
        return False
    other = len(_OTHER_LETTER.findall(text)) + (DENSE - 1) * len(_DENSE_LETTER.findall(text))
    latin = sum(len(word) for word in words if word < "\u0370")
    return other > 1 and other > OTHER_SCRIPT * (latin + other)
