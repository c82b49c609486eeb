import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memhook.core.excerpts import Excerpt, excerpt
from memhook.core.passages import HORIZON
from memhook.core.terms import terms

FILLER = "Nothing of note happened in this part of the story. " * 6


def of(content: str, *words: str, limit: int = 200) -> Excerpt:
    return excerpt(content, dict.fromkeys(terms(" ".join(words)), 1.0), limit)


def test_what_fits_is_shown_as_it_stands() -> None:
    content = "Read from\nthe primary:\n\n    SET x = 1;\n"
    assert of(content) == Excerpt(content, ((0, len(content)),), is_whole=True)


def test_the_sentences_that_bear_on_the_prompt_are_joined_in_their_order() -> None:
    content = f"{FILLER}The export runs at night. {FILLER}It needs a token. {FILLER}"
    found = of(content, "export", "token", limit=60)
    assert found.text == "… The export runs at night. … It needs a token. …"
    assert [content[start:end] for start, end in found.ranges] == ["The export runs at night.", "It needs a token."]
    assert not found.is_whole


def test_sentences_that_follow_one_another_are_one_passage() -> None:
    content = f"{FILLER}The export runs at night. It needs a token. {FILLER}"
    found = of(content, "export", "token", limit=60)
    assert found.text == "… The export runs at night. It needs a token. …"
    assert len(found.ranges) == 1


@pytest.mark.parametrize(
    "advice",
    [
        "Fix: read from the primary and wait.",
        "Lösung: vom Primärserver lesen und warten.",
        "**Rule**: it reads from the primary.",
        "Then one sets `statement_timeout = 40s` first.",
        "対処：プライマリから読み取ること。",
    ],
)
def test_what_to_do_comes_before_what_happened(advice: str) -> None:
    assert advice in of(f"{FILLER}{advice} {FILLER}", limit=100).text


def test_what_to_do_is_shown_beside_what_the_prompt_asks_for() -> None:
    content = f"The reconciliation failed in May. {FILLER}Fix: read from the primary. {FILLER}"
    assert of(content, "reconciliation", limit=80).text == (
        "The reconciliation failed in May. … Fix: read from the primary. …"
    )


def test_what_says_nothing_to_the_prompt_is_no_filling() -> None:
    assert of(f"The ledger is off. {FILLER * 9}", "ledger", limit=400).text == (
        "The ledger is off. Nothing of note happened in this part of the story. …"
    )


def test_without_anything_to_choose_by_the_beginning_is_shown() -> None:
    assert of(FILLER * 3, limit=110).text == f"{FILLER[:103]} …"


def test_of_two_neighbours_the_one_beside_the_answer_counts_more() -> None:
    content = f"{FILLER}It happens rarely then. {FILLER}The ledger is off. It comes back at noon. {FILLER}"
    assert "The ledger is off. It comes back at noon." in of(content, "ledger", limit=60).text


def test_code_keeps_its_lines_and_its_fence() -> None:
    code = "```python\ndef run():\n    return 1\n```"
    assert f"\n{code}\n…" in of(f"{FILLER}\n\n{code}\n\n{FILLER}", "run", limit=100).text


def test_indented_code_keeps_its_lines() -> None:
    code = "    make clean\n    make all"
    assert f"\n{code}\n…" in of(f"{FILLER}\n\n{code}\n\n{FILLER}", limit=60).text


def test_of_long_code_whole_lines_are_shown_within_its_fence() -> None:
    lines = [f"    step_{number}()" for number in range(60)]
    content = "\n".join(["Steps:", "```python", *lines, "```", FILLER])
    shown = of(content, "step_40", limit=120).text
    code = shown[shown.index("```python") :].split("\n")
    closing = code.index("```")
    assert "    step_40()" in code[1:closing]
    assert set(code[1:closing]) <= set(lines)


@pytest.mark.parametrize("content", ["Run:\n```sh\nmake", f"{FILLER}\n```sh\nmake ledger\n"])
def test_a_fence_that_the_content_leaves_open_is_closed(content: str) -> None:
    assert len(re.findall("^```", of(content, "ledger").text, re.MULTILINE)) == 2


def test_a_list_item_stays_one() -> None:
    items = [f"- Step {number} takes\n  a while longer" for number in range(30)]
    content = "\n".join([*items[:20], "- Restart the ledger\n  before noon", *items[20:]])
    found = of(content, "ledger", limit=60).text
    assert "\n- Restart the ledger\n  before noon" in found
    assert not re.search(r"\S[ …]+- ", found)


