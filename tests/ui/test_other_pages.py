"""Inbox, events, health: by what a person does."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.conftest import GiveModel
from tests.patience import patient_source
from tests.ui.conftest import MEMORIES
from tests.ui.site import Site, serving
from tests.ui.test_memories import press


@pytest.fixture
def reviewed(tmp_path: Path, give_model: GiveModel) -> Iterator[Site]:
    """A site with nothing in its inbox but three notes: what other tests change becomes a question there, too."""
    texts = ("Node 22 is needed to build the shop.", "Prune the images when the disk is full.", "Use port 9090.")
    records = [{"content": text, "session": f"claude/abc#{n}", "quote": text[:10]} for n, text in enumerate(texts)]
    give_model(tmp_path)
    with serving(tmp_path, lines=MEMORIES[:1]) as served:
        served.call("capture", records=records)
        yield served


def test_the_inbox_goes_card_by_card_with_single_keys_and_undo(browser: BrowserContext, reviewed: Site) -> None:
    def origin(name: str) -> Any:
        return reviewed.call("get", references=[name], touch=False)[0]["origin"]

    captured = [item["memory"]["id"] for item in reviewed.call("inbox_list")["items"]]
    tab = browser.new_page()
    tab.goto(reviewed.address)
    expect(tab.locator("#prompt")).to_be_focused()
    tab.goto(f"{tab.url.rstrip('/')}/inbox")
    left = tab.locator("#left")
    expect(left).to_contain_text("3 left")
    press(tab, "ArrowRight")
    expect(tab.get_by_text("2 of 3")).to_be_visible()
    press(tab, "ArrowLeft")
    expect(tab.get_by_text("1 of 3")).to_be_visible()
    press(tab, "k", "k", "k")  # those pressed before the next card is there are not for it
    expect(left).to_contain_text("2 left")
    assert origin(captured[0]) == "user"
    press(tab, "d")
    expect(left).to_contain_text("1 left")
    press(tab, "z")
    expect(left).to_contain_text("2 left")
    press(tab, "z")
    expect(left).to_contain_text("3 left")
    assert origin(captured[0]) == "captured"
    press(tab, "e")
    tab.locator("textarea").fill("Use port 9191.")
    tab.get_by_role("button", name="Keep it like this").click()
    expect(left).to_contain_text("2 left")
    press(tab, "z")
    expect(left).to_contain_text("3 left")
    press(tab, "D")
    expect(left).to_contain_text("empty")
    press(tab, "z")
    expect(left).to_contain_text("3 left")
    tab.close()


RELOADS = 100


def test_events_show_what_was_shown_and_why_not_without_the_prompt(tab: Page, site: Site) -> None:
    environment = {**os.environ, "HOME": str(site.home)}
    prompts = ("why does the deploy to staging hang at 40 % without the vpn?", "ok thanks")
    hooked = [
        ("session-77", {"hook_event_name": "UserPromptSubmit", "prompt": prompts[0]}),
        ("session-78", {"hook_event_name": "UserPromptSubmit", "prompt": prompts[1]}),
        ("session-77", {"hook_event_name": "Stop", "last_assistant_message": "Connect the VPN, then `make deploy`."}),
        ("session-77", {"hook_event_name": "UserPromptSubmit", "prompt": prompts[1]}),
    ]
    for session, fields in hooked:
        event = {"session_id": session, **fields}
        hook = [sys.executable, "-I", "-S", "-c", patient_source(), fields["hook_event_name"]]
        cwd = site.home / "work"
        subprocess.run(
            hook, input=json.dumps(event).encode(), env=environment, cwd=cwd, check=True, capture_output=True
        )
    timeline = tab.get_by_role("region", name="Session session-77").locator(".timeline > li")
    for _ in range(RELOADS):  # an event is recorded once its answer was read, perhaps after this page was made
        tab.goto(f"{site.url}/events")
        if timeline.count() == 2:
            break
    expect(timeline).to_have_count(2)
    tab.goto(f"{site.url}/events?session=session-77")
    expect(tab.locator(".timeline > li")).to_have_count(2)
    expect(tab.locator(".timeline > li").first).to_contain_text("silent: small talk")
    expect(tab.locator(".timeline > li").last).to_contain_text("ms")
    expect(tab.locator(".timeline > li").last).to_contain_text(", used")
    assert not any(prompt in tab.content() for prompt in prompts)
    tab.get_by_role("link", name="Deploys hang without the VPN").first.click()
    expect(tab.get_by_role("heading", name="Deploys hang without the VPN")).to_be_visible()
    expect(tab.get_by_role("row").last).to_contain_text("shown preview, used")


def test_health_has_numbers_plots_and_the_checks_of_the_doctor(tab: Page, site: Site) -> None:
    tab.goto(f"{site.url}/health")
    assert tab.locator("svg.plot").count() == 3
    assert tab.locator("svg.plot").last.locator("rect").count() >= 1
    expect(tab.locator("#checks")).to_contain_text("python")
    expect(tab.locator("#checks")).to_contain_text("the store opens")
    assert "To repair it:" in tab.locator("#checks .wrong").first.inner_text()
