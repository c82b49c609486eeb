from __future__ import annotations

import dataclasses
import os
import shutil
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

from memhook.errors import EmbeddingError
from memhook.store.embedding import encoder
from memhook.store.embedding.encoder import (
    DEFAULT_MODEL,
    Embedder,
    OnnxEmbedder,
    load_embedder,
    pull,
)
from memhook.store.embedding.model_files import (
    GRANITE,
    MINILM,
    PackagedModel,
    Resource,
    are_installed,
    model_directory,
    path_of,
    sha256_of,
)
from tests.fake_embedder import HashEmbedder, dimension_of

REPOSITORY = Path(__file__).parents[2]
PACK = GRANITE.weights_name
SENTENCE = "The ledger is reconciled from the primary, never from a replica."
# fmt: off
PUBLISHED = (
    -0.005, -0.004, -0.002, 0.052, 0.012, -0.020, -0.013, 0.002, 0.047, 0.009, -0.001, 0.039, -0.045, -0.024,
    -0.011, 0.091, -0.064, -0.026, -0.042, -0.059, 0.007, -0.084, -0.002, -0.055, -0.137, -0.076, -0.036,
    -0.103, 0.026, -0.192, -0.005, 0.025, -0.014, -0.022, 0.004, -0.051, 0.072, -0.056, 0.032, 0.017, -0.007,
    0.046, -0.001, 0.050, 0.139, 0.038, -0.108, -0.006,
)
# fmt: on
PULLED = "BAAI/bge-small-en-v1.5"

needs_minilm = pytest.mark.skipif(
    not are_installed(MINILM.weights, MINILM.tokenizer), reason="the extra minilm is not installed"
)


@pytest.fixture(scope="module")
def models_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("models")


@pytest.fixture(scope="module")
def granite(models_dir: Path) -> Embedder:
    return load_embedder(DEFAULT_MODEL, models_dir, threads=1)


@pytest.fixture
def own_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the weights as an installed package that a test may damage."""
    weights = tmp_path / "packages" / GRANITE.weights.package / GRANITE.weights.name
    weights.parent.mkdir(parents=True)
    (tmp_path / "packages" / GRANITE.weights.package / "__init__.py").touch()
    shutil.copyfile(path_of(GRANITE.weights), weights)
    monkeypatch.syspath_prepend(tmp_path / "packages")
    return weights


def overwrite(path: Path, offset: int = -100) -> None:
    with path.open("r+b") as file:
        file.seek(offset, os.SEEK_END)
        file.write(b"\0" * 50)


def test_a_sentence_has_the_vector_of_the_published_model(granite: Embedder) -> None:
    """Up to what rounding its matrices once more changes; the first values, as computed in floats."""
    ours = granite.embed_query(SENTENCE)[: len(PUBLISHED)]
    assert ours @ np.array(PUBLISHED) / np.linalg.norm(ours) / np.linalg.norm(PUBLISHED) > 0.995


def test_a_vector_is_float32_of_unit_length(granite: Embedder) -> None:
    vector = granite.embed_query("anything")
    assert vector.dtype == np.float32
    assert vector.shape == (granite.model.dimensions,)
    assert np.linalg.norm(vector) == pytest.approx(1, abs=1e-6)


def test_the_identity_names_model_and_weights(granite: Embedder) -> None:
    assert granite.model == encoder.ModelIdentity("granite-embedding-30m-english", GRANITE.weights.sha256, 384)


def test_it_tells_which_words_its_model_knows(models_dir: Path, granite: Embedder) -> None:
    minilm = load_embedder(MINILM.id, models_dir, threads=1)
    for model in (granite, minilm):
        assert {"search", "migration"} <= model.vocabulary.words
        assert not {"serach", "migraton", "##ing"} & model.vocabulary.words


def test_texts_about_the_same_are_nearer_than_others(granite: Embedder) -> None:
    query, near, far = granite.embed_documents(
        ["how do I fix a flaky test", "intermittent failures in the test suite", "a recipe for apple pie"]
    )
    assert query @ near > query @ far + 0.1


MIXED_TEXTS = ["short", "", SENTENCE * 60, "日本語のテキスト" * 40, "a", SENTENCE, "x\ud800y", "\0", "😀" * 300] + [
    f"{SENTENCE} {number}" for number in range(20)
]


def test_documents_keep_their_order_and_do_not_depend_on_their_batch(granite: Embedder) -> None:
    together = granite.embed_documents(MIXED_TEXTS)
    alone = [granite.embed_query(text) for text in MIXED_TEXTS]
    assert min(float(a @ b) for a, b in zip(together, alone, strict=True)) > 0.99999


def test_no_documents_give_no_vectors(granite: Embedder) -> None:
    assert granite.embed_documents([]) == []


@pytest.mark.parametrize("text", ["", " ", "\0", "\ud800", "\udfff\ud800", "</s><pad><mask>", "\x1b[0m", "﷽" * 9_000])
def test_any_text_has_a_vector(granite: Embedder, text: str) -> None:
    assert np.isfinite(granite.embed_query(text)).all()


def test_what_follows_the_first_512_tokens_has_no_part(granite: Embedder) -> None:
    start = "word " * 600
    assert (granite.embed_query(start) == granite.embed_query(start + "and something else")).all()


def test_a_huge_text_is_cut_before_it_is_tokenised(granite: Embedder, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[str] = []

    def embedded(texts: list[str]) -> list[list[float]]:
        seen.extend(texts)
        return [[3.0, 4.0]]

    monkeypatch.setattr(granite, "_runtime", encoder.Runtime(embedded, embedded, None, None))
    assert granite.embed_query("x" * 10_000_000) == pytest.approx([0.6, 0.8])
    assert [len(text) for text in seen] == [encoder.MAX_CHARS]


LARGEST_BATCHES = """
import sys
from pathlib import Path
from memhook.store.embedding.encoder import DEFAULT_MODEL, load_embedder
from memhook.store.table.release import give_back

