"""What the hooks may rely on in a session's account."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from memhook.engine.accounts import Accounts
from memhook.store.ledger import Ledger, Shown
from memhook.writing.notes import Note
from tests.store.test_memories import memory

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
NOTE = Note(memory(1, "Deploys need the VPN."), is_new=True, was_forgotten=False, masked=())


@pytest.fixture
def accounts(tmp_path: Path) -> Accounts:
    return Accounts(Ledger(tmp_path / "ledger.sqlite3"))


def test_what_another_event_is_bringing_at_the_moment_counts_as_seen(accounts: Accounts) -> None:
    showing = Shown(NOTE.memory.content_hash, "preview", ((0, 21),))
    assert not accounts.of("s1", "", "claude").has_seen(NOTE.memory)
    assert accounts.of("s1", "", "claude", [(NOTE.memory.id, showing)]).has_seen(NOTE.memory)


def test_only_a_session_with_a_name_has_a_last_note(accounts: Accounts) -> None:
    for session in ("", "s1"):
        accounts.record_captured(session, "", [NOTE], NOW)
    assert accounts.last_captured("") is None
    assert accounts.last_captured("s1") is not None
