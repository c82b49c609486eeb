"""What a memory names, checked against the index of a repository."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from memhook.core.memory import Memory
from memhook.core.staleness import Findings, Repository, clause, findings, words_of

DAY = datetime(2026, 3, 1, tzinfo=UTC)
BEFORE, AFTER = int(DAY.timestamp()) - 60, int(DAY.timestamp()) + 60
INDEX = Repository(
    paths=frozenset({"src/app.py", "src", "Makefile", "src/tool.py", "doc/tariff.md"}),
    by_name={"app.py": ["src/app.py"], "src": ["src"], "Makefile": ["Makefile"], "tool.py": ["src/tool.py"]},
    changes={
        "src/app.py": [BEFORE, AFTER, AFTER],
        "conf/settings.prod.toml": [BEFORE, AFTER],
        "src/tool.py": [BEFORE],
        "doc/fees.md": [BEFORE, AFTER],
    },
    moves={"doc/fees.md": "doc/tariff.md"},
    once_by_name={
        "app.py": ["src/app.py"],
        "settings.prod.toml": ["conf/settings.prod.toml"],
        "fees.md": ["doc/fees.md"],
    },
    targets=frozenset({"test", "check-%"}),
    lost={"k3v9x2m4p7qa": frozenset({"old_name", "audit"})},
)


def found(content: str, deleted: str = "") -> Findings:
    """What is found with a work tree that has all tracked files but one."""
    memory = Memory("k3v9x2m4p7qa", "", content, "", DAY, DAY)
    return findings(memory, INDEX, lambda path: path in INDEX.paths - {deleted})


def test_a_file_that_the_repository_had_and_has_no_longer_is_gone() -> None:
    result = found("Any change in `settings.prod.toml` needs a second reviewer.")
    assert (result.gone, result.is_all_gone) == (("settings.prod.toml",), True)
    assert clause(result) == "settings.prod.toml is gone; 1 commit since"


def test_a_file_that_it_never_had_is_not() -> None:
    result = found("Copy `other.toml` to ~/.config/tool.toml.")
    assert (clause(result), result.is_all_gone) == ("", False)


def test_the_commits_since_it_was_written_are_counted() -> None:
    result = found("The entry point is `src/app.py`.")
    assert clause(result) == "2 commits since"
    assert not result.is_all_gone


def test_commits_are_counted_for_each_file_and_say_which_if_there_is_another() -> None:
    assert clause(found("`src/app.py` must match `doc/fees.md`.")) == (
        "doc/fees.md is now doc/tariff.md; 2 commits to src/app.py since"
    )
    assert clause(found("`src/app.py` calls `src/tool.py`.")) == "2 commits to src/app.py since"
    assert clause(found("`app.py`, that is `src/app.py`, is the entry point.")) == "2 commits since"
    assert clause(found("`src/app.py` reads `conf/settings.prod.toml`.")) == (
        "conf/settings.prod.toml is gone; 2 commits to src/app.py since"
    )


def test_a_file_deleted_in_the_work_tree_is_gone_but_the_memory_not_out_of_date() -> None:
    result = found("`src/tool.py` retries three times.", deleted="src/tool.py")
    assert (clause(result), result.is_all_gone) == ("src/tool.py is gone", False)


def test_what_a_sparse_checkout_leaves_out_is_there() -> None:
    memory = Memory("k3v9x2m4p7qa", "", "`src/tool.py` retries three times.", "", DAY, DAY)
    index = replace(INDEX, unseen=frozenset({"src/tool.py", "src"}))
    assert clause(findings(memory, index, lambda _: False)) == ""


def test_of_many_files_with_one_name_none_is_looked_for() -> None:
    paths = [f"packages/{number}/index.ts" for number in range(1000)]
    index = Repository(frozenset(paths), {"index.ts": paths})
    asked: list[str] = []

    def exists(path: str) -> bool:
        asked.append(path)
        return False

    memory = Memory("k3v9x2m4p7qa", "", "Exports go through `index.ts`.", "", DAY, DAY)
    assert clause(findings(memory, index, exists)) == ""
    assert len(asked) < 10


@pytest.mark.parametrize(
    "content",
    [
        "Any change in `settings.prod.toml` needs a second reviewer.",
        "`conf/settings.prod.toml` holds the limits of `old_name()`, see `make audit`.",
        "Run `python conf/settings.prod.toml` first.",
    ],
)
def test_a_memory_is_out_of_date_if_all_that_it_names_is_gone(content: str) -> None:
    assert found(content).is_all_gone


@pytest.mark.parametrize(
    "content",
    [
        "fly deploy is only for the demo; the real thing goes out with make audit.",
        'Postgrex.Error: relation "plots_history" does not exist -> you forgot `make audit` after a dump',
        "Call `old_name()` before a release.",  # it may have another name now
        "E4017 comes if `settings.prod.toml` has no timeout.",
        "A KeyError comes if `settings.prod.toml` has no timeout.",
        "`settings.prod.toml` is read by `ConfigReader`.",
        "`settings.prod.toml` is written by `ansible-playbook site`.",
        "tflint 0.50 crashes on `settings.prod.toml`.",
        "`settings.prod.toml` must match `other.toml` of the operators.",
    ],
)
def test_a_memory_is_not_out_of_date_if_it_may_be_about_something_else(content: str) -> None:
    result = found(content)
    assert (bool(result.gone), result.is_all_gone) == (True, False)


def test_a_word_is_a_symbol_only_if_the_text_says_so() -> None:
    def words(content: str) -> frozenset[str]:
        return words_of(Memory("k3v9x2m4p7qa", "", content, "", DAY, DAY))

    assert words("Class `Calendar` retries, the `Modbus` class does not, `parse()` and the `Fee` struct.") == {
        "Modbus",
        "Calendar",
        "parse",
        "Fee",
    }
    assert words("Set `verbose` for the class; `Modbus` speaks to the Relay module.") == frozenset()


def test_a_target_that_it_never_had_or_that_a_pattern_makes_is_not_gone() -> None:
    assert clause(found("Run `make menuconfig` in the kernel, `make check-units` here.")) == ""


def test_a_target_and_a_symbol_that_are_gone_are_named() -> None:
    partly = found("Run `make audit`, then `make test`.")
    assert (clause(partly), partly.is_all_gone) == ("make audit is gone", False)
    assert clause(found("Call `old_name()` first, `make audit` and `conf/settings.prod.toml` last.")) == (
        "old_name, make audit and 1 more are gone; 1 commit since"
    )
