"""What the author of a prompt says, beside what was pasted and beside courtesies."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memhook.core.small_talk import gist

QUESTION = "why does the ledger reconciliation fail"
PYTHON = (
    "Traceback (most recent call last):\n"
    '  File "/app/orders/cart.py", line 41, in total\n'
    "    return sum(i.price.convert(currency) for i in self.items)\n"
    "moneyed.classes.CurrencyDoesNotExist: No currency with code 'XYZ' is defined."
)
JAVA = (
    'java.lang.NullPointerException: Cannot invoke "Invoice.getLines()" because "invoice" is null\n'
    "\tat com.acme.billing.TaxCalculator.compute(TaxCalculator.java:57)\n"
    "\tat java.base/java.lang.Thread.run(Thread.java:833)"
)
LOG = "\n".join(
    f'10.0.0.{n} - - [12/Mar/2026:10:00:{n:02d} +0000] "GET /img/{n}.png HTTP/1.1" 200 {n}' for n in range(9)
)
CODE = "```python\nfor bird in birds:\n    sky.draw(bird)\n```"


@pytest.mark.parametrize("pasted", [PYTHON, JAVA, LOG, CODE])
def test_what_was_pasted_above_or_below_is_left_out(pasted: str) -> None:
    assert gist(f"{QUESTION}\n\n{pasted}").startswith(QUESTION)
    assert gist(f"{pasted}\n\n{QUESTION}").endswith(QUESTION)
    assert len(gist(f"{QUESTION}\n\n{pasted}")) < len(pasted)


def test_courtesies_around_a_question_are_left_out() -> None:
    polite = f"Hi! Could you please have a look when you have a moment? {QUESTION}? Thanks a lot!"
    assert gist(polite) == f"{QUESTION}?"


@pytest.mark.parametrize("prompt", [QUESTION, "fix the parser\nand run the tests", "", "yes"])
def test_a_prompt_that_is_all_said_has_no_gist_beside_itself(prompt: str) -> None:
    assert gist(prompt) == ""


@pytest.mark.parametrize("said", ["", "any idea?", "I get this, help!"])
def test_where_nothing_is_said_the_pasted_part_is_left_to_speak(said: str) -> None:
    assert gist(f"{said}\n{LOG}") == ""


@given(st.text(max_size=300))
def test_a_gist_is_shorter_than_its_prompt(prompt: str) -> None:
    assert gist(prompt) == "" or len(gist(prompt)) < len(prompt)
