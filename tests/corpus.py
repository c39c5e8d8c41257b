# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Examples that failed once: tools/fuzz.py writes them down, tests/test_corpus.py tries them again.

An example is JSON, in a file of its own below tests/golden/corpus, in the directory of its kind:

    {"example": …, "failed": WHAT WENT WRONG, "waits_for": WHY IT STILL FAILS, if it does}
"""

from __future__ import annotations

import hashlib
import json
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any, NamedTuple

from hypothesis.strategies import SearchStrategy

CORPUS = Path(__file__).parent / "golden" / "corpus"

# So long an example may take, far more than any does on a busy machine.
LIMIT_S = 120.0


class Kind(NamedTuple):
    """What is tried, what must hold for each example, and the kind's share of the time."""

    strategy: SearchStrategy[Any]
    check: Callable[[Any], None]
    share: float


class TooLong(Exception):
    """An example takes more time than it may."""


@contextmanager
def within(seconds: float) -> Iterator[None]:
    """Raises TooLong inside when the time is up. For the main thread."""

    def stop(number: int, frame: FrameType | None) -> None:
        raise TooLong(f"takes more than {seconds:.0f} s")

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def as_kept(example: Any) -> Any:
    """The example as it comes back from a file: tuples are lists."""
    return json.loads(json.dumps(example))


def keep(kind: str, example: Any, failed: str) -> Path:
    """Writes the example into the corpus, unless it is there already."""
    text = json.dumps(example, sort_keys=True)
    directory = CORPUS / kind.replace(" ", "_")
    path = directory / f"{hashlib.sha256(text.encode()).hexdigest()[:12]}.json"
    if not path.exists():
        directory.mkdir(parents=True, exist_ok=True)
        content = {"example": example, "failed": failed}
        path.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
    return path


def kept() -> Iterator[tuple[str, Path]]:
    """The kind and the file of each example."""
    for path in sorted(CORPUS.glob("*/*.json")):
        yield path.parent.name.replace("_", " "), path
