from __future__ import annotations

import unicodedata
from typing import get_args

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from memhook.core.normal import Form, normalized

MARKS = "\u0301\u0316\u0344\u0345\u0f71\u0f73\u0f81\u3099\uff9e\uff9f\u0334\U0001d165\u034f─🙂a\u0d4d"


@pytest.mark.parametrize("form", get_args(Form))
@given(text=st.text(max_size=80) | st.text(alphabet=MARKS, min_size=30, max_size=120))
@example("e" + "\u0301\u0316" * 40)
@example("ｶ" + "\uff9e\u0301" * 40)
@example("─" * 80)
def test_it_is_what_the_standard_library_has(form: Form, text: str) -> None:
    assert normalized(form, text) == unicodedata.normalize(form, text)
