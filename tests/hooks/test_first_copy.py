"""A new machine: the first question of a shared store waits for its first copy, or says that there is none yet."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from memhook.engine import catalogue
from memhook.errors import NotFound, RemoteError
from memhook.hooks import runner as runner_module
from memhook.mcp_server.tools import TOOLS
from memhook.paths import user_paths
from memhook.store.remote.origin import Origin
from memhook.store.remote.replica import Replica
from memhook.store.table import changes
from tests.hooks.conftest import Assistant
from tests.hooks.test_prompt import FACT, QUESTION, configure
from tests.store.test_memories import memory


@pytest.fixture
def filled(tmp_path: Path, home: Path) -> Path:
    """A shared store that others have written to."""
    folder = tmp_path / "team"
    folder.mkdir(0o770)
    origin = Origin(str(folder), user_paths().backups)
    with origin.writing():
        origin.write(changes.add, [memory(1, FACT)], [None], origin.model)
    configure(home, f'[stores.team]\nuri = "{folder}"\n')
    return folder


@pytest.fixture
def slow(filled: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[threading.Event]:
    """Fetching lasts until this is set; nobody waits as long as they would."""
    fetched, fetch = threading.Event(), Replica._fetched

    def waiting(self: Replica, origin: Origin) -> int:
        assert fetched.wait(300)
        return fetch(self, origin)

    monkeypatch.setattr(Replica, "_fetched", waiting)
    monkeypatch.setattr(catalogue, "FIRST_COPY_SECONDS", 0.01)
    monkeypatch.setattr(runner_module, "FIRST_COPY_SECONDS", 0.01)
    yield fetched
    fetched.set()


def test_the_first_search_finds_what_is_there(assistant: Assistant, filled: Path) -> None:
    for asked in ({"store": "team"}, {}):
        page = assistant.calls("search", query=QUESTION, **asked)
        assert [one["content"] for one in page["results"]] == [FACT]
        assert "incomplete" not in page


def test_the_first_prompt_finds_what_is_there(assistant: Assistant, filled: Path) -> None:
    for _ in range(100):  # a busy machine may need more than the half second that a prompt waits
        if context := assistant.prompts(QUESTION):
            break
    assert FACT in context


def test_until_the_copy_is_there_every_answer_says_so_and_a_hook_once(
    assistant: Assistant, slow: threading.Event
) -> None:
    for method, params in (("search", {"query": QUESTION}), ("list", {}), ("pack", {"topic": "ledger"})):
        (note,) = assistant.calls(method, **params)["incomplete"]
        assert note == "The first copy of the store team is being made; until then nothing is found in it."
    with pytest.raises(NotFound) as missing:
        assistant.calls("get", references=["k3v9x2m4p7qa"])
    assert "is being made" in missing.value.hint
    with pytest.raises(RemoteError, match="is being made"):  # an export of nothing would pass for the whole
        assistant.calls("export_page", store="team")
    assert assistant.calls("export_page") == []
    for tool, params in (("inject_context", {"query": QUESTION}), ("pack_context", {"topic": "ledger"})):
        shown = TOOLS[tool].shown(assistant.calls(TOOLS[tool].operation, **params))
        assert str(shown).endswith("until then nothing is found in it.")
    told = [
        assistant.answer({"hook_event_name": "UserPromptSubmit", "session_id": str(number), "prompt": QUESTION})
        for number in range(3)
    ]
    assert ["systemMessage" in answer for answer in told] == [True, False, False]
    slow.set()
    for thread in [one for one in threading.enumerate() if one.name == "memhook-first-copy"]:
        thread.join(300)
    page = assistant.calls("search", query=QUESTION)
    assert ([one["content"] for one in page["results"]], "incomplete" in page) == ([FACT], False)


def test_a_store_that_cannot_be_fetched_is_named_with_the_reason(assistant: Assistant, filled: Path) -> None:
    filled.rename(filled.with_name("away"))
    (note,) = assistant.calls("search", query=QUESTION)["incomplete"]
    assert "Nothing of the store team is here yet" in note
    assert "does not exist" in note
