"""clients_check.py HARNESS [NAME...]: check memhook in the real assistants, and print a table. See clients-check."""

from __future__ import annotations

import argparse
import html
import json
import os
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import demo

from memhook.assistants.known import KNOWN

TOPIC = "Ledger reconciliation reports a balance mismatch when the replica lags behind the primary"
FACT = f"{TOPIC}. Fix: read from the primary, statement timeout 40 seconds; quokka-17 was the third."
PROMPT = "the ledger reconciliation job fails again with a balance mismatch, what did we learn about replica lag?"
AGAIN = "once more: why does the ledger reconciliation report a balance mismatch when the replica lags?"
UNRELATED = "write a haiku about the sea"
START, MATCH = "## memhook notes on this project\n", "## memhook notes\n"
BUDGET = 4000
CHECKS = (
    *("start", "match", "unrelated", "once", "words", "action", "failure"),
    *("cue", "saved", "digest", "shared", "budget", "broken"),
)
FIX = "Fix: read from the primary and raise the statement timeout to 40 seconds."  # in the demo's memories
RULE_BEHIND = "Do not set the session cookie to SameSite=Strict: the bank's page posts back, and 3-D Secure fails."
HISTORY = (
    "Checkout got a host of its own in March, so that the shop can be released without it. Carts are read from the"
    " queue since then, prices are frozen when the payment starts, and the session lives for thirty minutes. The team"
    " of the gateway reviews every change to it, and the staging host has the same certificates. "
)
STRICTER = "make the session cookie of the checkout stricter"
RULE = "Before deploy.prod.toml is touched, tell the wombat channel."
MEANING = "E4711 means that the burrow cache is stale: delete .burrow and try again."
TOUCHING = "touch deploy.prod.toml"
FAILING = "echo 'burrow failed: error E4711' >&2; exit 3"
ORDER = "From now on always install the packages of this repository with pnpm, never with npm."
LESSON = "Packages of this repository are installed with pnpm; npm breaks the numbat lockfile."
ANSWER = (
    "The lockfile is written by pnpm alone now: the workspace file names every package, the old package-lock.json is"
    " deleted, and the pipeline runs the frozen install before the bilby tests."
)
QUESTION = "which package manager installs the packages of this repository?"
SECONDS_TO_STORE = 20  # captured memories, in the background
OFFERED = "Keep what later sessions need"  # the description of `remember` in the request: its server may need seconds
# The tool that runs a command, and the name of its argument.
SHELLS = {
    "claude": ("Bash", "command"),
    "codex": ("exec_command", "cmd"),
    "copilot": ("bash", "command"),
    "gemini": ("run_shell_command", "command"),
    "qwen": ("run_shell_command", "command"),
    "opencode": ("bash", "command"),
}
# How the model calls memhook's `remember`.
SAVERS = {
    "claude": {"name": "mcp__memhook__remember"},
    "codex": {"name": "remember", "namespace": "mcp__memhook"},
    "copilot": {"name": "memhook-remember"},
    "gemini": {"name": "mcp_memhook_remember"},
    "qwen": {"name": "mcp__memhook__remember"},
    "opencode": {"name": "memhook_remember"},
}

# Arguments of the harness and of the assistant that continue the session of the first prompt.
GOING_ON = {
    "claude": ["--continue"],
    "codex": ["--continue"],
    "copilot": ["--continue"],
    "gemini": ["--arg=--resume", "--arg=latest"],
    "qwen": ["--arg=--continue"],
    "opencode": ["--arg=--continue"],
}
# Arguments that let it use these tools without asking.
ALLOWED = {
    "claude": ["--allowedTools", "Bash,mcp__memhook__remember"],
    "codex": ["--arg=--dangerously-bypass-approvals-and-sandbox"],
    "gemini": ["--arg=--yolo"],
    "qwen": ["--arg=--yolo"],
}
IN_PROJECT = ("opencode",)  # the harness rewrites its user-wide settings for each run


