# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The names of the files in a checkpoint directory. Files with other names are not ours."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from model_analyzer.errors import CheckpointError

_JOURNAL = "journal"
_LOCK = "lock"


@dataclass(frozen=True, slots=True)
class Layout:
    """Where things are: `N.ckpt`, `journal` and `lock`, or `PREFIX-N.ckpt` and so on.

    Each node of a cluster that writes here has a journal and a lock of its own behind a dash.
    """

    directory: Path
    prefix: str = ""

    def checkpoint(self, index: int) -> Path:
        return self._path(f"{index}.ckpt")

    def journal(self, node: str = "") -> Path:
        return self._path(f"{_JOURNAL}-{node}" if node else _JOURNAL)

    def lock(self, node: str = "") -> Path:
        return self._path(f"{_LOCK}-{node}" if node else _LOCK)

    def indices(self) -> Sequence[int]:
        """The numbers of the checkpoints there are, ascending."""
        stems = [name.removesuffix(".ckpt") for name in self._names() if name.endswith(".ckpt")]
        return sorted(int(stem) for stem in stems if re.fullmatch("0|[1-9][0-9]*", stem))

    def nodes(self) -> Sequence[str]:
        """The nodes that have a journal here, in order of name."""
        start = f"{_JOURNAL}-"
        return sorted(name.removeprefix(start) for name in self._names() if name.startswith(start))

    def _names(self) -> Iterator[str]:
        """The names in the directory, without the prefix."""
        start = self._path("").name if self.prefix else ""
        try:
            names = os.listdir(self.directory)
        except FileNotFoundError:
            return
        except OSError as error:
            raise CheckpointError(f"{self.directory}: cannot be read: {error.strerror}") from error
        yield from (name.removeprefix(start) for name in names if name.startswith(start))

    def _path(self, name: str) -> Path:
        return self.directory / (f"{self.prefix}-{name}" if self.prefix else name)