def private_kilobytes():
    give_back()
    status = Path("/proc/self/status").read_text()
    return int(status.split("RssAnon:")[1].split()[0])

embedder = load_embedder(DEFAULT_MODEL, Path(sys.argv[1]), threads=1)
before = embedder.embed_query("the same before and after")
embedder.embed_documents([f"{number} " + "replica lag and reconciliation " * 200 for number in range(8)])
kept = private_kilobytes()
embedder.give_back()
print(kept - private_kilobytes(), (embedder.embed_query("the same before and after") == before).all())
"""


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_what_the_largest_batches_took_is_given_back_and_vectors_stay_the_same(models_dir: Path) -> None:
    command = [sys.executable, "-W", "ignore", "-c", LARGEST_BATCHES, str(models_dir)]
    run = subprocess.run(command, capture_output=True, text=True, check=True, timeout=300, cwd=REPOSITORY)
    kilobytes, is_same = run.stdout.split()
    assert int(kilobytes) > 4_000
    assert is_same == "True"


@needs_minilm
def test_models_with_other_inputs_give_back_too(models_dir: Path) -> None:
    model = load_embedder(MINILM.id, models_dir, threads=1)
    assert isinstance(model, OnnxEmbedder)
    before = model.embed_query(SENTENCE)
    model.give_back()
    assert np.array_equal(model.embed_query(SENTENCE), before)


def test_an_import_stops_for_a_prompt_and_has_the_same_vectors(
    granite: Embedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = [f"{SENTENCE} {number}" * 12 for number in range(12)]
    whole = granite.embed_documents(texts)
    begun: list[bool] = []

    @contextmanager
    def interrupted_at_once(stop: Callable[[], None]) -> Iterator[None]:
        begun.append(True)
        if len(begun) % 2:
            stop()
        yield

    monkeypatch.setattr(encoder, "interrupted_by", interrupted_at_once)
    assert np.array_equal(granite.embed_documents(texts), whole)
    runs = len(begun)
    assert runs % 2 == 0
    monkeypatch.setattr(encoder, "MOST_STOPS", 0)
    assert np.array_equal(granite.embed_documents(texts), whole)
    assert len(begun) == runs > 0


def test_threads_may_embed_at_the_same_time(granite: Embedder) -> None:
    texts = [f"{SENTENCE} {number}" * (number % 4 + 1) for number in range(24)]
    alone = [granite.embed_query(text) for text in texts]
    with ThreadPoolExecutor(6) as pool:
        together = list(pool.map(granite.embed_query, texts))
    assert np.allclose(alone, together, atol=1e-6)


@pytest.mark.parametrize("sizes", [[], [5], [600], [100] * 12, [512, 3, 3, 200, 90, 512, 1], list(range(1, 80))])
def test_batches_hold_every_text_once_and_stay_within_the_limit(sizes: list[int]) -> None:
    batches = list(encoder._batches(sizes, 512))
    assert sorted(index for batch in batches for index in batch) == list(range(len(sizes)))
    assert all(len(batch) == 1 or len(batch) * max(sizes[i] for i in batch) <= 512 for batch in batches)


def test_the_model_directory_is_private_and_shares_the_weights(tmp_path: Path, own_package: Path) -> None:
    directory = model_directory(GRANITE, tmp_path / "models")
    assert (directory / PACK).samefile(own_package)
    assert stat.S_IMODE(directory.stat().st_mode) == stat.S_IMODE(directory.parent.stat().st_mode) == 0o700
    assert {stat.S_IMODE(file.stat().st_mode) for file in directory.iterdir() if file.name != PACK} == {0o600}
    assert [entry.name for entry in directory.parent.iterdir() if entry.name != ".lock"] == [directory.name]


def test_weights_behind_a_symlink_keep_the_name_the_graph_knows(tmp_path: Path, own_package: Path) -> None:
    own_package.rename(tmp_path / "blob")
    own_package.symlink_to(tmp_path / "blob")
    linked = model_directory(GRANITE, tmp_path / "models") / PACK
    assert not linked.is_symlink()
    assert linked.samefile(tmp_path / "blob")


def test_the_weights_are_copied_where_they_cannot_be_linked(
    tmp_path: Path, own_package: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise OSError

    monkeypatch.setattr(os, "link", refuse)
    directory = model_directory(GRANITE, tmp_path)
    assert not (directory / PACK).samefile(own_package)
    assert sha256_of(directory / PACK) == GRANITE.weights.sha256
    before = (directory / PACK).stat()
    assert model_directory(GRANITE, tmp_path) == directory
    assert (directory / PACK).stat().st_ino == before.st_ino


def remove_the_tokenizer(directory: Path) -> None:
    (directory / "tokenizer.json").unlink()


def change_the_graph(directory: Path) -> None:
    overwrite(directory / "model.onnx")


def change_the_tokenizer(directory: Path) -> None:
    (directory / "tokenizer.json").write_text("{}")


def replace_the_weights(directory: Path) -> None:
    (directory / PACK).unlink()
    (directory / PACK).write_bytes(b"other weights")


def leave_a_file_in_its_place(directory: Path) -> None:
    shutil.rmtree(directory)
    directory.touch()


@pytest.mark.parametrize(
    "damage",
    [
        remove_the_tokenizer,
        change_the_graph,
        change_the_tokenizer,
        replace_the_weights,
        leave_a_file_in_its_place,
    ],
)
def test_a_partial_or_changed_directory_is_built_again(tmp_path: Path, damage: Callable[[Path], None]) -> None:
    directory = model_directory(GRANITE, tmp_path)
    whole = {file.name: sha256_of(file) for file in directory.iterdir()}
    damage(directory)
    assert model_directory(GRANITE, tmp_path) == directory
    assert {file.name: sha256_of(file) for file in directory.iterdir()} == whole


@pytest.mark.parametrize("where", ["package", "model directory"])
def test_changed_weights_are_refused(tmp_path: Path, own_package: Path, where: str) -> None:
    directory = model_directory(GRANITE, tmp_path / "models")
    overwrite(own_package if where == "package" else directory / PACK)
    with pytest.raises(EmbeddingError, match="not the one expected") as raised:
        load_embedder(GRANITE.id, tmp_path / "models")
    assert GRANITE.weights.requirement in raised.value.hint


def test_weights_replaced_in_the_package_are_refused_even_when_a_good_copy_is_left(
    tmp_path: Path, own_package: Path
) -> None:
    model_directory(GRANITE, tmp_path / "models")
    own_package.unlink()
    own_package.write_bytes(b"other weights")
    with pytest.raises(EmbeddingError, match="not the one expected"):
        model_directory(GRANITE, tmp_path / "models")


def test_a_package_without_its_weights_is_told(tmp_path: Path, own_package: Path) -> None:
    own_package.unlink()
    with pytest.raises(EmbeddingError, match="cannot be read") as raised:
        load_embedder(GRANITE.id, tmp_path)
    assert GRANITE.weights.requirement in raised.value.hint


def configured(monkeypatch: pytest.MonkeyPatch, **changes: object) -> PackagedModel:
    model = dataclasses.replace(GRANITE, **changes)  # type: ignore[arg-type]  # a test changes one field
    monkeypatch.setattr(encoder, "PACKAGED", {model.id: model})
    return model


def test_a_missing_package_is_told_with_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    configured(monkeypatch, weights=dataclasses.replace(GRANITE.weights, package="no_such_package"))
    with pytest.raises(EmbeddingError, match="not installed") as raised:
        load_embedder(GRANITE.id, tmp_path)
    assert GRANITE.weights.requirement in raised.value.hint


@needs_minilm
@pytest.mark.parametrize(
    ("change", "problem"), [({"package": "no_such_package"}, "not installed"), ({"sha256": ""}, "not the one")]
)
def test_a_tokenizer_in_a_package_of_its_own_is_checked_as_the_weights_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: dict[str, str], problem: str
) -> None:
    assert MINILM.tokenizer is not None
    model = dataclasses.replace(MINILM, tokenizer=dataclasses.replace(MINILM.tokenizer, **change))
    monkeypatch.setattr(encoder, "PACKAGED", {model.id: model})
    with pytest.raises(EmbeddingError, match=problem) as raised:
        load_embedder(model.id, tmp_path)
    assert MINILM.tokenizer.requirement in raised.value.hint
    assert are_installed(model.weights, model.tokenizer) == ("package" not in change)


@pytest.mark.parametrize("graph", [Resource("granite.onnx", "0" * 64), Resource("no-such.onnx", "0" * 64)])
def test_a_damaged_graph_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, graph: Resource) -> None:
    configured(monkeypatch, graph=graph)
    with pytest.raises(EmbeddingError, match="memhook's own") as raised:
        load_embedder(GRANITE.id, tmp_path)
    assert "memhook" in raised.value.hint


def test_a_graph_that_does_not_load_is_an_embedding_error_and_prints_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    page = Resource("launch.sh", sha256_of(Path(encoder.__file__).parents[2] / "resources" / "launch.sh"))
    configured(monkeypatch, graph=page)
    with pytest.raises(EmbeddingError, match="cannot be loaded"):
        load_embedder(GRANITE.id, tmp_path)
    assert capfd.readouterr() == ("", "")


def test_a_graph_of_another_width_is_refused(
    models_dir: Path, granite: Embedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    configured(monkeypatch, dimensions=768)
    with pytest.raises(EmbeddingError, match="384 dimensions, not 768"):
        load_embedder(GRANITE.id, models_dir)


def test_a_directory_that_cannot_be_written_is_an_embedding_error(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(EmbeddingError, match="cannot be prepared") as raised:
        load_embedder(GRANITE.id, tmp_path / "file" / "models")
    assert "writable" in raised.value.hint


def test_several_may_prepare_the_model_at_the_same_time(tmp_path: Path) -> None:
    with ThreadPoolExecutor(4) as pool:
        directories = set(pool.map(lambda _: model_directory(GRANITE, tmp_path), range(8)))
    assert len(directories) == 1
    assert {entry.name for entry in tmp_path.iterdir()} - {"home"} == {".lock", directories.pop().name}


def test_an_unknown_model_is_told(tmp_path: Path) -> None:
    with pytest.raises(EmbeddingError, match="called no/such-model") as raised:
        load_embedder("no/such-model", tmp_path)
    assert "memhook models" in raised.value.hint


def test_a_model_that_was_not_pulled_is_told_and_not_downloaded(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(EmbeddingError, match="not on this machine") as raised:
        load_embedder(PULLED, tmp_path)
    assert raised.value.hint == f"Download it: memhook models pull {PULLED}"
    assert capfd.readouterr() == ("", "")


def test_a_model_that_was_pulled_is_loaded_from_the_cache(tmp_path: Path, models_dir: Path, granite: Embedder) -> None:
    source = encoder._descriptions(encoder._fastembed())[PULLED]["sources"]["hf"]
    snapshot = tmp_path / "fastembed" / f"models--{source.replace('/', '--')}" / "snapshots" / "0"
    shutil.copytree(model_directory(GRANITE, models_dir), snapshot)
    (snapshot / "model.onnx").rename(snapshot / "model_optimized.onnx")
    (snapshot / "config.json").write_text('{"pad_token_id": 1}')
    (snapshot / "tokenizer_config.json").write_text('{"model_max_length": 512, "pad_token": "<pad>"}')
    (snapshot.parents[1] / "refs").mkdir()
    (snapshot.parents[1] / "refs" / "main").write_text("0")

    pulled = load_embedder(PULLED.lower(), tmp_path, threads=1)

    assert pulled.model == encoder.ModelIdentity(PULLED, sha256_of(snapshot / "model_optimized.onnx"), 384)
    assert np.allclose(pulled.embed_documents([SENTENCE, "a"])[0], granite.embed_query(SENTENCE), atol=1e-6)


def test_pulling_a_packaged_model_only_prepares_it(tmp_path: Path) -> None:
    pull(GRANITE.id, tmp_path)
    assert list(tmp_path.glob(f"{GRANITE.id}-*/{PACK}"))


def test_importing_the_module_imports_nothing_heavy() -> None:
    code = (
        "import sys, memhook.store.embedding.encoder; print({'fastembed', 'onnxruntime', 'numpy'} & set(sys.modules))"
    )
    assert ran(code).stdout == "set()\n"


def test_loading_a_model_is_silent_and_leaves_the_home_and_the_network_alone(tmp_path: Path, home: Path) -> None:
    code = f"""
