"""Where each assistant keeps its sessions, by what its own payloads name."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from memhook.assistants.assistant import Where
from memhook.assistants.events import text
from memhook.assistants.known import KNOWN
from tests.hooks.conftest import PAYLOADS

RECORDED = [(path.name.split("-")[0], json.loads(path.read_text(encoding="utf-8"))) for path in PAYLOADS.glob("*.json")]
MOVED = {
    name: f"/moved/{name.lower()}"
    for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "QWEN_HOME", "COPILOT_HOME", "XDG_DATA_HOME")
}


def written(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch()
    return path


def test_the_transcript_that_a_payload_names_is_among_the_sessions(home: Path) -> None:
    seen = set()
    for name, payload in RECORDED:
        if transcript := text(payload, "transcript_path", "transcriptPath"):
            path = written(home / Path(transcript).relative_to("/home/dev"))
            assert path in KNOWN[name].session_files(Where(home, {}, Path()))
            seen.add(name)
    assert seen == {"claude", "codex", "copilot", "gemini", "qwen"}


@pytest.mark.parametrize("name", ["opencode.db", "opencode-beta.db", "storage/session/p1/ses_1.json"])
def test_opencode_s_sessions_are_in_its_data_folder(home: Path, name: str) -> None:
    path = written(home / ".local/share/opencode" / name)
    assert KNOWN["opencode"].session_files(Where(home, {}, Path())) == [path]


@pytest.mark.parametrize("name", ["claude", "codex", "copilot", "opencode", "qwen"])
def test_sessions_are_looked_for_where_the_user_moved_them(name: str, home: Path, tmp_path: Path) -> None:
    assistant = KNOWN[name]
    moved = Where(home, {variable: f"{tmp_path}{folder}" for variable, folder in MOVED.items()}, Path())
    root = (assistant.data_folder or assistant.folder)(moved)
    path = written(root / assistant.sessions[0].replace("*", "1"))
    assert assistant.session_files(moved) == [path]
    assert path.is_relative_to(tmp_path / "moved")
