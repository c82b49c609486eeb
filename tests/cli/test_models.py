from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from memhook.cli.commands import config
from memhook.errors import EmbeddingError
from memhook.store.embedding import multilingual
from memhook.store.embedding.encoder import ListedModel
from tests.cli.conftest import Cli

GRANITE = ListedModel("granite-embedding-30m-english", True, True, 384)
MINILM = ListedModel("all-MiniLM-L6-v2", True, False, 384)
SMALL = ListedModel("BAAI/bge-small-en-v1.5", False, False, 384, 67)
LARGE = ListedModel("sentence-transformers/paraphrase-multilingual-mpnet-base-v2", False, True, 768, 1000)


@pytest.fixture(autouse=True)
def pulled(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, Path]]:
    """These models, and what was downloaded."""
    calls: list[tuple[str, Path]] = []
    monkeypatch.setattr(config, "listed_models", lambda _: [GRANITE, MINILM, SMALL, LARGE])
    monkeypatch.setattr(config, "pull", lambda *arguments: calls.append(arguments))
    return calls


def test_list_marks_what_is_configured_and_what_is_here(cli: Cli) -> None:
    lines = cli("models", "list").out.splitlines()
    assert "*  384  here     granite-embedding-30m-english" in lines
    assert "   384  missing  all-MiniLM-L6-v2" in lines
    assert "   384  67 MB    BAAI/bge-small-en-v1.5" in lines
    assert "   768  here     sentence-transformers/paraphrase-multilingual-mpnet-base-v2" in lines
    assert max(map(len, lines)) <= 80
    shown = cli("models", "list", "--json").json
    assert shown["configured"] == GRANITE.id
    assert [model["id"] for model in shown["models"] if model["configured"]] == [GRANITE.id]


def test_list_names_the_encoder_for_other_languages_which_is_not_one_to_choose(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = cli("models", "list").out.splitlines()
    at = lines.index("In addition, for texts that are not in English (embedding.languages = auto):")
    assert lines[at + 1] == "   512  here     universal-sentence-encoder-multilingual-3"
    shown = cli("models", "list", "--json").json
    assert (shown["multilingual"]["is_here"], shown["multilingual"]["languages"]) == (True, "auto")
    assert cli("config", "set", "embedding.model", shown["multilingual"]["id"]).code != 0
    monkeypatch.setattr(multilingual, "WEIGHTS", replace(multilingual.WEIGHTS, package="no_such_package"))
    assert "   512  missing  universal-sentence-encoder-multilingual-3" in cli("models", "list").out


def test_a_configured_model_that_does_not_exist_is_told(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMHOOK_EMBEDDING__MODEL", "no-such-model")
    assert "no-such-model is not one of these" in cli("models", "list").err


def test_pull_downloads_in_this_process_and_says_how_to_use_it(cli: Cli, pulled: list[tuple[str, Path]]) -> None:
    result = cli("models", "pull", "baai/BGE-small-en-v1.5")
    assert result.out.splitlines() == [
        "BAAI/bge-small-en-v1.5 is downloaded.",
        "Use it: memhook config set embedding.model BAAI/bge-small-en-v1.5",
    ]
    assert result.err == "Downloading BAAI/bge-small-en-v1.5, 67 MB ...\n"
    assert [name for name, _ in pulled] == [SMALL.id]


def test_pulling_the_configured_model_says_how_to_use_it_at_once(cli: Cli) -> None:
    assert "memhook daemon restart" in cli("models", "pull", GRANITE.id).out


def test_an_unknown_name_is_refused_before_anything_is_asked_of_the_network(
    cli: Cli, pulled: list[tuple[str, Path]]
) -> None:
    result = cli("models", "pull", "nope")
    assert result.code == 1
    assert "memhook models list" in result.err
    assert not pulled


def test_without_a_network_the_reason_and_the_way_out_are_told(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    def offline(*_: object) -> None:
        raise EmbeddingError("The embedding model could not be downloaded: no route.", "Check the connection.")

    monkeypatch.setattr(config, "pull", offline)
    result = cli("models", "pull", SMALL.id)
    assert result.code == 1
    assert "could not be downloaded" in result.err
    assert "Check the connection." in result.err
