"""What assistants keep, found, listed and imported on a real engine."""

from __future__ import annotations

import io
import re
import sys
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from memhook.assistants.assistant import Assistant, Where
from memhook.assistants.known import KNOWN
from memhook.cli import place
from memhook.cli.commands.import_ import offer_assistants
from memhook.cli.place import place_of
from memhook.engine.engine import Engine
from memhook.store.project import Project
from memhook.supply.host_memories import kept_by_assistants
from tests.cli.conftest import Cli
from tests.cli.test_projects import Terminal
from tests.fake_embedder import HashEmbedder
from tests.mcp_server.conftest import engine_with


@pytest.fixture(autouse=True)
def engine(home: Path, monkeypatch: pytest.MonkeyPatch) -> Engine:
    real = engine_with(HashEmbedder(), monkeypatch)
    monkeypatch.setattr(place, "door", lambda *_, **__: lambda method, **params: real.call(method, params, "", {}))
    return real


def written(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


@pytest.fixture
def shop(home: Path, in_a_project: Path) -> Path:
    """A project, and a home, in which five assistants have been at work."""
    written(home / ".claude/CLAUDE.md", "# Me\n\n## How I like answers\nShort.\n\n## Tools\nUse ripgrep, not grep.\n")
    written(home / ".codex/AGENTS.md", "Prefer small commits.\n")
    written(home / ".gemini/GEMINI.md", "## Gemini Added Memories\n- The user lives in Basel\n")
    written(home / ".config/opencode/AGENTS.md", "@rules.md\n")
    written(home / ".claude/agent-memory/reviewer/style.md", "Names say what is returned.\n")
    written(in_a_project / "CLAUDE.md", "# Shop\n\n@AGENTS.md\n\n## Commands\n- `make test` runs all tests\n")
    (in_a_project / "AGENTS.md").symlink_to("CLAUDE.md")
    memory = home / ".claude/projects" / re.sub("[^A-Za-z0-9]", "-", str(in_a_project)) / "memory"
    written(memory / "MEMORY.md", "# Memory\n- [Replica](replica.md) - lag\n")
    written(
        memory / "replica.md",
        "---\nname: replica-lag\ndescription: Why reconciliation failed\n---\n"
        "# Lag\nRead from the primary.\n\n# Fix\nDone.\n",
    )
    written(home / ".claude/projects/-no-such-place/memory/lost.md", "Of a project that is gone.\n")
    return in_a_project


def listed(cli: Cli) -> dict[str, dict[str, Any]]:
    return {one["title"]: one for one in cli("list", "--json", "--limit", "100").json["memories"]}


def test_what_assistants_keep_becomes_memories_with_source_title_and_project(cli: Cli, shop: Path) -> None:
    result = cli("import", "--assistants", "--yes")
    assert (result.code, result.out) == (0, "stored 7, already there 0, forgotten before 0, bad lines 0\n")
    memories = listed(cli)
    facts = {title: (one["source"], one["project"]) for title, one in memories.items()}
    assert facts == {
        "~/.claude/CLAUDE.md › How I like answers": ("~/.claude/CLAUDE.md", ""),
        "~/.claude/CLAUDE.md › Tools": ("~/.claude/CLAUDE.md", ""),
        "Prefer small commits.": ("~/.codex/AGENTS.md", ""),
        "~/.gemini/GEMINI.md › Gemini Added Memories": ("~/.gemini/GEMINI.md", ""),
        "Names say what is returned.": ("~/.claude/agent-memory/reviewer/style.md", ""),
        "CLAUDE.md › Commands": ("CLAUDE.md", str(shop)),
        "replica-lag: Lag": (memories["replica-lag: Lag"]["source"], str(shop)),
    }
    replica = memories["replica-lag: Lag"]
    assert replica["source"].endswith("/memory/replica.md")
    assert (replica["summary"], replica["origin"]) == ("Why reconciliation failed", "import")
    assert "Done." in replica["content"]
    assert memories["Names say what is returned."]["tags"] == ["reviewer"]


def test_importing_again_brings_only_what_has_changed(cli: Cli, shop: Path) -> None:
    cli("import", "--assistants", "--yes")
    first = listed(cli)
    assert cli("import", "--assistants", "--yes").out.startswith("stored 0, already there 7")
    (shop / "CLAUDE.md").write_text("# Shop\n\n## Commands\n- `make check` runs all tests\n")
    assert cli("import", "--assistants", "--yes").out.startswith("stored 0, updated 1, already there 6")
    changed = listed(cli)["CLAUDE.md › Commands"]
    assert (changed["content"], changed["urn"]) == (
        "- `make check` runs all tests",
        first["CLAUDE.md › Commands"]["urn"],
    )


@pytest.mark.parametrize("is_file_first", [True, False])
def test_a_file_that_is_imported_by_name_too_is_stored_once_and_followed(
    cli: Cli, engine: Engine, shop: Path, monkeypatch: pytest.MonkeyPatch, is_file_first: bool
) -> None:
    calls = partial(engine.call, directory=str(shop), environment={})
    monkeypatch.setattr(place, "door", lambda *_, **__: lambda method, **params: calls(method, params))
    (shop / "CLAUDE.md").write_text("# Shop\n\n## Commands\nRun make.\n\n## Coverage\nAt least 90 %.\n")
    ways = [("import", "CLAUDE.md", "--project"), ("import", "--assistants", "--yes")]
    for way in ways if is_file_first else reversed(ways):
        cli(*way)
    here = [one for one in listed(cli).values() if one["content"] in ("Run make.", "At least 90 %.")]
    assert len(here) == 2
    assert {one["project"] for one in here} == {str(shop)}
    (shop / "CLAUDE.md").write_text("# Shop\n\n## Commands\nRun make -j.\n\n")
    engine.keep_house(datetime.now(UTC))
    expires = {one["content"]: one["expires"] for one in listed(cli).values()}
    assert "Run make." not in expires
    assert expires["Run make -j."] is None
    assert expires["At least 90 %."] is not None, "its section is gone"


def test_it_lists_with_sizes_and_asks(cli: Cli, shop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", Terminal("\n"))
    refused = cli("import", "--assistants")
    assert (refused.code, refused.out) == (1, "")
    assert re.search(r"  1  claude    ~/.claude/CLAUDE.md +0\.1 kB  2 memories, global\n", refused.err)
    assert re.search(r"claude    CLAUDE.md +0\.1 kB  1 memory, work\n", refused.err)
    assert "opencode" not in refused.err
    assert listed(cli) == {}
    monkeypatch.setattr(sys, "stdin", Terminal("2-3\n"))
    assert cli("import", "--assistants").out.startswith("stored 2,")
    assert "CLAUDE.md › Commands" not in listed(cli)


@pytest.mark.parametrize("answer", ["n", "", "nothing", "99", "1;2", "y es"])
def test_anything_but_yes_and_numbers_imports_nothing(
    cli: Cli, shop: Path, monkeypatch: pytest.MonkeyPatch, answer: str
) -> None:
    monkeypatch.setattr(sys, "stdin", Terminal(f"{answer}\n"))
    assert cli("import", "--assistants").code == 1
    assert listed(cli) == {}


def test_without_a_terminal_nothing_comes_in_unless_it_is_said(
    cli: Cli, shop: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO())
    refused = cli("import", "--assistants")
    assert refused.code == 1
    assert "--yes" in refused.err
    found = cli("import", "--assistants", "--json").json["found"]
    assert {one["assistant"] for one in found} == {"claude", "codex", "gemini"}
    assert cli("import", "--assistants", "--dry-run").out.endswith("would store 7, already there 0, "
                                                                    "forgotten before 0, bad lines 0\n")  # fmt: skip
    assert listed(cli) == {}


def test_one_assistant_or_one_file_may_be_named(cli: Cli, shop: Path) -> None:
    assert cli("import", "--assistants", "codex", "--yes").out.startswith("stored 1,")
    assert cli("import", "--assistants", str(shop), "--yes").out.startswith("stored 1,")


def test_who_sets_memhook_up_can_offer_it(
    cli: Cli, shop: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "stdin", Terminal("y\n"))
    assert offer_assistants(place_of(None, use_daemon=False)) == 0
    assert "stored 7" in capsys.readouterr().out


def test_install_offers_it_at_its_end_and_imports_what_is_agreed_to(
    cli: Cli, shop: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", Terminal("y\n1\n"))
    result = cli("install", "codex")
    assert result.code == 0
    assert (
        result.out.index("Codex: memhook is on.")
        < result.out.index("Your assistants have these files")
        < result.out.index("stored")
    )
    assert "  1  claude    ~/.claude/CLAUDE.md" in result.err
    assert set(listed(cli)) == {"~/.claude/CLAUDE.md › How I like answers", "~/.claude/CLAUDE.md › Tools"}


@pytest.mark.parametrize("answers", ["y\n\n", "y\nn\n", "n\ny\n", "y\n"])
def test_install_imports_nothing_without_a_second_yes(
    cli: Cli, shop: Path, monkeypatch: pytest.MonkeyPatch, answers: str
) -> None:
    monkeypatch.setattr(sys, "stdin", Terminal(answers))
    result = cli("install", "codex")
    assert result.code == (0 if answers.startswith("y") else 1)
    assert ("Import it?" in result.err) == answers.startswith("y")
    assert listed(cli) == {}


@pytest.mark.parametrize("stdin", [Terminal, io.StringIO])
def test_the_yes_to_install_is_no_yes_to_importing(
    cli: Cli, shop: Path, monkeypatch: pytest.MonkeyPatch, stdin: type[io.StringIO]
) -> None:
    monkeypatch.setattr(sys, "stdin", stdin("y\ny\n"))
    result = cli("install", "codex", "--yes")
    assert (result.code, "Import it?" in result.err) == (0, False)
    monkeypatch.setattr(sys, "stdin", stdin("y\ny\n"))
    cli("install", "claude", "--dry-run")
    assert listed(cli) == {}


def test_install_says_nothing_where_nothing_is_kept(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", Terminal("y\n"))
    result = cli("install", "codex")
    assert "Codex: memhook is on." in result.out
    assert "keep" not in result.err


def test_nothing_kept_is_told(cli: Cli) -> None:
    assert "have no files here" in cli("import", "--assistants").err
    assert cli("import").code == 1


@pytest.mark.parametrize("assistant", KNOWN.values(), ids=KNOWN)
def test_what_is_kept_is_looked_for_where_memhook_is_switched_on(
    assistant: Assistant, home: Path, tmp_path: Path
) -> None:
    """Each assistant's own variables, whatever they are called: import asks the same place as install."""
    moved = {
        name: str(tmp_path / name.lower())
        for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "QWEN_HOME", "COPILOT_HOME", "OPENCODE_CONFIG_DIR")
    }
    for environment in ({"HOME": str(home)}, {"HOME": str(home), **moved}):
        folder = assistant.folder(Where(home, environment, Path()))
        notes = [pattern for pattern in assistant.user_notes if "*" not in pattern]
        written(folder / notes[0], "## Rules\nPrefer small commits.\n")
        kept = kept_by_assistants(Project(), environment, lambda _: Project())
        assert folder / notes[0] in [one.path for one in kept if one.assistant == assistant.name]


def test_a_variable_that_is_empty_moves_nothing(home: Path) -> None:
    environment = {"OPENCODE_CONFIG_DIR": "", "COPILOT_HOME": ""}
    assert KNOWN["opencode"].folder(Where(home, environment, Path())) == home / ".config/opencode"
    assert KNOWN["copilot"].folder(Where(home, environment, Path())) == home / ".copilot"
