"""Which of two memories is proposed as the newer one."""

from __future__ import annotations

import pytest

from memhook.core.memory import id_of
from tests.hooks import conftest
from tests.hooks.conftest import Assistant

real_embedder, runner, assistant = conftest.real_embedder, conftest.runner, conftest.assistant

NIGHTLY = "Staging is rebuilt every night at {0} o'clock by Jenkins job number {0}"


def proposed(assistant: Assistant) -> list[tuple[str, str]]:
    """The pairs of older and newer memory that the user is asked about, once all were compared."""
    assistant.runner.keep_house()
    return [(one.memory, one.other) for one in assistant.runner.engine.accounts.proposals()]


@pytest.mark.parametrize("change", [{"tags": ["t1"]}, {"pinned": True}, {"muted": True}, {"namespace": "decisions"}])
def test_a_change_of_what_is_beside_the_text_does_not_make_a_memory_the_newer_one(
    assistant: Assistant, change: dict[str, object]
) -> None:
    older, newer = (assistant.remembers(NIGHTLY.format(number)) for number in (1, 2))
    assert proposed(assistant) == [(id_of(older), id_of(newer))]
    assistant.calls("revise", references=[older], **change)
    assistant.calls("revise", references=[older], **{name: type(value)() for name, value in change.items()})
    assert proposed(assistant) == [(id_of(older), id_of(newer))]


def test_a_memory_that_is_reworded_is_the_newer_one_and_the_question_is_asked_the_other_way_round(
    assistant: Assistant,
) -> None:
    older, newer = (assistant.remembers(NIGHTLY.format(number)) for number in (1, 2))
    assert proposed(assistant) == [(id_of(older), id_of(newer))]
    assistant.calls("revise", references=[older], content=NIGHTLY.format(5))
    assert proposed(assistant) == [(id_of(newer), id_of(older))]


def test_the_same_words_with_other_punctuation_replace_nothing(assistant: Assistant) -> None:
    assistant.remembers("Commits may skip the hooks.")
    assistant.remembers("Commits may skip the hooks!")
    assert proposed(assistant) == []
