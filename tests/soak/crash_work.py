"""A day's work on the stores of one home, said as it is done: `python -m tests.soak.crash_work MARKS FORM`.

Before each operation a line says what it will add, remove and erase; after it, the same line says that it was
acknowledged. Each content has a word that is in no other.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from unittest.mock import patch

from memhook.engine.engine import Engine
from memhook.paths import user_paths, write_private
from memhook.store.access_tokens import Tokens
from memhook.store.embedding.encoder import Embedder
from memhook.store.ledger import Considered, Injection
from memhook.store.memories import own_store
from memhook.store.remote import origin as origin_module
from memhook.store.remote.origin import Origin
from memhook.store.table import changes
from memhook.store.table import maintenance as maintenance_module
from memhook.store.table.indexes import Sizes
from memhook.store.table.opening import back_up
from memhook.writing.backup import backed_up, restored
from tests.fake_embedder import HashEmbedder
from tests.store.test_memories import MODEL, axis, memory

PERSONAL, TEAM, LARGE = "personal", "team", "large"
BACKUP = "backup.zip"
FIRST_MODEL = "hash-words"
SMALL = Sizes(scanned=0, exact=256, apart=256)


class Work:
    """In the home that the environment names."""

    def __init__(self, marks: Path) -> None:
        self.home = Path(os.environ["HOME"])
        self.paths = user_paths()
        self._marks = os.open(marks, os.O_WRONLY | os.O_APPEND)
        self._facts = 0
        self.engine = Engine(self.paths)

    @contextmanager
    def doing(self, during: str, store: str = PERSONAL, **changes: Any) -> Iterator[None]:
        for acknowledged in (False, True):
            line = {"during": during, "store": store, "acknowledged": acknowledged, **changes}
            if acknowledged:
                yield
            os.write(self._marks, f"{json.dumps(line)}\n".encode())
        os.write(self._marks, b'{"during": "", "store": "", "acknowledged": true}\n')

    def fact(self) -> str:
        self._facts += 1
        return f"The zq{self._facts:05d}fact service of the ledger waits {self._facts} seconds before it gives up."

    def call(self, method: str, store: str = PERSONAL, **params: Any) -> Any:
        return self.engine.call(method, params | {"store": "" if store == PERSONAL else store}, "", {})

    def id_of(self, content: str, store: str = PERSONAL) -> str:
        return str(next(one["id"] for one in self.call("export_page", store) if one["content"] == content))

    def remember(self, store: str = PERSONAL) -> str:
        content = self.fact()
        with self.doing("remember", store, adds=[content]):
            self.call("remember", store, content=content)
        return content

    def import_some(self, count: int = 5) -> list[str]:
        contents = [self.fact() for _ in range(count)]
        lines = [[number, json.dumps({"text": text})] for number, text in enumerate(contents, 1)]
        with self.doing("import", adds=contents):
            self.call("import_lines", lines=lines)
        return contents

    def edit(self, content: str) -> str:
        changed, reference = self.fact(), self.id_of(content)
        with self.doing("edit", adds=[changed], removes=[content]):
            self.call("edit", reference=reference, content=changed)
        return changed

    def forget(self, contents: Sequence[str]) -> None:
        ids = [self.id_of(content) for content in contents]
        with self.doing("forget", removes=contents):
            self.call("forget", references=ids)

    def erase(self, how: str, contents: Sequence[str], store: str = PERSONAL) -> None:
        """By redact or purge."""
        ids = [self.id_of(content, store) for content in contents]
        with self.doing(how, store, removes=contents, erases=contents):
            self.call(how, store, references=ids)

    def show(self, content: str) -> None:
        """Into the record of what was shown."""
        key = self.id_of(content)
        text = f"- **Fact** urn:memhook:{key}\n  {content}\n"
        considered = (Considered(key, "hash", 0.9, level="full"),)
        with self.doing("record"):
            self.engine.accounts.record(
                Injection(datetime.now(UTC), "s", "", "c", "UserPromptSubmit", "p", "shown", text, 9, 9, {}, considered)
            )

    def compact(self) -> None:
        with self.doing("compaction"):
            assert self.engine.library(self.engine.settings()).store.optimize()

    def set_settings(self, model: str) -> None:
        text = f'embedding.model = "{model}"\nstores.team.uri = "{self.home / TEAM}"\n'
        with self.doing("settings", settings=text):
            write_private(self.paths.config_file, text)

    def change_model(self, model: str) -> None:
        self.set_settings(model)
        with self.doing("model change"):
            assert self.engine.library(self.engine.settings()).renew_vectors()

    def make_token(self, name: str) -> None:
        with self.doing("token", token=name):
            Tokens(self.paths).create(name, ["memory:read"], [], None, datetime.now(UTC))

    def back_up(self, live: Sequence[str]) -> None:
        with self.doing("backup", backup=live):
            backed_up(self.home / BACKUP, self.paths, "", replace=True)

    def restore(self, backup: Sequence[str], live: Sequence[str]) -> None:
        adds, removes = set(backup) - set(live), set(live) - set(backup)
        with self.doing("restore", adds=sorted(adds), removes=sorted(removes)):
            restored(self.home / BACKUP, self.paths, "", replace=True)
        self.engine.reopen()

    def copy(self) -> None:
        """As before a change of the schema."""
        with self.doing("copy"):
            back_up(self.paths.store, self.paths.backups, 1)

    def share(self) -> None:
        """A store of many: one of them writes, this one fetches."""
        (self.home / TEAM).mkdir()
        os.sync()  # somebody made it long ago
        first = self.remember(TEAM)
        other = Origin(str(self.home / TEAM), self.paths.backups)
        for number in range(3):
            content = self.fact()
            with self.doing("writing by others", TEAM, adds=[content]), other.writing():
                other.write(changes.add, [memory(number, content)], [axis(number)], MODEL)
            with self.doing("replica refresh", TEAM):
                self.call("refresh")
        with self.doing("compaction", TEAM):
            assert other.optimize()
        second = self.remember(TEAM)
        self.erase("purge", [first], TEAM)
        gone = self.id_of(second, TEAM)
        with self.doing("writing by others", TEAM, removes=[second]), other.writing():
            other.write(changes.purge, [gone])
        with self.doing("replica refresh", TEAM, erases=[second]):
            self.call("refresh")

    def build_indexes(self, rows: int) -> None:
        """Of a store that is large enough for another process to do it."""
        store = own_store(str(self.home / LARGE), self.paths.backups, SMALL)
        contents = [self.fact() for _ in range(rows)]
        for start in range(0, rows, 100):
            batch = contents[start : start + 100]
            with self.doing("import", LARGE, adds=batch), store.writing():
                memories = [memory(start + number, content) for number, content in enumerate(batch)]
                store.write(changes.add, memories, [axis(start + number) for number in range(len(batch))], MODEL)
        with self.doing("index build", LARGE):
            assert store.optimize()
            assert store._here.maintenance.upkeep
            store._here.maintenance.upkeep.wait()
            assert store._here.maintenance.upkeep.finished()
        with self.doing("purge", LARGE, removes=contents[:2], erases=contents[:2]), store.writing():
            store.write(changes.purge, [memory(number, "").id for number in range(2)])
        store.close()


def short(work: Work) -> None:
    first, second, third = work.remember(), work.remember(), work.remember()
    work.show(first)
    work.erase("purge", [first])
    work.erase("redact", [work.edit(second)])
    work.forget([third])
    work.compact()
    work.remember()


def full(work: Work) -> None:
    work.set_settings(FIRST_MODEL)
    facts = [work.remember() for _ in range(4)]
    imported = work.import_some()
    work.make_token("first")
    work.copy()
    work.show(facts[0])
    facts[1] = work.edit(facts[1])
    work.forget([facts.pop()])
    work.compact()
    work.erase("redact", [facts.pop()])
    work.erase("purge", [facts.pop(0)])
    kept = [*facts, *imported]
    work.back_up(kept)
    new = [work.remember(), work.remember()]
    work.change_model("other-words")
    work.restore(kept, [*kept, *new])
    work.erase("purge", imported[:1])
    work.erase("redact", imported[1:2])
    work.forget(imported[2:3])
    work.compact()
    work.make_token("second")
    work.share()
    work.build_indexes(300)


def loaded(name: str, _: Path) -> Future[Embedder]:
    done: Future[Embedder] = Future()
    done.set_result(HashEmbedder(name))
    return done


FORMS = {"short": short, "full": full}

if __name__ == "__main__":
    maintenance_module.KEPT_SECONDS = 0.0  # old versions go at the first occasion, not ten seconds later
    maintenance_module.KEPT_VERSIONS = maintenance_module.KEPT_WHEN_SETTLED = 2
    origin_module.MANY_FILES, origin_module.OLD_VERSIONS = 2, timedelta(milliseconds=1)
    with patch("memhook.engine.engine.loading_embedder", loaded):
        work = Work(Path(sys.argv[1]))
        FORMS[sys.argv[2]](work)
        work.engine.close()
