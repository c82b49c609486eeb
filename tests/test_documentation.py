"""What the documents name exists: commands, settings, scripts, files."""

from __future__ import annotations

import json
import re
import shlex
from argparse import ArgumentParser, _SubParsersAction
from collections.abc import Iterator
from pathlib import Path

import pytest

from memhook import __version__
from memhook.assistants.assistant import Where
from memhook.assistants.known import KNOWN
from memhook.cli.parser import parser
from memhook.settings import Settings, flattened, is_setting, setting_keys

ROOT = Path(__file__).parents[1]
PAGES = {
    str(path.relative_to(ROOT)): path.read_text(encoding="utf-8")
    for path in sorted([*ROOT.glob("*.md"), *(ROOT / "memhook/guide").glob("*.md")])
}
TEXT = "\n".join(PAGES.values())
DEFAULTS = dict(flattened(Settings().model_dump(mode="json")))
SECTIONS = "agents|daemon|embedding|hooks|ledger|pack|stores?"
EXAMPLES = {"NAME": "name", "TYPE": "type", "OPTION": "option"}


def command_lines(text: str) -> Iterator[str]:
    """Yield the command lines that start with memhook: in blocks, behind a prompt sign and between backticks.

    In a block, two spaces end the command: an explanation follows.
    """
    blocks = re.findall(r"^(?:    |\$ )(memhook .*)$", text, re.MULTILINE)
    inline = re.findall(r"`(memhook [^`]+)`", re.sub(r"^```.*?^```", "", text, flags=re.DOTALL | re.MULTILINE))
    for line in [*(re.split(r" {2,}", block)[0] for block in blocks), *inline]:
        yield from (part.strip() for part in line.split("|"))


COMMAND_LINES = sorted({(page, line) for page, text in PAGES.items() for line in command_lines(text)})


@pytest.mark.parametrize(("page", "line"), COMMAND_LINES)
def test_each_command_line_parses(page: str, line: str) -> None:
    arguments = [word for word in shlex.split(line)[1:] if word not in {"--help", "--version"}]
    if not is_command_alone(arguments):
        parser().parse_args(arguments)


def is_command_alone(words: list[str]) -> bool:
    """Whether only a command is named, such as `memhook eval`, or one and its action."""
    within: ArgumentParser | None = parser()
    for word in words:
        choices = next((a.choices for a in within._actions if isinstance(a, _SubParsersAction)), {}) if within else {}
        within = choices.get(word)
    return within is not None


def test_a_wrong_command_line_would_be_noticed() -> None:
    assert list(command_lines("    memhook serch x    explained\n`memhook get URN | memhook mute -`")) == [
        "memhook serch x",
        "memhook get URN",
        "memhook mute -",
    ]
    for wrong in ("serch", "config serch", "list --no-such-option"):
        assert not is_command_alone(wrong.split())
        with pytest.raises(SystemExit):
            parser().parse_args(wrong.split())


def test_each_setting_named_exists() -> None:
    named = set(re.findall(rf"`((?:{SECTIONS})\.[A-Za-z_.]+)`", TEXT)) | set(re.findall(r"config set (\S+\.\S+)", TEXT))
    assert {"hooks.relevance", "stores.team.uri"} <= named
    assert not {key for key in named if not is_setting(".".join(EXAMPLES.get(part, part) for part in key.split(".")))}


def test_each_variable_named_exists() -> None:
    variables = set(re.findall(r"MEMHOOK_([A-Z_]*[A-Z])", TEXT)) - {"DISABLE"}
    assert {"MAX_TOKENS", "HOOKS__DETAIL"} <= variables
    assert not {name for name in variables if not is_setting(name.lower().replace("__", "."))}


def test_the_guide_has_every_setting_with_its_default() -> None:
    assert settings_rows(PAGES["memhook/guide/settings.md"]) == {key: DEFAULTS[key] for key in setting_keys()}


def test_the_readme_has_settings_with_their_defaults() -> None:
    rows = settings_rows(PAGES["README.md"])
    assert rows
    assert rows == {key: DEFAULTS[key] for key in rows}


def settings_rows(text: str) -> dict[str, object]:
    (table,) = re.findall(r"^\| setting \| default \|.*\n\|.*\n((?:\|.*\n)+)", text, re.MULTILINE)
    rows = re.findall(r"^\| `([a-z_.]+)` \| `(.*?)` \|", table, re.MULTILINE)
    return {key: json.loads(value) for key, value in rows}


@pytest.mark.parametrize("page", PAGES)
def test_each_relative_link_resolves(page: str) -> None:
    for link in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", PAGES[page]):
        assert link.startswith("https://") or ((ROOT / page).parent / link).exists(), link


def test_each_script_named_exists() -> None:
    named = set(re.findall(r"`(scripts/[a-z-]+)", TEXT))
    assert {"scripts/bench", "scripts/evaluate"} <= named
    assert not {name for name in named if not (ROOT / name).is_file()}


def test_each_file_named_exists() -> None:
    named = set(re.findall(r"`((?:memhook|tests|config|hooks)/[\w./]+)`", TEXT))
    assert {"memhook/assistants/NAME.py", "tests/test_rooms.py"} <= named
    assert not {name for name in named if not any(ROOT.glob(name.replace("NAME", "*").rstrip("/")))}


def test_the_plugins_environment_is_named_with_this_version() -> None:
    assert set(re.findall(r"env-(\d[\d.]*)/", TEXT)) == {__version__}


def test_what_install_writes_is_where_the_guide_says(tmp_path: Path) -> None:
    rows = PAGES["memhook/guide/assistants.md"].splitlines()
    for assistant in KNOWN.values():
        (row,) = [line for line in rows if line.startswith(f"| {assistant.title} |")]
        assert f"`memhook install {assistant.name}`" in row
        for project in (None, tmp_path / "project"):
            edits = assistant.edits(Where(tmp_path / "home", {}, tmp_path / "launch", project))
            hooks = edits[0].path
            root, mark = (project, "") if project else (tmp_path / "home", "~/")
            named = [f"{mark}{part}" for part in (hooks.relative_to(root), *hooks.relative_to(root).parents)]
            assert any(f"`{name}`" in row or f"`{name}/`" in row for name in named if len(name) > len(mark) + 1), named