import socket
def refuse(*_): raise AssertionError("network")
socket.socket.connect = socket.getaddrinfo = refuse
from pathlib import Path
from memhook.store.embedding.encoder import load_embedder
load_embedder({GRANITE.id!r}, Path({str(tmp_path / "models")!r})).embed_documents(["a", "b"])
import sys
assert "fastembed" not in sys.modules
"""
    done = ran(code)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert list(home.iterdir()) == []


def ran(code: str) -> subprocess.CompletedProcess[str]:
    environment = {"PATH": os.environ["PATH"], "HOME": os.environ["HOME"], "PYTHONPATH": str(REPOSITORY)}
    command = [sys.executable, "-W", "error", "-c", code]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)


def test_the_shipped_graph_is_what_the_script_builds() -> None:
    pytest.importorskip("onnx")
    command = [sys.executable, str(REPOSITORY / "scripts" / "build-granite-graph"), "--check"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert GRANITE.graph is not None
    assert GRANITE.graph.sha256 in done.stdout


@needs_minilm
def test_minilm_reads_256_tokens_and_not_the_128_its_tokenizer_says(models_dir: Path) -> None:
    minilm = load_embedder(MINILM.id, models_dir, threads=1)
    start = "word " * 200
    assert not np.allclose(minilm.embed_query(start), minilm.embed_query(start + "and something else"), atol=1e-4)
    start = "word " * 300
    assert (minilm.embed_query(start) == minilm.embed_query(start + "and something else")).all()


@needs_minilm
def test_minilm_vectors_do_not_depend_on_their_batch(models_dir: Path) -> None:
    minilm = load_embedder(MINILM.id, models_dir, threads=1)
    together = minilm.embed_documents(MIXED_TEXTS)
    alone = [minilm.embed_query(text) for text in MIXED_TEXTS]
    assert min(float(a @ b) for a, b in zip(together, alone, strict=True)) > 0.99999


@needs_minilm
def test_minilm_and_granite_differ_in_identity_and_in_vectors(models_dir: Path, granite: Embedder) -> None:
    minilm = load_embedder(MINILM.id, models_dir, threads=1)
    assert minilm.model.dimensions == granite.model.dimensions
    assert minilm.model != granite.model
    assert float(minilm.embed_query(SENTENCE) @ granite.embed_query(SENTENCE)) < 0.5


def test_the_fake_embedder_counts_hashed_words() -> None:
    fake: Embedder = HashEmbedder()
    expected = np.zeros(384, dtype=np.float32)
    expected[dimension_of("replica")], expected[dimension_of("lag")] = 2 / 5**0.5, 1 / 5**0.5
    assert fake.embed_query("Replica lag, replica!") == pytest.approx(expected)
    assert np.linalg.norm(fake.embed_query("...")) == 1
    assert fake.model.dimensions == 384
