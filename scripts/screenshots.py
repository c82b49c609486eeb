"""Take the pictures of the page, with made-up memories and events, the real server and a real browser."""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from io import BytesIO
from pathlib import Path

from PIL import Image
from playwright.sync_api import Browser, Page, sync_playwright

from memhook.daemon.control import called
from memhook.paths import user_paths
from memhook.store.ledger import Considered, Injection, Ledger

ROOT = Path(__file__).resolve().parents[1]
MEMHOOK = [sys.executable, "-m", "memhook.cli"]
PROMPT = "the nightly reconciliation of the ledger failed again with a balance mismatch, why?"
PICTURES = {
    "page-lab": ("/", "light", 1280, 800),
    "page-memories": ("/memories", "dark", 1280, 800),
    "page-inbox": ("/inbox", "light", 1280, 560),
    "page-narrow": ("/", "dark", 360, 780),
}
COLOURS = 160  # a screen of text needs no more, and the files stay small
CAPTURED = [
    "Why did the import of invoices stop at row 40,000?\n\nThe driver fetched all rows at once. `fetch_size=1000` in "
    "jobs/import.py solved it; memory stays under 300 MB.",
    "The tests of the checkout fail on CI alone.\n\nThe runner has no German locale: `apt-get install locales` in the "
    "image, then they pass.",
    "Which Node does the shop need?\n\nNode 22: the build of the front end uses the test runner of the newer version.",
]


def main() -> None:
    folder = Path(sys.argv[1])
    browser_path = os.environ.get("MEMHOOK_CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
    if not browser_path:
        raise SystemExit("There is no browser: install chromium, or name one in MEMHOOK_CHROMIUM.")
    with tempfile.TemporaryDirectory() as name, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=browser_path, args=["--no-sandbox", "--disable-gpu"])
        with served(Path(name)) as address:
            take(browser, address, folder)
        browser.close()


@contextmanager
def served(home: Path) -> Iterator[str]:
    """Yield the address of the page for a new home, in a project called shop."""
    work = home / "shop"
    work.mkdir()
    (work / ".memhook.toml").touch()
    environment = {"HOME": str(home), "PATH": os.environ["PATH"], "COLUMNS": "100"}
    record_a_month(home)
    imported = [*MEMHOOK, "import", str(ROOT / "scripts/sample_memories.jsonl")]
    subprocess.run(imported, env=environment, cwd=work, check=True, capture_output=True)
    records = [
        {"content": text, "session": f"claude/8c1f0d2e#{turn}", "quote": text.partition("\n")[0]}
        for turn, text in enumerate(CAPTURED, 3)
    ]
    called(user_paths({"HOME": str(home)}), "capture", {"records": records}, str(work))
    for prompt in (PROMPT, "ok, thanks", "how do we run the integration tests?"):
        event = {"hook_event_name": "UserPromptSubmit", "session_id": "8c1f0d2e", "cwd": str(work), "prompt": prompt}
        hook = [*MEMHOOK, "hook", "UserPromptSubmit"]
        subprocess.run(
            hook, input=json.dumps(event).encode(), env=environment, cwd=work, check=True, capture_output=True
        )
    page = subprocess.Popen(
        [*MEMHOOK, "ui", "--no-browser"], env=environment, cwd=work, stdout=subprocess.PIPE, text=True
    )
    try:
        assert page.stdout is not None
        yield page.stdout.readline().strip()
    finally:
        page.terminate()
        page.communicate()
        subprocess.run([*MEMHOOK, "daemon", "stop"], env=environment, cwd=work, check=False, capture_output=True)


def record_a_month(home: Path) -> None:
    """Record events of the last weeks, so that the plots have something to show."""
    ledger = Ledger(user_paths({"HOME": str(home)}).ledger)
    chosen = random.Random(7)  # the same pictures every time
    for ago in range(28, 0, -1):
        session = f"{chosen.randrange(16**8):08x}"
        for turn in range(chosen.randrange(2, 14)):
            is_shown = chosen.random() < 0.4
            considered = (Considered("k3v9x2m4p7qa", "", 0.8, "", "preview", tokens=60, part=1),) if is_shown else ()
            number = ledger.record(
                Injection(
                    at=datetime.now(UTC) - timedelta(days=ago, minutes=-7 * turn),
                    session=session,
                    agent="",
                    client="claude",
                    event="UserPromptSubmit",
                    project=str(home / "shop"),
                    outcome="shown" if is_shown else "nothing relevant",
                    text="",
                    tokens=chosen.randrange(60, 400) if is_shown else 0,
                    budget=4000,
                    milliseconds={"total": 14.0, "embed": 6.0, "search": 4.0},
                    considered=considered,
                )
            )
            ledger.delivered(number, 1)
            if is_shown and chosen.random() < 0.6:
                ledger.mark_used(["k3v9x2m4p7qa"], datetime.now(UTC) - timedelta(days=ago))
    ledger.close()


def take(browser: Browser, address: str, folder: Path) -> None:
    context = browser.new_context()
    page = context.new_page()
    page.goto(address)
    page.wait_for_selector("#prompt")
    base = page.url.rstrip("/")
    for name, (place, scheme, width, height) in PICTURES.items():
        page.set_viewport_size({"width": width, "height": height})
        page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
        page.goto(base + place)
        if place == "/":
            ask(page)
        picture = Image.open(BytesIO(page.screenshot()))
        picture.quantize(COLOURS, dither=Image.Dither.NONE).save(folder / f"{name}.png", optimize=True)


def ask(page: Page) -> None:
    page.fill("#prompt", PROMPT)
    page.wait_for_selector("#outcome")
    page.locator("#prompt").blur()


if __name__ == "__main__":
    main()
