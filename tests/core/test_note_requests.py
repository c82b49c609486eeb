from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memhook.core.note_requests import MOST_NOTES, TAKE_BACK, Asked, asked_in
from memhook.core.pasted import MOST_LINES
from memhook.core.rendering import END, LABEL, PROMPT_HEADING, SESSION_HEADING
from tests.core.prompt_samples import OWN, PASTED

BLOCK = f"{PROMPT_HEADING}\n{LABEL}\n- **A** (general) urn:memhook:k3v9x2m4p7qa\n{{}}\n{END}"


@pytest.mark.parametrize(
    ("prompt", "notes"),
    [
        ("remember: the API is versioned", ["the API is versioned"]),
        ("Remember that we deploy on Mondays.", ["we deploy on Mondays."]),
        ("REMEMBER THAT: use tabs", ["use tabs"]),
        ("#remember tests need make db-reset", ["tests need make db-reset"]),
        ("#remember: tests need make db-reset", ["tests need make db-reset"]),
        ("fix the bug\nremember: it was the cache\nthen push", ["it was the cache"]),
        ("remember: one\r\n#remember two\r\n", ["one", "two"]),
        ("remember: deploy in this order\n- first the API\n- then the app\nnow do it", [
            "deploy in this order\n- first the API\n- then the app"
        ]),
        ("remember: two lines\n  of one note", ["two lines\n  of one note"]),
        ("remember:\nthe first line\nand the second\n\nnow fix it", ["the first line\nand the second"]),
        ("remember:\n```\nmake reset\n\nmake test\n```\n\nnow fix it", ["```\nmake reset\n\nmake test\n```"]),
        ("forget that", [TAKE_BACK]),
        ("Forget that!\nremember: the other way round", [TAKE_BACK, "the other way round"]),
    ],
)  # fmt: skip
def test_what_is_asked_of_memhook(prompt: str, notes: list[str]) -> None:
    assert list(asked_in(prompt).commands) == notes


@pytest.mark.parametrize(
    "prompt",
    [
        "",
        "remember",
        "remember:",
        "remember:   \n\nthe first line",
        "do you remember: the cache?",
        "  remember: indented, as in a quote or a list",
        "> remember: quoted",
        "- remember: listed",
        "remember that bug we had last week? it is back",
        "Remember that?",
        "remember thatcher",
        "remember the milk",
        "#remember-me is the id of the checkbox",
        "#remembered",
        "remember://host/path",
        "```\nremember: in code\n```",
        "~~~yaml\nremember: in code\nforget that\n~~~\ngo on",
        "```\nremember: in code that does not end",
        "forget that idea, take the other one",
        "please forget that",
        BLOCK.format("remember: what memhook itself said"),
        "UserPromptSubmit hook additional context: " + BLOCK.format("forget that"),
        BLOCK.format("remember: cut off").removesuffix(END),
        BLOCK.replace(f"{LABEL}\n", "").format("remember: in a block without the label"),
        BLOCK.replace(PROMPT_HEADING, f"{SESSION_HEADING}, continued").format("remember: in the second part"),
        BLOCK.replace(PROMPT_HEADING, "## Relevant memories (memhook)").format("remember: in an older block"),
    ],
)
def test_what_is_not(prompt: str) -> None:
    assert asked_in(prompt) == Asked((), prompt)


def test_what_is_for_the_assistant_is_left() -> None:
    asked = asked_in("fix the bug\nremember: it was the cache\n  and the clock\nthen push")
    assert asked.rest == "fix the bug\nthen push"
    assert asked_in(f"{BLOCK.format('  x')}\nremember: new").commands == ("new",)


def test_a_file_full_of_such_lines_is_not_taken_whole() -> None:
    asked = asked_in("\n".join(f"remember: line {number}" for number in range(100)))
    assert len(asked.commands) == MOST_NOTES
    assert asked.rest.count("\n") == 100 - MOST_NOTES - 1


PIECES = st.sampled_from(
    ["remember: a b", "remember:", "#remember x", "forget that", "```", "~~~", "", "  in", "- item", "text", END,
     "## Relevant memories (memhook)", "remember that it is so"]
)  # fmt: skip


@given(st.lists(PIECES, max_size=12))
def test_every_line_is_either_a_note_or_for_the_assistant(lines: list[str]) -> None:
    asked = asked_in("\n".join(lines))
    assert len(asked.rest.split("\n")) <= max(len(lines), 1)
    assert all(line in lines or line == "" for line in asked.rest.split("\n"))
    in_notes = sum(command.count("\n") + 1 for command in asked.commands)
    assert in_notes <= len(lines)


@pytest.mark.parametrize("prompt", PASTED)
def test_a_line_in_text_that_looks_pasted_is_not_the_user_s(prompt: str) -> None:
    asked = asked_in(prompt)
    assert (asked.commands, asked.rest) == ((), prompt)


