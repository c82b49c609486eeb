"""Extract the anchors of a memory: the files, folders, commands, flags, names, codes and messages in its text.

anchors_of(title, content)   the anchors in order, each as it is written in the text; any text, in linear time
kind_of(anchor)              the kind of an anchor, by its form alone, so that it need not be stored

A code span always counts. In prose, only what can hardly be anything else does: a path, a file pattern, a code, a flag,
a name with underscores, dots, hyphens or in CamelCase, the call of a well-known tool. It need not exist.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from enum import StrEnum
from itertools import accumulate, pairwise, takewhile

from memhook.core.directives import is_wanted
from memhook.core.memory import titled
from memhook.core.sentences import SUBCOMMANDS
from memhook.core.spoken_commands import FLAG, SHORT_FLAG, spoken_commands, with_joined_flags
from memhook.core.terms import STOP_WORDS
from memhook.patterns import regex

MOST_ANCHORS = 48
MOST_CHARS = 160  # of one anchor
READ_CHARS = 20_000  # of a memory
FENCED_LINES = 20


class Kind(StrEnum):
    """The kind of an anchor."""

    PATH = "path"
    """A file, or a folder without its slash: `worker.rs`, `packages/kit`."""
    FOLDER = "folder"
    """`api/schemas/`"""
    GLOB = "glob"
    """`tokens/*.json`, `env/<name>.yaml`"""
    COMMAND = "command"
    """`make test-fast`"""
    FLAG = "flag"
    CODE = "code"
    """An error's code or errno: `E4017`, `TS2742`, `000625`, `EAI_AGAIN`."""
    COMMIT = "commit"
    MESSAGE = "message"
    """The words of an error."""
    LITERAL = "literal"
    """A setting or an expression, verbatim: `panic = "abort"`."""
    IDENTIFIER = "identifier"
    """A name in code, or of a service: `InvoiceCounter`, `time.Now`, `trk-ingest`."""


def _words(table: str) -> frozenset[str]:
    return frozenset(table.split())


# A dotted name with one of these endings is a file, with any other it is an identifier.
EXTENSIONS = _words("""
bash bat bazel bib bzl c cc cfg cjs clj cmake conf config cpp cs css csv cts cue dart db diff dockerfile ejs env erb
erl ex example exs fish go gql gradle graphql groovy h hbs hcl hpp hs htm html hurl ini ino ipynb j2 java jinja jl
js json json5 jsonc jsonl jsx kt kts less lock log lua m4 md mdx mjs mk ml mli mod mts mustache nim nix org parquet
patch pem pest php pl plist po proto ps1 pug py pyi pyx r rake rb rs rst s sass sbt scala scss service sh snap sol
sql sqlite sum svelte svg swift tex tf tfvars thrift toml tpl ts tsv tsx txt vb vim vrl vue wasm webmanifest wit
xhtml xml xsd yaml yml zig zsh
""")
BARE_FILE = regex(
    "(?!Pro)[A-Z][a-z]+file|justfile|AUTHORS|CHANGELOG|CODEOWNERS|CONTRIBUTING|LICENSE|NOTICE|README|SECURITY|Procfile"
)
# Named without a subcommand, one of these is too general for an anchor.
EVERYDAY_TOOLS = _words("""
ansible-playbook atlantis aws az bazel buf bun bundle cargo cmake composer conda dbt deno docker dotnet flutter
gcloud gh git go gradle helm hatch just kubectl make mix mvn ninja node npm npx nx pip pipx pnpm poetry podman
pre-commit pytest python python3 rake rustup ruff sbt ssh systemctl task terraform tofu tox uv uvx vagrant yarn
""")
# Without backquotes, only a text that starts with one of these can be a command.
_TOOLS = EVERYDAY_TOOLS | _words("""
alembic ansible artisan biome celery django-admin eslint flyway glab gradlew istioctl jest liquibase minikube mypy
nomad nox packer php prisma psql pulumi rails redis-cli rspec skaffold sqlx supabase terragrunt turbo vitest wrangler
""")
OF_SERVICES = _words("disable enable reload restart run start stop")  # the name of a service or script follows these
# Named without a message, one of these is too general for an anchor.
COMMON_EXCEPTIONS = _words("""
ArithmeticError ArrayIndexOutOfBoundsException AssertionError AttributeError BaseException ClassNotFoundException
Error Exception FileNotFoundError IOException IllegalArgumentException IllegalStateException ImportError IndexError
IOError KeyError LookupError ModuleNotFoundError NameError NullPointerException OSError PermissionError RangeError
ReferenceError RuntimeError RuntimeException StopIteration SyntaxError TypeError UnicodeDecodeError ValueError
ZeroDivisionError
""")

