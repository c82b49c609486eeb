"""What holds for every page: remembered text is data, anybody can use it, and it fits every screen."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.conftest import GiveModel
from tests.ui.site import COMMAND, Site, serving

PAYLOADS = [
    one.encode().decode("unicode_escape") if "\\u202e" in one else one
    for one in Path(__file__).with_name("payloads.txt").read_text(encoding="utf-8").splitlines()
]
HIDDEN = "zero\x1b[31mred\x07 \u202eright to left\u202c \u200bnothing"
PLACES = ("/", "/memories", "/memory/deploy000001", "/memory/deploy000001/edit", "/inbox", "/events", "/health")


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory, give_model: GiveModel) -> Iterator[Site]:
    """A server whose memories, sessions and projects are all attacks."""
    fields = ("title", "content", "namespace", "source", "project")
    lines = [
        json.dumps(
            {
                **dict.fromkeys(fields, one[:400]),
                "tags": [one, "x"],
                "content": f"attack {n}: {one}",
                "id": f"attack{n:06}",
            }
        )
        for n, one in enumerate(PAYLOADS)
    ]
    everything = "\n\n".join([*PAYLOADS, HIDDEN, "```\n" + "\n".join(PAYLOADS) + "\n```"])
    lines.append(json.dumps({"id": "attackall001", "content": everything, "title": HIDDEN, "tags": PAYLOADS[:60]}))
    home = tmp_path_factory.mktemp("hostile")
    give_model(home)
    with serving(home, lines=lines) as site:
        captured = [
            {"content": f"captured {one}", "session": f"claude/s#{n}", "quote": one}
            for n, one in enumerate(PAYLOADS[:20])
        ]
        site.call("capture", records=captured)
        for session in PAYLOADS[:2]:
            event = {
                "hook_event_name": "UserPromptSubmit",
                "session_id": session,
                "prompt": "what about attack 3 script alert?",
            }
            hook = [*COMMAND, "hook", "UserPromptSubmit"]
            environment = {"HOME": str(home), "PATH": "/usr/bin:/bin"}
            subprocess.run(
                hook, input=json.dumps(event).encode(), env=environment, check=True, capture_output=True, timeout=120
            )
        yield site


def test_there_are_many_payloads() -> None:
    assert len(set(PAYLOADS)) >= 60


def test_no_memory_runs_a_script_or_asks_another_server(browser: BrowserContext, hostile: Site) -> None:
    page = browser.new_page()
    strange: list[str] = []
    page.on("dialog", lambda dialog: strange.append(dialog.message))
    page.on("pageerror", lambda error: strange.append(str(error)))
    page.on("console", lambda one: strange.append(one.text))
    page.on("request", lambda one: None if one.url.startswith(f"http://{hostile.host}/") else strange.append(one.url))
    page.goto(hostile.address)
    expect(page.locator("#prompt")).to_be_focused()
    base = page.url.rstrip("/")
    page.fill("#prompt", "attack 20 script alert img onerror")
    expect(page.locator("#outcome")).to_be_visible()
    names = ("attackall001", "attack000000", "attack000020", "attack000063")
    places = ["/memories", "/memories?offset=50", "/memories?q=attack+script", "/events", "/inbox", "/health"]
    places += [f"/memory/{name}" for name in names] + [f"/memory/{name}/edit" for name in names]
    for place in places:
        page.goto(base + place)
        expect(page.locator("html[data-ready]")).to_be_attached()
        assert page.locator("main script, main iframe, main img, main a[href^=javascript], main [onerror]").count() == 0
    page.goto(f"{base}/memories?q=%3Cscript%3Ealert(1)%3C/script%3E&tag=%22%3E%3Cscript%3Ealert(1)%3C/script%3E")
    expect(page.locator("#q")).to_have_value("<script>alert(1)</script>")
    page.goto(f"{base}/memory/attackall001")
    text = page.locator("article").inner_text()
    assert "<script>alert(1)</script>" in text
    assert {"␛", "U+202E", "U+200B"} <= set(page.locator("article .sign").all_inner_texts())
    assert not {"\x1b", "\u202e", "\u200b"} & set(text)
    page.goto(f"{base}/memory/attackall001/edit")
    assert {"␛", "U+202E", "U+200B"} <= set(page.locator("details .sign").all_inner_texts())
    page.close()
    assert strange == []


def test_an_exported_page_is_as_harmless_and_leaves_out_what_is_closed(
    browser: BrowserContext, hostile: Site, tmp_path: Path
) -> None:
    hostile.call("remember", content="Salaries: 1.", sensitivity="confidential")
    hostile.call("remember", content="Board minutes.", sensitivity="restricted")
    environment = {"HOME": str(hostile.home), "PATH": "/usr/bin:/bin"}
    counts = []
    for options in ((), ("--sensitive",)):
        file = tmp_path / f"memories{len(options)}.html"
        command = [*COMMAND, "export", "--html", str(file), "--json", *options]
        run = subprocess.run(command, env=environment, check=True, capture_output=True, timeout=120)
        counts.append(json.loads(run.stdout)["exported"])
        assert ("Salaries" in file.read_text(encoding="utf-8")) == bool(options)
        assert ("Board minutes" in file.read_text(encoding="utf-8")) == bool(options)
    page = browser.new_page()
    strange: list[str] = []
    page.on("dialog", lambda dialog: strange.append(dialog.message))
    page.on("console", lambda one: strange.append(one.text))
    page.on("request", lambda one: None if one.url.startswith("file://") else strange.append(one.url))
    page.goto((tmp_path / "memories0.html").as_uri())
    shown = page.locator("article:visible")
    assert counts[1] == hostile.call("browse")["total"] > counts[0] > 60
    expect(shown).to_have_count(counts[0])
    page.fill("#q", "attack 20: IMG")
    expect(shown).to_have_count(1)
    page.fill("#q", "no such word anywhere")
    expect(page.locator("#count")).to_have_text(f"0 of {counts[0]} memories")
    page.close()
    assert strange == []


@pytest.mark.parametrize("place", PLACES)
def test_an_accessibility_check_finds_nothing_serious(tab: Page, site: Site, place: str) -> None:
    tab.goto(site.url + place)
    if place == "/":
        tab.fill("#prompt", "why does the deploy hang?")
        expect(tab.locator("#outcome")).to_be_visible()
    tab.evaluate(files("axe_playwright_python").joinpath("axe.min.js").read_text(encoding="utf-8"))
    for scheme in ("light", "dark"):
        tab.emulate_media(color_scheme=scheme)
        assert tab.evaluate(f"matchMedia('(prefers-color-scheme: {scheme})').matches")
        result: dict[str, Any] = tab.evaluate("axe.run({resultTypes: ['violations']})")
        serious = [one for one in result["violations"] if one["impact"] in ("serious", "critical")]
        assert {one["id"]: [node["html"] for node in one["nodes"]] for one in serious} == {}


def test_every_page_fits_from_360_to_2000_pixels(tab: Page, site: Site) -> None:
    for widths in ((360,), (800, 2000)):  # when it is loaded, a page asks whether the screen is narrow
        for place in PLACES:
            tab.set_viewport_size({"width": widths[0], "height": 800})
            tab.goto(site.url + place)
            for width in widths:
                tab.set_viewport_size({"width": width, "height": 800})
                assert tab.evaluate("document.documentElement.scrollWidth") <= width, (place, width)


def test_keys_go_to_every_page_and_the_menu_says_where_one_is(tab: Page, site: Site) -> None:
    tab.goto(f"{site.url}/health")
    for key, name in {"m": "Memories", "i": "Inbox", "e": "Events", "h": "Health", "l": "Lab"}.items():
        expect(tab.locator("html[data-ready]")).to_be_attached()
        tab.keyboard.press("g")
        tab.keyboard.press(key)
        expect(tab.locator("[aria-current=page]")).to_have_text(name)