@dataclass(frozen=True)
class Ran:
    """One run of an assistant: its exit code, its output, and all texts of the request to the model."""

    code: int
    printed: str
    texts: list[str]

    def blocks(self, heading: str) -> list[str]:
        """Return memhook's blocks under that heading."""
        found = []
        for text in self.texts:
            for start in _places(text, heading):
                end = text.find("(end of memhook notes)", start)
                found.append(text[start : end if end >= 0 else len(text)])
        return found

    def holds(self, wanted: str) -> bool:
        return any(wanted in text for text in self.texts)


class Client:
    """An assistant with a home and a project, its own or another's, and memhook installed in it."""

    def __init__(self, name: str, harness: Path, folder: Path, beside: Client | None = None) -> None:
        self.name = name
        self.harness = harness
        self.folder = folder
        of = beside.folder if beside else folder
        self.home, self.work = of / "home", of / "work"
        self._runs = 0
        for one in (folder, self.home, self.work):
            one.mkdir(parents=True, exist_ok=True)
        (self.work / ".memhook.toml").touch()
        self.memhook("install", name, "--yes", *(["--project"] if name in IN_PROJECT else []))
        self._servers = list(self._given_anew()) if name == "codex" else []

    def _given_anew(self) -> Iterator[str]:
        """Yield the entry of the MCP server as arguments: the harness rewrites Codex's settings for each run."""
        settings = tomllib.loads((self.home / ".codex/config.toml").read_text(encoding="utf-8"))
        for key, value in settings["mcp_servers"]["memhook"].items():
            yield from ("--arg=-c", f"--arg=mcp_servers.memhook.{key}={json.dumps(value)}")

    def memhook(self, *arguments: str, given: str = "") -> str:
        environment = {"PATH": os.environ["PATH"], "HOME": str(self.home), "LANG": "C.UTF-8"}
        command = [sys.executable, "-P", "-m", "memhook.cli", *arguments]
        done = subprocess.run(
            command, input=given, env=environment, cwd=self.work, capture_output=True, text=True, check=False
        )
        if done.returncode:
            raise SystemExit(f"memhook {' '.join(arguments)}: {done.stderr}")
        return done.stdout

    def runs(self, command: str) -> Ran:
        """Let the model run a command; the texts are those of the request that follows it."""
        return self.asks(UNRELATED, replies=[self._running(command)])

    def saves(self, prompt: str, lesson: str, answer: str) -> Ran:
        """Let the model call `remember` as soon as it is offered, and then answer."""
        waiting = {**self._running("sleep 3"), "when": rf"\A(?!.*{OFFERED})"}
        saving = {"tool_use": {**SAVERS[self.name], "input": {"content": lesson}}, "when": OFFERED}
        return self.asks(prompt, replies=[saving, *[waiting] * 10, {"text": answer}])

    def _running(self, command: str) -> dict[str, Any]:
        tool, argument = SHELLS[self.name]
        return {"tool_use": {"name": tool, "input": {argument: command}}}

    def asks(self, prompt: str, going_on: bool = False, replies: Sequence[object] = ()) -> Ran:
        self._runs += 1
        out = self.folder / f"run{self._runs}"
        more = GOING_ON[self.name] if going_on else ALLOWED.get(self.name, []) if replies else []
        script = self.folder / "script.json"
        script.write_text(json.dumps(replies), encoding="utf-8")
        environment = {**os.environ, "SCRIPT": str(script)}
        clients = os.environ.get("CLIENTS_DIR", str(self.harness.parent / "npm"))
        if self.name == "claude":
            environment |= {"OUT": str(out), "CLIENT_HOME": str(self.home), "CLIENTS_DIR": clients}
            command = [str(self.harness / "run_claude.sh"), prompt, str(self.work), "--", *more]
        else:
            places = ["--out", str(out), "--home", str(self.home), "--clients-dir", clients]
            command = [sys.executable, str(self.harness / "run_client.py"), self.name, prompt, str(self.work)]
            command += [*places, "--script", str(script), *self._servers, *more]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=300)
        printed = (out / "stdout").read_text(encoding="utf-8") if (out / "stdout").exists() else done.stderr
        return Ran(done.returncode, printed, list(_texts(out / "requests.jsonl", prompt, is_last=bool(replies))))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("harness", type=Path)
    parser.add_argument("names", nargs="*", metavar="NAME", choices=[*KNOWN, []])
    parser.add_argument("--keep", type=Path, help="keep the runs in this folder")
    args = parser.parse_args()
    is_well = True
    print(f"| assistant | {' | '.join(CHECKS)} |", f"| --- |{' --- |' * len(CHECKS)}", sep="\n")
    with tempfile.TemporaryDirectory(prefix="memhook-clients-") as temporary:
        names = args.names or list(KNOWN)
        for name, other in zip(names, [*names[1:], names[0]], strict=True):
            folder = (args.keep or Path(temporary)) / name
            results = checked(Client(name, args.harness.resolve(), folder), other)
            is_well &= all(result == "ok" for result in results.values())
            print(f"| {name} | {' | '.join(results[check] for check in CHECKS)} |", flush=True)
    return 0 if is_well else 1


