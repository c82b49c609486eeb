from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from memhook.errors import InvalidInput
from memhook.writing.moments import moment_ahead, moment_back

NOW = datetime(2026, 2, 14, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("2026-03-01", datetime(2026, 3, 1, tzinfo=UTC)),
        (" 2026-03-01T10:00 ", datetime(2026, 3, 1, 10, tzinfo=UTC)),
        ("2026-03-01 10:00:00", datetime(2026, 3, 1, 10, tzinfo=UTC)),
        ("2026-03-01T10:00+02:00", datetime(2026, 3, 1, 8, tzinfo=UTC)),
        ("2026-03-01T10:00Z", datetime(2026, 3, 1, 10, tzinfo=UTC)),
    ],
)
def test_a_date_means_that_date_in_utc_whichever_way_one_looks(text: str, moment: datetime) -> None:
    assert moment_ahead(text, NOW) == moment_back(text, NOW) == moment
    assert moment_ahead(text, NOW).tzinfo == UTC


@pytest.mark.parametrize(
    ("text", "span"),
    [
        ("30d", timedelta(days=30)),
        ("12h", timedelta(hours=12)),
        ("2w", timedelta(weeks=2)),
        ("45m", timedelta(minutes=45)),
        (" 3 D ", timedelta(days=3)),
    ],
)
def test_a_duration_counts_from_now_ahead_or_back(text: str, span: timedelta) -> None:
    assert moment_ahead(text, NOW) == NOW + span
    assert moment_back(text, NOW) == NOW - span


@pytest.mark.parametrize("text", ["", "soon", "30", "d", "-3d", "1.5h", "30dd", "2026-02-30", "٣d", "1" * 5000])
def test_nonsense_is_refused_with_what_is_possible(text: str) -> None:
    with pytest.raises(InvalidInput) as refusal:
        moment_ahead(text, NOW)
    assert "2026-02-14" in refusal.value.hint


@pytest.mark.parametrize("text", ["99999999d", "999999w", "1" * 5000 + "h", "0001-01-01T00:00+05:00"])
def test_what_no_calendar_reaches_is_called_too_far_away(text: str) -> None:
    for moment in (moment_ahead, moment_back):
        with pytest.raises(InvalidInput, match="is too far away: dates go from the year 1 to 9999") as refusal:
            moment(text, NOW)
        assert "2026-02-14" in refusal.value.hint
