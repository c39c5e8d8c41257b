# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Reads the server's log: the error lines, and what to do about them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from model_analyzer.domain.foreign_json import parse_json
from model_analyzer.runner.versions import UNKNOWN_BACKEND

_MOST_BYTES = 256 * 1024
_MOST_LINES = 12

# Lines of a Triton server on a machine without GPU that are not errors.
_NOISE = re.compile(
    r"pinned system memory|CudaDriverHelper|initialize NVML|DCGM|Failed to get CUDA"
    r"|CUDA memory pool|cuda_memory_manager"
)
# How lines of errors begin: with an own time, or with one of ISO 8601 (--log-format).
_LETTER = r"(?:E\d{4} |\d{4}-\d\d-\d\dT\S+ E )"
_ERROR = re.compile(rf"{_LETTER}|error: |E \[|\S+: unrecognized option")
_PREFIX = re.compile(rf"^{_LETTER}(?:[\d:.]+ )?\d+ (?:\S+:\d+\] )?")

_HINTS = (
    (r"no GPUs are available", "the server has no GPU: set `cpu_only: true` for the model"),
    (r"invalid or unsupported gpu id", "this GPU does not exist: set cpu_only for the model"),
    (UNKNOWN_BACKEND, "use a server that has this backend"),
    (
        r"ModuleNotFoundError: No module named '(\w+)",
        "install it for the models: `model-analyzer runtime install --with {} --unverified`",
    ),
    (
        r"out of memory|CUDA error 2|cudaMalloc",
        "use fewer instances or smaller batches, which need less memory",
    ),
    (
        r"CUDA driver version is insufficient|no CUDA-capable device",
        "there is no GPU: use `shared-memory: system`, and `cpu_only: true` for the model",
    ),
    (r"preferred size must be <= max batch size", "lower preferred_batch_size"),
    (r"Model '[^']+' is not ready", "name the models that it calls in bls_composing_models"),
    (
        r"unexpected number of string elements \d+ for inference input",
        "if that is a control of sequence_batching: Triton's Python backend cannot read a"
        " correlation ID of TYPE_STRING; use TYPE_UINT64",
    ),
    (r"is not healthy", "the model's process ended: see its messages in the server's log"),
)

# Packages whose name differs from the name of their module.
_PACKAGES = {"PIL": "pillow", "cv2": "opencv-python-headless", "sklearn": "scikit-learn"} | {
    "yaml": "pyyaml", "skimage": "scikit-image", "google": "protobuf",
}  # fmt: skip


MAY_LACK_MEMORY = "see the server's log (--triton-output-path); `dmesg` shows if memory ran out"


class ServerLog:
    """The log file of a server, and the position up to which it was read."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._mark = 0

    @property
    def exists(self) -> bool:
        """Whether there is a log file: a remote server has none here."""
        return self.path.exists()

    def mark(self) -> None:
        """Marks the current end: `errors` and `tail` return only later lines."""
        self._mark = self._size()

    def errors(self) -> tuple[str, ...]:
        """The error lines since the mark, without time and source, without harmless lines."""
        return error_lines(self._lines())

    def tail(self) -> tuple[str, ...]:
        """The last lines since the mark, errors if there are any."""
        return self.errors() or tuple(line[:500] for line in self._lines()[-_MOST_LINES:])

    def _lines(self) -> Sequence[str]:
        if not self.path.is_file():
            return ()  # a pipe or a terminal cannot be read
        try:
            with open(self.path, "rb") as file:
                file.seek(max(self._mark, self._size() - _MOST_BYTES))
                text = file.read().decode(errors="replace")
        except OSError:
            return ()
        return [line.rstrip() for line in text.splitlines() if line.strip()]

    def _size(self) -> int:
        try:
            return self.path.stat().st_size
        except OSError:
            return 0


def error_lines(lines: Sequence[str]) -> tuple[str, ...]:
    """The error lines, without time and source, without harmless lines."""
    telling = [line for line in lines if _ERROR.match(line) and not _NOISE.search(line)]
    texts = (_unquoted(_PREFIX.sub("", line)) for line in telling[-_MOST_LINES:])
    return tuple(line[:500] for text in texts for line in text.splitlines() if line.strip())


def _unquoted(line: str) -> str:
    """The text of a line that the server wrote in quotes, as it does from 2.48 on: it may have
    several lines.
    """
    try:
        return str(parse_json(line)) if line.startswith('"') else line
    except ValueError:
        return line


def hint(*texts: str) -> str:
    """What to do about an error in one of the texts, or ""."""
    for pattern, advice in _HINTS:
        for match in filter(None, (re.search(pattern, text) for text in texts)):
            return advice.format(*map(package_of, match.groups()))
    return ""


def package_of(module: str) -> str:
    """The package that provides a top-level module."""
    return _PACKAGES.get(module, module)
