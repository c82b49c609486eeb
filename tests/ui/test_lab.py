"""The prompt lab, by what a person does."""

from __future__ import annotations

from pathlib import Path

from playwright.sync_api import Page, expect

from tests.ui.site import Site
from tests.ui.test_memories import press

PROMPT = "why does the deploy to staging hang?"


def test_typing_shows_the_very_block_and_every_candidate(tab: Page, site: Site) -> None:
    tab.goto(f"{site.url}/")
    expect(tab.locator("#prompt")).to_be_focused()
    tab.keyboard.type(PROMPT)
    expect(tab.locator("#outcome")).to_contain_text("memor")
    report = site.call("why", prompt=PROMPT)
    expect(tab.locator(".candidates > li")).to_have_count(len(report["candidates"]))
    expect(tab.locator("pre.block")).to_have_text(report["parts"])  # not that of the words typed so far
    assert tab.locator("pre.block").all_inner_texts() == report["parts"]
    first = tab.locator(".candidates > li").first
    expect(first).to_contain_text("Deploys hang without the VPN")
    expect(first).to_contain_text("dense")
    expect(first).to_contain_text("sure")
    assert "Salaries" not in tab.content()


def test_a_slider_changes_the_answer_at_once_and_nothing_is_saved(tab: Page, site: Site, config_file: Path) -> None:
    tab.goto(f"{site.url}/")
    tab.fill("#prompt", PROMPT)
    expect(tab.locator("#outcome")).to_contain_text("memor")
    slider = tab.get_by_role("slider", name="Budget")
    slider.focus()
    slider.press("Home")
    expect(tab.locator("#answer")).to_contain_text("of 50 tokens")
    expect(tab.locator("#answer")).to_contain_text("max_tokens 4000 → 50")
    assert not config_file.exists()
    tab.get_by_role("button", name="Saved settings").click()
    expect(tab.locator("#answer")).to_contain_text("of 4,000 tokens")


def test_settings_are_kept_after_the_difference_was_shown(tab: Page, site: Site, config_file: Path) -> None:
    config_file.parent.mkdir(parents=True, exist_ok=True)
    config_file.write_text("# mine\nmax_tokens = 3000\n", encoding="utf-8")
    tab.goto(f"{site.url}/")
    tab.fill("#prompt", PROMPT)
    tab.get_by_text("eager", exact=True).click()
    tab.fill("#max_tokens", "2000")
    expect(tab.locator("#answer")).to_contain_text("of 2,000 tokens")
    tab.get_by_role("button", name="Keep these settings").click()
    expect(tab.locator(".diff")).to_contain_text("-max_tokens = 3000\n+max_tokens = 2000")
    assert "eager" not in config_file.read_text(encoding="utf-8")
    config_file.write_text("# mine\nmax_tokens = 1000\n", encoding="utf-8")
    press(tab, "y")
    expect(tab.get_by_role("alert")).to_contain_text("The file changed underneath, and nothing was written.")
    expect(tab.locator(".diff")).to_contain_text("-max_tokens = 1000\n+max_tokens = 2000")
    press(tab, "y")
    expect(tab.locator("#max_tokens")).to_have_value("2000")
    kept = config_file.read_text(encoding="utf-8")
    assert kept == '# mine\nmax_tokens = 2000\n\n[hooks]\nrelevance = "eager"\n'  # what was not tried is not written


def test_a_value_that_is_not_possible_is_refused_in_words(tab: Page, site: Site) -> None:
    tab.goto(f"{site.url}/")
    tab.fill("#prompt", PROMPT)
    tab.fill("#max_tokens", "0")
    expect(tab.locator("#answer")).to_contain_text("max_tokens must be a whole number from 1")
