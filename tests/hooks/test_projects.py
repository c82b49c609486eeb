"""Projects listed and mended, as later sessions see it."""

from __future__ import annotations

import os
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from memhook.cli.place import Place
from memhook.errors import InvalidInput, NotFound
from memhook.paths import user_paths
from tests.hooks.conftest import Assistant
from tests.hooks.test_prompt import FACT, QUESTION

OTHER = "The office cat is called Minka, lives on floor 3 and gets tuna on Fridays."


@pytest.fixture
def old(assistant: Assistant) -> Assistant:
    """The same user in another project."""
    return Assistant(assistant.runner, project(assistant.directory.parent / "old"))


@pytest.fixture
def new(assistant: Assistant) -> Assistant:
    return Assistant(assistant.runner, project(assistant.directory.parent / "new"))


def project(path: Path) -> Path:
    path.mkdir()
    (path / "go.mod").touch()
    return path


def listed(assistant: Assistant) -> dict[str, dict[str, Any]]:
    return {one["id"]: one for one in assistant.calls("projects")["projects"]}


def test_projects_are_listed_with_their_memories_and_whether_they_are_still_there(
    old: Assistant, new: Assistant
) -> None:
    old.remembers(FACT)
    new.remembers(OTHER)
    new.remembers("Everywhere the same.", project="")
    old.prompts("yes")
    report = new.calls("projects")
    assert report["global"] == 1
    one = listed(new)[str(old.directory)]
    assert (one["name"], one["memories"], one["here"], one["exists"], one["also"]) == ("old", 1, False, True, [])
    assert one["last_used"]
    assert listed(new)[str(new.directory)]["here"]
    (old.directory / "go.mod").unlink()
    old.directory.rmdir()
    assert listed(new)[str(old.directory)]["exists"] is False


@pytest.mark.parametrize("is_another", [False, True])
def test_a_repository_that_gets_a_remote_keeps_its_memories_and_another_in_its_place_gets_none(
    assistant: Assistant, is_another: bool
) -> None:
    subprocess.run(["git", "init", "-q", str(assistant.directory)], check=True)
    urn = assistant.remembers(FACT)
    if is_another:
        later = time.time() + 60
        os.utime(assistant.directory / ".git/description", (later, later))
    config = assistant.directory / ".git/config"
    config.write_text(f'{config.read_text()}[remote "origin"]\n\turl = git@github.com:acme/books.git\n')
    assert assistant.prompts(QUESTION, session="a") == ""
    assistant.runner.keep_house()
    assert (urn in assistant.prompts(QUESTION, session="b")) is not is_another
    assert listed(assistant)["github.com/acme/books"]["memories"] == (0 if is_another else 1)


def set_remote(assistant: Assistant, url: str) -> None:
    subprocess.run(["git", "-C", str(assistant.directory), "config", "remote.origin.url", url], check=True)


def earlier(assistant: Assistant) -> tuple[str, int] | None:
    assistant.runner.keep_house()
    found = assistant.calls("status")["earlier_project"]
    return (found["id"], found["memories"]) if found else None


@pytest.mark.parametrize("had_remote", [True, False])
def test_a_repository_with_another_remote_names_the_project_it_was_and_moves_nothing(
    assistant: Assistant, had_remote: bool
) -> None:
    subprocess.run(["git", "init", "-q", str(assistant.directory)], check=True)
    if not had_remote:
        assistant.remembers(OTHER)
    set_remote(assistant, "git@github.com:acme/books.git")
    urn = assistant.remembers(FACT)
    left = 1 if had_remote else 2
    assert earlier(assistant) is None
    set_remote(assistant, "git@github.com:acme/ledger.git")
    for _ in range(2):  # also after the new one has memories and sessions
        assert earlier(assistant) == ("github.com/acme/books", left)
        assistant.remembers("Never deploy the ledger on a Friday.")
    assert assistant.prompts(QUESTION, session="a").count(urn) == 0
    assistant.calls("merge_projects", source="github.com/acme/books", target="github.com/acme/ledger")
    assert earlier(assistant) is None
    assert urn in assistant.prompts(QUESTION, session="b")
    set_remote(assistant, "git@github.com:acme/accounts.git")
    assert earlier(assistant) == ("github.com/acme/ledger", left + 1)


def test_another_repository_in_the_same_place_was_no_earlier_project(assistant: Assistant) -> None:
    subprocess.run(["git", "init", "-q", str(assistant.directory)], check=True)
    set_remote(assistant, "git@github.com:acme/books.git")
    assistant.remembers(FACT)
    assert earlier(assistant) is None
    later = time.time() + 60
    os.utime(assistant.directory / ".git/description", (later, later))
    set_remote(assistant, "git@github.com:acme/ledger.git")
    assert earlier(assistant) is None


def test_a_renamed_directory_gets_its_memories_back_under_the_same_urns(old: Assistant, new: Assistant) -> None:
    urn = old.remembers(FACT)
    assert new.prompts(QUESTION) == ""
    assert new.calls("merge_projects", source="old", target="here", dry_run=True)["moved"] == 1
    assert new.prompts(QUESTION) == ""
    merged = new.calls("merge_projects", source=str(old.directory), target="here")
    assert (merged["moved"], merged["folded"]) == (1, 0)
    assert urn in new.prompts(QUESTION)
    assert new.calls("get", references=[urn])[0]["project"] == str(new.directory)


