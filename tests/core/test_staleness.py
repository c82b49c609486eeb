"""What a memory names, checked against the index of a repository."""

from __future__ import annotations

from datetime import UTC, datetime

from memhook.core.memory import Memory
from memhook.core.staleness import Findings, Repository, clause, findings

DAY = datetime(2026, 3, 1, tzinfo=UTC)
BEFORE, AFTER = int(DAY.timestamp()) - 60, int(DAY.timestamp()) + 60
INDEX = Repository(
    paths=frozenset({"src/app.py", "src", "Makefile"}),
    by_name={"app.py": ["src/app.py"], "src": ["src"], "Makefile": ["Makefile"]},
    changes={"src/app.py": [BEFORE, AFTER, AFTER], "conf/settings.prod.toml": [BEFORE, AFTER]},
    once_by_name={"app.py": ["src/app.py"], "settings.prod.toml": ["conf/settings.prod.toml"]},
    targets=frozenset({"test", "check-%"}),
    lost={"k3v9x2m4p7qa": frozenset({"old_name", "audit"})},
)


def found(content: str) -> Findings:
    memory = Memory("k3v9x2m4p7qa", "", content, "", DAY, DAY)
    return findings(memory, INDEX, lambda path: path in INDEX.paths)


def test_a_file_that_the_repository_had_and_has_no_longer_is_gone() -> None:
    result = found("Any change in `settings.prod.toml` needs a second reviewer.")
    assert (result.gone, result.is_all_gone) == (("settings.prod.toml",), True)
    assert clause(result) == "settings.prod.toml is gone; 1 commit since"


def test_a_file_that_it_never_had_is_not() -> None:
    assert found("Copy `other.toml` to ~/.config/tool.toml.") == Findings()


def test_the_commits_since_it_was_written_are_counted() -> None:
    result = found("The entry point is `src/app.py`.")
    assert clause(result) == "2 commits since"
    assert not result.is_all_gone


def test_a_commit_that_changed_two_of_its_files_counts_once() -> None:
    assert found("`src/app.py` reads `conf/settings.prod.toml`.").commits == 2


def test_a_target_that_it_never_had_or_that_a_pattern_makes_is_not_gone() -> None:
    assert clause(found("Run `make menuconfig` in the kernel, `make check-units` here.")) == ""


def test_a_target_and_a_symbol_that_are_gone_are_named() -> None:
    partly = found("Run `make audit`, then `make test`.")
    assert (clause(partly), partly.is_all_gone) == ("make audit is gone", False)
    assert clause(found("Call `old_name()` first, `make audit` and `conf/settings.prod.toml` last.")) == (
        "old_name, make audit and 1 more are gone; 1 commit since"
    )
