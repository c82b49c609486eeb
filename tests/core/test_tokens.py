from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memhook.core.tokens import estimated_tokens

TEXT = st.text(st.characters(exclude_categories=()), max_size=300)  # lone surrogates too
CODE = st.text("ab01 \t\n-_=.,:;()[]{}'\"/\\ÄжЖ漢字かなกข👍🏽\u200d", max_size=300)


@given(TEXT | CODE)
def test_never_below_a_quarter_of_the_characters(text: str) -> None:
    assert estimated_tokens(text) >= math.ceil(len(text) / 4)


@given(TEXT | CODE, TEXT | CODE)
def test_the_estimates_of_lines_add_up_to_at_least_that_of_the_whole(first: str, second: str) -> None:
    assert estimated_tokens(f"{first}\n{second}") <= estimated_tokens(f"{first}\n") + estimated_tokens(second)


@given(TEXT | CODE, TEXT | CODE)
def test_more_text_never_costs_less(text: str, more: str) -> None:
    assert estimated_tokens(text + more) >= max(estimated_tokens(text), estimated_tokens(more))


def test_nothing_costs_nothing() -> None:
    assert estimated_tokens("") == 0


# The largest count of the three tokenizers that scripts/calibrate-tokens asks, recorded.
@pytest.mark.parametrize(
    ("text", "real"),
    [
        ("def getLocalSyncBranch(repo: Repo) -> str:\n    return repo.branch.removeprefix('origin/')\n" * 4, 100),
        ("| setting | default |\n| --- | --- |\n| `max_tokens` | `4000` |\n" * 4, 96),
        ('{"id": 5, "tags": ["a", "b"], "created": "2026-02-14T08:12:00Z", "ok": true}\n' * 4, 152),
        ("2026-02-14 08:12:17,123 ERROR [db.pool] request_id=9f86d081 took 5012 ms\n" * 4, 132),
        ("6fa459ea-ee8a-3ca4-894e-db77e160355e\n" * 6, 144),
        ("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==\n" * 3, 165),
        ("3.14159 2.71828 1.41421 1.61803 0.57721\n" * 6, 150),
        ("数据库迁移在凌晨失败了，因为从库落后于主库将近五十秒。" * 4, 112),
        ("夜間のバッチ処理がまた失敗した。レプリカがプライマリより遅れていたからだ。" * 4, 152),
        ("야간 작업이 다시 실패했습니다. 복제 서버가 늦었기 때문입니다. " * 4, 144),
        ("Ночная задача снова завершилась с ошибкой, потому что реплика отставала. " * 4, 137),
        ("งานกลางคืนล้มเหลวอีกครั้งเพราะฐานข้อมูลสำรองช้ากว่า " * 4, 337),
        ("👍🏽 👩‍💻 🇫🇷 🚀 " * 10, 220),
        ("│ ├── tokens.py ┌──────────┬─────┐ │\n" * 6, 120),
        ("WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, EITHER EXPRESS OR IMPLIED. " * 4, 58),
        ("\ufdfa " * 20, 320),
    ],
)
def test_real_tokenizers_count_no_more(text: str, real: int) -> None:
    assert real <= estimated_tokens(text) <= 2 * real


def test_plain_english_is_estimated_at_no_more_than_1_3_times_a_quarter_of_its_characters() -> None:
    prose = (
        "The nightly job failed again because the replica was behind the primary. We decided to read from the primary "
        "and to accept the extra load. Nobody remembered why the timeout had been set to forty seconds. After a long "
        "discussion the team wrote the reason down where the next person would look."
    )
    assert estimated_tokens(prose) <= 1.3 * math.ceil(len(prose) / 4)


def test_a_word_of_one_letter_is_a_token_too() -> None:
    assert estimated_tokens(" ".join("abcdefghijklmnop")) >= 16


def test_a_long_rule_costs_little_and_random_bytes_cost_much() -> None:
    assert estimated_tokens("-" * 400) == 100
    assert estimated_tokens("9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08") > 35
