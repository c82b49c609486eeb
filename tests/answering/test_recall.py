"""What of a prompt is searched for."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from memhook.answering.recall import for_prompt
from memhook.answering.stages import Stages
from memhook.core.memory import Draft
from memhook.library.library import Library
from memhook.settings import Settings
from memhook.writing.remember import remembered
from tests.core.test_gist import JAVA, LOG, PYTHON

NOW = datetime(2026, 2, 14, tzinfo=UTC)
FACT = "Ledger reconciliation must read from the primary: the replica lags up to 50 seconds behind."
QUESTION = "why does the ledger reconciliation fail when the replica lags?"


def best_score(library: Library, prompt: str) -> float:
    found = for_prompt(library, prompt, "", Settings(), NOW, Stages())
    return max([one.score for one in found.worth_showing] + [one.score for one in found.rest], default=0.0)


@pytest.mark.parametrize("pasted", [JAVA, PYTHON, LOG])
def test_a_question_is_answered_as_well_beside_a_paste_as_alone(library: Library, pasted: str) -> None:
    remembered(library, [Draft(content=FACT)], NOW)
    alone = best_score(library, QUESTION)
    assert best_score(library, f"{QUESTION}\n\n{pasted}") == alone
    assert best_score(library, f"{pasted}\n\n{QUESTION}") == alone


def test_a_paste_that_answers_itself_is_not_lost_beside_words(library: Library) -> None:
    remembered(library, [Draft(content=f"TaxCalculator fails for an invoice without lines:\n{JAVA}")], NOW)
    assert best_score(library, f"the nightly job has failed again\n{JAVA}") > best_score(library, "the nightly job")