def checked(client: Client, other: str) -> dict[str, str]:
    client.memhook("remember", FACT)
    try:
        checks = (quiet, matching, carrying, acting, learning, partial(sharing, other=other), whole_budget, broken)
        return {name: result for check in checks for name, result in check(client)}
    finally:
        client.memhook("daemon", "stop")


def quiet(client: Client) -> Iterator[tuple[str, str]]:
    """Check that the start of a session shows the memory, and that an unrelated prompt shows nothing."""
    ran = client.asks(UNRELATED)
    yield "start", _verdict(ran, any(FACT in block for block in ran.blocks(START)), "not there")
    yield "unrelated", _verdict(ran, not ran.blocks(MATCH), "spoke")


def matching(client: Client) -> Iterator[tuple[str, str]]:
    """Check the prompt hook alone; then again in the same session, whose history still has the memory."""
    client.memhook("config", "set", "hooks.session_start.max_memories", "0")
    ran = client.asks(PROMPT)
    yield "match", _verdict(ran, [FACT in block for block in ran.blocks(MATCH)] == [True], "not whole")
    again = client.asks(AGAIN, going_on=True)
    is_same = again.holds(PROMPT) or client.name == "gemini"  # which drops the first prompt with what it had
    times = sum(text.count(FACT) for text in again.texts)
    yield "once", _verdict(again, times == 1, f"{times} times") if is_same else "another session"


def carrying(client: Client) -> Iterator[tuple[str, str]]:
    """Check that the words needed arrive: the fix in the demo, and a rule far from the start of its memory."""
    client.memhook("import", str(demo.SAMPLES))
    client.memhook("remember", HISTORY + RULE_BEHIND)
    for prompt, needed in ((demo.PROMPT, FIX), (STRICTER, RULE_BEHIND)):
        ran = client.asks(prompt)
        if (result := _verdict(ran, any(needed in block for block in ran.blocks(MATCH)), f"no {needed!r}")) != "ok":
            break
    yield "words", result


def acting(client: Client) -> Iterator[tuple[str, str]]:
    """Check that a command and a failure bring the memory that names them, and only that one."""
    client.memhook("remember", RULE)
    client.memhook("remember", MEANING)
    for name, command, wanted, other in (("action", TOUCHING, RULE, MEANING), ("failure", FAILING, MEANING, RULE)):
        ran = client.runs(command)
        yield name, _verdict(ran, ran.holds(wanted) and not ran.holds(other), "not there")


