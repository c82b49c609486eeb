"""From a recorded session to the notes that are kept of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from memhook.assistants.recording import About, Problem, Prompt, Reply, Step
from memhook.core.memory import derived_title
from memhook.screening.credentials import may_hold_credentials
from memhook.supply.digests import PRIVATE, SECRETS, Exchange, captured, digest
from memhook.supply.lessons import Commands, Pair, orders
from memhook.supply.source import Entry, Record
from memhook.supply.typed import begins_exchange

NO_PROJECT = "of no project, or of an excluded one"
GOES_ON = "still going on"


@dataclass(frozen=True, slots=True)
class Order:
    """What is worth a note once a second session has it: an order for good, a pair that may have been an accident."""

    session: str
    record: Record


@dataclass(slots=True)
class Learned:
    """Digests and plain pairs of commands, each a record or a reason; and orders. `turns` counts ended exchanges."""

    project: str = ""
    entries: list[Entry] = field(default_factory=list)
    orders: list[Order] = field(default_factory=list)
    turns: int = 0
    problems: list[str] = field(default_factory=list)


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
    """What a recorded session teaches, after the turns that were read before."""
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
                turn = None  # nobody knows how it ended
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
        plain = {one.words: one.quote for one in turn.pairs if one.is_plain}
        failed = {one.words: one.quote for one in turn.pairs if not one.is_plain}
        said = {sentence: sentence for sentence in orders(exchange.asked)}
        found.entries += _entries(plain, exchange, "")
        session = f"{assistant}/{about.session}"
        learned = (entry.record for entry in _entries({**said, **failed}, exchange, "rule"))
        found.orders += [Order(session, record) for record in learned if record]


def _entries(quotes: Mapping[str, str], exchange: Exchange, kind: str) -> Iterator[Entry]:
    """A record for each text with its quote, or why there is none."""
    for number, (content, quote) in enumerate(quotes.items(), start=1):
        place = f"{exchange.place}.{kind}{number}"
        record = captured(exchange, derived_title(content), content, quote, place)
        yield Entry(place, None, SECRETS) if may_hold_credentials(content) else Entry(place, record)
