"""Extract notes from a recorded session: digests, and facts that need no model."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from memhook.assistants.reading import About, Problem, Prompt, Ran, Reply, Step, Used
from memhook.core.cues import standing_orders
from memhook.core.memory import derived_title
from memhook.core.note_requests import own_words
from memhook.patterns import regex
from memhook.screening.secret_values import may_hold_credentials
from memhook.supply.digests import PRIVATE, SECRETS, Exchange, begins_exchange, captured, digest, typed
from memhook.supply.signatures import signature
from memhook.supply.source import Entry, Record

NO_PROJECT = "of no project, or of an excluded one"
GOES_ON = "still going on"
LONGEST_COMMAND = 200
COMMANDS_BETWEEN = 5
SHARED = 0.5
"""The share of the words of the longer command that siblings have in common."""

_REDIRECTED = regex(r"\s+(?:\d?>[>&]?\s*\S+|\|\s.*|;\s*echo\b.*)")
_TOKEN = regex(r"[^\s\"'=/]+")


@dataclass(slots=True)
class Learned:
    """The digests and plain pairs of commands of a session, each a record or a problem. `turns` counts ended exchanges.

    `orders` are stored only once a second session has them: standing orders, and pairs that may be accidental.
    """

    project: str = ""
    entries: list[Entry] = field(default_factory=list)
    orders: list[Record] = field(default_factory=list)
    turns: int = 0
    problems: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Pair:
    """A command that failed and its sibling that worked; `is_plain` if the first itself was invalid."""

    wrong: str
    right: str
    is_plain: bool

    @property
    def words(self) -> str:
        return f"`{self.wrong}` does not work here; `{self.right}` does."

    @property
    def anchors(self) -> tuple[str, ...]:
        """What brings the pair up again; none of its own where the text says it best."""
        return tuple(filter(None, [signature(self.wrong, self.right)]))

    @property
    def quote(self) -> str:
        return f"{self.wrong} → {self.right}"


class Commands:
    """Watches the commands of an exchange for pairs: one failed, and a sibling worked with no edit between."""

    def __init__(self) -> None:
        self._failed: dict[str, bool] = {}
        self._since = 0

    def pair(self, step: Step) -> Pair | None:
        """Return a pair once its second command has worked."""
        if isinstance(step, Used) and step.is_edit:
            self._failed.clear()
        if not isinstance(step, Ran) or not (command := _plain(step.command)):
            return None
        self._since += 1
        if self._since > COMMANDS_BETWEEN:
            self._failed.clear()
        if step.failed:
            self._failed[command] = step.was_wrong
            self._since = 0
        elif failed := [one for one in self._failed if _are_siblings(one, command)]:
            wrong = max(failed, key=self._failed.__getitem__)
            pair = Pair(wrong, command, self._failed[wrong])
            self._failed.clear()
            return pair
        return None


@dataclass(slots=True)
class _Turn:
    prompt: Prompt
    ended: str = ""
    has_ended: bool = False
    pairs: list[Pair] = field(default_factory=list)
    commands: Commands = field(default_factory=Commands)

    def add(self, step: Step) -> None:
        if isinstance(step, Reply):
            self.ended, self.has_ended = step.text, True
        elif not isinstance(step, Prompt):
            self.has_ended = False
        if pair := self.commands.pair(step):
            self.pairs.append(pair)


def learned(steps: Iterable[Step], assistant: str, project_of: Callable[[About], str], turns_read: int = 0) -> Learned:
    """Return the notes of a recorded session, after the turns that were read before."""
    found = Learned(turns=turns_read)
    about = About("", "")
    turn: _Turn | None = None
    number = 0
    for step in steps:
        match step:
            case About() if not about.session:
                about, found.project = step, project_of(step)
                if not found.project:
                    found.problems.append(NO_PROJECT)
                    return found
            case Problem(reason):
                found.problems.append(reason)
                turn = None  # its end is unknown
            case Prompt() if begins_exchange(step.text):
                _close(turn, number, about, assistant, turns_read, found)
                turn, number = _Turn(step), number + 1
            case _ if turn is not None:
                turn.add(step)
    if turn is not None and not turn.has_ended:
        found.problems.append(GOES_ON)
    else:
        _close(turn, number, about, assistant, turns_read, found)
    return found


def _close(turn: _Turn | None, number: int, about: About, assistant: str, read: int, found: Learned) -> None:
    if turn is None or number <= read:
        return
    prompt = turn.prompt
    exchange = Exchange(
        prompt.text, turn.ended, assistant, about.session, number, prompt.when, found.project, about.is_subagent
    )
    found.turns = number
    found.entries.append(digest(exchange))
    if not about.is_subagent and PRIVATE not in prompt.text.lower():
        plain = {one.words: one for one in turn.pairs if one.is_plain}
        failed = {one.words: one for one in turn.pairs if not one.is_plain}
        said = dict.fromkeys(standing_orders(own_words(typed(exchange.asked))))
        found.entries += _entries(plain, exchange, "")
        found.orders += [one.record for one in _entries({**said, **failed}, exchange, "rule") if one.record]


def _entries(texts: Mapping[str, Pair | None], exchange: Exchange, kind: str) -> Iterator[Entry]:
    """Yield a record for each text, which may be that of a pair, or the reason why there is none."""
    for number, (content, pair) in enumerate(texts.items(), start=1):
        place = f"{exchange.place}.{kind}{number}"
        record = captured(exchange, derived_title(content), content, pair.quote if pair else content, place)
        record |= {"anchors": list(pair.anchors)} if pair and pair.anchors else {}
        yield Entry(place, None, SECRETS) if may_hold_credentials(content) else Entry(place, record)


def _plain(command: str) -> str:
    """Return the command without redirections of its output; empty for a script."""
    alone = _REDIRECTED.sub("", command).strip()
    return "" if "\n" in alone or len(alone) > LONGEST_COMMAND else alone


def _are_siblings(one: str, other: str) -> bool:
    """Whether they share half of their words, including the last, usually the object of the command."""
    some, others = _TOKEN.findall(one), _TOKEN.findall(other)
    shared = len({*some} & {*others})
    return one != other and some[-1:] == others[-1:] and shared >= SHARED * max(len({*some}), len({*others}), 1)
