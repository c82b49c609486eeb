"""Stores as older memhooks left them, recorded by those: each opens with every memory it had.

Each has three memories, of which the last is forgotten.
"""

from __future__ import annotations

import tarfile
from datetime import timedelta
from pathlib import Path

import pytest

from memhook.core.memory import Sensitivity, content_hash
from memhook.store.table.filters import Filter
from memhook.store.table.lance import lancedb
from memhook.store.table.schema import MIGRATIONS, SCHEMA_VERSION, migrated_rows, version_of
from tests.store.test_memories import MODEL, NOW, Open, axis, matching, memory

RECORDED = Path(__file__).parent / "recorded"
DEPLOYS = memory(
    1,
    "Deploys need the VPN, migrations too.",
    tags=("deploy",),
    related=("vpn",),
    source="session-7",
    project="example.org/team/shop",
    aliases=("elsewhere/1",),
)
REPLICAS = memory(
    2,
    "Replicas lag behind the primary.",
    sensitivity=Sensitivity.RESTRICTED,
    pinned=True,
    expires=NOW + timedelta(days=400),
    supersedes=("m00000000009",),
)
FORGOTTEN = "The zanzibar phrase is forgotten."


@pytest.fixture(params=range(1, SCHEMA_VERSION + 1))
def version(request: pytest.FixtureRequest, tmp_path: Path) -> int:
    """The schema of the store that is there, as the memhook of that time wrote it."""
    number: int = request.param
    with tarfile.open(RECORDED / f"schema{number}.tar.xz") as archive:
        archive.extractall(tmp_path / "store", filter="data")
    assert version_of(lancedb().connect(tmp_path / "store").open_table("memories").schema) == number
    return number


def test_the_steps_are_numbered_up_to_the_schema_of_today_and_each_schema_is_recorded() -> None:
    assert [number for number, _ in MIGRATIONS] == list(range(1, SCHEMA_VERSION + 1))
    assert {path.name for path in RECORDED.iterdir()} == {f"schema{number}.tar.xz" for number, _ in MIGRATIONS}


@pytest.mark.usefixtures("version")
def test_a_recorded_store_opens_with_every_memory_and_its_vectors(open_store: Open, tmp_path: Path) -> None:
    store = open_store()
    assert store.after("", 10) == [DEPLOYS, REPLICAS]
    assert store.by_reference(["elsewhere/1"], Filter(muted=False, quarantined=False)) == [DEPLOYS]
    assert [one.id for one in store.find("content_hash", [content_hash(FORGOTTEN)], forgotten=True)] == ["m00000000003"]
    assert (store.model, store.vectors.missing()) == (MODEL, [])
    found, _ = store.candidates(lambda: axis(2), [], Filter(), 5)
    assert {one.id: one.cosine for one in found} == {DEPLOYS.id: 0.0, REPLICAS.id: 1.0}
    assert version_of(lancedb().connect(tmp_path / "store").open_table("memories").schema) == SCHEMA_VERSION


@pytest.mark.usefixtures("version")
def test_a_recorded_store_is_found_by_the_terms_of_today(open_store: Open) -> None:
    assert matching(open_store(), "migrating") == [DEPLOYS.content]
    assert matching(open_store(), "zanzibar") == []


def test_a_recorded_store_is_copied_once_before_it_is_migrated(version: int, open_store: Open, tmp_path: Path) -> None:
    before = lancedb().connect(tmp_path / "store").open_table("memories").to_arrow()
    open_store()
    open_store()
    copies = list((tmp_path / "backups").glob("*"))
    assert len(copies) == (version < SCHEMA_VERSION)
    for copy in copies:
        assert copy.name.startswith(f"store-schema{version}-")
        assert lancedb().connect(copy).open_table("memories").to_arrow().equals(before, check_metadata=True)


@pytest.mark.usefixtures("version")
def test_rows_of_a_recorded_store_can_be_put_back(tmp_path: Path) -> None:
    rows, model = migrated_rows(lancedb().connect(tmp_path / "store").open_table("memories").to_arrow())
    by_id = {row["id"]: row for row in rows}
    assert model == MODEL
    assert (by_id[DEPLOYS.id]["muted"], by_id[DEPLOYS.id]["quarantine"], by_id[DEPLOYS.id]["released"]) == (
        False,
        "",
        "",
    )
    assert by_id[DEPLOYS.id]["terms"].startswith("deploy")
    assert by_id["m00000000003"]["terms"] == ""