_FENCE = regex(r"^```[^\n]*\n(.*?)(?:^```|\Z)", re.DOTALL | re.MULTILINE)
_SPAN = regex(r"`([^`\n]{1,300})`")
_QUOTED = regex(r'["“„«]([^"“”„«»\n]{8,160})["”“»]')
_SINGLE_QUOTED = regex(r"(?<!\S)'([^'\n]{8,160})'(?!\w)")
_PROSE_PATH = regex(r"(?<![\w/.@:~*-])[~.\w-]*[\w-](?:/[\w.-]+)*\.(\w{1,11})(?![\w/-])")
# Without an extension only in lower case, because "CI/CD" names no folder.
_PROSE_FOLDER = regex(r"(?<![\w/.@:~-])[a-z_.][\w.-]+(?:(?:/[\w-][\w.-]+)+/?|/(?![\w*<]))(?![\w/])")
_COMPOUND_FILE = regex(r"(?:[\w-]+/)*[a-z][a-z0-9]*(?:-[a-z0-9]+)+\.[a-z]{2,6}")  # with any extension
_PROSE_ABSOLUTE = regex(r"(?<![^\s(\"'])~?(?:/[\w.-]+){2,}")
_PROSE_DOT_FILE = regex(r"(?<!\S)\.[a-z][\w-]{2,}(?:\.[\w-]+)*")
_PROSE_GLOB = regex(
    r"(?<![\w/.*-])(?:(?:[\w.-]+/)*\*{1,2}(?:/\*)?(?:\.\w{1,11}){1,3}|(?:[a-z_][\w.-]*/)+\*{1,2})(?![\w/*-])"
)
_PROSE_FLAG = regex(r"(?<![\w-])(?:--[a-z][\w-]+|-D[A-Z]\w*_\w+)")
_PROSE_NAME = regex(
    r"(?<![\w./-])(?:_{0,2}[a-z]\w*_\w+|(?=\w{5})[A-Z][A-Z0-9]*(?:_(?:0x[\dA-Fa-f]+|[A-Z0-9]+))+|[A-Za-z]\w*(?:Error|Exception)|[a-z]{2,}[A-Z][a-z]\w*|(?:[A-Z][a-z]+){3,})"
    r"(?:\(\))?(?![\w/-])"
)
# A service or a package, not a version or a region. A compound of the language has this form too, but is seldom the
# argument of a command or a part of a path.
_PROSE_KEBAB = regex(r"(?<![\w./@:~*-])[a-z][a-z0-9]*(?:-[a-z][a-z0-9]+)+(?![\w/-]|\.\w)")
# Up to where a message ends or the sentence goes on.
_PROSE_MESSAGE = regex(r"(?<![\w.])(?:\w{1,60}\.){0,6}\w*(?:Error|Exception): (?:(?! -|[.,;:] |[—–→(=<\n]).){8,160}")
_PROSE_DOTTED = regex(r"(?<![\w./@:-])[A-Za-z]\w+(?:\.[A-Za-z]\w*)+(?:\(\))?(?![\w/-])")
_PROSE_MEMBER = regex(r"(?<![\w:.])[A-Za-z]\w+(?:::[A-Za-z]\w+)+(?:\(\))?(?!\w|::)")
CONSTANT = regex(r"[A-Z][A-Z0-9]*(?:_(?:0x[\dA-Fa-f]+|[A-Z0-9]+))+")
_LONG_CODE = r"0x[\dA-Fa-f]{4,16}|[A-Z]{1,8}(?:-[A-Z]{2,8})+-\d{1,6}"
_SHORT_CODE = r"[A-Z]{1,5}-?\d{2,6}|\d{4,7}|\d{2,5}_\d{1,3}"
_ERRNO = r"E[A-Z]{4,}|E[A-Z]+_[A-Z]+|SIG[A-Z]{3,}"
_CODE = regex(rf"{_LONG_CODE}|{_SHORT_CODE}|{_ERRNO}")
_PROSE_CODE = regex(rf"(?<![\w-])(?:{_LONG_CODE}|[A-Z]{{1,5}}-?\d{{3,6}}|\d{{3,5}}_\d{{1,3}}|{_ERRNO})(?![\w-])")
# An error has more of them than a note: any constant may be one.
REPORTED_CODE = regex(rf"(?<![\w-])(?:{_LONG_CODE}|{_SHORT_CODE}|[A-Z]{{5,}}|{CONSTANT.pattern})(?![\w-])")
_EXIT_CODE = regex(r"(?i)\bexit(?:s|ed)?(?: with)?(?: code| status)?[ :=]{1,2}-?(\d{2,10})\b")
_HTTP_STATUS = regex(r"\bHTTP(?:/\d(?:\.\d)?)?[ :=]{1,2}([45]\d\d)\b")
STATUS = regex(r"(?:exit code|HTTP) \d+")  # as an anchor
_NUMBERED = regex(r"(?i)(?:\berr(?:or|eur|no)?|\bfehler|\bfault|错误|エラー)(?:\s*code)?[\s:#=-]{0,3}(\d{4,7})\b")
_BRACKETED = regex(r"\b[A-Z]{4,12}(?:\[| (?=\d{4}))(\w{4,7})\b")
_COMMIT = regex(r"\b(?=[a-f0-9]{0,39}\d)(?=[a-f0-9]{0,39}[a-f])[a-f0-9]{7,40}\b")
_WORD = regex(r"\S+")

