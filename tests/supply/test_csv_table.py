from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memhook.supply.csv_table import CSV
from memhook.supply.files import source_of
from memhook.supply.source import Entry, Record


def read(text: str | bytes, key: str = "/notes.csv") -> list[Entry]:
    data = text if isinstance(text, bytes) else text.encode()
    return list(CSV.entries(data, "notes.csv", key))


def records(text: str) -> list[Record]:
    return [one.record for one in read(text) if one.record is not None]


def test_a_row_is_a_memory_with_the_fields_its_columns_name() -> None:
    text = 'id,Title,Note,Date,namespace,tags,Cost\nn-1,Port,"It is 8443, not 443",2026-01-02,infra,"web; tls",9\n'
    assert records(text) == [
        {
            "content": "It is 8443, not 443",
            "id": "n-1",
            "title": "Port",
            "created": "2026-01-02",
            "namespace": "infra",
            "tags": ["web", "tls"],
        }
    ]


@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_the_header_tells_what_separates_the_columns(separator: str) -> None:
    assert records(f'title{separator}body\n\nA{separator}"x\ny"\n') == [{"content": "x\ny", "title": "A"}]


def test_a_table_without_a_text_says_which_columns_it_has_and_which_it_needs() -> None:
    (only,) = read("id,titel,datum\n1,a,b\n")
    assert only.record is None
    assert (
        only.problem == "no column has the text: one of content, text, note, body is needed, found are id, titel, datum"
    )
    assert [one.record for one in read("")] == [None]


def test_a_bad_row_costs_only_itself() -> None:
    bad = ["1,one,two", '2,"never closed', "3,\udcff"]
    lines = ["id,text", "0,first", *bad, "4,last"]
    found = read("\n".join(lines).encode("utf-8", "surrogateescape"))
    assert [one.record["content"] for one in found if one.record] == ["first", "last"]
    assert [one.place for one in found if one.record is None] == [f"notes.csv: line {line}" for line in (3, 4, 5)]
    assert "quotation marks" in found[1].problem
    assert found[3].problem == "not UTF-8"


def test_an_empty_cell_says_nothing() -> None:
    assert records("title,created,text,tags\n,,only this,\n,,,x\n") == [
        {"content": "only this"},
        {"content": "", "tags": ["x"]},
    ]


def test_a_number_names_a_row_of_its_own_file_only() -> None:
    (one,), (other,) = (read("id,text\n1,a\n", key) for key in ("/a.csv", "/b.csv"))
    assert one.record
    assert other.record
    assert one.record["id"] != other.record["id"]
    assert read("id,text\n1,a\n", "/a.csv")[0].record == one.record


@pytest.mark.parametrize(
    ("head", "name", "is_csv"),
    [
        ("id,text\n1,a", "notes.csv", True),
        ("a\tb", "notes.tsv", True),
        ("id;text;tags\n1;a;b", "-", True),
        ("A line, with text", "-", False),
        ("text, and more", "notes.md", False),
        ('{"text": "a"}', "notes.jsonl", False),
    ],
)
def test_a_table_is_recognised_by_its_name_or_its_header(head: str, name: str, is_csv: bool) -> None:
    assert (source_of(head.encode(), name) is CSV) == is_csv


@given(st.text(alphabet=st.sampled_from('a",;\n\r\t\ufeff\x00')))
def test_any_text_is_read(text: str) -> None:
    assert all(one.record or one.problem for one in read(f"id,text\n{text}"))
