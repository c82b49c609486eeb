"""The JavaScript that OpenCode loads, run by node with an OpenCode of the test's own around it."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from memhook.assistants.assistant import Where
from memhook.assistants.known import KNOWN
from tests.plugin.test_launcher import script

NODE = shutil.which("node")
pytestmark = pytest.mark.skipif(NODE is None, reason="node is needed to run JavaScript")

# Each step is a prompt, or the name of an event; what a prompt's parts became is printed as a line of JSON.
OPENCODE = """
import { Memhook } from "./memhook.mjs"
const history = JSON.parse(process.argv[2])
const client = {
  session: {
    messages: async () => ({
      data: history.map((role) => ({ info: { role }, parts: [{ type: "text", text: role }] })),
    }),
    get: async () => ({ data: { parentID: process.env.PARENT } }),
  },
  tui: { showToast: async ({ body }) => console.error(body.message) },
}
const hooks = await Memhook({ client, directory: "/work" })
for (const step of process.argv.slice(3)) {
  if (step.startsWith("session.")) {
    await hooks.event({ event: { type: step, properties: { sessionID: "s" } } })
    continue
  }
  const output = { message: { id: "msg_1" }, parts: [{ id: "prt_1", type: "text", text: step }] }
  await hooks["chat.message"]({ sessionID: "s" }, output)
  console.log(JSON.stringify(output.parts))
}
"""
ECHO = """
import json, sys
event = json.load(sys.stdin)
if event["hook_event_name"] == "Stop":
    print(json.dumps(event), file=open(sys.argv[0] + ".stopped", "a"))
said = [sys.argv[1:], event]
if event.get("prompt") == "a note":
    print(json.dumps({"systemMessage": "remembered"}))
elif event.get("prompt") != "nothing":
    print(json.dumps({"hookSpecificOutput": {"additionalContext": json.dumps(said)}}))
"""


def parts(folder: Path, launcher: Path, *steps: str, history: tuple[str, ...] = ()) -> list[list[dict[str, Any]]]:
    return [json.loads(line) for line in ran(folder, launcher, *steps, history=history).stdout.splitlines()]


def ran(folder: Path, launcher: Path, *steps: str, history: tuple[str, ...] = ()) -> subprocess.CompletedProcess[str]:
    shim = KNOWN["opencode"].edits(Where(folder, {}, launcher))[0]
    (folder / "memhook.mjs").write_text(shim.add(""), encoding="utf-8")
    (folder / "opencode.mjs").write_text(OPENCODE, encoding="utf-8")
    command = [str(NODE), str(folder / "opencode.mjs"), json.dumps(history), *steps]
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=300)


@pytest.fixture
def launcher(tmp_path: Path) -> Path:
    (tmp_path / "echo.py").write_text(ECHO, encoding="utf-8")
    return script(tmp_path / "a launcher", f'exec {sys.executable} {tmp_path}/echo.py "$@"')


def asked(part: dict[str, Any]) -> tuple[list[str], dict[str, Any]]:
    assert part["synthetic"]
    assert (part["sessionID"], part["messageID"]) == ("s", "msg_1")
    arguments, event = json.loads(part["text"])
    return arguments, event


def test_a_new_session_s_start_and_each_prompt_are_handed_over(tmp_path: Path, launcher: Path) -> None:
    first, second = parts(tmp_path, launcher, "one", "two")
    assert [part["id"] for part in first] == ["prt_1", "prt_1memhook0", "prt_1memhook1"]
    arguments, start = asked(first[1])
    assert arguments == ["SessionStart", "1", "--client", "opencode"]
    assert (start["source"], start["session_id"], start["cwd"]) == ("startup", "s", "/work")
    arguments, prompt = asked(first[2])
    assert arguments == ["UserPromptSubmit", "1", "--client", "opencode"]
    assert (prompt["prompt"], prompt["prompt_id"]) == ("one", "msg_1")
    assert [asked(part)[1]["prompt"] for part in second[1:]] == ["two"]


def test_a_session_that_goes_on_has_had_its_start(tmp_path: Path, launcher: Path) -> None:
    (only,) = parts(tmp_path, launcher, "one", history=("user", "assistant"))
    assert [asked(part)[1]["hook_event_name"] for part in only[1:]] == ["UserPromptSubmit"]


def test_after_a_compaction_it_starts_anew(tmp_path: Path, launcher: Path) -> None:
    _, second = parts(tmp_path, launcher, "one", "session.compacted", "two")
    assert asked(second[1])[1]["source"] == "compact"


def test_the_end_of_an_exchange_is_handed_over_with_the_last_words(tmp_path: Path, launcher: Path) -> None:
    assert ran(tmp_path, launcher, "session.idle", history=("user", "assistant")).stdout == ""
    stopped = json.loads((tmp_path / "echo.py.stopped").read_text(encoding="utf-8"))
    assert (stopped["session_id"], stopped["last_assistant_message"], stopped["cwd"]) == ("s", "assistant", "/work")


def test_the_end_of_a_subagent_is_not(tmp_path: Path, launcher: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PARENT", "its parent")
    ran(tmp_path, launcher, "session.idle", history=("user", "assistant"))
    assert not (tmp_path / "echo.py.stopped").exists()


def test_nothing_to_say_adds_nothing(tmp_path: Path, launcher: Path) -> None:
    (only,) = parts(tmp_path, launcher, "nothing", history=("assistant",))
    assert len(only) == 1


def test_what_is_for_the_user_is_shown_to_the_user_and_not_to_the_model(tmp_path: Path, launcher: Path) -> None:
    done = ran(tmp_path, launcher, "a note", history=("assistant",))
    assert done.stderr == "remembered\n"
    assert len(json.loads(done.stdout)) == 1


@pytest.mark.parametrize("text", ["exit 1", "echo no json", "exec 0<&-; exit 0"])
def test_a_launcher_that_fails_costs_only_the_memories(tmp_path: Path, text: str) -> None:
    (only,) = parts(tmp_path, script(tmp_path / "broken", text), "x" * 100_000)
    assert len(only) == 1


def test_a_launcher_that_is_gone_costs_only_the_memories(tmp_path: Path) -> None:
    (only,) = parts(tmp_path, tmp_path / "gone", "one")
    assert len(only) == 1
