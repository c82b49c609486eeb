"""Equal text is one memory, unless each has a title of its own."""

from __future__ import annotations

import json
from concurrent.futures import Future
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from memhook.answering.explore import record_of
from memhook.answering.recall import for_enrichment
from memhook.core.memory import Draft, Memory, Origin, title_key
from memhook.errors import InvalidInput
from memhook.library.library import Library
from memhook.paths import user_paths
from memhook.store.embedding.encoder import Embedder
from memhook.store.memories import own_store
from memhook.store.table import changes
from memhook.store.table.filters import Filter
from memhook.writing.captured import capture, forget_repeated
from memhook.writing.expunge import Holdings, redacted
from memhook.writing.projects import moved
from memhook.writing.remember import edited, forgotten, found, memory_from, remembered
from memhook.writing.revision import plain_form, put_back
from memhook.writing.sharing import shared_copy
from memhook.writing.transfer import Mode, imported
from tests.fake_embedder import HashEmbedder

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
AUTH, KIOSK = Draft("Mara", title="Owner of auth"), Draft("Mara", title="Owner of kiosk")


@pytest.fixture
def elsewhere(tmp_path: Path) -> Library:
    """Another library."""
    loaded: Future[Embedder] = Future()
    loaded.set_result(HashEmbedder())
    return Library(own_store(str(tmp_path / "elsewhere"), tmp_path / "backups"), "hash", lambda _: loaded)


def outcomes(library: Library, *drafts: Draft) -> list[str]:
    return [one.outcome for one in remembered(library, drafts, NOW)]


def stored(library: Library, draft: Draft) -> Memory:
    memory = remembered(library, [draft], NOW)[0].memory
    assert memory is not None
    return memory


def brought(library: Library, *records: dict[str, object], again: bool = False) -> dict[str, int]:
    lines = [(number, json.dumps(record)) for number, record in enumerate(records, start=1)]
    return imported(library, lines, "", NOW, Mode(again)).outcomes


def titles(library: Library) -> list[str]:
    return sorted(one.title for one in library.store.newest(Filter(), 100))


def line(title: str, content: str = "Mara", **more: object) -> dict[str, object]:
    return {"title": title, "content": content, **more}


def test_two_titles_of_their_own_make_two_memories_of_one_text(library: Library) -> None:
    assert outcomes(library, AUTH, KIOSK, AUTH) == ["stored", "stored", "already there"]
    assert outcomes(library, KIOSK, Draft("Mara ", title="owner  of Kiosk")) == ["already there"] * 2
    assert titles(library) == ["Owner of auth", "Owner of kiosk"]


@pytest.mark.parametrize("first", ["", "Owner of auth"])
def test_where_one_has_no_title_of_its_own_it_is_one_memory(library: Library, first: str) -> None:
    second = "" if first else "Owner of auth"
    assert outcomes(library, Draft("Mara", title=first), Draft("Mara", title=second)) == ["stored", "already there"]
    assert outcomes(library, Draft("Mara", title="Mara"), Draft("Mara")) == ["already there"] * 2


def test_the_same_section_of_two_instruction_files_of_a_folder_is_one_memory(library: Library) -> None:
    names = ("CLAUDE.md › Style", "AGENTS.md › Style", "apps/a/CLAUDE.md › Style", "apps/b/CLAUDE.md › Style")
    drafts = [Draft("Two spaces.", title=name) for name in names]
    assert outcomes(library, *drafts) == ["stored", "already there", "stored", "stored"]


def test_what_is_imported_again_is_found_again(library: Library) -> None:
    records = line("Port of billing", "8080"), line("Port of auth", "8080")
    assert brought(library, *records) == {"stored": 2}
    assert brought(library, *reversed(records)) == {"already there": 2}


def test_a_store_of_the_version_before_gets_what_it_lacks_and_nothing_twice(library: Library) -> None:
    """It has one of the two, under the hash of its text alone, and tombstones without a title."""
    stored(library, KIOSK)
    gone = stored(library, Draft("Nina", title="Owner of search"))
    forgotten(library, [gone.id], NOW)
    with library.store.writing():
        library.store.write(changes.update, [gone.id], title="")
    records = line("Owner of auth"), line("Owner of kiosk"), line("Owner of search", "Nina"), line("Other", "Nina")
    assert brought(library, *records) == {"stored": 1, "already there": 1, "forgotten before": 2}
    assert brought(library, *records) == {"already there": 2, "forgotten before": 2}


def test_an_export_brings_both_back_and_nothing_twice(library: Library, elsewhere: Library) -> None:
    remembered(library, [AUTH, KIOSK], NOW)
    records = [json.loads(json.dumps(record_of(one))) for one in library.store.newest(Filter(), 10)]
    assert brought(library, *records) == {"already there": 2}
    assert brought(elsewhere, *records) == {"stored": 2}
    assert titles(elsewhere) == titles(library)


def test_one_of_the_two_stays_forgotten_and_the_other_is_not_taken_for_it(library: Library) -> None:
    auth, _ = (stored(library, draft) for draft in (AUTH, KIOSK))
    forgotten(library, [auth.id], NOW)
    records = line("Owner of auth"), line("Owner of kiosk"), line("Owner of search")
    assert brought(library, *records) == {"forgotten before": 1, "already there": 1, "stored": 1}
    assert brought(library, line("")) == {"already there": 1}


