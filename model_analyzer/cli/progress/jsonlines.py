# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""A run as lines of JSON, an object for each event."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext

from model_analyzer.app.progress.document import document_of
from model_analyzer.app.progress.events import Event


class JsonLines:
    """Writes a line for each event."""

    def __init__(self, write: Callable[[str], object]) -> None:
        self._write = write

    def show(self, event: Event) -> None:
        self._write(json.dumps(document_of(event), separators=(",", ":")) + "\n")

    def paused(self) -> AbstractContextManager[None]:
        return nullcontext()

    def close(self) -> None:
        """Every line was written whole."""