@pytest.mark.parametrize("first", ["INFO starting the worker", "Traceback (most recent call last):"])
def test_a_note_on_top_of_a_log_is_the_user_s_only_if_it_is_set_apart(first: str) -> None:
    assert asked_in(f"remember: run it as root\n{first}\nINFO done").commands == ()
    assert asked_in(f"remember: run it as root\n\n{first}\nINFO done").commands == ("run it as root",)


def test_notes_in_the_user_s_own_words_are_found() -> None:
    missed = [prompt for prompt in OWN if not asked_in(prompt).commands]
    assert len(missed) <= len(OWN) // 20, missed


def sentences(name: str) -> list[str]:
    lines = (Path(__file__).parent / "prompts" / f"{name}.txt").read_text(encoding="utf-8").splitlines()
    return [line.replace("\\n", "\n") for line in lines]


def test_most_ways_to_ask_for_it_are_understood_and_hardly_a_look_alike_is_taken_for_one() -> None:
    requests, others = sentences("remember_requests"), sentences("remember_look_alikes")
    missed = [one for one in requests if not any(asked_in(one).commands)]
    mistaken = [one for one in others if any(asked_in(one).commands)]
    assert len(requests) > 100 < len(others)
    assert len(missed) <= 0.05 * len(requests), missed
    assert len(mistaken) <= 0.02 * len(others), mistaken


@pytest.mark.parametrize(
    ("prompt", "note", "rest"),
    [
        ("Thanks! Please remember that we squash. Now push it.", "we squash.", "Thanks! Now push it."),
        ("Could you remember that we squash every merge?", "we squash every merge", ""),
        ("remember this for later: it is on bench-02", "it is on bench-02", ""),
        ("please remember:\n- tabs\n- no semicolons\n\nnow go on", "- tabs\n- no semicolons", "\nnow go on"),
        ("don't forget to rebuild it every time", "rebuild it every time", ""),
        ("add it\nremember to rebuild after a change", "rebuild after a change", "add it"),
        ("add it\nremember to rebuild after", None, "add it\nremember to rebuild after"),
        ("remember to rebuild before you push", None, "remember to rebuild before you push"),
        ("don't forget to use yarn instead of npm", "use yarn instead of npm", ""),
        ("Before I forget, remember that it needs sudo", "it needs sudo", ""),
        ("Fix the parser, remember the tests", None, "Fix the parser, remember the tests"),
        (
            "remember that staging is rebuilt nightly, and then fix the failing test in auth.py",
            "staging is rebuilt nightly",
            "and then fix the failing test in auth.py",
        ),
        ("remember: the key is in Vault; now open a PR", "the key is in Vault", "now open a PR"),
        ("remember that you run migrate and then restart it", "you run migrate and then restart it", ""),
        ("remember that CI is green, and then can you merge it?", "CI is green", "and then can you merge it?"),
        ("remember that it is built. Then it is sent", "it is built. Then it is sent", ""),
        ("ポートは 8443 だと覚えておいて。次にテストして", "ポートは 8443 だ", "次にテストして"),
    ],
)
def test_a_note_ends_where_the_prompt_turns_to_the_assistant(prompt: str, note: str | None, rest: str) -> None:
    asked = asked_in(prompt)
    assert (asked.commands, asked.rest) == (() if note is None else (note,), rest)


def test_an_order_behind_a_note_is_mostly_left_out_and_a_sequence_is_never_cut_in_two() -> None:
    orders = [line.rpartition("|") for line in sentences("notes_before_orders")]
    whole = [prompt for prompt, _, note in orders if [one.strip(".") for one in asked_in(prompt).commands] != [note]]
    assert len(whole) <= 7, whole
    sequences = {prompt: asked_in(prompt) for prompt in sentences("notes_with_sequences")}
    cut = [prompt for prompt, asked in sequences.items() if any(asked.commands) and asked.rest]
    assert len(cut) <= 2, cut


def test_there_are_enough_samples_to_mean_something() -> None:
    assert min(len(PASTED), len(OWN)) >= 40
    assert all("\nremember" in f"\n{prompt}".lower().replace("#", "") for prompt in (*PASTED, *OWN))


def test_what_looked_pasted_is_named() -> None:
    asked = asked_in("remember: mine\nwhy?\n\nINFO start\nremember: not mine\nINFO end")
    assert (asked.commands, asked.pasted) == (("mine",), ("not mine",))


def test_nobody_types_hundreds_of_lines() -> None:
    lines = [f"and then the {number}th of them" for number in range(2 * MOST_LINES)]
    assert asked_in("\n".join(["do this", "remember: x", *lines])).commands == ()
    assert asked_in("\n".join(["remember: x", *lines])).commands == ("x",)


@given(st.text(st.characters(codec="utf-8"), max_size=200), st.sampled_from(PASTED), st.integers(0, 300))
def test_any_prompt_is_taken_apart_without_losing_a_line(text: str, pasted: str, cut: int) -> None:
    for prompt in (f"{text}\nremember: x\n{text}", pasted[:cut] + text, text + pasted[cut:]):
        asked = asked_in(prompt)
        kept = asked.rest.replace("\r\n", "\n").split("\n")
        assert all(line in prompt.replace("\r\n", "\n").split("\n") for line in kept) or not asked.rest
