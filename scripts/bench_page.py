"""The measurements of `scripts/bench page`: the page in a browser, as ratios to a search and to a warm prompt."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from statistics import median

from bench import ROOT, machine, prompt, run, timed, whole_hook
from playwright.sync_api import Page, sync_playwright

MEMHOOK = [sys.executable, "-m", "memhook.cli"]


def main(rounds: int) -> int:
    browser_path = os.environ.get("MEMHOOK_CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
    if not browser_path:
        raise SystemExit("There is no browser: install chromium, or name one in MEMHOOK_CHROMIUM.")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=browser_path, args=["--no-sandbox", "--disable-gpu"])
        page = browser.new_page()
        server = opened(page)
        base = page.url.rstrip("/")
        steps: dict[str, Callable[[int], object]] = {
            "memhook search": lambda n: run([*MEMHOOK, "search", prompt(n)]),
            "a warm prompt, whole hook": whole_hook,
            "memhook ui, started and interactive": lambda _: started(browser.new_page()),
            "the first page, interactive": lambda _: interactive(page, f"{base}/"),
            "prompt lab, an answer": lambda n: answered(page, f"{base}/", "#prompt", prompt(n), "#outcome"),
            "memories, a page of the list": lambda n: interactive(page, f"{base}/memories?offset={50 * (n % 190)}"),
            "memories, search as you type": lambda n: answered(
                page, f"{base}/memories", "#q", prompt(n)[:30], "#count"
            ),
        }
        for step in steps.values():
            step(0)  # warm
        samples: dict[str, list[float]] = {name: [] for name in steps}
        for number in range(rounds):  # interleaved, so that other load affects all of them alike
            for name, step in steps.items():
                samples[name].append(timed(partial(step, number)))
        server.terminate()
        server.wait()
        browser.close()
    print_table({name: median(values) for name, values in samples.items()}, rounds)
    return 0


def opened(page: Page) -> subprocess.Popen[str]:
    """Start a server and open its page; return the process."""
    server = subprocess.Popen([*MEMHOOK, "ui", "--no-browser"], cwd=ROOT, stdout=subprocess.PIPE, text=True)
    assert server.stdout is not None
    page.goto(server.stdout.readline().strip())
    page.locator("html[data-ready]").wait_for(state="attached")
    return server


def started(page: Page) -> float:
    """Return the seconds from the command until the page answers keys, in a browser that is already running."""
    begin = time.perf_counter()
    server = opened(page)
    spent = time.perf_counter() - begin
    server.terminate()
    server.wait()
    page.close()
    return spent


def interactive(page: Page, address: str) -> None:
    page.goto(address, wait_until="commit")
    page.locator("html[data-ready]").wait_for(state="attached")


def answered(page: Page, address: str, field: str, text: str, shown: str) -> float:
    """Return the seconds of the request that typing causes, as the browser measures it."""
    interactive(page, address)
    page.evaluate("performance.clearResourceTimings()")
    page.fill(field, text)
    page.locator("[data-live]").dispatch_event("input")
    spent = None
    while spent is None:  # later requests come after it in the list
        spent = page.evaluate("performance.getEntriesByType('resource')[0]?.duration")
        page.wait_for_timeout(5)
    page.locator(shown).wait_for(state="attached")
    return float(spent) / 1000


def print_table(medians: dict[str, float], rounds: int) -> None:
    search, hook = medians["memhook search"], medians["a warm prompt, whole hook"]
    print(f"{machine()}; medians of {rounds} rounds over 10,000 memories")
    print(f"{'':<38} {'ms':>8} {'of search':>10} {'of a hook':>10}")
    for name, value in medians.items():
        print(f"{name:<38} {value:>8.1f} {value / search:>10.2f} {value / hook:>10.2f}")
