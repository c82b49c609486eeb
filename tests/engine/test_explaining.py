"""Trying a prompt: other settings, another project, and nothing written down."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from memhook.errors import InvalidInput

Call = Callable[..., Any]

PROMPT = "why does the deploy to staging hang without the vpn?"


@pytest.fixture
def stored(call: Call) -> list[str]:
    lines = [
        '{"id": "deploy000001", "content": "The deploy to staging hangs without the vpn.", "project": "shop"}',
        '{"id": "deploy000002", "content": "Without the vpn the deploy to staging hangs, connect first."}',
    ]
    call("import_lines", lines=list(enumerate(lines)))
    return lines


def test_overrides_hold_for_one_question(call: Call, stored: list[str]) -> None:
    tried = call("try_prompt", prompt=PROMPT, overrides={"max_tokens": 40, "hooks.relevance": "eager"})
    assert tried["tokens"] <= 40
    assert tried["budget"] == 40
    assert tried["settings"]["hooks.relevance"] == "eager"
    assert tried["saved"]["max_tokens"] == 4000
    again = call("try_prompt", prompt=PROMPT)
    assert again["settings"] == again["saved"]
    assert again["parts"] == call("why", prompt=PROMPT)["parts"]


def test_the_project_is_chosen(call: Call, stored: list[str]) -> None:
    shown = {
        project: {one["urn"][-12:] for one in call("try_prompt", prompt=PROMPT, project=project)["candidates"]}
        for project in (None, "global", "shop")
    }
    assert shown == {None: {"deploy000002"}, "global": {"deploy000002"}, "shop": {"deploy000001", "deploy000002"}}


@pytest.mark.parametrize("overrides", [{"max_tokens": 0}, {"hooks.relevance": "no"}, {"store.uri": "/x"}, {"x": 1}])
def test_what_cannot_be_tried_is_refused(call: Call, overrides: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput):
        call("try_prompt", prompt=PROMPT, overrides=overrides)
