"""Which memories an exported page leaves out."""

from __future__ import annotations

from typing import Any

import pytest

from memhook.ui.rendering import is_closed

OPEN: dict[str, Any] = {"sensitivity": "normal", "redacted": False, "quarantine": ""}


@pytest.mark.parametrize(
    "fields",
    [
        {"sensitivity": "restricted"},
        {"sensitivity": "confidential"},
        {"redacted": True},
        {"quarantine": "forges a turn of the conversation"},
    ],
)
def test_what_is_not_for_everybody_is_closed(fields: dict[str, Any]) -> None:
    assert is_closed(OPEN | fields)
    assert not is_closed(OPEN)
