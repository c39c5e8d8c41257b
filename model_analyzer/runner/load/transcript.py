# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The user's file for the output of perf_analyzer."""

from __future__ import annotations

from pathlib import Path

from model_analyzer.errors import unwritable


class Transcript:
    """Appends texts to a file. Raises OutputError if it cannot be written."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.add("")

    def add(self, text: str) -> None:
        try:
            with open(self._path, "a", encoding="utf-8") as file:
                file.write(f"{text}\n" if text else "")
        except OSError as error:
            raise unwritable(self._path, error, "--perf-output-path") from error
