"""A real S3 protocol server on loopback, and stores on it."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from urllib.request import Request, urlopen

from memhook.store.memories import MemoryStore, replicated_store

ROOT = Path(__file__).parents[1]
READ_ONLY_KEY = "reader"


@dataclass
class S3:
    """The server. Killed and started again, it is the same to its clients."""

    folder: Path
    port: int = 0
    process: subprocess.Popen[str] = field(init=False)

    def start(self) -> None:
        """Again while another process happens to have the port."""
        journal = str(self.folder / "journal")
        command = [sys.executable, "-m", "tests.s3_server", str(self.port), journal, READ_ONLY_KEY]
        for _ in range(20):
            self.process = subprocess.Popen(
                command, cwd=ROOT, text=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
            )
            assert self.process.stdout is not None
            if port := self.process.stdout.readline():
                self.port = int(port)
                return
            self.kill()
        raise AssertionError(f"no server could be started on port {self.port}")

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()
        if self.process.stdout is not None:
            self.process.stdout.close()

    @property
    def options(self) -> dict[str, str]:
        patience = {"client_max_retries": "2", "client_retry_timeout": "2"}
        return {**patience, "aws_endpoint": self.endpoint, "allow_http": "true", "aws_region": "us-east-1"}

    @property
    def endpoint(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def replica(self, user: str, key: str = "writer") -> MemoryStore:
        options = {**self.options, "aws_access_key_id": key, "aws_secret_access_key": "secret"}
        backups = self.folder / user / "backups"
        return replicated_store(self.folder / user / "replica", backups, "s3://team/memories", options, shared=True)


@contextmanager
def running_s3(folder: Path) -> Iterator[S3]:
    """With the bucket `team`."""
    server = S3(folder)
    server.start()
    try:
        urlopen(Request(f"{server.endpoint}/team", method="PUT")).close()
        yield server
    finally:
        server.kill()
