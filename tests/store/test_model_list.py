from __future__ import annotations

from pathlib import Path

from memhook.store.embedding.encoder import listed_models
from memhook.store.embedding.model_files import GRANITE, MINILM

PULLED = "BAAI/bge-small-en-v1.5"


def test_the_packaged_models_are_listed_first_then_those_that_can_be_pulled(tmp_path: Path) -> None:
    listed = listed_models(tmp_path / "models")
    names = [model.id for model in listed]
    assert names[:2] == [GRANITE.id, MINILM.id]
    assert PULLED in names
    assert not [name for name in names if name.startswith("memhook/")]
    assert [model.id for model in listed if model.is_here and not model.is_packaged] == []
    granite = listed[0]
    assert (granite.id, granite.is_packaged, granite.is_here, granite.dimensions) == (GRANITE.id, True, True, 384)
    assert not (tmp_path / "models").exists()


def test_a_model_that_was_pulled_is_here_and_half_of_one_is_not(tmp_path: Path) -> None:
    snapshot = tmp_path / "fastembed" / "models--Qdrant--bge-small-en-v1.5-onnx-Q" / "snapshots" / "0"
    snapshot.mkdir(parents=True)

    def is_here() -> bool:
        return next(model.is_here for model in listed_models(tmp_path) if model.id == PULLED)

    assert not is_here()
    (snapshot / "model_optimized.onnx").touch()
    assert is_here()
