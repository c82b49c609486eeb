from concurrent.futures import ThreadPoolExecutor
from itertools import product
from string import ascii_lowercase

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from memhook.core.terms import MAX_TERM_CHARS, stemmed, term_spans, terms


@pytest.mark.parametrize("name", ["getLocalSyncBranch", "get_local_sync_branch", "get-local-sync-branch"])
def test_an_identifier_is_found_whole_in_any_spelling_and_by_its_parts(name: str) -> None:
    assert set(terms(name)) == {"getlocalsyncbranch", "local", "sync", "branch"}


def test_a_path_is_found_whole_by_its_file_and_by_its_parts() -> None:
    assert {"path/to/mergeslot.py", "mergeslot.py", "mergeslot", "path", "merg", "slot", "py"} <= set(
        terms("path/to/merge_slot.py")
    )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("E1234", {"e1234"}),
        ("v1.2.3", {"v1.2.3", "1.2.3", "v1"}),
        ("os.path.join", {"os.path.join", "os", "path", "join"}),
        ("--dry-run", {"--dry-run", "dryrun", "dri", "run"}),
        ("ack -i", {"ack", "-i"}),
        ("HTTPServer", {"httpserver", "http", "server"}),
        ("__init__.py", {"init.py", "init", "py"}),
        ("C++ or C#", {"c++", "c#"}),
        ("sha256", {"sha256"}),
        ("2023-05-08", {"20230508", "2023"}),
    ],
)
def test_what_developers_write_is_kept_as_they_search_for_it(text: str, expected: set[str]) -> None:
    assert set(terms(text)) == expected


@pytest.mark.parametrize(
    "family",
    [
        "migrate migrates migrated migrating migration migrations",
        "configure configured configuring configuration",
        "retry retries retried retrying",
        "use uses used using",
        "deploy deploys deployed deploying deployment",
        "run runs running",
        "validate validation validator",
        "class classes",
        "box boxes",
        "add adds added adding",
        "миграция миграции миграций",
        "запрос запросы запросов",
        "βάση βάσεις",
        "लड़का लड़के",
        "مكتبة المكتبة",
    ],
)
def test_the_forms_of_a_word_share_one_stem(family: str) -> None:
    assert len({stemmed(word) for word in family.split()}) == 1


def test_short_words_and_words_that_only_look_inflected_are_left_alone() -> None:
    assert [stemmed(word) for word in ("bus", "status", "need", "string", "bring", "go")] == [
        "bus", "status", "need", "string", "bring", "go",
    ]  # fmt: skip


@pytest.mark.parametrize("length", [1, 2, 3, 4])
def test_every_word_of_a_few_letters_has_a_stem(length: int) -> None:
    assert all(stemmed("".join(letters)) for letters in product(ascii_lowercase, repeat=length))


def test_threads_that_stem_at_once_get_the_stems_that_one_gets() -> None:
    words = [
        f"{start}{ending}" for start in ("migrat", "Ying", "наход", "βασ") for ending in ("ing", "ions", "ится", "εις")
    ]
    expected = list(map(stemmed, words))
    with ThreadPoolExecutor(8) as threads:
        assert all(found == expected for found in threads.map(lambda _: list(map(stemmed, words)), range(200)))


def test_stop_words_are_dropped_unless_nothing_else_is_there() -> None:
    assert terms("where is the cache") == ["cach"]
    assert terms("what is it") == ["what", "is", "it"]


def test_case_width_ligatures_and_latin_accents_do_not_matter() -> None:
    assert terms("ＣＡＦÉ ﬁle Straße İstanbul") == terms("cafe file strasse istanbul")
    assert terms("e\u0301te\u0301") == terms("été") == ["ete"]


def test_accents_of_other_scripts_are_letters_of_their_own() -> None:
    assert terms("война") != terms("воина")


def test_text_without_spaces_becomes_character_pairs() -> None:
    assert terms("DB接続エラー") == ["db", "接続", "続エ", "エラ", "ラー"]
    assert terms("好") == ["好"]
    assert set(terms("데이터베이스")) & set(terms("데이터"))
    assert set(terms("ภาษาไทย")) & set(terms("ภาษา"))


def test_words_with_vowel_signs_stay_in_one_piece() -> None:
    text = "हिन्दी में"
    assert [text[start:end] for _, start, end in term_spans(text)] == ["हिन्दी", "में"]


def test_a_contraction_or_possessive_is_found_by_its_word() -> None:
    assert terms("Caroline's") == terms("Caroline")
    assert terms("don't panic") == ["panic"]


def test_spans_point_into_the_original_text() -> None:
    text = "The ﬁx: getSyncBranch in Cafe\u0301"
    found = {term: text[start:end] for term, start, end in term_spans(text)}
    assert found == {
        "fix": "ﬁx", "getsyncbranch": "getSyncBranch", "sync": "Sync", "branch": "Branch", "cafe": "Cafe\u0301",
    }  # fmt: skip


def test_a_term_is_never_longer_than_its_limit() -> None:
    assert max(map(len, terms("a" * 5000 + " " + "b/" * 3000 + "c"))) == MAX_TERM_CHARS


@pytest.mark.parametrize("unit", ["_", "-", "a_", "a.", "/", "aB", "é", "e\u0301", "\u0301", "接", "'", "C+", "--a"])
def test_repetition_does_not_take_more_than_linear_work(unit: str) -> None:
    assert len(terms(unit * 20_000)) <= 80_000


@given(st.text(max_size=300) | st.text(alphabet="aB1_-./'+#é接ー한ไ\u0301\u200d\ud800\0 \n", max_size=60))
@example("\ud800a\0b")
@example("a\u0345\u0300 ẛ̣ ﷺ")
def test_any_text_gives_clean_terms_that_lie_within_it(text: str) -> None:
    spans = term_spans(text)
    assert [term for term, _, _ in spans] == terms(text)
    for term, start, end in spans:
        assert term
        assert term.split() == [term]
        assert term.encode("utf-8")
        assert 0 <= start < end <= len(text)


@given(st.text(max_size=200))
@example("\u0591-\u0591")
def test_analysis_survives_joining_its_own_terms(text: str) -> None:
    assert " ".join(terms(text)).split() == terms(text)