def test_later_sessions_of_a_merged_project_count_as_the_other(old: Assistant, new: Assistant, home: Path) -> None:
    old.prompts("yes")
    new.remembers(FACT)
    new.calls("merge_projects", source=str(old.directory), target=str(new.directory))
    assert FACT in old.prompts(QUESTION, session="s2")
    assert old.calls("why")["project"] == str(new.directory)
    old.remembers(OTHER)
    assert {one["project"] for one in new.calls("list")["memories"]} == {str(new.directory)}
    assert list(listed(old)) == [str(new.directory)]
    assert listed(old)[str(new.directory)]["also"] == [str(old.directory)]
    assert Place(str(old.directory), user_paths()).project.id == str(new.directory)
    mode = (home / ".local/share/memhook/projects.json").stat().st_mode
    assert mode & 0o077 == 0


def test_merging_in_a_chain_leads_to_the_last_and_never_in_a_circle(
    assistant: Assistant, old: Assistant, new: Assistant
) -> None:
    third = Assistant(assistant.runner, project(assistant.directory.parent / "third"))
    urn = old.remembers(FACT)
    new.calls("merge_projects", source=str(old.directory), target="here")
    third.calls("merge_projects", source=str(new.directory), target="here")
    for place in (old, new, third):
        assert place.calls("get", references=[urn])[0]["project"] == str(third.directory)
        assert place.calls("status")["project"] == str(third.directory)
    with pytest.raises(InvalidInput, match="one project already"):
        old.calls("merge_projects", source=str(third.directory), target=str(old.directory))


def test_a_split_project_is_its_own_again(old: Assistant, new: Assistant) -> None:
    old.remembers(FACT)
    new.calls("merge_projects", source=str(old.directory), target="here")
    assert new.calls("split_project", source=str(old.directory))["target"] == str(new.directory)
    assert old.calls("status")["project"] == str(old.directory)
    assert FACT in new.prompts(QUESTION)
    with pytest.raises(NotFound):
        new.calls("split_project", source=str(old.directory))


def test_what_both_projects_know_becomes_one_memory_with_both_names(old: Assistant, new: Assistant) -> None:
    gone = old.remembers(FACT, tags=["db"], pinned=True, sensitivity="restricted")
    kept = new.remembers(FACT, tags=["ops"])
    replaced = old.remembers(OTHER)
    old.calls("edit", reference=gone, supersedes=[replaced])
    result = new.calls("merge_projects", source=str(old.directory), target="here")
    assert (result["moved"], result["folded"]) == (1, 1)
    both = new.calls("get", references=[gone, kept])
    assert {one["urn"] for one in both} == {kept}
    one = both[0]
    assert (one["tags"], one["pinned"], one["sensitivity"]) == (["ops", "db"], True, "restricted")
    assert new.calls("get", references=[replaced])[0]["superseded_by"] == kept.removeprefix("urn:memhook:")


def test_single_memories_move_to_another_project_or_to_all(old: Assistant, new: Assistant) -> None:
    urn, other = old.remembers(FACT), old.remembers(OTHER)
    assert new.calls("move_memories", references=[urn], target="here")["moved"] == 1
    assert FACT in new.prompts(QUESTION)
    new.calls("move_memories", references=[urn], target="global")
    assert new.calls("get", references=[urn])[0]["project"] == ""
    new.calls("move_memories", source="old", target=str(new.directory))
    assert new.calls("get", references=[other])[0]["project"] == str(new.directory)
    assert old.calls("status")["project"] == str(old.directory)


def test_a_name_that_means_nothing_or_too_much_is_refused(assistant: Assistant, old: Assistant, new: Assistant) -> None:
    with pytest.raises(NotFound, match="No project is called nowhere"):
        new.calls("merge_projects", source="nowhere", target="here")
    (assistant.directory.parent / "deeper").mkdir()
    twin = Assistant(assistant.runner, project(assistant.directory.parent / "deeper" / "old"))
    old.remembers(FACT)
    twin.remembers(OTHER)
    with pytest.raises(InvalidInput, match="Several projects are called old"):
        new.calls("merge_projects", source="old", target="here")
    with pytest.raises(InvalidInput, match="not a project"):
        new.calls("merge_projects", source="global", target="here")


def test_a_file_of_aliases_that_cannot_be_read_changes_nothing(old: Assistant, home: Path) -> None:
    old.remembers(FACT)
    (home / ".local/share/memhook/projects.json").write_text("{not json")
    assert FACT in old.prompts(QUESTION)


def test_a_session_that_goes_into_a_folder_of_a_plain_directory_stays_in_its_project(
    assistant: Assistant, home: Path
) -> None:
    notes = home / "notes"
    (notes / "march").mkdir(parents=True)
    at_the_top = Assistant(assistant.runner, notes)
    at_the_top.remembers(FACT)
    below = Assistant(assistant.runner, notes / "march")
    assert below.prompts(QUESTION) == ""
    below.environment["CLAUDE_PROJECT_DIR"] = os.fspath(notes)
    assert FACT in below.prompts(QUESTION)