def test_a_list_item_that_is_cut_keeps_its_mark() -> None:
    content = f"{FILLER}\n- {FILLER * 2} Restart the ledger before noon. {FILLER}\n{FILLER}"
    found = of(content, "ledger", "restart", "noon", limit=100).text
    assert re.match(r"…\n- … .*Restart the ledger before noon\.", found)


@pytest.mark.parametrize("first", ["The reconciliation of the ledger that runs in every night", "The ledger lags,"])
def test_a_wrapped_sentence_is_one(first: str) -> None:
    wrapped = f"{first}\nso it must read from the primary."
    content = f"{FILLER}\n\n{wrapped}\n\n{FILLER}"
    assert " ".join(wrapped.split()) in of(content, "ledger", limit=120).text


def test_a_sentence_that_is_too_long_is_cut_around_the_terms() -> None:
    content = f"{'and so on ' * 60}until the ledger is closed {'and so on ' * 60}"
    found = of(content, "ledger", limit=80)
    assert "ledger" in found.text
    assert len(found.text) <= 80 + len("… ") + len(" …")


def test_nothing_beyond_the_horizon_is_looked_at() -> None:
    content = "Some words. " * (HORIZON // 10) + "The ledger."
    assert "ledger" not in of(content, "ledger").text


def test_the_same_text_gives_the_same_excerpt() -> None:
    content = "A first one. " * 40
    assert of(content, "first") == of(content, "first")


pieces = st.sampled_from(
    (
        *("alpha beta. ", "gamma ", "Fix: delta. ", "\n", "\n\n", "- item ", "  more\n", "```py\n", "```\n"),
        *("    code()\n", "`span` ", "| a | b |\n", "# Head\n", "日本語。", "👩‍💻", "x" * 90, "~~~\n", "1. one\n"),
    )
)
texts = st.one_of(st.lists(pieces, max_size=60).map("".join), st.text(max_size=600))
weightings = st.dictionaries(st.sampled_from(["alpha", "beta", "gamma", "delta", "item"]), st.floats(0, 5), max_size=4)


@settings(deadline=None)
@given(texts, weightings, st.integers(40, 400))
def test_an_excerpt_is_bounded_and_says_where_it_is_from(content: str, weights: dict[str, float], limit: int) -> None:
    found = excerpt(content, weights, limit)
    assert len(found.text) <= limit + len("…\n") + len("\n…") + (len("\n~~~") if found.is_whole else 0)
    assert list(found.ranges) == sorted(found.ranges)
    assert all(0 <= start <= end <= len(content) for start, end in found.ranges)
    assert all(before[1] < after[0] for before, after in zip(found.ranges, found.ranges[1:], strict=False))
    shown = [word for start, end in found.ranges for word in content[start:end].split()]
    assert set(shown) <= set(found.text.split())
    assert found.is_whole or found.text.startswith("…") or found.text.endswith("…") or "…" in found.text


@settings(deadline=None)
@given(texts, weightings, st.integers(40, 400))
def test_no_fence_is_left_open(content: str, weights: dict[str, float], limit: int) -> None:
    fence = ""
    for line in excerpt(content, weights, limit).text.split("\n"):
        mark = re.match(r"[ \t]*(`{3,}|~{3,})", line)
        if mark and not fence:
            fence = mark[1]
        elif mark and line.strip().startswith(fence) and not line.strip().strip(fence[0]):
            fence = ""
    assert fence == ""


def test_a_long_block_of_code_leaves_room_for_a_rule_and_takes_what_that_leaves() -> None:
    code = "\n".join(f"kubectl rollout pause deploy/web-{number} # canary" for number in range(60))
    rule = "2. Never restart the scheduler by hand."
    content = f"Do this when the canary hangs.\n\n```\n{code}\n```\n\n{rule}\n\n{'Background of it. ' * 60}"
    shown = excerpt(content, dict.fromkeys(terms("canary scheduler"), 1.0), 1500).text
    assert rule in shown
    assert shown.count("kubectl") > 20
    assert len(shown) <= 1500 + len("… ") + len(" …")


def test_a_step_that_is_a_command_counts_as_much_as_one_behind_a_label() -> None:
    steps = [
        "Tell the others 30 minutes before",
        "`helm upgrade shop charts/shop --atomic`",
        "Watch the error rate for 15 minutes",
        "Run the smoke test: `make smoke URL=https://shop.example`",
        "If it is red: `helm rollback shop`",
    ]
    shown = excerpt("\n".join(f"- {step}" for step in steps), {"deploi": 1.0}, 110).text
    assert "`helm upgrade shop charts/shop --atomic`" in shown
    assert "Watch" not in shown
