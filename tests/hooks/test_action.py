"""Memories at the point of action: before a tool touches what they name, and after it failed."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from memhook.answering.action import MOST_TOKENS
from memhook.core.tokens import estimated_tokens
from memhook.hooks import runner as runner_module
from memhook.paths import user_paths
from memhook.store.pauses import EVERYWHERE, Pause, pause, resume
from memhook.supply.sessions import Pair
from tests.hooks.conftest import Assistant
from tests.hooks.test_prompt import configure, urns

RULE = "Any change in settings.prod.toml needs a second reviewer."
REBUILD = "Never run `dbt run --full-refresh` on `fct_clicks`: it costs 900 dollars. Use the macro `repair_partition`."
RESET = "E1207 in the test run means that `make db-reset` was forgotten."


@pytest.fixture
def session(assistant: Assistant) -> Session:
    return Session(assistant)


class Session:
    """Tool calls of one session of Claude Code."""

    def __init__(self, assistant: Assistant) -> None:
        self.assistant = assistant
        self._calls = 0

    def knows(self, *contents: str) -> list[str]:
        known = [self.assistant.remembers(content) for content in contents]
        self.assistant.runner.open()  # what the daemon does when it starts
        return known

    def edits(self, path: str, new: str = "x", **fields: Any) -> str:
        return self.uses("Edit", {"file_path": path, "old_string": "y", "new_string": new}, **fields)

    def runs(self, command: str, **fields: Any) -> str:
        return self.uses("Bash", {"command": command}, **fields)

    def uses(self, tool: str, given: dict[str, Any], **fields: Any) -> str:
        self._calls += 1
        payload = {"session_id": "s1", "prompt_id": "p1", "tool_use_id": f"t{self._calls}", **fields}
        event = "PostToolUseFailure" if "error" in fields else "PreToolUse"
        return self.assistant.sends({"hook_event_name": event, "tool_name": tool, "tool_input": given, **payload})


def test_a_memory_comes_up_when_a_tool_touches_what_it_names(session: Session) -> None:
    rule, rebuild, _ = session.knows(RULE, REBUILD, RESET)
    assert urns(session.edits(f"{session.assistant.directory}/deploy/settings.prod.toml")) == [rule]
    assert urns(session.runs("cd warehouse && dbt run --select fct_clicks --full-refresh")) == [rebuild]


def test_nothing_comes_up_for_what_no_memory_names(session: Session) -> None:
    session.knows(RULE, REBUILD, RESET)
    assert session.edits("deploy/settings.dev.toml") == ""
    assert session.runs("dbt docs generate") == ""
    assert session.runs("git status") == ""
    assert session.uses("Read", {"file_path": "deploy/settings.prod.toml"}) == ""
    assert session.uses("Edit", {}) == ""


def test_a_path_that_is_there_is_no_other_that_ends_alike(session: Session) -> None:
    root = session.assistant.directory
    (root / "config").mkdir()
    (root / "config/app.php").touch()
    (root / "pyproject.toml").touch()
    (rule,) = session.knows("In `config/app.php` the order of the entries matters.")
    assert session.edits(f"{root}/kiosk/config/app.php") == ""
    assert urns(session.edits(f"{root}/config/app.php")) == [rule]


def test_a_file_of_the_same_name_in_another_folder_is_another_one_unless_the_disk_says_otherwise(
    session: Session,
) -> None:
    (frozen,) = session.knows("schema/orders.sql is frozen until March.")
    root = session.assistant.directory
    (root / "pyproject.toml").touch()
    path = root / "legacy" / "schema" / "orders.sql"
    assert not urns(session.edits(str(path)))
    path.parent.mkdir(parents=True)
    path.touch()
    assert urns(session.edits(str(path))) == [frozen]  # the only one there is: the note leaves out its first folder


def test_an_error_brings_the_memory_that_has_its_code(session: Session) -> None:
    *_, reset = session.knows(RULE, REBUILD, RESET)
    assert urns(session.runs("pytest -q", error="Exit code 1\nsetup failed: E1207 at fixture 4")) == [reset]
    assert session.runs("pytest -q", error="Exit code 1\nsetup failed: E1300 at fixture 4") == ""


def test_an_error_brings_the_memory_that_has_its_name_or_its_words(session: Session) -> None:
    full, system = session.knows(
        "`E_NVS2_FULL (-28)` in the log: run the garbage collection.",
        "RuntimeError: NCCL error unhandled system error -> switch off peer to peer.",
    )
    assert urns(session.runs("./settings save", error="save failed: E_NVS2_FULL (-28)")) == [full]
    error = "RuntimeError: NCCL error in: /opt/c10d/Group.cpp:1275, unhandled system error, NCCL 2.14"
    assert session.runs("torchrun train.py", error="RuntimeError: CUDA error: unhandled launch failure") == ""
    assert urns(session.runs("torchrun train.py", error=error)) == [system]


def test_an_exit_code_or_an_address_brings_the_memory_that_has_it(session: Session) -> None:
    memory, fault = session.knows("The runner exits with 137 without memory.", "0x00020000: the stack is too small.")
    assert session.runs("make all", error="Exit code 1\n137 files") == ""
    assert urns(session.runs("make all", error="Exit code 137\nmake: *** [all] Error 2")) == [memory]
    assert urns(session.runs("./run", error="Exit code 1\nUSAGE FAULT CFSR 0x00020000")) == [fault]


def test_a_service_named_in_prose_counts_on_the_command_line_and_not_in_a_sentence(session: Session) -> None:
    (worker,) = session.knows("The billing-worker must be stopped before a case-insensitive search.")
    assert session.edits("notes.txt", "This is a case-insensitive search, as always.") == ""
    assert session.runs("kubectl logs billing-worker-7d9f") == ""
    assert urns(session.runs("kubectl scale deploy/billing-worker --replicas=3")) == [worker]


def test_all_below_a_folder_is_meant_by_a_star_behind_it(session: Session) -> None:
    (clients,) = session.knows("What is in clients/* is generated.")
    assert session.edits("server/python/api.py") == ""
    assert urns(session.edits("clients/python/api.py")) == [clients]


def test_the_package_of_an_exception_and_the_parts_of_a_word_do_not_matter(session: Session) -> None:
    closed, verify = session.knows(
        "`OperationalError: SSL connection has been closed`: wait.", "Never --no-verify: the pre-commit hook cleans."
    )
    assert urns(session.runs("pytest", error="psycopg2.OperationalError: SSL connection has been closed")) == [closed]
    assert session.runs("rsync --no-verify a b") == ""
    assert urns(session.runs("git commit --no-verify -m x")) == [verify]


def test_a_variable_in_front_of_a_command_counts(session: Session) -> None:
    (slot,) = session.knows("Images are signed with key 2: SIGN_SLOT.")
    assert session.runs("OTHER_SLOT=1 make image") == ""
    assert urns(session.runs("cd app && SIGN_SLOT=1 make image")) == [slot]


def test_a_memory_comes_up_once_in_a_session(session: Session) -> None:
    session.knows(RULE)
    assert session.edits("settings.prod.toml")
    assert session.edits("settings.prod.toml") == ""
    assert session.edits("settings.prod.toml", session_id="another")


def test_what_the_prompt_brought_does_not_come_again(session: Session) -> None:
    (rule,) = session.knows(RULE)
    assert rule in session.assistant.prompts("I want to change settings.prod.toml, does that need a second reviewer?")
    assert session.edits("settings.prod.toml") == ""


def test_what_a_prompt_is_bringing_at_the_moment_does_not_come_again(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runner_module, "IN_FLIGHT_SECONDS", 3600.0)
    (rule,) = session.knows(RULE)
    prompt = "I want to change settings.prod.toml, does that need a second reviewer?"
    assert rule in session.assistant.prompts(prompt, read=False)
    assert session.edits("settings.prod.toml") == ""


def test_a_problem_is_left_for_the_next_prompt_to_report(session: Session) -> None:
    (session.assistant.directory / ".memhook.toml").write_text("not toml")
    session.knows(RULE)
    tool = {"hook_event_name": "PreToolUse", "session_id": "s1", "tool_name": "Edit", "tool_use_id": "t1"}
    answer = session.assistant.answer({**tool, "tool_input": {"file_path": "settings.prod.toml"}})
    assert "cannot be read" not in answer.get("systemMessage", "")
    prompt = {"hook_event_name": "UserPromptSubmit", "session_id": "s1", "prompt": "what about the reviewers?"}
    assert "cannot be read" in session.assistant.answer(prompt)["systemMessage"]


def test_at_most_two_memories_within_300_tokens(session: Session) -> None:
    details = " ".join(f"Part {part} of it was decided on day {part} by the team." for part in range(80))
    session.knows(*(f"Rule {number} about `deploy.toml`. {details}" for number in range(4)))
    block = session.edits("deploy.toml")
    assert 1 <= len(urns(block)) <= 2
    assert estimated_tokens(block) <= MOST_TOKENS


def test_what_found_no_place_at_one_call_comes_at_the_next(session: Session) -> None:
    known = session.knows(*(f"Rule {number} about `deploy.toml`: ask {number} people." for number in range(5)))
    shown = []
    for number in range(4):
        shown.append(urns(session.edits("deploy.toml")))
        session.assistant.prompts(f"Thanks, that is good: go on with step {number}.")
    assert [len(some) for some in shown] == [2, 2, 1, 0]
    assert sorted(urn for some in shown for urn in some) == sorted(known)


def test_what_may_not_surface_does_not_come_up_here_either(session: Session) -> None:
    (rule,) = session.knows(RULE)
    session.assistant.calls("mute", references=[rule])
    session.assistant.runner.open()
    assert session.edits("settings.prod.toml") == ""


def test_what_nobody_reviewed_comes_up_after_a_failure_only(session: Session) -> None:
    record = {"content": f"Why does the test run stop?\n\n{RESET}", "session": "claude/5f2e#1"}
    assert session.assistant.calls("capture", records=[record])["stored"] == 1
    session.knows()
    assert session.runs("make db-reset") == ""
    assert "make db-reset" in session.runs("make db-reset", error="Exit code 1\nsetup failed: E1207 at fixture 4")


def test_a_captured_pair_of_commands_comes_up_when_the_first_fails_on_another_file(session: Session) -> None:
    pair = Pair("bellplan render --out week.pdf", "bellplan render --output week.pdf", is_plain=True)
    record = {"content": pair.words, "session": "claude/5f2e#1.1", "anchors": list(pair.anchors)}
    assert session.assistant.calls("capture", records=[record])["stored"] == 1
    session.knows()
    error = "Exit code 2\nNo such option: --out"
    assert pair.right in session.runs("bellplan render --out may.pdf", error=error)
    assert session.runs("bellplan list --out may.pdf", error=error, session_id="s2") == ""


def test_a_changed_memory_is_anchored_to_what_it_names_now(session: Session) -> None:
    (rule,) = session.knows(RULE)
    assert session.edits("settings.prod.toml")
    session.assistant.calls("edit", reference=rule, content="Any change in release.toml needs a second reviewer.")
    session.assistant.runner.open()
    assert session.edits("settings.prod.toml", session_id="s2") == ""
    assert session.edits("release.toml", session_id="s2")


def test_anchors_that_the_user_set_stay_when_the_text_changes(session: Session) -> None:
    (rule,) = session.knows(RULE)
    edit = session.assistant.calls
    assert edit("edit", reference=rule, anchors=["ops/"])["anchors"] == ["ops/"]
    assert edit("edit", reference=rule, content="Everything in release.toml is reviewed.")["anchors"] == ["ops/"]
    assert edit("edit", reference=rule, anchors=[])["anchors"] == ["release.toml"]


def test_the_budget_of_a_session_and_a_pause_hold_here_too(session: Session, home: Path) -> None:
    session.knows(RULE)
    configure(home, "session_max_tokens = 20")
    assert session.edits("settings.prod.toml") == ""
    configure(home, "")
    pause(user_paths(), Pause(EVERYWHERE), datetime.now(UTC))
    assert session.edits("settings.prod.toml") == ""
    resume(user_paths(), EVERYWHERE, datetime.now(UTC))
    assert session.edits("settings.prod.toml")


def test_actions_switches_memories_at_tool_calls(session: Session, home: Path) -> None:
    session.knows(RULE)
    configure(home, "hooks.actions = false")
    assert session.edits("settings.prod.toml") == ""
    configure(home, "")
    assert session.edits("settings.prod.toml")


def test_why_names_the_anchors(session: Session) -> None:
    (rule,) = session.knows(RULE)
    session.edits("settings.prod.toml")
    session.edits("unrelated.toml")  # of which nothing is recorded
    told = session.assistant.calls("why")
    assert told["event"] == "PreToolUse"
    assert told["budget"] == MOST_TOKENS
    assert [(one["urn"], list(one["score_parts"])) for one in told["candidates"]] == [(rule, ["settings.prod.toml"])]
    assert session.assistant.calls("explain", reference=rule)["anchors"] == ["settings.prod.toml"]


def test_why_names_what_a_call_touched_but_not_of_a_memory_that_became_confidential(session: Session) -> None:
    (urn,) = session.knows(RULE)
    assert urn in session.edits("config/settings.prod.toml")
    explained = session.assistant.calls("explain", reference=urn)
    assert [*explained["history"][0]["score_parts"]] == ["settings.prod.toml"]
    session.assistant.calls("edit", reference=urn, sensitivity="confidential")
    assert "settings.prod" not in str(session.assistant.calls("explain", reference=urn))
