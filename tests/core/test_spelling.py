from __future__ import annotations

import pytest

from memhook.core.spelling import MAX_SUSPECTS, NO_VOCABULARY, Vocabulary, repaired
from memhook.core.terms import terms

WORDS = """
    after again container crash delet delete deploy does error every export fail fails find first for from have help
    index into job just know last line made make migration never night number order page people product products push
    read reconcile reconciliation return right run search second service should since small some something start table
    task test that them then there thing time today true under wait want were what when where which with without word
    work write year
"""
VOCABULARY = Vocabulary.of(WORDS.split())
STORE = "Kyverno denies deployments. The reconciliation job reads the products table; search runs in Postgres, xcom."


def read(text: str, store: str = STORE, vocabulary: Vocabulary = VOCABULARY) -> str:
    found = repaired(text, dict.fromkeys(terms(store), 1), vocabulary)
    return found.text if found else text


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("kyvenro again", "kyverno again"),  # transposed
        ("kyvern again", "kyverno again"),  # one letter missing
        ("kyvernoo again", "kyverno again"),  # one too many
        ("kyverbo again", "kyverno again"),  # a wrong one
        ("the reconcilation job", "the reconciliation job"),  # looks like a form of "reconcile"
        ("postgress", "postgres"),
        ("Serach, please!", "search, please!"),
        ("prodcuts dont show up in serach", "products dont show up in search"),
    ],
)
def test_a_word_one_error_away_from_a_word_of_the_store_is_read_as_that(typed: str, meant: str) -> None:
    assert read(typed) == meant


def test_it_tells_which_word_was_read_as_which() -> None:
    found = repaired("the reconcilation of prodcuts", dict.fromkeys(terms(STORE), 1), VOCABULARY)
    assert found is not None
    assert found.words == {"reconcilation": "reconciliation", "prodcuts": "products"}


@pytest.mark.parametrize(
    "text",
    [
        "",
        "what does the search return",
        "tables, tabled and tabling",  # a form is no error
        "a migration without an index",  # not of the store, but right
        "kyv xcmo_task serach.py src/serach `serach` SERACH getSerach --serach serach()",
        "```\nserach\n```",
        "look into `serach",
        "earch and zearch",  # the first letter is seldom wrong
        "wombat",
        "检索 продукт поиск",
    ],
)
def test_what_is_right_code_or_near_to_nothing_stays_as_it_is(text: str) -> None:
    assert read(text) == text


def test_code_stays_beside_what_is_repaired() -> None:
    assert read("serach fails in `serach` and serach.py") == "search fails in `serach` and serach.py"


def test_a_common_word_is_repaired_only_beside_a_word_of_the_store() -> None:
    assert read("retrun") == "retrun"
    assert read("retrun the prodcuts") == "return the products"


def test_the_whole_word_is_preferred_to_a_piece_a_model_has() -> None:
    assert read("delte the prodcuts") == "delete the products"


def test_a_language_nobody_knows_here_is_not_taken_for_errors() -> None:
    assert read("bitte alle Tebelle jeden Morgen neu einlesen, search") == (
        "bitte alle Tebelle jeden Morgen neu einlesen, search"
    )
    many = " ".join(f"serach{'abcdefghijklmnopqrst'[number] * 3}" for number in range(MAX_SUSPECTS))
    assert read(f"serach {many}") == f"serach {many}"


def test_words_of_other_alphabets_are_repaired_too() -> None:
    assert read("где миграцяи", "миграции базы") == "где миграция"
    assert read("Zählestand", "Zählerstand ablesen") == "zahlerstand"


def test_without_a_vocabulary_nothing_is_repaired() -> None:
    assert read("serach", vocabulary=NO_VOCABULARY) == "serach"
