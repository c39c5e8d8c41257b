# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""`checkpoint metadata`: the user's own notes, kept with the measurements."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from model_analyzer.cli.checkpoint.options import directory_options
from model_analyzer.cli.echo import echo
from model_analyzer.errors import CheckpointError, wrong

_DEEPEST = 64


@click.group()
def metadata() -> None:
    """Read and write your own notes, which are stored with the measurements.

    \b
    Example:
      model-analyzer checkpoint metadata set owner '{"team": "vision", "ticket": 17}'
      model-analyzer checkpoint metadata get owner.team
    """


@metadata.command("get")
@click.argument("key", required=False)
@directory_options
def get(key: str | None, directory: Path, prefix: str) -> None:
    """Print all notes, or the value of KEY. Text is printed as it is, other values as JSON.

    \b
    Example:
      model-analyzer checkpoint metadata get owner.team
    """
    from model_analyzer.domain.models import thaw
    from model_analyzer.state.checkpoint import load_existing

    value: Any = load_existing(directory, prefix).metadata
    if key is not None:
        value = _below(value, key, directory)
    value = thaw(value)
    echo(value if isinstance(value, str) else json.dumps(value, indent=1))


def _below(value: Any, key: str, directory: Path) -> Any:
    """What `key` names: a top-level key, or, with dots, what is below one."""
    parts = [key] if key in value else key.split(".")
    for place, part in enumerate(parts):
        if isinstance(value, tuple) and part.isdecimal() and int(part) < len(value):
            value = value[int(part)]
        elif isinstance(value, Mapping) and part in value:
            value = value[part]
        else:
            below = f"below {'.'.join(parts[:place])!r} " if place else ""
            names = ", ".join(value) if isinstance(value, Mapping) else ""
            raise CheckpointError(
                f"{directory}: no metadata {key!r}: {below}there is {names or 'no such key'}"
            )
    return value


@metadata.command("set")
@click.argument("key")
@click.argument("value")
@directory_options
def set_(key: str, value: str, directory: Path, prefix: str) -> None:
    """Set KEY to VALUE, which is JSON or text. It replaces the whole earlier value.

    \b
    Example:
      model-analyzer checkpoint metadata set note 'after the driver update'
    """
    if not key or "." in key:
        raise wrong(
            "KEY",
            f"{key!r}: a key with dots can be read, but not set: set the whole top-level value",
        )
    _change(directory, prefix, {key: _parsed(value)})


@metadata.command("remove")
@click.argument("key")
@directory_options
def remove(key: str, directory: Path, prefix: str) -> None:
    """Remove KEY and everything below it.

    \b
    Example:
      model-analyzer checkpoint metadata remove note
    """
    _change(directory, prefix, {key: None})


def _parsed(text: str) -> Any:
    from model_analyzer.state.format.lines import depth, parse

    try:
        value = parse(text.encode())
    except ValueError:
        return text
    except RecursionError:
        value, is_deep = None, True
    else:
        is_deep = depth(value) > _DEEPEST
    if is_deep:
        raise wrong("VALUE", f"more than {_DEEPEST} levels deep")
    if value is None:
        raise wrong("VALUE", "null is not a value: use `metadata remove` to remove a key")
    try:
        json.dumps(value, allow_nan=False)
    except ValueError as error:
        raise wrong("VALUE", "it contains a number that is too large") from error
    return value


def _change(directory: Path, prefix: str, values: Mapping[str, Any]) -> None:
    from model_analyzer.state.checkpoint import load_existing
    from model_analyzer.state.profile_state import ProfileState

    load_existing(directory, prefix)  # runs begin a directory: a note with a typing error does not
    with ProfileState(directory, prefix=prefix) as state:
        known = state.checkpoint.metadata
        for key, value in values.items():
            if value is None and key not in known:
                there = f": there is {', '.join(known)}" if known else ""
                raise CheckpointError(f"{directory}: no metadata {key!r}{there}")
        state.record_metadata(values)
