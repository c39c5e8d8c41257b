# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Reads and writes the user's own notes, which are kept with the measurements."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from model_analyzer.domain.foreign_json import TooDeep, parse_unambiguous
from model_analyzer.domain.models import thaw
from model_analyzer.errors import UnusableCheckpoint, wrong
from model_analyzer.state.checkpoint import load_existing
from model_analyzer.state.profile_state import ProfileState

_DEEPEST = 64


def read_metadata(directory: Path, prefix: str = "", key: str | None = None) -> Any:
    """All notes, or the value of a key: a top-level one or, with dots, one below it.

    Raises CheckpointError where there is no such key.
    """
    value: Any = load_existing(directory, prefix).metadata
    return thaw(value if key is None else _below(value, key, directory))


def _below(value: Any, key: str, directory: Path) -> Any:
    parts = [key] if key in value else key.split(".")
    for place, part in enumerate(parts):
        if isinstance(value, tuple) and part.isdecimal() and int(part) < len(value):
            value = value[int(part)]
        elif isinstance(value, Mapping) and part in value:
            value = value[part]
        else:
            below = f"below {'.'.join(parts[:place])!r} " if place else ""
            names = ", ".join(value) if isinstance(value, Mapping) else ""
            raise UnusableCheckpoint(
                f"{directory}: no metadata {key!r}: {below}there is {names or 'no such key'}"
            )
    return value


def set_metadata(directory: Path, prefix: str, key: str, text: str) -> None:
    """Sets a top-level key to the value that is JSON, or else to the text.

    Raises ConfigError where key or value cannot be used.
    """
    if not key or "." in key:
        raise wrong(
            "KEY",
            f"{key!r}: a key with dots can be read, but not set: set the whole top-level value",
        )
    value = _parsed(text)
    load_existing(directory, prefix)  # a mistyped name does not create a directory
    with ProfileState(directory, prefix=prefix) as state:
        state.record_metadata({key: value})


def remove_metadata(directory: Path, prefix: str, key: str) -> None:
    """Removes a top-level key. Raises CheckpointError where there is no such key."""
    load_existing(directory, prefix)
    with ProfileState(directory, prefix=prefix) as state:
        keys = state.checkpoint.metadata
        if key not in keys:
            hint = f": there is {', '.join(keys)}" if keys else ""
            raise UnusableCheckpoint(f"{directory}: no metadata {key!r}{hint}")
        state.record_metadata({key: None})


def _parsed(text: str) -> Any:
    try:
        value = parse_unambiguous(text.encode(), deepest=_DEEPEST)
    except TooDeep as error:
        raise wrong("VALUE", f"more than {_DEEPEST} levels deep") from error
    except ValueError:
        return text
    if value is None:
        raise wrong("VALUE", "null is not a value: use `metadata remove` to remove a key")
    try:
        json.dumps(value, allow_nan=False)
    except ValueError as error:
        raise wrong("VALUE", "it contains a number that is too large") from error
    return value
