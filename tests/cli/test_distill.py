"""Facts made of digests by a model of the user's choice: a command, or a server of OpenAI's kind on this machine."""

from __future__ import annotations

import io
import json
import shlex
import sys
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from memhook.paths import user_paths
from memhook.supply import distiller
from tests.cli.conftest import Cli
from tests.cli.test_inbox import COLOURS, MIGRATION, RUNNER, engine, filled

__all__ = ["engine", "filled"]
pytestmark = pytest.mark.usefixtures("filled")

FACT = "Nightly builds hang when the disk of the runner is full."
SPAN = "The disk of the runner was full"


class Terminal(io.StringIO):
    """Somebody at the keys."""

    def isatty(self) -> bool:
        return True


def made(number: int, span: str = SPAN, fact: str = FACT) -> dict[str, Any]:
    return {"note": number, "fact": fact, "span": span}


@pytest.fixture
def model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, Any]]:
    """A server that answers each request with `facts`, and keeps what it was sent."""
    state: dict[str, Any] = {"facts": [], "sent": [], "keys": []}

    class Answering(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            state["sent"].append(body)
            state["keys"].append(self.headers.get("Authorization"))
            said = f"Here they are:\n```json\n{json.dumps(state['facts'])}\n```"
            answer = json.dumps({"choices": [{"message": {"role": "assistant", "content": said}}]}).encode()
            self.send_response(200 if self.path == "/v1/chat/completions" else 404)
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, *_: object) -> None:
            pass

    server = HTTPServer(("127.0.0.1", 0), Answering)
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    monkeypatch.setenv("LOCAL_KEY", "abc")
    settings(url=f"http://127.0.0.1:{server.server_port}/v1", model="small", key_variable="LOCAL_KEY")
    yield state
    server.shutdown()
    server.server_close()
    thread.join()


def settings(**values: str) -> None:
    lines = "\n".join(f"{name} = {json.dumps(value)}" for name, value in values.items())
    file = user_paths().config_file
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(f"[distill]\n{lines}\n")


def facts(cli: Cli) -> list[dict[str, Any]]:
    items = [item["memory"] for item in cli("inbox", "--json").json["items"]]
    return [one for one in items if one["content"] not in (RUNNER, MIGRATION, COLOURS)]


def test_unless_the_user_configured_a_model_nothing_is_sent(cli: Cli) -> None:
    result = cli("distill", "--yes")
    assert (result.code, "nothing is sent anywhere" in result.err) == (1, True)


def test_facts_whose_span_is_in_the_digest_are_captured_with_it(cli: Cli, model: dict[str, Any]) -> None:
    model["facts"] = [made(3), made(3, "The disk was\nhalf empty"), made(9), made(1, ""), {"note": 1}, "x"]
    assert cli("distill", "--yes", "--json").json["stored"] == 1
    (one,) = facts(cli)
    assert (one["content"], one["quote"], one["session"]) == (FACT, SPAN, "claude/5f2e1#1")
    assert (one["origin"], one["source"], one["expires"] is None) == ("captured", "distilled from", False)
    assert (model["sent"][0]["model"], model["keys"]) == ("small", ["Bearer abc"])
    told = model["sent"][0]["messages"][0]["content"]
    assert told.startswith(distiller.REQUEST)
    assert all(f"  {line}" in told for text in (RUNNER, MIGRATION, COLOURS) for line in text.splitlines() if line)


def test_each_digest_is_distilled_once_and_facts_are_not(cli: Cli, model: dict[str, Any]) -> None:
    model["facts"] = [made(1, COLOURS[:20], "Colours come from the palette file.")]
    assert cli("distill", "--yes", "--limit", "1").code == 0
    model["facts"] = []
    assert "2 memories distilled: facts stored 0" in cli("distill", "--yes").out
    assert "Nothing new to distill." in cli("distill", "--yes").out
    assert len(model["sent"]) == 2


def test_no_more_than_three_facts_are_taken_of_a_digest(cli: Cli, model: dict[str, Any]) -> None:
    model["facts"] = [made(3, fact=f"{word} is the {word} of the {word}") for word in ("one", "two", "six", "ten")]
    assert cli("distill", "--yes", "--json").json["stored"] == 3


def test_a_command_gets_the_request_on_stdin_with_memhook_off(cli: Cli, tmp_path: Path) -> None:
    script = tmp_path / "model.py"
    script.write_text(
        "import json, os, sys\n"
        f"assert 'Note 3:' in sys.stdin.read() and os.environ['MEMHOOK_DISABLE'] == '1'\n"
        f"print(json.dumps([{made(3)!r}]))\n"
    )
    settings(command=f"{sys.executable} {script}")
    assert cli("distill", "--yes", "--json").json["stored"] == 1
    assert [one["quote"] for one in facts(cli)] == [SPAN]


@pytest.mark.parametrize("answer", ["I cannot do that.", "[1, 2", ""])
def test_an_answer_that_is_no_list_is_an_error_and_nothing_is_marked(cli: Cli, tmp_path: Path, answer: str) -> None:
    settings(command=shlex.join([sys.executable, "-c", f"print({answer!r})"]))
    assert cli("distill", "--yes").code == 1
    settings(command=f"{sys.executable} -c 'print([])'")
    assert cli("distill", "--yes", "--json").json["notes"] == 3


def test_the_cost_is_estimated_and_asked_for_first(
    cli: Cli, model: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", Terminal("n\n"))
    result = cli("distill")
    assert (result.code, model["sent"]) == (1, [])
    assert "3 memories in 1 calls: about" in result.err
    assert "tokens to the model" in result.err
