# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Probes which machines share the checkpoint directory: each is asked to sign a file in it."""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from types import TracebackType

from model_analyzer.state.format.layout import Layout

_SIGNED = b" is shared\n"


class Sharing:
    """A file with a random token in the directory, for each of some names. A context manager:
    leaving it removes the files. Raises OSError if they cannot be written.

    Have each of the `questions` asked on the machine of its name, and then look at `shared`.
    """

    def __init__(self, layout: Layout, names: Iterable[str]) -> None:
        self._files = {
            name: (token := secrets.token_hex(16), layout.probe(token)) for name in names
        }

    def __enter__(self) -> Sharing:
        try:
            for token, path in self._files.values():
                with open(path, "xb") as file:
                    file.write(token.encode())
        except OSError:
            self._remove()
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._remove()

    @property
    def questions(self) -> Mapping[str, Callable[[], None]]:
        return {name: partial(sign, path, token) for name, (token, path) in self._files.items()}

    @property
    def shared(self) -> frozenset[str]:
        """The names whose files are signed."""
        return frozenset(name for name, file in self._files.items() if _is_signed(*file))

    def _remove(self) -> None:
        for _, path in self._files.values():
            with suppress(OSError):  # the next run removes it
                path.unlink()


def sign(path: Path, token: str) -> None:
    """Signs the file, if it is here with the token, and if its directory can be written to. It
    creates nothing, so nothing stays behind on a machine that does not share the directory.
    """
    with suppress(OSError):
        if not os.access(path.parent, os.W_OK | os.X_OK):
            return
        with open(path, "r+b") as file:
            if file.read() == token.encode():
                file.write(_SIGNED)
                file.flush()
                os.fsync(file.fileno())


def _is_signed(token: str, path: Path) -> bool:
    try:
        return path.read_bytes() == token.encode() + _SIGNED
    except OSError:
        return False
