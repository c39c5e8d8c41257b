# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""A server with OpenAI's API for tests: it streams tokens with seeded delays.

`python openai_server.py PORT_FILE [--first-ms F] [--gap-ms G] [--slots S] [--fail-every N]
[--refuse STATUS] [--cut] [--unlisted KEY]` writes its port to a file, and serves the model `chat`
until it is killed. KEY is that of the messages of its errors.
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

MODEL = "chat"


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    options: argparse.Namespace
    slots: threading.Semaphore
    lock = threading.Lock()
    requests = 0

    def do_GET(self) -> None:
        key = self.options.unlisted or "detail"
        if self.path == "/v1/chat/completions":
            return self._answer(405, {key: "Method Not Allowed"})
        if self.path != "/v1/models" or self.options.unlisted:
            return self._answer(404, {key: "Not Found"})
        listed = [{"id": MODEL, "object": "model", "created": 0, "owned_by": "tests"}]
        return self._answer(200, {"object": "list", "data": listed})

    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        with self.lock:
            Handler.requests += 1
            number = Handler.requests
        if self.options.refuse:
            return self._answer(self.options.refuse, {"error": {"message": "refused"}})
        fails = bool(self.options.fail_every) and number % self.options.fail_every == 0
        with self.slots:
            if not request.get("stream"):
                time.sleep(self.options.first_ms / 1000)
                usage = {"completion_tokens": request.get("max_tokens", 8)}
                text = {"message": {"role": "assistant", "content": "one two"}}
                return self._answer(200, {"choices": [text], "usage": usage})
            return self._stream(number, request.get("max_tokens", 8), fails)

    def _stream(self, number: int, tokens: int, fails: bool) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        delays = random.Random(number)
        for event in self._events(tokens, fails):
            piece = f"data: {event}\n\n".encode()
            self.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece))
            self.wfile.flush()
            if event != "[DONE]":
                time.sleep(self.options.gap_ms / 1000 * delays.uniform(0.8, 1.2))
        if self.options.cut:
            self.close_connection = True
            return
        self.wfile.write(b"0\r\n\r\n")

    def _events(self, tokens: int, fails: bool) -> Iterator[str]:
        time.sleep(max(self.options.first_ms - self.options.gap_ms, 0) / 1000)
        yield _chunk({"role": "assistant", "content": ""})
        for token in range(tokens):
            if fails and token == 2:
                yield json.dumps({"error": {"message": "out of memory", "type": "server_error"}})
                break
            if self.options.cut and token == 3:
                return
            yield _chunk({"content": f"w{token} "})
        yield _chunk({}, "stop")
        yield "[DONE]"

    def _answer(self, status: int, body: Any) -> None:
        text = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *_: object) -> None:
        """Says nothing."""


def _chunk(delta: Any, finish: str | None = None) -> str:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return json.dumps({"object": "chat.completion.chunk", "model": MODEL, "choices": [choice]})


@contextmanager
def running(place: Path, *flags: str) -> Iterator[str]:
    """HOST:PORT of a server in a process of its own, which writes its port to a file."""
    with subprocess.Popen([sys.executable, __file__, place, *flags]) as process:
        try:
            while not (place.exists() and place.read_text()):
                time.sleep(0.02)
            yield f"localhost:{place.read_text()}"
        finally:
            process.kill()


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("port_file", type=Path)
    parser.add_argument("--first-ms", type=float, default=30)
    parser.add_argument("--gap-ms", type=float, default=10)
    parser.add_argument("--slots", type=int, default=4)
    parser.add_argument("--fail-every", type=int, default=0)
    parser.add_argument("--refuse", type=int, default=0)
    parser.add_argument("--cut", action="store_true")
    parser.add_argument("--unlisted")
    Handler.options = parser.parse_args()
    Handler.slots = threading.Semaphore(Handler.options.slots)
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        Handler.options.port_file.write_text(str(server.server_port))
        server.serve_forever()


if __name__ == "__main__":
    main()