_CALL = regex(r"([A-Za-z_$][\w$]*(?:(?:\.|::)[A-Za-z_$][\w$]*)*)\(")
_NAME = regex(r"(?:[@$]|\.(?=[A-Z]))?[^\W\d]\w*(?:(?:[.:/@-]|::)\w+)*(?:\(\))?")
_DOT_FILE = regex(r"\.[a-z][\w.-]+")
_QUOTES = "\"'"
_ASSIGNED = regex(r"[\w.$/-]+\s*[=:]\s*[\"'\w$\[{-]|[\w.$-]+=[\w\"']")
# "TypeError: x is not a function", not "restart: always"
_SAID = regex(r"[\w.]+: (?:[\w ]{1,40}: )*(?:['\"’\w]+ ){2,}|[A-Z][\w.]+: ['\"’\w]+ \w+|[\w.]+(?:Error|Exception): ")
_PLACEHOLDER = regex(r"<[^<>\s]*>|…|\.\.\.")
_FIRST_WORD = regex(r"(?:[A-Z][A-Z0-9_]*=\S*|[a-z0-9_.~/][\w.~/+-]*)")
_MACRO_OR_SIZE = regex(r"\w{3,}!|\d{2,}[a-z]{2,5}")  # `println!`, `100vh`
_OPERATOR = regex(r"\s(?:[!=]==?|=>|&&=|\?\?)\s")  # `if env == "prod"`
_PLAIN_WORD = regex(r"[^\W\d_]+(?:'[^\W\d_]+)?,?")


def anchors_of(title: str, content: str) -> tuple[str, ...]:
    text = titled(title, content[:READ_CHARS])
    found = {one: None for one in _anchors(text) if 1 < len(one) <= MOST_CHARS and kind_of(one) is not None}
    return tuple(found)[:MOST_ANCHORS]


def kind_of(anchor: str) -> Kind | None:
    """Return the kind, or None for a text that names nothing in particular."""
    if not (anchor := anchor.strip()):
        return None
    if _WORD.fullmatch(anchor):
        return next((kind for kind, is_one in _FORMS.items() if is_one(anchor)), None)
    if _OPERATOR.search(anchor):
        return Kind.LITERAL
    if _is_command(anchor):
        return Kind.COMMAND
    is_said = _SAID.match(anchor) or _CODE.fullmatch(anchor.partition(":")[0])
    is_setting = anchor.startswith("-") or (_ASSIGNED.match(anchor) and not is_said)
    return Kind.LITERAL if is_setting else Kind.MESSAGE


def statuses(text: str) -> Iterator[tuple[str, int]]:
    """Yield the exit codes and HTTP statuses in a text, `exit code 137` and `HTTP 422`, each with where it ends."""
    yield from ((f"exit code {found[1]}", found.end()) for found in _EXIT_CODE.finditer(text))
    yield from ((f"HTTP {found[1]}", found.end()) for found in _HTTP_STATUS.finditer(text))


