"""Imported files of assistants: followed, and never shown to those that read them by themselves."""

from __future__ import annotations

import os
import re
from datetime import UTC, datetime
from pathlib import Path

import pytest

from memhook.core.memory import Memory
from memhook.engine.engine import Engine
from memhook.library.access import OWNER
from memhook.store.project import Project
from memhook.supply.files import as_lines
from memhook.supply.host_memories import Kept, kept_by_assistants
from tests.fake_embedder import HashEmbedder
from tests.mcp_server.conftest import engine_with


@pytest.fixture
def engine(home: Path, monkeypatch: pytest.MonkeyPatch) -> Engine:
    return engine_with(HashEmbedder(), monkeypatch)


@pytest.fixture
def shop(tmp_path: Path) -> Project:
    root = tmp_path / "shop"
    root.mkdir()
    return Project("shop", root, "shop")


def written(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def kept(project: Project, home: Path) -> dict[str, Kept]:
    found = kept_by_assistants(project, {"HOME": str(home)}, lambda _: project)
    return {one.shown_path: one for one in found}


def imports(engine: Engine, project: Project, home: Path) -> None:
    found = kept(project, home).values()
    lines = list(as_lines([entry for one in found for entry in one.entries]))
    engine.call("import_lines", {"lines": lines, "update": True}, "", {})
    engine.call("follow", {"files": [one.as_followed() for one in found]}, "", {})


def alive(engine: Engine) -> dict[str, Memory]:
    engine.keep_house(datetime.now(UTC))
    store = engine.library(engine.settings()).store
    memories = store.newest(OWNER, 100)
    return {one.title: one for one in memories if one.expires is None or one.expires > datetime.now(UTC)}


def loaders(project: Project, home: Path) -> dict[str, set[str]]:
    return {name: set(one.loaded_by) for name, one in kept(project, home).items()}


def test_each_file_says_who_reads_it(shop: Project, home: Path) -> None:
    assert shop.root is not None
    written(shop.root / "CLAUDE.md", "Use tabs here.")
    written(shop.root / "AGENTS.md", "Run make first.")
    written(shop.root / "GEMINI.md", "Answer briefly.")
    written(home / ".codex/memories/MEMORY.md", "The user prefers rg.")
    found = loaders(shop, home)
    assert found == {
        "CLAUDE.md": {"claude", "copilot"},
        "AGENTS.md": {"codex", "qwen", "copilot", "opencode"},
        "GEMINI.md": {"gemini", "copilot"},
        "~/.codex/memories/MEMORY.md": {"codex"},
    }
    (shop.root / "CLAUDE.md").unlink()
    assert loaders(shop, home)["AGENTS.md"] == {"codex", "qwen", "copilot", "opencode", "claude"}


def test_references_are_followed_within_the_project_and_the_home_only(
    shop: Project, home: Path, tmp_path: Path
) -> None:
    assert shop.root is not None
    written(tmp_path / "secret.md", "Nobody's business.")
    text = "See @docs/api.md, `@docs/code.md` and @../secret.md, @~/own.md, me@docs/mail.md.\n```\n@docs/fenced.md\n```"
    written(shop.root / "CLAUDE.md", text)
    for name in ("code", "mail", "fenced"):
        written(shop.root / f"docs/{name}.md", "Not referred to.")
    written(shop.root / "docs/api.md", "# API\nVersioned. @../CLAUDE.md @api.md @link.md")
    (shop.root / "docs/link.md").symlink_to(tmp_path / "secret.md")
    written(home / "own.md", "Mine.")
    assert set(loaders(shop, home)) == {"CLAUDE.md", "docs/api.md", "~/own.md"}
    assert loaders(shop, home)["docs/api.md"] == {"claude"}  # Copilot reads CLAUDE.md, not what it refers to


def test_a_changed_file_updates_its_memories_and_a_deleted_one_retires_them(
    engine: Engine, shop: Project, home: Path
) -> None:
    assert shop.root is not None
    file = written(shop.root / "CLAUDE.md", "## Commands\nmake test\n\n## Style\ntabs, always tabs\n")
    imports(engine, shop, home)
    assert set(alive(engine)) == {"CLAUDE.md › Commands", "CLAUDE.md › Style"}
    written(file, "## Commands\nmake check, not make test\n\n## Ports\n8443 is staging\n")
    changed = alive(engine)
    assert set(changed) == {"CLAUDE.md › Commands", "CLAUDE.md › Ports"}
    assert changed["CLAUDE.md › Commands"].content == "make check, not make test"
    file.unlink()
    assert alive(engine) == {}
    written(file, "## Commands\nmake check, not make test\n\n## Style\ntabs, always tabs\n")
    assert set(alive(engine)) == {"CLAUDE.md › Commands", "CLAUDE.md › Style"}


def test_a_deleted_file_does_not_retire_what_was_moved_to_another_project(
    engine: Engine, shop: Project, home: Path
) -> None:
    assert shop.root is not None
    file = written(shop.root / "CLAUDE.md", "Use tabs here.")
    imports(engine, shop, home)
    (title,) = alive(engine)
    moved = alive(engine)[title].id
    engine.call("edit", {"reference": moved, "project": "elsewhere"}, "", {})
    file.unlink()
    assert list(alive(engine)) == [title]


def test_following_can_be_switched_off(engine: Engine, shop: Project, home: Path) -> None:
    assert shop.root is not None
    file = written(shop.root / "CLAUDE.md", "## Commands\nmake test\n")
    imports(engine, shop, home)
    written(home / ".config/memhook/config.toml", "capture.follow = false\n")
    written(file, "## Commands\nmake check\n")
    assert alive(engine)["CLAUDE.md › Commands"].content == "make test"
    written(home / ".config/memhook/config.toml", "capture.follow = true\n")
    assert alive(engine)["CLAUDE.md › Commands"].content == "make check"


def test_a_note_that_an_assistant_adds_to_its_memories_comes_too(engine: Engine, shop: Project, home: Path) -> None:
    folder = home / ".claude/projects" / re.sub("[^A-Za-z0-9]", "-", str(shop.root)) / "memory"
    written(folder / "replica.md", "---\nname: replica lag\n---\nRead from the primary.\n")
    imports(engine, shop, home)
    written(folder / "ports.md", "---\nname: port of staging\n---\nIt is 8443.\n")
    found = alive(engine)
    assert found["port of staging"].content == "It is 8443."
    assert (found["port of staging"].project, found["port of staging"].loaded_by) == ("shop", ("claude",))


def test_a_file_of_a_project_does_not_fetch_others_from_the_home_by_itself(
    engine: Engine, shop: Project, home: Path
) -> None:
    assert shop.root is not None
    written(home / "diary.md", "Dear diary.")
    file = written(shop.root / "CLAUDE.md", "## Commands\nmake test\n")
    imports(engine, shop, home)
    written(file, "## Commands\nmake test, see @~/diary.md\n")
    assert [memory.content for memory in alive(engine).values()] == ["make test, see @~/diary.md"]


def test_a_register_that_cannot_be_read_stops_following_and_nothing_else(
    engine: Engine, shop: Project, home: Path
) -> None:
    assert shop.root is not None
    written(shop.root / "CLAUDE.md", "## Commands\nmake test\n")
    imports(engine, shop, home)
    engine.paths.followed.write_text('{"files": [{"path": 1}]}')
    os.utime(engine.paths.followed, ns=(1, 1))
    assert set(alive(engine)) == {"CLAUDE.md › Commands"}