def learning(client: Client) -> Iterator[tuple[str, str]]:
    """Check that a cue comes, that obeying it saves an agent's memory, and that the end stores a digest silently."""
    client.memhook("config", "set", "capture.enabled", "true")
    ran = client.saves(ORDER, LESSON, ANSWER)
    yield "cue", _verdict(ran, ran.holds("the user said"), "no cue")
    found = _stored(client)
    for _ in range(SECONDS_TO_STORE):
        if not any(ANSWER in content for content in found):
            time.sleep(1)
            found = _stored(client)
    origin, session = found.get(LESSON, ("", ""))
    is_linked = origin == "agent" and session.startswith(f"{client.name}/")
    yield "saved", _verdict(ran, is_linked, f"by {origin} in {session}" if origin else "nothing")
    is_kept = any(ANSWER in content and ("captured", session) == of for content, of in found.items())
    is_quiet = not ran.holds(ANSWER)  # it would be in the history if the model had been run again
    yield "digest", _verdict(ran, is_kept and is_quiet, "ran again" if is_kept else "none")


def _stored(client: Client) -> dict[str, tuple[str, str]]:
    """Return origin and session of each memory, by content."""
    memories = json.loads(client.memhook("list", "--json"))["memories"]
    return {memory["content"]: (memory["origin"], memory["session"].partition("#")[0]) for memory in memories}


def sharing(client: Client, other: str) -> Iterator[tuple[str, str]]:
    """Check that another assistant is shown what the model saved in this one."""
    ran = Client(other, client.harness, client.folder / "other", client).asks(QUESTION)
    is_shown = any(LESSON in block for block in ran.blocks(MATCH))
    yield "shared", _verdict(ran, is_shown, f"not in {other}")


def whole_budget(client: Client) -> Iterator[tuple[str, str]]:
    """Check a block of 4000 tokens: each part that memhook wrote must be in the request, uncut."""
    client.memhook("config", "set", "max_tokens", str(BUDGET))
    client.memhook("config", "set", "hooks.detail", "full")
    client.memhook("config", "set", "hooks.max_memories", "50")
    lines = [json.dumps({"content": long_memory(number)}) for number in range(24)]
    client.memhook("import", "-", "--project", given="\n".join(lines))
    ran = client.asks(PROMPT)
    shown = json.loads(client.memhook("why", "--shown", "--json"))
    missing = [part for part in shown["parts"] if not ran.holds(part)]
    is_full = BUDGET * 0.85 < shown["tokens"] <= BUDGET
    yield "budget", _verdict(ran, is_full and not missing, f"{shown['tokens']} tokens, {len(missing)} parts cut")


def broken(client: Client) -> Iterator[tuple[str, str]]:
    """Check that a session works without memories if the store is not a store."""
    client.memhook("daemon", "stop")
    store = client.home / ".local/share/memhook/store"
    store.rename(store.with_name("moved"))
    store.write_text("not a store", encoding="utf-8")
    ran = client.asks(PROMPT)
    yield "broken", _verdict(ran, "OK" in ran.printed and not ran.blocks(MATCH), "disturbed")


def long_memory(number: int) -> str:
    steps = " ".join(
        f"Step {number}.{step}: compare shard {step * 7 + number} of the ledger with its replica before it is closed,"
        f" and note the lag in seconds beside the balance."
        for step in range(1, 8)
    )
    return f"{TOPIC}, case {number}. {steps}"


def _verdict(ran: Ran, is_well: bool, otherwise: str) -> str:
    if ran.code:
        return f"ended with {ran.code}"
    return "ok" if is_well else otherwise


def _texts(log: Path, prompt: str, is_last: bool) -> Iterator[str]:
    """Yield every text of the first request with the prompt and tools, or of the last one.

    Before it an assistant may request a title, after it notes on the session.
    """
    lines = log.read_text(encoding="utf-8").splitlines() if log.exists() else []
    bodies = [json.loads(line)["body"] for line in lines]
    carrying = [body for body in bodies if any(prompt in text for text in _strings(body))]
    with_tools = [body for body in carrying if body.get("tools")]
    for text in _strings((with_tools or carrying)[-1 if is_last else 0]) if carrying else ():
        yield html.unescape(text)


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from _strings(inner)


def _places(text: str, wanted: str) -> Iterator[int]:
    at = text.find(wanted)
    while at >= 0:
        yield at
        at = text.find(wanted, at + 1)


if __name__ == "__main__":
    sys.exit(main())
