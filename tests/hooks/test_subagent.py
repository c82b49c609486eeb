"""A subagent starts with the memories for its type and the project."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from memhook.settings import load_settings
from tests.hooks.conftest import Assistant
from tests.hooks.test_prompt import FACT, QUESTION, configure, urns

OLD = "2020-01-01T00:00:00+00:00"


def subagent(agent_type: str = "general-purpose", agent: str = "a1", **fields: Any) -> dict[str, Any]:
    named = {"hook_event_name": "SubagentStart", "session_id": "s1", "agent_id": agent, "agent_type": agent_type}
    return {**named, **fields}


def test_a_subagent_starts_with_what_matters_for_the_project_though_the_session_has_seen_it(
    assistant: Assistant,
) -> None:
    assistant.remembers(FACT)
    assert FACT in assistant.starts()
    answer = assistant.answer(subagent())
    assert answer["hookSpecificOutput"]["hookEventName"] == "SubagentStart"
    assert FACT in answer["hookSpecificOutput"]["additionalContext"]
    assert assistant.sends(subagent()) == ""
    assert FACT in assistant.sends(subagent(agent="a2"))
    assert assistant.prompts(QUESTION) == ""


def test_an_empty_store_says_nothing_to_a_subagent(assistant: Assistant) -> None:
    assert assistant.answer(subagent()) == {}


@pytest.mark.parametrize("kept", [{"namespace": "frontend"}, {"tags": ["frontend"]}])
def test_what_is_for_its_type_comes_first_however_old(assistant: Assistant, kept: dict[str, Any]) -> None:
    own = assistant.remembers("Buttons are rounded by 4 pixels.", created=OLD, **kept)
    assistant.imports(*(f"Note {number} on topic {number}" for number in range(60)))
    assert urns(assistant.sends(subagent("frontend")))[0] == own
    assert own not in urns(assistant.sends(subagent("backend", agent="a2")))


def test_settings_give_a_type_namespaces_and_a_budget_of_its_own(assistant: Assistant, home: Path) -> None:
    own = assistant.remembers("Buttons are rounded by 4 pixels.", namespace="frontend")
    shared = assistant.remembers("Names are in English.", namespace="shared")
    other = assistant.remembers(FACT, namespace="incidents")
    configure(home, '[agents.frontend]\nnamespaces = ["frontend", "shared"]\nmax_tokens = 1000')
    assert set(urns(assistant.sends(subagent("frontend")))) == {own, shared}
    assert assistant.calls("why")["budget"] == 300  # a start's
    assert set(urns(assistant.sends(subagent("backend", agent="a2")))) == {own, shared, other}
    configure(home, "[agents.frontend]\nmax_tokens = 110")
    assert len(urns(assistant.sends(subagent("plugin:frontend", agent="a3")))) == 1


def test_an_agents_namespaces_stay_within_those_of_the_session(assistant: Assistant, home: Path) -> None:
    assistant.remembers("Buttons are rounded by 4 pixels.", namespace="frontend")
    configure(home, 'namespaces = ["shared"]\n[agents.frontend]\nnamespaces = ["frontend"]')
    assert assistant.sends(subagent("frontend")) == ""


def test_a_type_with_dots_in_its_name_has_settings_too(tmp_path: Path) -> None:
    file = tmp_path / "config.toml"
    file.write_text('[agents."team.front-end"]\nmax_tokens = 700\n[agents.other]\ncolour = "red"\n')
    loaded = load_settings(file)
    assert loaded.settings.agents["team.front-end"].max_tokens == 700
    assert "agents.other.colour" in loaded.problems[0]


def test_a_project_may_only_narrow_what_an_agent_gets(tmp_path: Path) -> None:
    user, project = tmp_path / "config.toml", tmp_path / ".memhook.toml"
    user.write_text('[agents.frontend]\nnamespaces = ["frontend", "shared"]\nmax_tokens = 1000\n')
    project.write_text('[agents.frontend]\nnamespaces = ["private"]\nmax_tokens = 2000\n')
    loaded = load_settings(user, project)
    assert loaded.settings == load_settings(user).settings
    assert len(loaded.problems) == 2
    project.write_text('[agents.frontend]\nnamespaces = ["shared"]\nmax_tokens = 500\n')
    frontend = load_settings(user, project).settings.agents["frontend"]
    assert (frontend.namespaces, frontend.max_tokens) == (("shared",), 500)
