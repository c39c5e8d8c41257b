# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""What perf_analyzer printed, kept in a file of the user's."""

from __future__ import annotations

from pathlib import Path

from model_analyzer.errors import OutputError


class Transcript:
    """A file to whose end texts are added. Raises OutputError where it cannot be written."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.add("")

    def add(self, text: str) -> None:
        try:
            with open(self._path, "a", encoding="utf-8") as file:
                file.write(f"{text}\n" if text else "")
        except OSError as error:
            raise OutputError(
                f"cannot write {self._path}: {error.strerror}; check --perf-output-path"
            ) from error
