# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""A socket with limits for the time and the size of an answer."""

from __future__ import annotations

import io
import socket
import time
from typing import Any


class TooLarge(Exception):
    """The server sends more than `most_bytes`."""


class BoundedSocket:
    """The methods of a socket that `http.client` needs. The exchange must end within `timeout_s`
    seconds, and receive at most `most_bytes`. The owner of the real socket closes it.
    """

    def __init__(self, connected: socket.socket, timeout_s: float, most_bytes: int) -> None:
        self._socket = connected
        self._deadline = time.monotonic() + timeout_s
        self._bytes_left = most_bytes

    def sendall(self, data: Any) -> None:
        self._limit_wait()
        self._socket.sendall(data)

    def makefile(self, mode: str) -> io.BufferedReader:
        return io.BufferedReader(_Stream(self))

    def receive_into(self, buffer: Any) -> int:
        self._limit_wait()
        count = self._socket.recv_into(buffer)
        self._bytes_left -= count
        if self._bytes_left < 0:
            raise TooLarge
        return count

    def close(self) -> None:
        """Does nothing: `http.client` closes the connection while the answer is still read."""

    def _limit_wait(self) -> None:
        seconds = self._deadline - time.monotonic()
        if seconds <= 0:
            raise TimeoutError
        self._socket.settimeout(seconds)


class _Stream(io.RawIOBase):
    def __init__(self, source: BoundedSocket) -> None:
        self._source = source

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        return self._source.receive_into(buffer)
