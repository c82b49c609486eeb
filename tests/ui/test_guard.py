"""Who is let in: every request is sent as bytes, as a stranger would."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.ui.site import Site, serving


def test_the_token_is_exchanged_once_for_a_strict_cookie(tmp_path: Path) -> None:
    with serving(tmp_path) as site:
        parts = urlsplit(site.address)
        place = f"{parts.path}?{parts.query}"
        assert site.sent("GET", "/?token=wrong").status == 403
        assert site.sent("GET", place, Sec_Purpose="prefetch;prerender").status == 403
        assert site.sent("HEAD", place).status == 403
        first = site.entered()
        cookie = first.headers["set-cookie"]
        assert {"HttpOnly", "SameSite=Strict", f"Path={site.base}/"} <= set(cookie.split("; "))
        assert parts.query.partition("=")[2] not in first.text
        assert site.sent("GET", place, Cookie=None).status == 403
        assert site.sent("GET", f"{site.base}/assets/page.js").status == 200
        assert site.stopped(signal.SIGINT) == 0
    assert not list((tmp_path / ".local/state/memhook").glob("ui-*"))


def test_without_the_cookie_nothing_is_answered(site: Site) -> None:
    for place in ("/", f"{site.base}/", f"{site.base}/assets/page.css", "/assets/page.css", "/favicon.ico"):
        for cookie in (None, "memhook=wrong", "memhook=", "other=1", "memhook"):
            answer = site.sent("GET", place, Cookie=cookie)
            assert (answer.status, "memhook ui" in answer.text) == (403, True)


def test_the_cookie_opens_nothing_outside_its_path(site: Site) -> None:
    for place in ("/", "/other/", site.base, f"{site.base}x/"):
        assert site.sent("GET", place).status == 403


@pytest.mark.parametrize("host", ["evil.example", "evil.example:80", "127.0.0.1", "localhost:1", "", None])
def test_another_name_of_the_server_is_refused(site: Site, host: str | None) -> None:
    assert site.sent("GET", f"{site.base}/", Host=host).status in (400, 421)


def test_a_change_needs_the_origin_and_the_csrf_token(site: Site) -> None:
    csrf = site.csrf()
    form = {"csrf": csrf, "prompt": "how do we deploy?"}
    assert site.posted("/", form).status == 200
    for origin in ("http://evil.example", "null", "https://" + site.host, "http://127.0.0.1:1", None):
        assert site.posted("/", form, Origin=origin).status == 403
    for wrong in ({}, {"csrf": ""}, {"csrf": "wrong"}, {"csrf": csrf[:-1]}):
        assert site.posted("/", {"prompt": "x", **wrong}).status == 403
    assert site.posted("/", form, Cookie=None).status == 403
    assert site.sent("GET", f"{site.base}/", Origin="http://evil.example").status == 403


def test_a_form_that_is_too_large_is_refused(site: Site) -> None:
    assert site.posted("/", {"csrf": site.csrf(), "prompt": "x" * (5 << 20)}).status == 403


def test_every_answer_has_the_security_headers(site: Site) -> None:
    for place, cookie in (("/", ""), ("/", None), (f"{site.base}/", f"memhook={site.cookie}")):
        headers = site.sent("GET", place, Cookie=cookie).headers
        policy = headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "frame-ancestors 'none'" in policy
        assert "unsafe" not in policy
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["cache-control"] == "no-store"
        assert "server" not in headers


def test_assets_are_only_those_of_the_page(site: Site) -> None:
    assert site.sent("GET", f"{site.base}/assets/page.css").status == 200
    for name in ("../app.py", "..%2fapp.py", "%2e%2e%2fapp.py", "nothing.css", "app.py", "..%5capp.py"):
        assert site.sent("GET", f"{site.base}/assets/{name}").status == 404


def test_it_listens_on_loopback_alone(site: Site) -> None:
    port = int(site.host.rpartition(":")[2])
    names = {str(one[4][0]) for one in socket.getaddrinfo(socket.gethostname(), None, socket.AF_INET)}
    for address in names - {"127.0.0.1", "127.0.1.1"}:
        with pytest.raises(OSError), socket.create_connection((address, port), timeout=5):  # noqa: PT011  any refusal
            pass


def test_it_ends_when_it_was_idle_for_long_enough(home: Path) -> None:
    script = (
        "from memhook.paths import user_paths; from memhook.ui.server import serve;"
        "serve(user_paths(), '', 0, 0.1, opens_browser=False, use_daemon=True)"
    )
    subprocess.run([sys.executable, "-c", script], check=True, stdout=subprocess.DEVNULL, timeout=120)


def test_sigterm_while_it_still_imports_is_a_clean_end(home: Path) -> None:
    """Modules with dataclasses run an exec, which a signal may meet."""
    script = (
        "import os, signal; from memhook.paths import user_paths; from memhook.ui import server;"
        "server._open_browser = lambda *_: exec('os.kill(os.getpid(), signal.SIGTERM)');"
        "server.serve(user_paths(), '', 0, 60, opens_browser=True, use_daemon=True)"
    )
    subprocess.run([sys.executable, "-c", script], check=True, stdout=subprocess.DEVNULL, timeout=120)
    assert not list(home.rglob("ui-*.html"))


def test_the_daemon_loads_nothing_of_the_page() -> None:
    script = (
        "import sys, memhook.daemon.server, memhook.engine.engine, memhook.hooks.runner;"
        "print(sorted(n for n in sys.modules if n.startswith(('memhook.ui', 'jinja2', 'starlette', 'uvicorn'))))"
    )
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=300)
    assert run.stdout == "[]\n"


def test_the_browser_is_opened_by_a_private_file_not_by_an_argument(tmp_path: Path) -> None:
    """Every user of the machine can read the arguments of a command."""
    browser, said = tmp_path / "browser", tmp_path / "said"
    os.mkfifo(said)
    browser.write_text(f'#!/bin/sh\n{{ echo "$@"; cat "${{1#file://}}"; }} > {said}\n')
    browser.chmod(0o700)
    environment = {**os.environ, "HOME": str(tmp_path), "BROWSER": str(browser)}
    command = [sys.executable, "-m", "memhook.cli", "ui"]
    with subprocess.Popen(command, env=environment, cwd=tmp_path, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        token = process.stdout.readline().strip().rpartition("=")[2]
        arguments, content = said.read_text(encoding="utf-8").split("\n", 1)
        process.terminate()
        assert process.wait(300) == 0
    assert len(token) > 30
    assert token not in arguments
    assert token in content
