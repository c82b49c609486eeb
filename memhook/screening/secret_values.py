"""Whether a value may be a secret, by its form and the name it is assigned to; whether a text may contain one."""

from __future__ import annotations

import re
from itertools import pairwise

from memhook.patterns import regex

SHORTEST_TOKEN = 16
SHORTEST_PASSWORD = 6
SHORTEST_MIXED = 8
# The share of neighbouring characters that differ in class (lower case, upper case, digit, other): random text has .3
# (base32) to .6 (base62), names that people choose have less than .2.
RANDOM_CHANGES = 0.24
LETTERS_CHANGES = 0.34  # for letters alone, because names in CamelCase come nearer to random text

LONGEST_MADE_UP = 64
MADE_UP_CHANGES = 0.5

# The words for a password, in several languages. Each alternative starts with a letter and looks behind from its end,
# which is ten times as fast as starting with a look-behind.
SPOKEN_NAMES = (
    r"passw(?:or[dt]|d)|pass ?phrase|pass ?code|pw\b(?<!\wpw)|pwd\b(?<!\wpwd)|kennwort|zugangsdaten|contraseñ|contrasen"
    r"|mots? de passe|senha(?<!\wsenha)|şifre(?<!\wşifre)|wachtwoord|lösenord|hasł(?<!\whasł)|парол|密码|密碼"
    r"|パスワード|비밀번호"
)

_EXAMPLE = regex(r"example|your|placeholder|change_?me|redacted|dummy|xxxx|\*\*\*|\.\.\.|…|\[masked:", re.IGNORECASE)
_STANDS_FOR = regex(
    r"(?:^|[_. -])(?:my|our|the|some|insert|enter|replace|put|sample|fake|hidden|omitted|removed|todo|foo|bar|baz|test)"
    r"(?=[_. -]|$)|<[^<>]*>|^\$|^%[a-z_]+%$|\$\{|\{\{|^\{|#\{|\$\(|^@|^env[.:\[]|process\.env|os\.environ|getenv"
    r"|secrets\.|vault:|^ref\+",
    re.IGNORECASE,
)
_UNUSUAL = regex(r"[!@#$%^&+?~\\]")  # in names of files and of code
_RUN = regex(r"(.)\1{5,}")
_SEQUENCES = ("0123456789", "1234567890", "abcdefgh", "deadbeef", "12345678", "qwerty")
_HEX = regex(r"[0-9a-fA-F]{32,}")
_CODE = regex(r"^[\w.]+\(|^[\w.]+\)$|::|->|=>|^(?:self|this|cls|args|config|settings|ctx)\.", re.IGNORECASE)
_DOTTED = regex(r"^[a-z_]\w*(?:\.[a-z_]\w*)+$", re.IGNORECASE)
_LOCATION = regex(
    r"^(?:[a-z][a-z0-9+.-]*://|/|~/|\./|\.\./|[A-Za-z]:\\)|\.(?:py|js|ts|go|rs|md|json|ya?ml|toml|txt|pem|key|env|sh|crt|html?)$"
)
_MOMENT = regex(r"^\d{4}-\d\d-\d\d")
_WORDS = regex(r"(?:[A-Z]?[a-z]{2,}|[A-Z]{2,}|[A-Z]|\d{1,2}|v\d+)(?:[_./:@ -]|(?=[A-Z0-9])|$)")
_COMMON = frozenset(
    """
    password passwd passwort pass pwd secret postgres postgresql mysql root admin administrator user username
    guest test testing default changeme example none null nil undefined true false required optional string
    token mongo redis rabbitmq sa dev local localhost minio minioadmin hunter2 letmein
    """.split()  # noqa: SIM905 - as a list, forty lines
)


def is_example(token: str) -> bool:
    """Return whether this is a provider's token as documentation writes it: "AKIA...EXAMPLE"."""
    lowered = token.lower()
    return (
        _EXAMPLE.search(token) is not None
        or _RUN.search(lowered) is not None
        or any(known in lowered and len(lowered) < 3 * len(known) + 8 for known in _SEQUENCES)
    )


