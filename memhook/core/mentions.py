"""Find the names that a short note may mention in plain words; a tool call with the same words is the proof.

mentions_of(note)                 the commands, tools, types, files, messages and flags that it may name
scope_of(anchor, note)            the objects an anchor is limited to: "git rebase on release/courier" is on that branch
place_before(command, note)       the place that its sentence starts with: "In services/pay run npm ci with ..."
antecedents_of(anchor, note)      the names that a pronoun behind the anchor may mean: "no kubectl apply on it"
is_subject(name, note)            whether the note is about a program itself, not about one of its commands
details_of(message, note)         the names, numbers and ports without which it is another message
place_of(name, places, note)      the folder or file in which a note forbids a name
is_beside(anchor, others, note)   whether the note mentions it but is not about it: "use X instead"
is_wanted(before, behind)         whether a note asks for the text between these two, or forbids it
decides_on(name, note)            whether a note asks for the thing of this name, or forbids it
is_reported(words, error)         whether an error has the words of a message

Unlike anchors, mentions are neither stored nor listed: "session lifetime" is a command only if somebody runs it.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise, takewhile

from memhook.core.terms import STOP_WORDS
from memhook.patterns import regex

READ_CHARS = 800  # a longer text mentions much that it is not about
MOST_WORDS = 8  # of a command or a message
MOST_SOURCES = 3  # before a message, each with a colon
FEW = 4  # words that an error must have, if nothing in the note marks them as a message
NEAR = 4  # words of an error between two of a message, for each of its first words
CLAUSE = 80  # characters before a flag that decide whether the note asks for it

# Subcommands: followed by one of these, the name of a tool in a sentence is a command.
_TOLD_WORDS = """
add apply audit build bump check checkout cherry-pick clean clone commit compose config console copy create delete
deploy destroy dev diff down downgrade drain edit exec export fetch fix fmt format generate get import init install
lint list lock log login logs merge migrate mod plan prune publish pull push rebase release reload remove reset
restart restore revert rollback rollout run scale seed serve start stash state status stop submodule sync tag test
tidy uninstall up update upgrade vet watch worktree
"""
TOLD = frozenset(_TOLD_WORDS.split())

# Words before a command, not in one.
_AROUND = STOP_WORDS | {
    "above", "always", "avoid", "below", "call", "calling", "don't", "every", "execute", "instead", "may", "might",
    "must", "never", "run", "running", "runs", "shall", "use", "using", "via", "without",
}  # fmt: skip
# Words with which a sentence continues after the name of a tool: words that name nothing, or any verb.
_NO_NAME = regex(
    r"v?\d[\d.]*|after|against|always|at|before|can(?:not|'t)?|cannot|does|during|for|from|has|in|inside|is|must|needs?|never|on"
    r"|only|should|to|under|when|while|will|with|within|without"
)
_PREDICATE = regex(rf"{_NO_NAME.pattern}|\w{{2,}}(?:[^s]s|ed)")
# A tool within a sentence: "stock openocd 0.12 hangs", "never call the openocd of the system", "on bench01".
_NAMED_TOOL = regex(
    r"(?<![\w./-])([a-z][a-z0-9]+(?:[_-][a-z0-9]+)*) v?\d+\.[\d.]+ (?:\w{2,}(?:[^s]s|ed)|can|cannot|does|is|needs)\b"
    r"|\b(?:[Cc]all(?:ing)? (?:the )?([a-z][a-z0-9]+(?:[_-][a-z0-9]+)*)|[Oo]n ([a-z]{3,}\d+))\b"
    r"|\b(?:[Rr]un|[Ss]tart|[Uu]se) ([a-z][a-z0-9]+(?:[_-][a-z0-9]+)*)"
    r"(?= (?:after|as|at|before|by|during|from|in|on|outside|until|while|without)\b|[,.;]|$)"
)
_ARTICLES = frozenset(("a", "an", "our", "the", "your"))
_SCRIPT_RUNNERS = frozenset(("bun", "npm", "pnpm", "poetry", "uv", "yarn"))  # they run nothing without a name
_SENTENCE_END = regex(r"(?<=[.!?;:])\s+|\n+|\s[–—-]\s")
_ENDING = ".,;:!?)"
_TOOL = regex(r"(?:\./)?[a-z][a-z0-9]+(?:[._/:-][a-z0-9_]+)*")
_PARTED = regex(r"[._-]")
_ARGUMENT = regex(r"[a-z.:@/-][\w@:./+=<>*-]*|[A-Z]{4,}")
FLAG = regex(r"-[A-Za-z]|--?[A-Za-z][\w:-]+(?:=\S+)?")
_WITH_FLAG = regex(r"\b(?:using|with) (?=-)")

_SHORT_FLAG = regex(r"-[A-Za-z]")
_FLAG_SPAN = regex(r"(?<=with )`(--?[A-Za-z][\w-]*)`")  # "git push with `--force`" is one command
_TWO_SPANS = regex(r"`([^`\s]+ [^`\n]+)` with `(--?[A-Za-z][^`\s]*)`")
WITH = r"`?\s+(?:(?:using|with)\s+)?`?"
_QUOTES = frozenset("\"'’”»`")
_SPAN = regex(r"`[^`\n]*`")
_TYPE = regex(r"(?<![\w./-])(?:[A-Z][a-z0-9]+){2}(?![\w/-]|[.#:]+\w)")
_MEMBER = regex(r"(?<![\w./-])((?:[A-Z][a-z0-9]+)+)(?:\.|#|::)([A-Za-z_]\w*)")
_FILE = regex(r"(?<![\w./@:-])[a-z][\w-]{2,}\.[a-z]\w{0,10}(?![\w/.(-]*\w)")
_QUOTED = regex(r"(?<![\w'\"`])(?:'([^'\n]{8,80})'|\"([^\"\n]{8,80})\"|`([^`\n]{8,80})`)(?!\w)")
# Words after which a message may start.
_SAYING = regex(
    r"^(?:(?:an?|the|if|when|you|get|getting|see|seeing|error) )*|\b(?:error|get|message|saying|says|see|with) "
)
_EXPLAINED = regex(
    r"\b(?:because|caused|comes?|expected|harmless|ignore|means?|normal|say(?:s|ing)|usually)\b|->|[=→]|:$"
)
# "avrdude: not responding = no power", "tflint fails with 'no plugin'": a sentence about one error of a tool.
_REPORTING = regex(
    r"(?:^|[.;!?\n]\s+)([a-z][\w.-]{1,40})"
    r"(?:: [^;!?\n]{8,160}? (?:[=-]*>|[=→]|means?) | (?:\w{2,40}s|exited) (?:that |with )?[\"'“‘`])"
)
# The name, number or port that an error is about: with a different one it is a different error.
_DETAIL = regex(
    r"['\"‘]([\w@~/][\w@.:/-]{1,80})['\"’]|(?:(?:\d|localhost):|\bport )(\d{2,5})\b|\b(0x[\dA-Fa-f]+)\b"
    r"|\b([a-z]+:[a-z]+/[a-z-]+)"  # the instance of a component
    r"|(?i:code|err(?:no|or)|exception|signal|status) (\d+)\b"
)
_MESSAGE_GOES_ON = regex(r":? (?=[\"'‘(])|: | (?:for|in|of|on) (?:[a-z]+ )?(?=[\"'‘])")
_IN_TEST = regex(r"`? in `?(\w+_\w+)\b")
_DETAILS_END = regex(rf"[.,;!?]\s|`|\n|\s[–—-]|{_EXPLAINED.pattern}")
_WITH_DETAIL = regex(
    r"`? (?:avec|com|con|mit|with) `(\d[^`\s]*)`|`? (?:(?:at|on) )?(?:port |`?[\w.-]+:)(\d{4,5})\b"
)  # `ImagePullBackOff` with `401`
_STATUS = regex(r"(?:exit code|HTTP) (\d+)")
_OF_STATUS = r"(?i:\bexit(?:s|ed)?(?: with)?(?: code| status)?|\bHTTP(?:/\d(?:\.\d)?)?)[ :=]{{1,2}}-?{}\b"
_DIGIT = regex(r"[\d_]")
_MESSAGE_WORD = regex(r"\w+(?:['’-]\w+)*")
_MESSAGE_END = regex(r"(?<!\([a-z])[,;:.!?()=→–—]+(?:\s|$)")
_PLURAL = regex(r"(?!(?:does|has|is|needs)$)\w+(?:s|ed)")
# Whether a note asks for something: the last such word in the clause before it, or the words after it.
_WISH = regex(
    r"\b(?P<refused>avoid|don't|jamais|keine?|never|nicht|nie|no|nobody|nor|not|nunca|pas|without)\b"
    r"|\b(?:always|ha(?:s|ve) to|immer|must|needs?|only with|pass|require[sd]?|siempre|toujours)\b"
    r"|(?:^|[:,!?]\s+|\band |\bthen )(?:run|use)\b",
    re.IGNORECASE,
)
_ANOTHER = r"[`\s]*(?:(?:and|or|et|oder|und|y)\s+(?:[`\w.-]+\s+){1,2})?"  # "moment and full lodash are banned"
_REFUSED = regex(
    r"[`\s]*(?:is |are )?(?:banned|forbidden|never|not|verboten|nie|nunca|jamais)\b"
    rf"|{_ANOTHER}(?:is|are|was|were|has been|have been) (?:being )?(?:banned|deprecated|dropped|forbidden|removed)\b",
    re.IGNORECASE,
)
_NEEDED = regex(r"[`\s]*(?:(?:is|are)? ?(?:needed|required|mandatory|instead)\b|only\s*(?:[.,;:]|$))", re.IGNORECASE)
# "Without --atomic it stays half rolled out", "never without --atomic"; "rsync without --checksum" asks for none.
_MISSED = regex(r"\bwithout +(?:\S+ +)?$", re.IGNORECASE)
_CONSEQUENCE = regex(
    r"`?(?: +(?!(?:at|by|for|in|of|on)\b)[\w./-]+`?)?,? +(?:is|it|never|the|will|you|\w+[^s]s)\b", re.IGNORECASE
)
_FAILING = regex(r"(?<=[\w`] )(?!runs\b|works\b)\w{2,}[^s]s\b", re.IGNORECASE)  # "it hangs without ..."
# A flag with its value: a number, or a word at the end of the clause.
_FLAG_IN_PROSE = regex(
    r"(?<![\w-])(--?[A-Za-z][\w-]*)"
    r"(?:=([\w./-]*\w)| (\d[\w.]*|(?!first\b)[a-z]\w+(?=[`,.;)]| (?:in|on|unless)\b|(?<!s) \w+[^s]s\b|$)))?"
)
_NAMED = r"`?(?:(?:[~/.]|\w)[\w.@~-]*(?:[-_/.][\w@~-]+|\d)[\w.@/~-]*/?|[\w.-]+/|(?<=`)[a-z][\w-]{3,}(?=`))`?"
_SCOPE = regex(
    r"`?\s+(?:(?:against|at|from|in|inside|into|of|on|to|under) +(?:(?:an?|our|the) +)?|(?:our|the) +|(?=\d{3}))"
    rf"(?:[a-z]+ +)?({_NAMED}(?:(?:, +| +and +| +or +){_NAMED})*)"
)
_LITERAL = regex(r"[\"']([^\"'\n]{2,40})[\"']")  # date_trunc('quarter', …)
# "Argo CD syncs deploy/prod, so no kubectl apply on it"
_PRONOUN = r"`? (?:(?:at|for|from|in|on|to|with) )?(?:it|them|there)\b"
_MADE_UP = regex(r"(?<![\w./-])[\w.@-]*\w[_/-][\w./-]*\w(?![\w/-])")  # fct_clicks: not a word of the language
_LED_BY_PLACE = regex(rf"(?:^|[.;!?]\s+)(?:In|Inside|Under|Within) ({_NAMED})[, ](?:[^.;!?\n]|\.\w){{0,40}}$")
_GENERATED = regex(r"`?\s+from\s+`?[\w./-]*\.[a-z]\w{1,5}\b")  # "npm run gen:api from openapi.yaml": its input
# "from ogr2ogr =", "of terraform in CI": a program, because no noun follows that continues the sentence.
_OF_PROGRAM = regex(
    r"`?\s+(?:by|from|of) +`?([a-z][\w.-]*\w(?: [a-z][\w:-]+)??)`?"
    rf"(?=[.,;:)]|\s*$|\s+(?:{_NO_NAME.pattern}|[=-]*>|[=→]|means?)(?!\w))"
)
_ORIGIN = regex(r"(?:[A-Z]\w+|\w\(\)|`) (?:from|of) (?:the )?`?$")  # "a MonetaryAmount from payments-core"
_ADVISED = regex(r"[,;:.] [^,;:.]*\b(?:prefer|take|use) +(?:the +)?`?$", re.IGNORECASE)
# Words after a name that the note is not about: it is allowed, or is an exception whose message is explained.
_PASSED_OVER = regex(
    rf"`? (?:is|are) (?:fine|ok|okay|safe)[,.;]|(?:(?<=Error)|(?<=Exception)): [^.;\n]*(?:{_EXPLAINED.pattern})"
)
_OF_ERROR = regex(r"(?:Error|Exception)`? +for +`?$")
_LEADING = regex(r"\W*(?:in +)?`?(?:[\w.-]+/)+[\w.-]*\w`?(?:: |, | the )", re.IGNORECASE)
_BELOW = regex(r"(?:[^,.;\n]|, (?:and|nor?|or)\b){0,60}?\b(?:below|in|inside|under|within) +(?:the +)?`?$")
_OPENING = regex(r"\W*(?:(?:[\w'’]+ +){0,3}(?:below|in|inside|of|under|within) +(?:the +)?)?`?", re.IGNORECASE)
_IS_SAID = regex(rf"`?(?:[:,]| +(?:[a-z]\w+ +)?(?:may|never|no|{_PREDICATE.pattern})(?!\w))")
_GOES_ON = regex(rf"`? +(?:{_PREDICATE.pattern})(?!\w)")  # "loadLazily in src/lazy.ts wraps": where it is
_BEYOND = regex(r"\b(?:else|elsewhere|except|only|outside)\b", re.IGNORECASE)
_JOINED = regex(r", +| +and +| +or +")


@dataclass(frozen=True, slots=True)
class Mentions:
    """The names that a note may mention."""

    commands: tuple[str, ...] = ()
    """As in "adb reverse tcp:8080 is lost with the cable"."""
    tools: tuple[str, ...] = ()
    """Tools without a subcommand, as in "tflint 0.50 crashes"."""
    types: tuple[str, ...] = ()
    """CamelCase names of two parts, of a type in the project or of a product: ShiftRepository, GitHub."""
    members: tuple[str, ...] = ()
    """Members of a type, as in `PawnTicket#extend!`: code calls them on an object of any name."""
    files: tuple[str, ...] = ()
    """Files with any extension: memory.x"""
    messages: tuple[str, ...] = ()
    """As in "deadlock detected in the netting", of which an error may have the first words."""
    asked_flags: frozenset[str] = frozenset()
    """Flags that the note asks for: a call that has them does not need the note."""


def with_joined_flags(text: str) -> str:
    """Return the text with a command and a flag that is named behind it in one: "`git commit` with `--no-verify`"."""
    return _FLAG_SPAN.sub(r"\1", _TWO_SPANS.sub(r"`\1 \2`", text))


def mentions_of(note: str) -> Mentions:
    note = with_joined_flags(note[:READ_CHARS])
    prose = _SPAN.sub(" . ", note)
    flags = frozenset(_asked_flags(note))
    subjects = dict.fromkeys(one for words in _sentences(prose) for one in _tools(words, flags))
    named = ("".join(groups) for groups in _NAMED_TOOL.findall(prose))
    subjects |= dict.fromkeys(one for one in named if one not in _AROUND | TOLD)
    reporting = set(_REPORTING.findall(note))
    return Mentions(
        tuple(dict.fromkeys((*spoken_commands(prose), *(one for one in subjects if " " in one)))),
        tuple(one for one in subjects if " " not in one and one not in reporting),
        tuple(dict.fromkeys(_TYPE.findall(prose))),
        tuple(dict.fromkeys(f"{one}.{member}" for one, member in _MEMBER.findall(note))),
        tuple(dict.fromkeys(_FILE.findall(prose))),
        tuple(dict.fromkeys(_messages(note))),
        flags,
    )


def is_reported(words: Sequence[str], error: Sequence[str], *, may_end: bool = False) -> bool:
    """Return whether an error has the words in their order, each near the one before.

    With `may_end`, only the first words of a longer message are required, up to a word of the note's own sentence.
    """
    starts = [at for at, word in enumerate(error) if word in words[:1]][:50]
    most = (_near(words) + 1) * len(words)
    said = max((_said(words, error[at : at + most]) for at in starts), default=0)
    if said < len(words) and not (may_end and len(words) > FEW and _is_end(words[said])):
        return False
    return sum(len(word) > 3 and not _DIGIT.search(word) for word in words[:said]) > 1


def error_words(text: str) -> list[str]:
    return [word.lower().replace("’", "'") for word in _MESSAGE_WORD.findall(text)]


def scope_of(anchor: str, note: str) -> tuple[str, ...]:
    if anchor.endswith("()"):
        called = re.search(rf"{re.escape(anchor[:-1])}([^()`\n]*)", note)
        return tuple(_LITERAL.findall(called[1])) if called else ()
    status = _STATUS.fullmatch(anchor)
    named = _OF_STATUS.format(status[1]) if status else WITH.join(map(re.escape, anchor.split()))
    if not (found := re.search(named, note)):
        return ()
    at = found.end()
    if " " not in anchor and _BEYOND.search(note):
        return ()  # "process.env is read in config.ts only"
    scope = None if anchor.startswith("-") else _SCOPE.match(note, at)
    if status:
        scope = scope or _OF_PROGRAM.match(note, at)
    elif scope and _GENERATED.match(note, at):
        return ()
    if scope:
        return tuple(one.strip("`").rstrip(_ENDING) for one in _JOINED.split(scope[1]))
    return ()


def place_before(command: str, note: str) -> tuple[str, ...]:
    found = re.search(WITH.join(map(re.escape, command.split())), note)
    led = _LED_BY_PLACE.search(note[: found.start()]) if found else None
    return (led[1],) if led else ()


def antecedents_of(anchor: str, note: str) -> tuple[str, ...]:
    found = re.search(rf"{WITH.join(map(re.escape, anchor.split()))}{_PRONOUN}", note)
    return tuple(_MADE_UP.findall(note[: found.start()])) if found else ()


def details_of(message: str, note: str) -> tuple[str, ...]:
    """Return the details in the message, and those after it in the note, up to its explanation.

    There are none after the name of an exception if that clause asks for something, for then it is no message.
    """
    at = note.find(message)
    behind = note[at + len(message) :][: 2 * CLAUSE] if at >= 0 else ""
    if given := _WITH_DETAIL.match(behind):
        return (given[1] or given[2],)
    is_name = " " not in message
    if not is_name and (given := _IN_TEST.match(behind)):
        return (given[1],)
    if not message.endswith(("Error", "Exception")) and is_name:
        return ()
    if is_name:
        goes_on = _MESSAGE_GOES_ON.match(behind)
        behind = behind[goes_on.end() :] if goes_on else ""
    is_closed = not is_name and behind[:1] in _QUOTES
    clause = "" if is_closed else _DETAILS_END.split(behind, maxsplit=1)[0]
    if is_name and _WISH.search(clause):
        return ()
    return tuple(filter(None, chain.from_iterable(_DETAIL.findall(message + clause))))


def place_of(name: str, places: Iterable[str], note: str) -> str:
    """Return the place if the note starts with it, or has it after the name ("no Date.now in src/midi/"), else ""."""
    at = note.find(name)
    end = at + len(name)
    if at < 0 or _BEYOND.search(note) or is_wanted(note[:at], note[end:]) is not False:
        return ""
    opening = _OPENING.match(note)
    start = opening.end() if opening else 0
    is_led = bool(opening and opening[0].strip(" `"))  # "In payments-core nobody calls ..."
    for place in places:
        behind = note.find(place, end, end + CLAUSE)
        is_said = note.startswith(place, start) and _IS_SAID.match(note, start + len(place))
        leads = is_said and (is_led or not {*"/*."}.isdisjoint(place))
        is_told = behind >= 0 and _BELOW.match(note[end:behind])
        if leads or (is_told and not _GOES_ON.match(note, behind + len(place))):
            return place
    return ""


def is_wanted(before: str, behind: str) -> bool | None:
    """Return True if a note asks for the text between these two, False if it forbids it, None if it only names it."""
    clause = re.split(r"[.;\n](?:\s|$)", before[-CLAUSE:])[-1]
    if missed := _MISSED.search(clause):
        before = clause[: missed.start()]
        wanted = is_wanted(before, "")
        return bool(_CONSEQUENCE.match(behind)) or wanted is False or (wanted is None and bool(_FAILING.search(before)))
    if _REFUSED.match(behind):
        return False
    wish = next(reversed([*_WISH.finditer(clause)]), None)
    return (True if _NEEDED.match(behind) else None) if wish is None else not wish["refused"]


def decides_on(name: str, note: str) -> bool:
    """Return whether the note asks for the name or forbids it, "no testify"; else the name may be any word."""
    found = re.finditer(rf"(?<![\w-]){re.escape(name)}(?![\w-])", note[:READ_CHARS], re.IGNORECASE)
    return any(is_wanted(note[: one.start()], note[one.end() :]) is not None for one in found)


def is_subject(name: str, note: str) -> bool:
    """Return whether the name is a subject: "deploy.sh takes the environment", not "run deploy.sh staging"."""
    return bool(re.search(rf"(?<![^\s`]){re.escape(name)}`? (?:{_PREDICATE.pattern})(?!\w)", note))


def is_beside(anchor: str, others: Iterable[str], note: str) -> bool:
    """Return whether the note names it but is about something else: it is the alternative, or the source of an error.

    A flag of a command that the note names counts as well.
    """
    if anchor.startswith("-"):
        return any(anchor in one.split()[1:] for one in others)
    at = note.find(anchor)
    if at < 0:
        return False
    before = note[max(0, at - CLAUSE) : at]
    leading = _LEADING.match(note)
    is_in_file = leading is not None and at >= leading.end() and not {*" /"}.intersection(anchor)
    is_advised = bool(_ADVISED.search(before)) and any(0 <= note.find(one) < at for one in others)
    return (
        is_in_file
        or is_advised
        or bool(_ORIGIN.search(before))
        or bool(_OF_ERROR.search(before) or _PASSED_OVER.match(note, at + len(anchor)))
    )


def is_predicate(word: str) -> bool:
    return bool(_PREDICATE.fullmatch(word))


def _sentences(prose: str) -> Iterator[list[str]]:
    for sentence in _SENTENCE_END.split(_WITH_FLAG.sub("", prose)):
        words = [word.lstrip("(\"'*") for word in sentence.split()]
        words[:1] = (word.lower() if word.lower() in TOLD else word for word in words[:1])  # "Restart the broker"
        # "restart the mosquitto service" is `restart mosquitto`
        words = [word for before, word in pairwise(("", *words)) if word not in _ARTICLES or before not in TOLD]
        if words:
            yield words


def spoken_commands(prose: str, tools: Container[str] | None = None) -> Iterator[str]:
    """Yield the possible commands in plain words, of these tools or of any."""
    for words in _sentences(prose):
        for at, (before, tool, behind) in enumerate(zip(("", *words), words, words[1:], strict=False)):
            if (tool in _AROUND or not _TOOL.fullmatch(tool)) if tools is None else tool not in tools:
                continue
            argument = _bare(behind)
            is_verb = argument == "runs" and _NO_NAME.fullmatch(_bare("".join(words[at + 2 : at + 3])))  # dbt runs on
            if argument[-1:] == "s" and argument[:-1] in TOLD and argument not in TOLD and not is_verb:
                yield f"{tool} {argument[:-1]}"  # "playwright tests fail"
            is_described = (before in STOP_WORDS or _PREDICATE.fullmatch(argument)) and _PARTED.search(tool)
            if not is_described and _may_be_run(before, tool, argument):
                yield " ".join(_command(words[at:]))


def _may_be_run(before: str, tool: str, argument: str) -> bool:
    if not _TOOL.fullmatch(tool) or tool in _AROUND or argument in STOP_WORDS:
        return False
    if argument.startswith("-"):
        # Not "install -r" of "galaxy install -r", nor of "the archive with --delete".
        return not _TOOL.fullmatch(before) or (before in _AROUND and before != "the")
    return bool(_ARGUMENT.fullmatch(argument))


def _command(words: list[str]) -> Iterator[str]:
    """Yield two words, and those after them, flags included, up to the first that continues the sentence."""
    runs_script = words[0] in _SCRIPT_RUNNERS and words[1] == "run"
    kept: list[str] = []
    for at, (word, bare) in enumerate(zip(words, map(_bare, words[:MOST_WORDS]), strict=False)):
        is_value = bool(kept) and _SHORT_FLAG.fullmatch(kept[-1]) and _is_name(bare)
        # Of `make -C docs html`, not of "pytest -n auto hangs".
        is_first = at == 3 and bool(_SHORT_FLAG.fullmatch(kept[1])) and _is_name(bare) and not is_predicate(bare)
        is_script = at == 2 and ((runs_script and _is_name(bare)) or bare in TOLD)
        if at > 1 and not (is_value or is_first or is_script or FLAG.fullmatch(bare) or _is_given(bare)):
            return
        kept.append(bare)
        yield bare
        if bare != word:
            return


def _is_name(word: str) -> bool:
    """Return whether a word may be the name of a script, such as `docs` or `tests`."""
    return bool(_ARGUMENT.fullmatch(word)) and word not in _AROUND and not _NO_NAME.fullmatch(word)


def _is_given(word: str) -> bool:
    goes_on = word in _AROUND or word.endswith(("s", "ed", "ing", "-"))
    is_marked = any(mark in word for mark in ":_/.")
    return "=" in word or (bool(_ARGUMENT.fullmatch(word)) and (is_marked or not goes_on))


def _bare(word: str) -> str:
    return word.rstrip(_ENDING)


def _tools(words: Sequence[str], asked: Iterable[str]) -> Iterator[str]:
    """Yield the first word of a sentence if it is a tool that the sentence is about.

    If the note asks for a flag, the sentence need not be about the tool. With another flag in the sentence, it is about
    the tool with that flag.
    """
    tool, behind, third = (_bare("".join(words[at : at + 1])) for at in range(3))
    names = {flag.partition(" ")[0] for flag in asked}
    others = [word for word in map(_bare, words) if FLAG.fullmatch(word) and word.partition("=")[0] not in names]
    if not _TOOL.fullmatch(tool) or tool in _AROUND or tool in TOLD:
        return
    is_command = (
        bool(_PLURAL.fullmatch(behind) and _TOOL.fullmatch(third)) and third not in _AROUND
    )  # airflow tasks clear
    is_subject = words[0].endswith(":") or (behind not in TOLD and is_predicate(behind))
    if not is_command and (is_subject or (names and not _may_be_run("", tool, behind))):
        yield " ".join((tool, *others[:1]))


def _messages(note: str) -> Iterator[str]:
    """Yield two words in quotes, the start of a sentence that explains it as a message, and the note's first words."""
    quoted = (next(filter(None, one)) for one in _QUOTED.findall(note))
    yield from (" ".join(words) for one in quoted if len(words := error_words(one)) == 2)
    sentences = _SENTENCE_END.split(_SPAN.sub(_spoken, note), maxsplit=MOST_SOURCES + 1)
    # "x509: certificate ...", "avrdude: stk500_recv(): programmer ...", or "Build: ..."
    sources = [*takewhile(lambda one: one.endswith(":") and len(one.split()) <= 2, sentences[:MOST_SOURCES])]
    whole = " ".join((*chain.from_iterable(map(error_words, sources)), *sentences[len(sources) :][:1]))
    for at, sentence in enumerate((*sentences[:2], *([whole[: CLAUSE * 2]] if sources else []))):
        is_explained = bool(_EXPLAINED.search(sentence))
        for start in _SAYING.finditer(sentence) if is_explained or at > 1 else ():
            clause = _MESSAGE_END.split(sentence[start.end() :], maxsplit=1)[0]
            if " " in clause and not re.match(_OF_STATUS.format(r"\d+"), clause):
                yield " ".join(error_words(clause)[:MOST_WORDS])
        if not at and not is_explained and len(words := error_words(sentence)[:FEW]) == FEW:
            yield " ".join(words)


def _spoken(span: re.Match[str]) -> str:
    """Return the text of a code span, but " . " for one with a message: that is an anchor, so its parts are none."""
    return " . " if ": " in span[0] else span[0]


def _said(words: Sequence[str], error: Sequence[str]) -> int:
    """Return how many of the words the error has, from the first on."""
    at = -1
    for said, word in enumerate(words):
        near = error[at + 1 : at + 2 + _near(words)]
        if word not in near:
            return said
        at += near.index(word) + 1
    return len(words)


def _near(words: Sequence[str]) -> int:
    return NEAR * min(len(words), FEW)


def _is_end(word: str) -> bool:
    return word in STOP_WORDS or (word.isalpha() and bool(_PREDICATE.fullmatch(word)))


def _asked_flags(note: str) -> Iterator[str]:
    for flag in _FLAG_IN_PROSE.finditer(note):
        if is_wanted(note[: flag.start()], note[flag.end() :]):
            yield f"{flag[1]} {value}" if (value := flag[2] or flag[3]) and value not in _AROUND else flag[1]
