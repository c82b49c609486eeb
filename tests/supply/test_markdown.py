from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memhook.supply.markdown import FIELDS, document, records
from tests.cli.conftest import NOTE


def told(text: str) -> list[tuple[str, str]]:
    return [(one.get("title", ""), one["content"]) for one in records(text, "notes.md", "/notes.md")]


def test_each_top_heading_becomes_a_memory_with_what_stands_under_it() -> None:
    assert told("intro\n\n# Build\nmake\n\n## Fast\nmake -j\n# Test #\npytest\n") == [
        ("", "intro"),
        ("Build", "make\n\n## Fast\nmake -j"),
        ("Test", "pytest"),
    ]


def test_a_single_heading_above_all_others_names_the_document() -> None:
    assert told("# Shop\nA web shop.\n## Build\nmake\n### Fast\nmake -j\n## Empty\n\n## Style\ntabs") == [
        ("Shop", "A web shop."),
        ("Build", "make\n### Fast\nmake -j"),
        ("Style", "tabs"),
    ]


def test_in_a_file_of_notes_a_heading_follows_the_title_of_the_document() -> None:
    def titles(text: str) -> list[str]:
        return [one["title"] for one in records(text, "notes.md", "k", below_document=True)]

    assert titles("# Shop\nA web shop.\n## Why\nmargins") == ["Shop", "Shop › Why"]
    assert titles("---\ntitle: Kafka retention\n---\n7 days\n## Why\ndisks") == [
        "Kafka retention",
        "Kafka retention › Why",
    ]
    assert titles("# A\none\n# B\ntwo") == ["A", "B"]


def test_without_headings_the_file_is_one_memory() -> None:
    assert told("just\ntext\n") == [("", "just\ntext")]
    assert told(" \n") == []


def test_what_looks_like_a_heading_in_code_is_none() -> None:
    assert told("# A\n```sh\n# comment\n~~~\n# more\n```\n# B\nb\n#hashtag") == [
        ("A", "```sh\n# comment\n~~~\n# more\n```"),
        ("B", "b\n#hashtag"),
    ]


def test_front_matter_becomes_fields_of_every_memory() -> None:
    text = """---
tags: [ci, "a b"]
namespace: decisions
related:
  - billing
  - 'Ana'
pinned: true
date: 2026-02-14
version: 3
nested: {x: 1}
---
# One
1
# Two
2
"""
    fields: dict[str, Any] = {
        "tags": ["ci", "a b"],
        "namespace": "decisions",
        "related": ["billing", "Ana"],
        "pinned": True,
        "created": "2026-02-14",
        "source": "notes.md",
    }
    assert [{name: one[name] for name in fields} for one in records(text, "notes.md", "k")] == [fields, fields]


def test_a_rule_at_the_top_is_no_front_matter() -> None:
    assert told("---\ntext without an end") == [("", "---\ntext without an end")]


def test_a_memory_is_known_again_by_file_and_heading_whatever_its_text() -> None:
    def names(text: str, key: str = "/notes.md") -> list[str]:
        return [one["id"] for one in records(text, "notes.md", key)]

    first = names("# A\none\n# A\ntwo\n# B\nthree")
    assert len(set(first)) == 3
    assert names("# A\nchanged\n# A\ntwo\n# B\nthree") == first
    assert not set(names("# A\none", "/other.md")) & set(first)


texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\r"))


@given(texts, texts, st.lists(texts, max_size=3))
def test_a_document_is_read_back_as_the_same_memory(content: str, title: str, tags: list[str]) -> None:
    record = dict.fromkeys(FIELDS, "") | NOTE | {"content": content, "title": title, "tags": tags, "muted": False}
    (read,) = records(document(record), "x.md", "x")
    assert (read["id"], read["content"], read.get("title", ""), read.get("tags", [])) == (
        NOTE["id"],
        content,
        title,
        tags,
    )
    assert {name: read[name] for name in ("created", "namespace", "origin")} == {
        name: NOTE[name] for name in ("created", "namespace", "origin")
    }


@pytest.mark.parametrize("value", ["[" * 100_000, "[" * 50_000 + "]" * 50_000, "[" * 900 + "]" * 900, '{"a":' * 50_000])
def test_front_matter_nested_deeply_is_text(value: str) -> None:
    (record,) = records(f"---\ntags: {value}\n---\nbody\n", "notes.md", "/notes.md")
    assert record["content"] == "body"
    assert json.dumps(record)


def test_a_heading_is_read_without_the_signs_that_close_it() -> None:
    told_titles = [title for title, _ in told("# A ##\na\n# B#\nb\n# ##\nc\n# D # d #  \nd")]
    assert told_titles == ["A", "B#", "##", "D # d"]
