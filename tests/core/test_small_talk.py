"""Prompts that cost no search at all: the plainest of small talk, by its words."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memhook.core.small_talk import is_small_talk, request_in


@pytest.mark.parametrize(
    "prompt",
    [
        "yes", "continue", "1", "ok do it", "thanks!", "lgtm", "y", "2.", "", "  \n", "👍", "...",
        "do both", "no, wait", "A", "A and B", "好的", "继续", "はい", "да, продолжай", "ja, bitte", "sí, gracias",
        "네", "why?", "not now", "maybe later", "ship it", "tack", "dziękuję", "d'accord", "hej, ok", "nvm",
        "what next", "how nice", "how are you", "why not", "when done, continue",
    ],
)  # fmt: skip
def test_a_bare_acknowledgement_or_choice_is_small_talk(prompt: str) -> None:
    assert is_small_talk(prompt)


@pytest.mark.parametrize(
    "prompt",
    [
        "deploy", "fix auth", "why redis?", "go test", "tests", "commit", "vim", "k8s?", "C++", "yes but use postgres",
        "continue the migration", "not working", "can you do that with go", "ok, now the login page", "部署到生产环境",
        "do it in C", "the plan", "next release", "commit this", "merge it", "who is on call",
        "when do we ship", "Who can approve this?", "how do I undo that", "why did it stop",
    ],
)  # fmt: skip
def test_a_short_prompt_about_something_is_not_small_talk(prompt: str) -> None:
    assert not is_small_talk(prompt)


def test_a_slash_command_is_small_talk_but_a_path_is_not() -> None:
    assert is_small_talk("/compact")
    assert is_small_talk("/review the auth module")
    assert is_small_talk("/plugin:command now")
    assert not is_small_talk("/home/x fails")
    assert not is_small_talk("/tmp is full")


@given(st.text(max_size=200))
def test_any_prompt_can_be_asked_about(prompt: str) -> None:
    assert is_small_talk(prompt) in {True, False}


@pytest.mark.parametrize(
    ("prompt", "asked"),
    [
        ("wait, not yet. show me the diff again", "show me the diff again"),
        ("great! that works. now deploy the gateway", "now deploy the gateway"),
        ("Yes. No. ok.", "ok."),
        ("deploy it. thanks", "deploy it. thanks"),
        ("What J. K. Rowling wrote", "What J. K. Rowling wrote"),
        ("1. deploy the gateway", "1. deploy the gateway"),
        ("ok\nthen deploy", "ok\nthen deploy"),
        ("go.mod is broken", "go.mod is broken"),
    ],
)
def test_the_request_starts_behind_the_acknowledgements(prompt: str, asked: str) -> None:
    assert request_in(prompt) == asked
