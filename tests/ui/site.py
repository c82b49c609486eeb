"""A real `memhook ui` in a home of its own, and the browser that looks at it."""

from __future__ import annotations

import http.client
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlencode, urlsplit

from memhook.daemon.control import called
from memhook.paths import user_paths
from tests.daemons import kill_daemon

BROWSER = os.environ.get("MEMHOOK_CHROMIUM") or next(
    filter(None, map(shutil.which, ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"))), ""
)
FLAGS = (
    *("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"),
    *("--disable-component-update", "--disable-sync"),
)
COMMAND = [sys.executable, "-m", "memhook.cli"]
STOP_SECONDS = 300


@dataclass(frozen=True)
class Answer:
    status: int
    headers: Mapping[str, str]
    text: str


@dataclass
class Site:
    """One server. `base` and `cookie` are there once the address was opened by `entered`."""

    home: Path
    process: subprocess.Popen[str]
    address: str
    base: str = ""
    cookie: str = ""
    host: str = field(init=False)

    def __post_init__(self) -> None:
        self.host = urlsplit(self.address).netloc

    @property
    def url(self) -> str:
        return f"http://{self.host}{self.base}"

    def call(self, method: str, **params: Any) -> Any:
        """Call an operation of the daemon behind the page, as another door does."""
        return called(user_paths({"HOME": str(self.home)}), method, params, str(self.home / "work"))

    def sent(self, method: str, path: str, body: str = "", **headers: str | None) -> Answer:
        """One request; without others, with the headers of the page itself. One that is None is left out."""
        given: dict[str, str | None] = {
            "Host": self.host,
            "Cookie": f"memhook={self.cookie}" if self.cookie else None,
            "Origin": f"http://{self.host}" if method == "POST" else None,
            "Content-Length": str(len(body.encode())),
            **{name.replace("_", "-"): value for name, value in headers.items()},
        }
        connection = http.client.HTTPConnection(self.host, timeout=300)
        try:
            connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
            for name, value in given.items():
                if value is not None:
                    connection.putheader(name, value)
            connection.endheaders(body.encode())
            answer = connection.getresponse()
            return Answer(answer.status, {k.lower(): v for k, v in answer.getheaders()}, answer.read().decode())
        finally:
            connection.close()

    def entered(self) -> Answer:
        """Exchange the one-time token."""
        parts = urlsplit(self.address)
        answer = self.sent("GET", f"{parts.path}?{parts.query}")
        found = answer.headers.get("set-cookie", "")
        if found:
            self.cookie = found.partition("=")[2].partition(";")[0]
            self.base = found.partition("Path=")[2].partition("/;")[0]
        return answer

    def csrf(self) -> str:
        return self.sent("GET", f"{self.base}/").text.partition('name="csrf" value="')[2].partition('"')[0]

    def posted(self, place: str, fields: Mapping[str, str], **headers: str | None) -> Answer:
        return self.sent("POST", self.base + place, urlencode(fields), **headers)

    def stopped(self, how: int = signal.SIGINT) -> int:
        self.process.send_signal(how)
        return self.process.wait(STOP_SECONDS)


@contextmanager
def serving(home: Path, *options: str, lines: Sequence[str] = ()) -> Iterator[Site]:
    """Up when the line with its address was read; at the end neither it nor a daemon is left."""
    environment = {**os.environ, "HOME": str(home)}
    work = home / "work"
    work.mkdir(exist_ok=True)
    if lines:
        (home / "lines.jsonl").write_text("\n".join(lines), encoding="utf-8")
        command = [*COMMAND, "import", str(home / "lines.jsonl")]
        subprocess.run(command, env=environment, cwd=work, check=True, capture_output=True, timeout=300)
    process = subprocess.Popen(
        [*COMMAND, "ui", "--no-browser", *options], env=environment, cwd=work, text=True, stdout=subprocess.PIPE
    )
    try:
        assert process.stdout is not None
        yield Site(home, process, process.stdout.readline().strip())
    finally:
        process.terminate()
        process.communicate(timeout=STOP_SECONDS)
        kill_daemon(home)
