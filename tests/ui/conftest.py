from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import BrowserContext, Page, expect, sync_playwright

from tests.conftest import GiveModel
from tests.ui.site import BROWSER, FLAGS, Site, serving

WAIT = 300_000  # milliseconds: machines are busy
expect.set_options(timeout=WAIT)


def memory(content: str, **fields: Any) -> str:
    return json.dumps({"content": content, **fields})


MEMORIES = [
    memory(
        "Deploys to staging hang at 40 % without the VPN. Connect first, then run `make deploy`.",
        id="deploy000001",
        title="Deploys hang without the VPN",
        namespace="incidents",
        tags=["deploy", "vpn"],
    ),
    memory("No production deploys from Friday noon to Monday morning.", id="freeze000001", namespace="conventions"),
    memory("Ledger amounts are integers in cents, never floats.", id="ledger000001", tags=["billing"]),
    memory("The salary table is in the vault.", id="secret000001", title="Salaries", sensitivity="confidential"),
    *(memory(f"Note number {n} about the warehouse.", id=f"filler{n:06}", namespace="filler") for n in range(120)),
]


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory, give_model: GiveModel) -> Iterator[Site]:
    """One server for all tests of a run, which leave its memories as they find them."""
    home = tmp_path_factory.mktemp("ui-home")
    give_model(home)
    with serving(home, lines=MEMORIES) as served:
        served.entered()
        yield served


@pytest.fixture(scope="package")
def browser(site: Site, tmp_path_factory: pytest.TempPathFactory) -> Iterator[BrowserContext]:
    """The browser with the session's cookie. In CI there must be one.

    It is closed before tests of other folders: as long as it runs, so does an event loop, and theirs could not.
    """
    if not BROWSER:
        if os.environ.get("CI"):
            pytest.fail("No browser: install chromium, or name one in MEMHOOK_CHROMIUM.")
        pytest.skip("no browser")
    with sync_playwright() as playwright:
        context = playwright.chromium.launch_persistent_context(
            str(tmp_path_factory.mktemp("browser")),
            executable_path=BROWSER,
            args=list(FLAGS),
            viewport={"width": 1280, "height": 900},
        )
        context.set_default_timeout(WAIT)
        cookie = {"name": "memhook", "value": site.cookie, "domain": "127.0.0.1", "path": f"{site.base}/"}
        context.add_cookies([{**cookie, "httpOnly": True, "sameSite": "Strict"}])  # type: ignore[typeddict-item]
        yield context
        context.close()


@pytest.fixture
def tab(browser: BrowserContext, site: Site) -> Iterator[Page]:
    """A tab. No test may leave an error of a script, a dialog, or a request to another origin."""
    page = browser.new_page()
    strange: list[str] = []
    page.on("pageerror", lambda error: strange.append(f"error: {error}"))
    page.on("dialog", lambda dialog: strange.append(f"dialog: {dialog.message}"))
    page.on("console", lambda one: strange.append(one.text) if _is_wrong(one.text, one.type) else None)
    page.on("request", lambda one: None if one.url.startswith(site.url) else strange.append(f"request: {one.url}"))
    page.set_viewport_size({"width": 1280, "height": 900})
    yield page
    page.close()
    assert not strange


def _is_wrong(text: str, kind: str) -> bool:
    """Chromium reports answers of 400 and more on the console, which tests ask for on purpose."""
    return kind in ("error", "warning") and not text.startswith("Failed to load resource: the server responded")


@pytest.fixture
def config_file(site: Site) -> Iterator[Path]:
    file = site.home / ".config/memhook/config.toml"
    yield file
    file.unlink(missing_ok=True)