def test_remembering_one_again_leaves_the_other_forgotten(library: Library) -> None:
    memories = [stored(library, draft) for draft in (AUTH, KIOSK)]
    forgotten(library, [one.id for one in memories], NOW)
    stored(library, KIOSK)
    assert brought(library, line("Owner of auth"), line("Owner of kiosk")) == {
        "forgotten before": 1,
        "already there": 1,
    }
    assert brought(library, line("Owner of auth"), again=True) == {"stored": 1}


def test_nothing_of_a_forgotten_title_is_left_but_its_hash(library: Library) -> None:
    forgotten(library, [stored(library, AUTH).id], NOW)
    left = library.store.find("content_hash", [memory_from(AUTH, NOW).content_hash], forgotten=True)
    assert [one.title for one in left] == [title_key(AUTH)]
    assert "auth" not in repr(left)


def test_undoing_a_forget_brings_back_the_one_that_was_forgotten(library: Library) -> None:
    auth, _ = (stored(library, draft) for draft in (AUTH, KIOSK))
    forgotten(library, [auth.id], NOW)
    put_back(library, [plain_form(auth)], {})
    assert titles(library) == ["Owner of auth", "Owner of kiosk"]
    assert found(library, [auth.id]) == [auth]


def test_an_old_title_that_is_imported_again_is_known(library: Library) -> None:
    brought(library, line("Owner of auth"), line("Owner of kiosk"))
    auth = next(one for one in library.store.newest(Filter(), 10) if one.title == "Owner of auth")
    edited(library, auth.id, {"title": "Who answers for auth"}, NOW)
    assert brought(library, line("Owner of auth"), line("Owner of kiosk")) == {"already there": 2}
    edited(library, auth.id, {"title": "Auth", "content": "Nina"}, NOW)
    assert brought(library, line("Owner of auth"), line("Who answers for auth")) == {"already there": 2}
    assert brought(library, line("Owner of search")) == {"stored": 1}


def test_an_edit_may_not_make_a_second_memory_of_the_same_title_and_text(library: Library) -> None:
    auth, kiosk = (stored(library, draft) for draft in (AUTH, KIOSK))
    assert edited(library, kiosk.id, {"tags": ("people",)}, NOW).tags == ("people",)
    with pytest.raises(InvalidInput, match=auth.id):
        edited(library, kiosk.id, {"title": "Owner of auth"}, NOW)
    search = stored(library, Draft("Nina", title="Owner of search"))
    assert edited(library, search.id, {"content": "Mara"}, NOW).content == "Mara"
    assert titles(library) == ["Owner of auth", "Owner of kiosk", "Owner of search"]


def test_both_are_shared(library: Library, elsewhere: Library) -> None:
    copies = [shared_copy(stored(library, draft), elsewhere, NOW) for draft in (AUTH, KIOSK)]
    assert [outcome for _, outcome in copies] == ["stored", "stored"]
    assert titles(elsewhere) == ["Owner of auth", "Owner of kiosk"]


def test_both_are_moved_and_a_title_is_not_lost_to_a_text_without_one(library: Library) -> None:
    stored(library, Draft("Mara", project="new"))
    some = [stored(library, Draft("Mara", title=title, project="old")) for title in ("Owner of auth", "Owner of kiosk")]
    assert moved(library, some, "new") == {"moved": 1, "folded": 1}
    assert titles(library) == ["Owner of auth", "Owner of kiosk"]


def test_both_are_shown(library: Library) -> None:
    remembered(library, [AUTH, KIOSK, Draft("Mara", title="Owner of auth", project="p")], NOW)
    relevant, weak, _ = for_enrichment(library, "Owner of auth and kiosk Mara", Filter(), "eager")
    assert sorted(one.memory.title for one in (*relevant, *weak)) == ["Owner of auth", "Owner of kiosk"]


def test_redacting_one_names_the_other_that_has_the_same_text(library: Library) -> None:
    auth, kiosk = (stored(library, draft) for draft in (AUTH, KIOSK))
    done = redacted(Holdings(library, None, user_paths()), [auth.id], NOW)
    assert done["same_content"] == [kiosk.urn]


def test_captured_notes_of_one_text_and_two_titles_are_both_kept(library: Library) -> None:
    text = "The owner is Mara, who is in the Lisbon office on Tuesdays and Thursdays."
    drafts = [
        Draft(text, title=title, session=f"claude/s1#{turn}", project="p", created=NOW + timedelta(minutes=turn))
        for turn, title in enumerate(("Owner of auth", "Owner of kiosk"))
    ]
    assert capture(library, drafts, NOW).stored == 2
    auth = next(one for one in library.store.newest(Filter(captured=True), 10) if one.title == "Owner of auth")
    written = stored(library, Draft(text, title="Owner of search", project="p", origin=Origin.AGENT))
    assert forget_repeated(library, written, NOW) == []
    forgotten(library, [auth.id], NOW)
    again = [Draft(text, title="Owner of auth", session="claude/s2#1", project="p")]
    other = [Draft(text, title="Owner of billing", session="claude/s2#2", project="p")]
    assert (capture(library, again, NOW).known, capture(library, other, NOW).stored) == (1, 1)
