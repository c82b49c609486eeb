"""What an assistant reads from a file by itself is not paid for twice; the others get it."""

from __future__ import annotations

import json

from tests.hooks.conftest import Assistant
from tests.hooks.test_prompt import FACT, QUESTION


def imports(assistant: Assistant, loaded_by: list[str]) -> None:
    line = json.dumps({"id": "md-1", "title": "CLAUDE.md › Ledger", "content": FACT, "loaded_by": loaded_by})
    assistant.calls("import_lines", lines=[[1, line]], update=True)


def test_only_those_that_do_not_read_the_file_are_shown_its_memories(assistant: Assistant) -> None:
    imports(assistant, ["claude"])
    assert assistant.prompts(QUESTION) == ""
    assert assistant.calls("explain", reference="md-1")["loaded_by"] == ["claude"]
    assert FACT not in assistant.starts()
    assistant.environment = {"MEMHOOK_CLIENT": "codex"}
    assert FACT in assistant.starts(session="c1")
    assert FACT in assistant.prompts(QUESTION, session="c2")


def test_importing_again_tells_an_older_store_who_reads_the_file(assistant: Assistant) -> None:
    imports(assistant, [])
    assert FACT in assistant.prompts(QUESTION)
    imports(assistant, ["claude", "copilot"])
    assert assistant.prompts(QUESTION, session="s2") == ""