def is_distinctive(name: str) -> bool:
    """Return whether an identifier cannot be an ordinary word: it has several parts, or digits."""
    if len(name) < 5:
        return False
    inner = name.strip("_.$-")
    parts = any(mark in inner for mark in "_-.:") or (any(map(str.isdigit, inner)) and inner[:1].isalpha())
    return (parts or _humps(inner) > 1) and any(map(str.isalpha, inner))


def _humps(name: str) -> int:
    """Count the parts of a name in camel case."""
    return 1 + sum(a.islower() and b.isupper() for a, b in pairwise(name))


def _is_glob(word: str) -> bool:
    has_gap = "*" in word or _PLACEHOLDER.search(word)
    return bool(has_gap) and any(mark in word for mark in "/.") and bool(word.strip("*./<>"))


def _is_file(word: str) -> bool:
    stem, _, extension = word.rpartition(".")
    is_expression = "(" in word or (word[:1] == "." and word[1:2].isupper())  # .Values.env
    return extension.lower() in EXTENSIONS and bool(stem or word.startswith(".")) and not is_expression


def _is_command(text: str) -> bool:
    """Return whether a text has the form of a command: fewer plain words at its start than a sentence."""
    words = text.split()
    if not _FIRST_WORD.fullmatch(words[0]) or words[0].endswith((":", ".")) or (words[1:] and words[1][0] in "=<>"):
        return False
    if any(word.endswith(":") for word in words[:-1]):  # dial tcp [::1]:5432: connect: connection refused
        return False
    unquoted = [word for word in words if word[0] not in _QUOTES]
    return sum(1 for _ in takewhile(_PLAIN_WORD.fullmatch, unquoted)) < 4


def _anchors(text: str) -> Iterator[str]:
    """Yield the anchors in blocks of code, then in spans, then quotations, then prose, each in text order."""
    for block in _FENCE.findall(text):
        for line in block.split("\n")[:FENCED_LINES]:
            yield from _of_span(line.strip().removeprefix("$ "))
    rest = with_joined_flags(_FENCE.sub("\n", text))
    for span in _SPAN.findall(rest):
        yield from _of_span(" ".join(span.split()))
    prose = _SPAN.sub(" \n ", rest)
    quotations = (*_QUOTED.findall(prose), *_SINGLE_QUOTED.findall(prose))
    yield from (" ".join(quoted.split()) for quoted in quotations if len(quoted.split()) >= 3)
    yield from _in_prose(prose)


def _of_span(span: str) -> Iterator[str]:
    """Yield the span itself, the names that are called in it, and the codes and dotted names among its words."""
    if not span:
        return
    called = _CALL.findall(span)
    if called and span.startswith(called[0]) and _is_one_call(span):
        yield f"{called[0]}()"
    elif len(span) <= MOST_CHARS:
        yield span
    yield from (f"{name}()" for name in called if is_distinctive(name))
    words = span.split()
    if len(words) > 1:
        bare = (one.strip(".,:;()[]\"'") for one in words)
        yield from (one for one in bare if (_CODE.fullmatch(one) or CONSTANT.fullmatch(one)) and not one.isdigit())
        is_message = ": " in span and kind_of(span) is Kind.MESSAGE  # matched as a whole, so its parts do not count
        names = () if is_message else (one.strip(_QUOTES) for one in words)
        yield from (one for one in names if "." in one and kind_of(one) is Kind.IDENTIFIER and is_distinctive(one))


def _is_one_call(span: str) -> bool:
    """Return whether the last bracket closes the first: not in `Error(s) in loading: missing key(s)`."""
    depths = accumulate((char == "(") - (char == ")") for char in span[span.index("(") :])
    return next((at for at, depth in enumerate(depths) if not depth), 0) == len(span) - 1 - span.index("(")


