# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Servers that answer wrongly: each connection gets the same pieces, or those for its path."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

Pieces = Callable[[], Iterable[bytes]]


class WrongServer:
    """Listens on loopback until it is closed."""

    def __init__(self, pieces: Pieces) -> None:
        self._pieces = pieces
        self._socket = socket.create_server(("127.0.0.1", 0))
        self._threads = [threading.Thread(target=self._accept, daemon=True)]
        self._closed = False
        self.connections = 0
        self._threads[0].start()

    @property
    def port(self) -> int:
        return int(self._socket.getsockname()[1])

    def close(self) -> None:
        self._closed = True
        self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()
        for thread in self._threads:
            thread.join(20)

    def pieces_for(self, request: bytes) -> Iterable[bytes]:
        """What is sent; of a long request only the beginning is here."""
        return self._pieces()

    def _accept(self) -> None:
        while not self._closed:
            try:
                connection, _ = self._socket.accept()
            except OSError:
                return
            self.connections += 1
            self._threads.append(
                threading.Thread(target=self._answer, args=(connection,), daemon=True)
            )
            self._threads[-1].start()

    def _answer(self, connection: socket.socket) -> None:
        with connection:
            try:
                for piece in self.pieces_for(connection.recv(65536)):
                    connection.sendall(piece)
                    if self._closed:
                        return
            except OSError:
                pass  # the client has had enough


class AnswersByPath(WrongServer):
    """Gives each request the first answer whose key is in its first line."""

    def __init__(self, answers: Mapping[str, bytes]) -> None:
        super().__init__(raw())
        self._answers = answers

    def pieces_for(self, request: bytes) -> Iterable[bytes]:
        line = request.partition(b"\r\n")[0].decode("latin-1")
        return [next((answer for path, answer in self._answers.items() if path in line), b"")]


def answer(body: bytes, *, status: str = "200 OK", headers: str = "") -> Pieces:
    """A whole HTTP answer."""
    head = f"HTTP/1.1 {status}\r\n{headers}Content-Length: {len(body)}\r\n\r\n"
    return lambda: [head.encode(), body]


def content(value: Any) -> Pieces:
    """An answer that is right but for its content."""
    return answer(json.dumps(value).encode())


def raw(*pieces: bytes) -> Pieces:
    return lambda: pieces


def endless(head: bytes, piece: bytes) -> Pieces:
    def send() -> Iterator[bytes]:
        yield head
        while True:
            yield piece

    return send


def drip(head: bytes, piece: bytes = b"x", every_s: float = 0.02) -> Pieces:
    def send() -> Iterator[bytes]:
        yield head
        while True:
            time.sleep(every_s)
            yield piece

    return send
