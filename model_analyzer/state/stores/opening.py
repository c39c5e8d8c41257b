# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The store of a URL: a directory, a store of another package, or one that fsspec knows.

A package adds a store with an entry point of the group `model_analyzer.checkpointers`: its name is
the scheme of the URLs, and its object takes a URL and a prefix and returns a `Checkpointer`.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path

from model_analyzer.errors import ConfigError, Problem
from model_analyzer.state.stores.checkpointer import Checkpointer
from model_analyzer.state.stores.directory import DirectoryCheckpointer
from model_analyzer.state.stores.storage import StorageCheckpointer

GROUP = "model_analyzer.checkpointers"

Factory = Callable[[str, str], Checkpointer]


def open_store(url: str, prefix: str = "") -> Checkpointer:
    """The store of a URL (or path); `prefix` is the `--checkpoint-prefix` of its runs.

    Raises ConfigError if the URL cannot be used.
    """
    scheme, separator, rest = url.partition("://")
    if not separator:
        return DirectoryCheckpointer(_expanded(url), prefix)
    for point in entry_points(group=GROUP, name=scheme):
        return _factory(point)(url, prefix)
    if scheme == "file":
        return DirectoryCheckpointer(Path(rest), prefix)
    return StorageCheckpointer(url, prefix)


def _expanded(text: str) -> Path:
    try:
        return Path(text).expanduser()
    except RuntimeError as error:
        problem = Problem(where="", message=f"cannot expand {text!r}: {error}")
        raise ConfigError(problem) from error


def _factory(point: EntryPoint) -> Factory:
    try:
        factory: Factory = point.load()
    except (ImportError, AttributeError) as error:
        raise ConfigError(
            Problem(
                where=f"{point.name}://",
                message=f"the entry point {point.value!r} for such URLs cannot be loaded: {error}",
                hint="fix or remove the package that provides it",
            )
        ) from error
    return factory
