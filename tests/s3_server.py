"""An S3 server for tests, as a process of its own: moto's, one request at a time and kept in a file.

One at a time, because moto looks whether an object is there and then writes it, between which S3 lets nobody pass. In a
file, so that a server that is killed comes back with what it had acknowledged, as S3 would: `python -m tests.s3_server
PORT JOURNAL KEY`. The port 0 takes a free one; the port is printed when it answers.

The key may only read.
"""

from __future__ import annotations

import base64
import io
import json
import os
import sys
import threading
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from moto.moto_server.werkzeug_app import DomainDispatcherApplication, create_backend_app
from werkzeug.serving import make_server
from werkzeug.test import run_wsgi_app

KEPT = ("REQUEST_METHOD", "PATH_INFO", "QUERY_STRING", "CONTENT_TYPE", "RAW_URI", "REQUEST_URI", "HTTP_HOST")
DENIED = b"<Error><Code>AccessDenied</Code><Message>Access Denied</Message></Error>"

Application = Callable[[dict[str, Any], Any], Iterable[bytes]]


class OneAtATime:
    def __init__(self, application: Application, journal: Path, read_only_key: str) -> None:
        self._read_only = f"Credential={read_only_key}/"
        self._application = application
        self._journal = journal
        self._lock = threading.Lock()
        if journal.exists():
            for line in journal.read_text(encoding="utf-8").splitlines():
                self._answered({**json.loads(line), "wsgi.url_scheme": "http"})

    def __call__(self, environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        writes = environ["REQUEST_METHOD"] not in ("GET", "HEAD")
        if writes and self._read_only in environ.get("HTTP_AUTHORIZATION", ""):
            start_response("403 Forbidden", [("Content-Type", "application/xml")])
            return [DENIED]
        kept = {name: value for name, value in environ.items() if name in KEPT or name.startswith("HTTP_")}
        kept["body"] = base64.b64encode(environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0))).decode()
        with self._lock:
            status, headers, body = self._answered({**kept, "wsgi.url_scheme": "http"})
            if writes and status.startswith("2"):
                with self._journal.open("a", encoding="utf-8") as file:
                    file.write(json.dumps(kept) + "\n")
                    file.flush()
                    os.fsync(file.fileno())
        start_response(status, headers)
        return [body]

    def _answered(self, request: dict[str, Any]) -> tuple[str, list[tuple[str, str]], bytes]:
        body = base64.b64decode(request["body"])
        environ = {
            **{name: value for name, value in request.items() if name != "body"},
            "SCRIPT_NAME": "",
            "SERVER_NAME": "127.0.0.1",
            "SERVER_PORT": "80",
            "SERVER_PROTOCOL": "HTTP/1.1",
            "CONTENT_LENGTH": str(len(body)),
            "wsgi.input": io.BytesIO(body),
            "wsgi.errors": sys.stderr,
            "wsgi.multithread": True,
        }
        chunks, status, headers = run_wsgi_app(self._application, environ, buffered=True)
        return status, list(headers), b"".join(chunks)


def main() -> None:
    application = OneAtATime(DomainDispatcherApplication(create_backend_app), Path(sys.argv[2]), sys.argv[3])
    server = make_server("127.0.0.1", int(sys.argv[1]), application, threaded=True)
    sys.stdout.write(f"{server.server_port}\n")
    sys.stdout.flush()
    server.serve_forever()


if __name__ == "__main__":
    main()
