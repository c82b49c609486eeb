"""A table comes into a TOML file and goes again; nothing else of it changes."""

from __future__ import annotations

import tomllib

import pytest

from memhook.errors import InvalidInput
from memhook.files import toml_edit

PATH = ("mcp_servers", "memhook")
VALUES = {"command": "/a b/launch", "args": ["mcp"], "startup_timeout_sec": 20}
FILES = [
    "",
    'model = "x" # mine\n',
    '# first\nmodel = "x"\n\n[mcp_servers.other]\ncommand = "o" # keep\n\n# of the profile\n[profiles.a]\nb = 1\n',
    'a = """\n[mcp_servers.memhook]\n"""\r\n\r\n[x]\r\n',
]


@pytest.mark.parametrize("before", FILES)
def test_a_table_is_added_at_the_end_and_taken_out_again(before: str) -> None:
    after = toml_edit.with_table(before, PATH, VALUES)
    assert after.startswith(before)
    assert tomllib.loads(after)["mcp_servers"]["memhook"] == VALUES
    assert toml_edit.with_table(after, PATH, VALUES) == after
    assert toml_edit.without_table(after, PATH) == before


def test_it_is_taken_out_of_the_middle_with_its_own_tables_and_nothing_else() -> None:
    after = toml_edit.with_table('a = 1 # one\n\n[b]\nc = "[d]"\n', PATH, VALUES)
    grown = after + '\n[mcp_servers.memhook.env]\nX = "1"\n\n# of the next\n[next]\ny = 2\n'
    left = toml_edit.without_table(grown, PATH)
    assert tomllib.loads(left) == {"a": 1, "b": {"c": "[d]"}, "next": {"y": 2}}
    assert "# of the next\n[next]" in left


@pytest.mark.parametrize("text", ["mcp_servers = {}\n", "mcp_servers = 1\n", "a ="])
def test_what_cannot_take_a_table_is_refused(text: str) -> None:
    with pytest.raises(InvalidInput):
        toml_edit.with_table(text, PATH, VALUES)