def is_placeholder(value: str) -> bool:
    """Return whether the value stands in place of a secret."""
    return is_example(value) or _STANDS_FOR.search(value) is not None or len(set(value.lower())) < min(5, len(value))


def is_random(value: str) -> bool:
    """Return whether the value looks generated: a token, a key."""
    value = value.strip("\"'`=")
    if len(value) < SHORTEST_TOKEN or _is_harmless(value) or len(set(value)) < 8 or value.isdigit():
        return False
    needed = RANDOM_CHANGES if any(map(str.isdigit, value)) else LETTERS_CHANGES
    return _HEX.fullmatch(value) is not None or _changes(value) >= needed


def is_password(value: str) -> bool:
    """Return whether the value may be a password that a person chose."""
    value = value.strip("\"'`")
    if len(value) < SHORTEST_PASSWORD or _is_harmless(value) or value.isdigit() or value.lower() in _COMMON:
        return False
    if value[1:].isalpha():
        return len(value) >= 10 and _changes(value) >= LETTERS_CHANGES
    return len({_class(char) for char in value}) > 1


def is_url_password(value: str, user: str) -> bool:
    """Return whether the text between the user and the host of a URL is a password, not a placeholder."""
    lowered = value.lower()
    return len(value) >= 4 and lowered not in _COMMON and lowered != user.lower() and not is_placeholder(value)


def is_made_up(word: str) -> bool:
    """Return whether letters and digits alternate as in no name: "the password for staging is Xk29pQz7w"."""
    classes = {_class(char) for char in word}
    if not SHORTEST_MIXED <= len(word) <= LONGEST_MADE_UP or word[0] == "/" or not {2} < classes:
        return False
    return _changes(word) >= MADE_UP_CHANGES and not _is_harmless(word)


def is_password_of_word(word: str) -> bool:
    """Return whether a word after "password is" may be one, with three digits or a mark: "Rotor2024", "Summer24!"."""
    is_marked = sum(char.isdigit() for char in word) > 2 or _UNUSUAL.search(word) is not None
    if not (is_marked and {2} < {_class(char) for char in word} and SHORTEST_MIXED <= len(word) <= LONGEST_MADE_UP):
        return False
    return not (is_placeholder(word) or _MOMENT.match(word) or _LOCATION.search(word))


def is_mixed(word: str) -> bool:
    """Return whether the word mixes cases, digits and punctuation as passwords do and names in code do not.

    A word with letters of one case only, or with no punctuation but that of names, must look random as well.
    """
    word = word.strip(".:!?*_-…")
    classes = {_class(char) for char in word}
    if not {2, 3} < classes or len(word) < SHORTEST_MIXED or "://" in word or word.count("/") > 1:
        return False
    is_unusual = _UNUSUAL.search(word) is not None
    needed = 0.0 if is_unusual and len(classes) == 4 else LETTERS_CHANGES
    return (is_unusual or len(classes) == 4) and is_password(word) and _changes(word) > needed


def _is_harmless(value: str) -> bool:
    """Return whether the value is a placeholder, a location, a date, code or words, and so no secret."""
    return (
        " " in value
        or is_placeholder(value)
        or _MOMENT.match(value) is not None
        or _CODE.search(value) is not None
        or _is_dotted_name(value)
        or (_LOCATION.search(value) is not None and (value[0] != "/" or _changes(value) < LETTERS_CHANGES))
        or _is_wording(value)
    )


def _is_dotted_name(value: str) -> bool:
    """Return whether the value is a dotted name in code, not a password with a full stop in it."""
    is_mixed = any(char.isdigit() for char in value) and _changes(value) >= LETTERS_CHANGES
    return _DOTTED.match(value) is not None and not is_mixed


def is_secret_name(name: str) -> bool:
    """Return whether a name says that its value is secret."""
    return _SECRET_NAME.search(name) is not None and _HARMLESS_NAME.search(name) is None