def _in_prose(text: str) -> Iterator[str]:
    calls = [call for one in spoken_commands(text, _TOOLS) if (call := _known_call(one.split()))]
    in_calls = {word for call in calls for word in call.split()}
    for path in _PROSE_PATH.finditer(text):
        if path[1].lower() in EXTENSIONS or _COMPOUND_FILE.fullmatch(path[0]):
            yield path[0]
    yield from (one.rstrip("./") for one in _PROSE_ABSOLUTE.findall(text))
    yield from (one.rstrip(".") for one in _PROSE_FOLDER.findall(text) if _is_folder(one))
    for pattern in (_PROSE_DOT_FILE, _PROSE_GLOB, _PROSE_NAME, _PROSE_MEMBER, _PROSE_CODE, _COMMIT):
        yield from (one for one in pattern.findall(text) if one not in COMMON_EXCEPTIONS)
    yield from (one for one in _PROSE_FLAG.findall(text) if one not in in_calls)
    yield from (one.rstrip(" .,;:!") for one in _PROSE_MESSAGE.findall(text))
    dotted = ((one[0], is_wanted(text, *one.span())) for one in _PROSE_DOTTED.finditer(text))
    yield from (one for one, wanted in dotted if _is_dotted_name(one, is_decided=wanted is not None))
    yield from (*_NUMBERED.findall(text), *_BRACKETED.findall(text))
    yield from (status for status, _ in statuses(text))
    yield from (word for one in text.split() if BARE_FILE.fullmatch(word := one.strip(".,:;()")))
    yield from calls
    known = EVERYDAY_TOOLS | in_calls
    yield from (one for one in _PROSE_KEBAB.findall(text) if one not in known and STOP_WORDS.isdisjoint(one.split("-")))


def _is_folder(path: str) -> bool:
    parts = path.split("/")
    return STOP_WORDS.isdisjoint(parts) and not any(part.isupper() or part.isdigit() for part in parts)


def _is_dotted_name(name: str, *, is_decided: bool) -> bool:
    """Return whether it is a name in code, not a file, an address, or two sentences without a space between.

    A name that the text requires or forbids may be two plain words: "no np.product".
    """
    parts = name.removesuffix("()").split(".")
    is_marked = (
        is_decided
        or len(parts) > 2
        or name.endswith("()")
        or "_" in name
        or parts[0][0].isupper()
        or _humps(parts[-1]) > 1
    )
    return is_marked and parts[-1].lower() not in EXTENSIONS and is_distinctive(name)


def _known_call(words: list[str]) -> str:
    """Return the tool, its subcommand, the object's name if it has one, and flags: `npm run build:web`; else ""."""
    while words[3:] and SHORT_FLAG.fullmatch(words[1]):  # kubectl -n kube-system create job
        words = [words[0], *words[3:]]
    second, third = words[1], "".join(words[2:3])
    is_marked = any(mark in second for mark in "-_:/") or any(mark in third for mark in "_:/") or third.startswith("--")
    if not (is_marked or second in SUBCOMMANDS or third in SUBCOMMANDS):
        return ""
    is_named = second in OF_SERVICES and third[:1] != "-"
    end = 3 if third in SUBCOMMANDS or any(mark in third for mark in "_:/") or is_named else 2
    if words[end + 1 :] and _PLAIN_WORD.fullmatch(words[end]) and is_distinctive(words[end + 1]):
        end += 1  # kubectl delete pod settlement-worker-0
    behind = takewhile(lambda pair: _belongs(*pair), pairwise(words[end - 1 :]))
    return " ".join((*words[:end], *(word for _, word in behind)))


def _belongs(before: str, word: str) -> bool:
    """Return whether it is a flag, the value of one, or a name."""
    return "=" in word or bool(FLAG.fullmatch(word) or SHORT_FLAG.fullmatch(before)) or is_distinctive(word)


# In the order in which they are tried.
_FORMS: dict[Kind, Callable[[str], object]] = {
    Kind.FLAG: lambda word: word.startswith("-") and word.strip("-"),
    Kind.LITERAL: lambda word: "://" in word or "=" in word.lstrip("=<>") or _MACRO_OR_SIZE.fullmatch(word),
    Kind.GLOB: _is_glob,
    Kind.FOLDER: lambda word: word.endswith("/") and word.strip("/"),
    Kind.PATH: lambda word: (
        ("/" in word and word.strip("/")) or BARE_FILE.fullmatch(word) or _is_file(word) or _DOT_FILE.fullmatch(word)
    ),
    Kind.CODE: _CODE.fullmatch,
    Kind.COMMIT: _COMMIT.fullmatch,
    Kind.IDENTIFIER: _NAME.fullmatch,
}
