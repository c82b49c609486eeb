from __future__ import annotations

import os
import tomllib
from pathlib import Path

import pytest

from memhook.errors import InvalidInput
from memhook.settings import (
    SessionStart,
    Settings,
    checked,
    flattened,
    load_settings,
    setting_keys,
    value_of,
    what_is_allowed,
)

DEFAULTS = Path(__file__).parents[1] / "config" / "default.toml"


def written(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def test_the_documented_defaults_are_those_of_the_code() -> None:
    documented = dict(flattened(tomllib.loads(DEFAULTS.read_text(encoding="utf-8"))))
    assert documented == dict(flattened(Settings().model_dump(mode="json")))


def test_every_setting_has_a_line_of_why_above_it() -> None:
    lines = DEFAULTS.read_text(encoding="utf-8").splitlines()
    for number, line in enumerate(lines):
        if "=" in line and not line.startswith("#"):
            assert lines[number - 1].startswith("# "), line


def test_environment_beats_project_beats_user_beats_default(tmp_path: Path) -> None:
    user = written(tmp_path / "config.toml", "max_tokens = 3000\npreview_chars = 300\n[hooks]\ndetail = 'full'\n")
    project = written(tmp_path / ".memhook.toml", "max_tokens = 2000\npreview_chars = 150\n")
    loaded = load_settings(user, project, {"MEMHOOK_MAX_TOKENS": "1000"})
    assert (loaded.settings.max_tokens, loaded.settings.preview_chars) == (1000, 150)
    assert loaded.settings.hooks.detail == "full"
    assert loaded.sources == {
        "max_tokens": "environment",
        "preview_chars": "project file",
        "hooks.detail": "user file",
    }
    assert not loaded.problems


def test_nested_settings_come_from_the_environment_with_two_underscores(tmp_path: Path) -> None:
    loaded = load_settings(tmp_path / "none", None, {"MEMHOOK_HOOKS__SESSION_START__MAX_MEMORIES": "3"})
    assert loaded.settings.hooks.session_start.max_memories == 3


def test_a_bad_value_falls_back_to_the_one_below_and_is_told(tmp_path: Path) -> None:
    user = written(tmp_path / "config.toml", "max_tokens = 'many'\nnonsense = 1\n[hooks]\nrelevance = 'strict'\n")
    loaded = load_settings(user, None, {"MEMHOOK_HOOKS__RELEVANCE": "sometimes"})
    assert loaded.settings.max_tokens == 4000
    assert loaded.settings.hooks.relevance == "strict"
    assert [("max_tokens" in p, "nonsense" in p, "sometimes" in p) for p in loaded.problems] == [
        (True, False, False),
        (False, True, False),
        (False, False, True),
    ]


def test_a_file_that_is_not_toml_is_told_and_ignored(tmp_path: Path) -> None:
    loaded = load_settings(written(tmp_path / "config.toml", "max_tokens = = 3"))
    assert loaded.settings == Settings()
    assert "config.toml" in loaded.problems[0]


@pytest.mark.parametrize(
    ("line", "key"),
    [
        ("max_tokens = 9000", "max_tokens"),
        ("enabled = true", "enabled"),
        ("namespaces = []", "namespaces"),
        ("namespaces = ['private']", "namespaces"),
        ("[store]\nuri = '/elsewhere'", "store.uri"),
        ("[embedding]\nmodel = 'other'", "embedding.model"),
        ("[hooks]\nrelevance = 'eager'", "hooks.relevance"),
        ("[hooks.session_start]\nmax_tokens = 9000", "hooks.session_start.max_tokens"),
        ("[hooks.session_start]\nmax_memories = 50", "hooks.session_start.max_memories"),
    ],
)
def test_a_project_may_not_widen_anything(tmp_path: Path, line: str, key: str) -> None:
    user = written(tmp_path / "config.toml", "namespaces = ['work', 'home']")
    loaded = load_settings(user, written(tmp_path / ".memhook.toml", line))
    assert value_of(loaded.settings, key) == value_of(load_settings(user).settings, key)
    assert "a project may" in loaded.problems[0]


def test_a_project_may_lower_narrow_and_switch_off(tmp_path: Path) -> None:
    user = written(tmp_path / "config.toml", "namespaces = ['work', 'home']")
    project = "enabled = false\nmax_tokens = 10\nnamespaces = ['work']\n"
    project += "[hooks.session_start]\nmax_tokens = 9\nmax_memories = 0\n"
    loaded = load_settings(user, written(tmp_path / ".memhook.toml", project))
    assert not loaded.problems
    assert not loaded.settings.enabled
    assert loaded.settings.max_tokens == 10
    assert loaded.settings.namespaces == ("work",)
    assert loaded.settings.hooks.session_start == SessionStart(max_tokens=9, max_memories=0)


def test_an_impossible_value_is_refused_with_key_value_and_what_is_allowed() -> None:
    with pytest.raises(InvalidInput, match=r"hooks\.detail must be one of preview, cascade, full, not 'all'"):
        checked("hooks.detail", "all")
    with pytest.raises(InvalidInput, match=r"max_tokens must be a whole number from 1 to 100000, not 0"):
        checked("max_tokens", 0)


def test_an_unknown_key_is_refused_with_the_one_that_was_probably_meant() -> None:
    with pytest.raises(InvalidInput) as refused:
        checked("max_token", 10)
    assert refused.value.hint == "Did you mean max_tokens?"


def test_an_unknown_key_is_refused_with_the_keys_there_are() -> None:
    with pytest.raises(InvalidInput) as refused:
        checked("nope", 10)
    assert all(key in refused.value.hint for key in setting_keys())


def test_a_project_file_that_never_ends_is_not_read(tmp_path: Path) -> None:
    endless = tmp_path / ".memhook.toml"
    endless.symlink_to("/dev/zero")
    assert "not a regular file" in load_settings(tmp_path / "none", endless).problems[0]
    endless.unlink()
    os.mkfifo(endless)
    assert "not a regular file" in load_settings(tmp_path / "none", endless).problems[0]


def test_a_project_file_nested_without_end_is_told_and_ignored(tmp_path: Path) -> None:
    deep = written(tmp_path / ".memhook.toml", "a = " + "[" * 30_000)
    assert load_settings(tmp_path / "none", deep).problems


def test_a_store_must_mean_the_same_place_from_everywhere() -> None:
    with pytest.raises(InvalidInput, match="absolute path"):
        checked("store.uri", "memories")
    for uri in ("/data/memories", "~/memories", "s3://bucket/memories", ""):
        assert checked("store.uri", uri) == uri


@pytest.mark.parametrize(
    ("name", "value", "told"),
    [
        ("MEMHOOK_MAX_TOKENS", "many", "max_tokens must be a whole number from 1 to 100000, not 'many'."),
        ("MEMHOOK_NAMESPACES", "[work", "namespaces must be a list of names, such as work,home, not '[work'."),
        ("MEMHOOK_ENABLED", "perhaps", "enabled must be true or false, not 'perhaps'."),
    ],
)
def test_a_bad_variable_is_told_with_key_value_and_what_is_allowed(
    tmp_path: Path, name: str, value: str, told: str
) -> None:
    loaded = load_settings(tmp_path / "none", environment={name: value})
    assert loaded.settings == Settings()
    assert told in loaded.problems[0]


def test_a_variable_that_is_no_setting_is_named_with_the_one_that_may_be_meant(tmp_path: Path) -> None:
    given = {"MEMHOOK_MAX_TOKEN": "9", "MEMHOOK_HOOKS_DETAIL": "full", "MEMHOOK_DISABLE": "1", "PATH": "/bin"}
    problems = load_settings(tmp_path / "none", environment=given).problems
    assert [problem.split("Did you mean ")[1] for problem in problems] == [
        "MEMHOOK_HOOKS__DETAIL? It is ignored.",
        "MEMHOOK_MAX_TOKENS? It is ignored.",
    ]


def test_a_list_in_the_environment_may_be_typed_as_on_the_command_line(tmp_path: Path) -> None:
    for text in ("work, home", '["work", "home"]'):
        loaded = load_settings(tmp_path / "none", environment={"MEMHOOK_NAMESPACES": text})
        assert (loaded.settings.namespaces, loaded.problems) == (("work", "home"), ())


@pytest.mark.parametrize("key", setting_keys())
def test_what_is_allowed_is_said_for_every_setting(key: str) -> None:
    assert what_is_allowed(key)