_SECRET_NAME = regex(
    r"_pat$|pass(?!ed|ing|es|age|ive|port|enger|thr|-thr|\b.)|pwd|secret|token|(?:[_.-]|\b|api|access|private|account|[a-z](?=K))key|credential"
    r"|auth|kennwort|contrase|senha|cookie|sess|sig(?:nature)?$",
    re.IGNORECASE,
)
_HARMLESS_NAME = regex(
    r"public|(?:name|id|ids|count|counts|size|length|len|limit|limits|type|types|path|paths|file|files|dir|url|uri|endpoint|host|hash|sha\d*"
    r"|digest|checksum|fingerprint|expir\w{0,20}|ttl|age|usage|budget|max|min|ref|format|prefix|policy|version|field|column"
    r"|header|index|idx|author|authors|ize[rd]?|ity|s\.\w+)$|(?:^|[_.-])(?:max|min|num|primary|foreign|cache|sort|partition|author|map|dict|hot|short"
    r"|locali[sz]ation|idempotency|row|object|image|commit|index|public|issue|group|unique|composite|dedup\w{0,20}|lookup|session(?![_.-]?token))[_.-]?(?:tokens?|key|keys)?$"
    r"|tokeni[sz]|tokens$|keyword|keyboard|keys$|author|authentic|monkey|turkey|hockey|donkey|jockey",
    re.IGNORECASE,
)


def _is_wording(value: str) -> bool:
    """Return whether the value is words joined by case or marks, three characters long on average."""
    at = words = 0
    while at < len(value):
        word = _WORDS.match(value, at)
        if word is None:
            return False
        at = word.end()
        words += 1
    return words > 0 and len(value) >= 3 * words


def _changes(value: str) -> float:
    return sum(_class(one) != _class(other) for one, other in pairwise(value)) / (len(value) - 1)


def _class(char: str) -> int:
    return 0 if char.islower() else 1 if char.isupper() else 2 if char.isdigit() else 3


# A text with one of these words is dropped, whether or not a value follows.
_CREDENTIAL_WORD = regex(
    rf"{SPOKEN_NAMES}|credential|\bmasked:|\bapi[ _-]?keys?\b[^.\n]{{0,20}}\b(?:is|are)\b"
    r"|\bsecret\s*[:=]|\bpin\b[^.\n]{0,24}\b\d{4,8}\b",
    re.IGNORECASE,
)
# "user" alone is harmless; with a name after it, it is a login: "log in as admin", "user: root".
_LOGIN = regex(
    r"\b(?:log(?:ged)?[ -]?in|sign(?:ed)?[ -]?in|user(?:[ -]?(?:name|id))?|benutzer(?:name)?|usuario|utilisateur)"
    r"(?:[ \t]*[:=][ \t]*\S|\s+(?:is|ist|es|est)\s+[\"'`“«]"
    r"|\s+(?:with|as|mit|als|con|como|avec)\s+(?!the\b|an?\b)\S{1,40}\s*(?:/|and|und|y|et)\s)",
    re.IGNORECASE,
)
_BETWEEN = regex(r"[\s\"'`“”«»=<>(),;{}\[\]|]+")
_LETTERS_AND_DIGITS = regex(r"(?<![A-Za-z0-9])(?=[A-Za-z]*\d)[A-Za-z0-9]{16,}")
_NAMES_SOMETHING = regex(r"[0-9a-f]{40}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)


def may_hold_credentials(text: str) -> bool:
    """Return whether a text may contain a credential, also in plain words: for texts that are dropped, not masked.

    This is stricter than `secrets`, which must not mask harmless text. Commit hashes and UUIDs are no credentials.
    """
    if _CREDENTIAL_WORD.search(text) or _LOGIN.search(text):
        return True
    text = _NAMES_SOMETHING.sub(" ", text)
    return any(map(is_random, _LETTERS_AND_DIGITS.findall(text))) or any(map(is_mixed, _BETWEEN.split(text)))
