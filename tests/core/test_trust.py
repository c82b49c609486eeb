from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

from memhook.core.grading import BELOW, CHORE, ENOUGH, GATE, RAISED_GATE, Verdict, reasons_withheld
from memhook.core.memory import Memory, Origin

NOW = datetime(2026, 2, 21, tzinfo=UTC)
NOTE = Memory(content="a digest", id="a", title="a", summary="a", created=NOW, updated=NOW, origin=Origin.CAPTURED)
SURE = Verdict(0.9)


def test_two_above_the_gate_are_shown_and_each_other_has_its_reason() -> None:
    scores = (0.95, 0.9, GATE, GATE - 0.01)
    assert reasons_withheld([(NOTE, score) for score in scores], SURE) == ["", "", ENOUGH, BELOW]


def test_a_second_session_or_being_fetched_whole_lowers_the_gate() -> None:
    twice = replace(NOTE, aliases=("claude/s1#1", "claude/s2#7"))
    fetched = replace(NOTE, accessed=NOW)
    same_session = replace(NOTE, aliases=("claude/s1#1", "claude/s1#7"))
    offered = [(one, RAISED_GATE) for one in (same_session, twice, fetched)]
    assert reasons_withheld(offered, SURE) == [BELOW, "", ""]


def test_housekeeping_and_small_talk_get_nothing_that_was_captured() -> None:
    for answer in (replace(SURE, chore=0.1), replace(SURE, talk=-2.0)):
        assert reasons_withheld([(NOTE, 0.99)], answer) == [CHORE]
