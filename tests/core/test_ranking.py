import math
from collections.abc import Callable, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memhook.core.ranking import (
    PROMPT_CHARS,
    Candidate,
    embedded_prompt,
    embedded_text,
    indexed_text,
    ranked,
    term_weights,
)
from memhook.core.terms import terms

DF = {"redi": 2, "cach": 10, "file": 90, "test": 60}


def scores(
    prompt: str, candidates: Sequence[Candidate], *, documents: int = 100, searched: int | None = None
) -> dict[str, float]:
    ranking = ranked(terms(prompt), candidates, DF, documents, 20.0, searched)
    return {one.id: one.evidence for one in ranking}


def candidate(name: str, cosine: float | None, text: str, written: str = "") -> Candidate:
    return Candidate(name, cosine, terms(text), written)


def test_a_memory_nearer_in_meaning_scores_higher() -> None:
    found = scores("redis cache", [candidate("near", 0.8, "other words"), candidate("far", 0.6, "other words")])
    assert found["near"] > found["far"]


def test_a_memory_with_more_of_the_prompts_words_scores_higher() -> None:
    found = scores("redis cache", [candidate("both", 0.7, "redis cache"), candidate("one", 0.7, "redis queue")])
    assert found["both"] > found["one"]


def test_a_rare_word_counts_more_than_a_common_one() -> None:
    found = scores("redis file", [candidate("rare", 0.7, "redis here"), candidate("common", 0.7, "file here")])
    assert found["rare"] > found["common"]


def test_a_title_the_prompt_says_whole_counts_much_more_than_half_a_title() -> None:
    said = [
        Candidate(name, 0.7, terms("some text"), "", terms(title))
        for name, title in (("whole", "Redis cache eviction"), ("half", "Redis queue backpressure"), ("none", "Files"))
    ]
    found = scores("why is the redis cache eviction slow", said)
    assert found["whole"] > found["half"] > found["none"]
    assert found["whole"] - found["half"] > 2 * (found["half"] - found["none"])


def test_a_title_of_one_common_word_proves_little() -> None:
    said = [Candidate("title", 0.7, terms("text"), "", terms("Files")), Candidate("none", 0.7, terms("text"))]
    found = scores("list the files", said)
    assert found["none"] < found["title"] < found["none"] + 0.2


def test_the_order_is_best_first_and_equal_scores_are_ordered_by_id() -> None:
    same = [candidate(name, 0.7, "redis") for name in ("c", "a", "b")]
    ranking = ranked(terms("redis"), [*same, candidate("top", 0.9, "redis")], DF, 100, 20.0)
    assert [one.id for one in ranking] == ["top", "a", "b", "c"]


def test_other_candidates_do_not_change_a_score() -> None:
    one = candidate("one", 0.75, "redis cache")
    alone = scores("redis cache", [one])["one"]
    among = scores("redis cache", [one, candidate("better", 0.95, "redis cache redis cache")])["one"]
    assert alone == among


def test_the_same_nearness_means_less_in_a_larger_store() -> None:
    one = candidate("one", 0.72, "redis")
    assert scores("redis", [one], searched=20)["one"] > scores("redis", [one], searched=20_000)["one"]


def test_without_embeddings_the_words_alone_score() -> None:
    found = scores("redis cache", [candidate("hit", None, "the redis cache"), candidate("miss", None, "a queue")])
    assert found["hit"] > 0.5
    assert found["miss"] < 0.2


def test_in_another_script_a_high_cosine_without_shared_words_is_not_enough() -> None:
    unrelated = candidate("a", 0.8, "我们用脚本部署到生产环境")
    related = candidate("b", 0.68, "计费服务使用数据库")
    found = scores("计费服务用什么数据库？", [unrelated, related])
    assert found["b"] > 0.5 > found["a"]


def test_what_was_written_in_the_same_hour_as_an_answer_gains() -> None:
    answer = candidate("answer", 0.95, "redis cache", "2026-02-14T09:10:00+00:00")
    beside = candidate("beside", 0.7, "queue", "2026-02-14T09:50:00+00:00")
    apart = candidate("apart", 0.7, "queue", "2026-02-15T09:50:00+00:00")
    others = [candidate(f"other{n}", 0.5, "queue", f"2026-01-0{n}T00:00:00") for n in range(1, 5)]
    found = scores("redis cache", [answer, beside, apart, *others])
    assert found["beside"] > found["apart"]


