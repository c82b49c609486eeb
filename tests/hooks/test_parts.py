from __future__ import annotations

from pathlib import Path

import pytest

from memhook.hooks.parts import OnePart, fits_one_part
from memhook.hooks.runner import Runner
from memhook.paths import user_paths
from memhook.settings import Settings
from memhook.settings_file import changed_file, with_value
from tests.hooks.test_prompt import configure


def settings(**given: object) -> Settings:
    return Settings.model_validate(given)


@pytest.mark.parametrize(
    ("given", "fits"),
    [
        ({}, True),
        ({"hooks": {"max_memories": 50}}, False),
        ({"hooks": {"best_chars": 9_000}}, False),
        ({"hooks": {"detail": "full"}}, False),
        ({"hooks": {"detail": "full"}, "max_tokens": 1_000}, True),
        ({"preview_chars": 1_000}, False),
        ({"hooks": {"session_start": {"max_tokens": 4_000}}}, False),
    ],
)
def test_one_part_is_enough_unless_the_settings_allow_more(given: dict[str, object], fits: bool) -> None:
    assert fits_one_part(settings(**given)) is fits


def test_the_mark_follows_the_settings(runner: Runner, home: Path) -> None:
    runner.open()
    assert user_paths().one_part.exists()
    configure(home, "hooks.max_memories = 50")
    runner.keep_house()
    assert not user_paths().one_part.exists()


def test_a_changed_setting_withdraws_the_mark_at_once(runner: Runner) -> None:
    runner.open()
    changed_file(user_paths(), lambda text: with_value(text, "max_tokens", 3000))
    assert not user_paths().one_part.exists()


def test_an_answer_in_two_parts_withdraws_the_mark_for_good(tmp_path: Path) -> None:
    one_part = OnePart(tmp_path / "one-part")
    one_part.renew(settings())
    one_part.answered(1, settings())
    assert (tmp_path / "one-part").exists()
    one_part.answered(2, settings())
    one_part.renew(settings())
    assert not (tmp_path / "one-part").exists()
