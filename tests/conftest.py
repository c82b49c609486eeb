"""No test touches the user's own files: every one has a home, and XDG folders, of its own."""

from __future__ import annotations

import gc
import os
import shutil
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from pathlib import Path

import pytest
from hypothesis import settings
from xdist.remote import Producer
from xdist.scheduler import LoadScopeScheduling

from memhook.answering import start
from memhook.daemon import control
from memhook.errors import EmbeddingError
from memhook.files.durable import made_folder
from memhook.hooks import runner
from memhook.library.library import Library
from memhook.paths import user_paths
from memhook.store.embedding.encoder import Embedder
from memhook.store.embedding.model_files import GRANITE, model_directory
from memhook.store.memories import own_store
from tests.daemons import kill_daemon
from tests.fake_embedder import HashEmbedder

gc.disable()  # until all tests are collected
settings.register_profile("no-clock", deadline=None)  # how long an example takes says nothing on a busy machine
settings.load_profile("no-clock")
control.START_SECONDS = control.STOP_SECONDS = control.IMMEDIATE_SECONDS = 300.0
start.GIT_SECONDS = 300.0  # git is in no hurry either
runner.IN_FLIGHT_SECONDS = runner.PARTS_TOGETHER_SECONDS = 300.0  # a test's next event may take long to come

# What takes longest comes first, so that no worker ends alone with it.
LONGEST = (
    *("tests/ui/", "tests/soak/", "tests/core/test_any_text", "tests/daemon/", "tests/store/", "tests/mcp_server/"),
    *("tests/hooks/", "tests/"),
)

Open = Callable[..., Library]
GiveModel = Callable[[Path], None]


class ByFile(LoadScopeScheduling):  # type: ignore[misc]  # xdist has no types
    """A file to a worker, which starts what its tests share once; what shares nothing and takes long is divided."""

    def _split_scope(self, nodeid: str) -> str:
        if nodeid.startswith("tests/ui/"):
            return "tests/ui/"  # one browser
        if nodeid.startswith(("tests/soak/", "tests/core/test_any_text")):
            return nodeid.partition("[")[0]
        return nodeid.partition("::")[0]


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> ByFile:
    return ByFile(config, log)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items.sort(key=lambda item: next(n for n, start in enumerate(LONGEST) if item.nodeid.startswith(start)))


def pytest_collection_finish() -> None:
    """What was imported and collected stays to the end: no garbage collection needs to look through it."""
    gc.freeze()
    gc.enable()


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An empty home. A daemon started for it is killed at the end: nobody needs what it would still write."""
    home = tmp_path / "home"
    home.mkdir(mode=0o700)
    for name in [name for name in os.environ if name.startswith(("MEMHOOK_", "XDG_", "CLAUDE", "COPILOT"))]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    yield home
    kill_daemon(home)


@pytest.fixture(scope="session")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the default model."""
    folder = tmp_path_factory.mktemp("models")
    model_directory(GRANITE, folder)
    return folder


@pytest.fixture(scope="session")
def give_model(models: Path) -> GiveModel:
    """Put the model where the first daemon of a home would, by links: made anew it takes 0.2 s of the processor."""
    made = model_directory(GRANITE, models)

    def give(home: Path) -> None:
        models = user_paths({"HOME": str(home)}).models
        made_folder(models)
        shutil.copytree(made, models / made.name, copy_function=os.link)

    return give


@pytest.fixture
def home_with_model(home: Path, give_model: GiveModel) -> Path:
    give_model(home)
    return home


@pytest.fixture
def open_library(tmp_path: Path) -> Open:
    """The library at one place, opened with these models at hand, the first of them wanted."""

    def opened(*embedders: Embedder) -> Library:
        by_name = {embedder.model.id: embedder for embedder in embedders}

        def load(name: str) -> Future[Embedder]:
            loaded: Future[Embedder] = Future()
            if name in by_name:
                loaded.set_result(by_name[name])
            else:
                loaded.set_exception(EmbeddingError(f"The model {name} is missing."))
            return loaded

        return Library(own_store(str(tmp_path / "store"), tmp_path / "backups"), next(iter(by_name), "none"), load)

    return opened


@pytest.fixture
def library(open_library: Open) -> Library:
    return open_library(HashEmbedder())
