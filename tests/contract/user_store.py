# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""A `Checkpointer` as a user would write it: bytes in a mapping."""

from __future__ import annotations

from collections.abc import Sequence

from model_analyzer import Checkpointer
from model_analyzer.errors import CheckpointError


class UserStore(Checkpointer):
    """Keeps checkpoints in `kept`, under a name."""

    def __init__(self, name: str = "the user's store") -> None:
        self.name = name
        self.kept: dict[int, bytes] = {}

    def __str__(self) -> str:
        return self.name

    def indices(self) -> Sequence[int]:
        return sorted(self.kept)

    def read(self, index: int) -> bytes:
        return self.kept[index]

    def write(self, index: int, data: bytes) -> None:
        if index in self.kept:
            raise CheckpointError(f"{self}: {index} is taken")
        self.kept[index] = data


STORES: dict[str, UserStore] = {}


def open_user_store(url: str, prefix: str) -> UserStore:
    """What an entry point gives: one store for each URL and prefix."""
    return STORES.setdefault(f"{url} {prefix}".strip(), UserStore(url))