def test_an_import_of_everything_in_one_hour_lends_nothing() -> None:
    moment = "2026-02-14T09:10:00"
    together = [candidate("a", 0.95, "redis cache", moment), candidate("b", 0.7, "queue", moment)]
    apart = [candidate("a", 0.95, "redis cache"), candidate("b", 0.7, "queue")]
    assert scores("redis cache", together) == scores("redis cache", apart)


def test_a_companion_never_makes_silence_speak() -> None:
    moment = "2026-02-14T09:10:00"
    below = [candidate("a", 0.6, "queue", moment), candidate("b", 0.6, "queue", moment)]
    others = [candidate(f"other{n}", 0.5, "queue") for n in range(4)]
    unlent = [Candidate(one.id, one.cosine, one.terms) for one in below]
    assert scores("redis", [*below, *others]) == scores("redis", [*unlent, *others])


def test_a_prompt_of_a_thousand_words_still_finds_its_memory() -> None:
    prompt = "redis cache eviction fails\n" + " ".join(f"frame{n}" for n in range(1000))
    found = scores(prompt, [candidate("hit", 0.75, "redis cache eviction policy"), candidate("miss", 0.75, "queue")])
    assert found["hit"] > found["miss"]


def test_no_terms_and_no_candidates_give_no_error() -> None:
    assert ranked([], [], {}, 0, 0.0) == []
    assert len(ranked([], [candidate("a", 0.5, "x")], {}, 0, 0.0)) == 1
    assert len(ranked(["x"], [Candidate("a", None, [])], {}, 1, 0.0)) == 1


@given(
    st.lists(st.sampled_from(["redi", "cach", "file", "unknown", "接続"]), max_size=40),
    st.lists(st.tuples(st.none() | st.floats(-1, 1), st.lists(st.sampled_from(["redi", "file", "x"]))), max_size=8),
    st.integers(0, 10**6),
)
def test_any_candidates_are_ordered_by_finite_evidence(
    asked: list[str], proposed: list[tuple[float | None, list[str]]], documents: int
) -> None:
    candidates = [Candidate(str(n), cosine, held) for n, (cosine, held) in enumerate(proposed)]
    ranking = ranked(asked, candidates, DF, documents, 20.0)
    assert all(math.isfinite(one.evidence) for one in ranking)
    assert [one.evidence for one in ranking] == sorted((one.evidence for one in ranking), reverse=True)


def test_weights_fall_with_how_many_documents_hold_a_term_and_are_never_negative() -> None:
    weights = term_weights(["redi", "cach", "file", "unknown"], DF, 100)
    assert weights["unknown"] > weights["redi"] > weights["cach"] > weights["file"] >= 0.0
    assert term_weights(["a"], {"a": 7}, 5)["a"] >= 0.0


@pytest.mark.parametrize("text", [embedded_text, indexed_text])
def test_the_title_is_not_repeated_when_the_content_begins_with_it(text: Callable[..., str]) -> None:
    assert text("Redis is a cache", "# Redis is a cache\nand no more") == "# Redis is a cache\nand no more"
    assert text("Redis is…", "Redis is a cache") == "Redis is a cache"
    assert text("Caching", "Redis is a cache") == "Caching\nRedis is a cache"


@pytest.mark.parametrize("text", [embedded_text, indexed_text])
def test_a_memory_is_found_by_its_date_in_words_and_its_tags(text: Callable[..., str]) -> None:
    written = text("", "Redis is a cache", "2026-02-14T09:10:00+00:00", ["infra"])
    assert written.startswith("Redis is a cache")
    assert "14 February 2026" in written
    assert "infra" in written


def test_a_missing_or_malformed_date_is_left_out() -> None:
    assert embedded_text("", "Redis is a cache", "soon") == "Redis is a cache"


def test_of_a_long_prompt_the_beginning_and_the_end_are_embedded() -> None:
    prompt = "why does this fail? " + "x" * PROMPT_CHARS + " please explain"
    assert embedded_prompt(prompt).startswith("why does this fail?")
    assert embedded_prompt(prompt).endswith("please explain")
    assert len(embedded_prompt(prompt)) < PROMPT_CHARS
    assert embedded_prompt("short") == "short"
