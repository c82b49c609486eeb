"""A file with one JSON list of records, as many tools export them."""

from __future__ import annotations

import json
from collections.abc import Iterator

from memhook.supply.source import Entry, Head, Source, name_in_file, not_utf8


def _is_list(head: Head) -> bool:
    return head.suffix == ".json" and head.lines[:1] != () and head.lines[0].startswith("[")


def _entries(data: bytes, name: str, key: str) -> Iterator[Entry]:
    try:
        found = json.loads(data.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        yield Entry(name, None, not_utf8(error))
        return
    except (ValueError, RecursionError) as error:
        yield Entry(name, None, f"not JSON ({error})")
        return
    for number, record in enumerate(found if isinstance(found, list) else [found], start=1):
        if isinstance(record, dict):
            own = {"id": name_in_file(record["id"], key)} if isinstance(record.get("id"), int | str) else {}
            yield Entry(f"entry {number}", {**record, **own})
        else:
            yield Entry(f"entry {number}", None, "not a JSON object")


JSON_LIST = Source("JSON list", _is_list, _entries)
