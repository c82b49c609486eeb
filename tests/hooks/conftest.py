from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from memhook.core.cues import INSTRUCTION
from memhook.engine import engine as engine_module
from memhook.hooks.runner import Runner
from memhook.paths import user_paths
from memhook.store.embedding.encoder import DEFAULT_MODEL, Embedder, load_embedder

PAYLOADS = Path(__file__).parent / "payloads"


class Embedded:
    """An embedder that embeds each text once: tests share prompts and memories, and the vectors are the same."""

    def __init__(self, embedder: Embedder) -> None:
        self.model, self.vocabulary = embedder.model, embedder.vocabulary
        self._embedder = embedder
        self._query = cache(embedder.embed_query)
        self._documents: dict[str, npt.NDArray[np.float32]] = {}

    def embed_query(self, text: str) -> npt.NDArray[np.float32]:
        return self._query(text).copy()

    def embed_documents(self, texts: Sequence[str]) -> list[npt.NDArray[np.float32]]:
        new = [text for text in dict.fromkeys(texts) if text not in self._documents]
        self._documents.update(zip(new, self._embedder.embed_documents(new), strict=True))
        return [self._documents[text].copy() for text in texts]


@pytest.fixture(scope="session")
def real_embedder(models: Path) -> Embedder:
    """The packaged model, loaded once: whether to speak depends on what it says."""
    return Embedded(load_embedder(DEFAULT_MODEL, models))


def runner_with(embedder: Embedder, monkeypatch: pytest.MonkeyPatch) -> Runner:
    loaded: Future[Embedder] = Future()
    loaded.set_result(embedder)
    monkeypatch.setattr(engine_module, "loading_embedder", lambda *_: loaded)
    return Runner(user_paths())


@pytest.fixture
def runner(home: Path, real_embedder: Embedder, monkeypatch: pytest.MonkeyPatch) -> Runner:
    return runner_with(real_embedder, monkeypatch)


class Assistant:
    """A session of an assistant with memhook's hooks: sends events, reads answers to their end."""

    def __init__(self, runner: Runner, directory: Path) -> None:
        self.runner = runner
        self.directory = directory
        self.environment = {"MEMHOOK_CAPTURE__INSTRUCTION": "false"}  # most tests are about memories
        self._prompts = 0

    def prompts(self, prompt: str, part: int = 1, read: bool = True, session: str = "s1", **fields: Any) -> str:
        self._prompts += 1
        moment = fields.pop("prompt_id", f"p{self._prompts}")
        payload = {"hook_event_name": "UserPromptSubmit", "session_id": session, "prompt": prompt, "prompt_id": moment}
        return self.sends({**payload, **fields}, part, read)

    def starts(self, source: str = "startup", part: int = 1, session: str = "s1") -> str:
        """The memories of a start, without the instruction to save some."""
        return self.begins(source, part, session).removesuffix("\n").removesuffix(INSTRUCTION)

    def begins(self, source: str = "startup", part: int = 1, session: str = "s1") -> str:
        return self.sends({"hook_event_name": "SessionStart", "session_id": session, "source": source}, part)

    def sends(self, payload: dict[str, Any], part: int = 1, read: bool = True) -> str:
        """The context for the model."""
        return str(self.answer(payload, part, read).get("hookSpecificOutput", {}).get("additionalContext", ""))

    def answer(self, payload: dict[str, Any], part: int = 1, read: bool = True) -> dict[str, Any]:
        body = json.dumps({"cwd": str(self.directory), **payload}).encode()
        text, delivered = self.runner.hook("", part, str(self.directory), self.environment, body)
        if read:
            delivered()
        answer: dict[str, Any] = json.loads(text) if text else {}
        return answer

    def remembers(self, content: str, **fields: Any) -> str:
        called = self.runner.call("remember", {"content": content, **fields}, str(self.directory), self.environment)
        return str(called["memory"]["urn"])

    def imports(self, *contents: str, **fields: Any) -> None:
        """Many at once, as if the user had typed them: one by one, each is a write of its own to the disk."""
        records = [{"content": content, "origin": "user", **fields} for content in contents]
        lines = [[number, json.dumps(record)] for number, record in enumerate(records, 1)]
        assert self.calls("import_lines", lines=lines)["outcomes"] == {"stored": len(contents)}

    def calls(self, method: str, **params: Any) -> Any:
        return self.runner.call(method, params, str(self.directory), self.environment)


@pytest.fixture
def assistant(runner: Runner, tmp_path: Path) -> Assistant:
    directory = tmp_path / "work"
    directory.mkdir()
    return Assistant(runner, directory)


@pytest.fixture
def payload() -> Callable[[str], dict[str, Any]]:
    def read(name: str) -> dict[str, Any]:
        parsed: dict[str, Any] = json.loads((PAYLOADS / f"{name}.json").read_text(encoding="utf-8"))
        return parsed

    return read
