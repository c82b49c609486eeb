from __future__ import annotations

import json
from pathlib import Path

from tests.hooks.conftest import Assistant
from tests.hooks.test_prompt import FACT, QUESTION


def test_a_muted_memory_never_surfaces_and_is_still_found(assistant: Assistant) -> None:
    urn = assistant.remembers(FACT, pinned=True)
    before = assistant.calls("get", references=[urn], touch=False)[0]
    (muted,) = assistant.calls("mute", references=[urn])
    assert before | muted == {**before, "muted": True}
    assert assistant.prompts(QUESTION) == ""
    assert assistant.starts() == ""
    assert assistant.calls("search", query=QUESTION)["results"][0]["muted"]
    assert assistant.calls("list")["memories"][0]["muted"]
    assert assistant.calls("get", references=[urn], touch=False) == [before | muted]
    assistant.calls("mute", references=[urn], muted=False)
    assert FACT in assistant.prompts(QUESTION)


def test_an_edit_leaves_it_muted(assistant: Assistant) -> None:
    urn = assistant.remembers(FACT)
    assistant.calls("mute", references=[urn])
    assert assistant.calls("edit", reference=urn, title="Replica lag")["muted"]


def test_an_export_that_is_imported_elsewhere_keeps_it_muted(assistant: Assistant, tmp_path: Path) -> None:
    urn = assistant.remembers(FACT)
    assistant.calls("mute", references=[urn])
    line = json.dumps(assistant.calls("export_page")[0])
    assistant.environment = {"MEMHOOK_STORE__URI": f"{tmp_path}/elsewhere"}
    assert assistant.calls("import_lines", lines=[[1, line]])["outcomes"] == {"stored": 1}
    assert assistant.calls("get", references=[urn])[0]["muted"]
    assert assistant.prompts(QUESTION) == ""
