from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memhook.core.languages import is_english

OTHERS = (
    "Почему падает миграция на большой таблице?",
    "deploy на prod упал с ошибкой OOMKilled",
    "为什么大表上的迁移会超时？",
    "予約 API が 409 SLOT_TAKEN を返したとき、画面側で 3 回まで自動リトライするようにして",
    "eligibility の照会がタイムアウトしたら、画面に「無保険」と出していい？",
    "큰 테이블에서 마이그레이션이 왜 시간 초과되나요?",
    "لماذا تفشل عملية الترحيل؟",
    "ทำไมการย้ายข้อมูลจึงล้มเหลว",
    "Neden göç büyük tablolarda zaman aşımına uğruyor?",
    "Dlaczego migracja dużej tabeli przekracza limit czasu?",
    "Waarom loopt de migratie op een grote tabel vast?",
    "Perché la migrazione di una tabella grande va in timeout?",
    "Por que a migração de uma tabela grande estoura o tempo?",
    "Pourquoi la migration d'une grande table échoue-t-elle ?",
    "migration bricht ab, bitte prüfen",
    "warum bricht das ab",
    "corrige le test",
    "arregla el test de login",
    "Schreib bitte einen Cypress-Test für `bookAppointment()`",
    "Die Ärzte werden ständig ausgeloggt:\n```\nHTTP 401 for the token of this user\n```",
)
ENGLISH = (
    "",
    "1",
    "yes",
    "continue",
    "fix the login test",
    "run pytest -k foo",
    "rename user_id to account_id",
    "git rebase --onto main",
    "SELECT id FROM users WHERE name = 'x'",
    "const el = document.querySelector('la')",
    'Traceback (most recent call last):\n  File "x.py", line 3, in <module>\nValueError: bad',
    "the façade pattern is used here",
    "The user's name is Jürgen Müller",
    "deploy to the São Paulo region",
    "a photo of her trip to Rio de Janeiro",
    "use λ instead of def",
    "add translations for 日本語 and 中文 to the language picker",
    "add emoji 🎉 support",
    "Los Angeles and Las Vegas are in the us-west region, van Gogh is a theme",
    "npm ERR! code ELIFECYCLE",
    "\ud800",
)


@pytest.mark.parametrize("text", OTHERS)
def test_what_is_in_another_language_is_told(text: str) -> None:
    assert not is_english(text)


@pytest.mark.parametrize("text", ENGLISH)
def test_english_and_what_is_in_no_language_is_not_taken_for_another(text: str) -> None:
    assert is_english(text)


def test_a_quotation_does_not_make_an_english_text_foreign() -> None:
    assert is_english(
        "The error dialog says „Datei nicht gefunden“ when the locale of the user is German, which is a bug."
    )


@given(st.text())
def test_any_text_has_an_answer(text: str) -> None:
    assert is_english(text) in (True, False)


@pytest.mark.parametrize("piece", ["`", "```", "a", "é ", "日", "a://", "'", "\ud800", "\u0301"])
def test_a_huge_text_costs_no_more_than_its_start(piece: str) -> None:
    started = time.process_time()
    is_english(piece * 1_000_000)
    assert time.process_time() - started < 1.0
