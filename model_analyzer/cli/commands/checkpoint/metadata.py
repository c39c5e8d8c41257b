# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""`checkpoint metadata`: the user's own notes, kept with the measurements."""

from __future__ import annotations

from pathlib import Path

import click

from model_analyzer.cli.echo import echo
from model_analyzer.cli.options import directory_options
from model_analyzer.cli.output import print_json


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
    from model_analyzer.app.checkpoints.metadata import read_metadata

    value = read_metadata(directory, prefix, key)
    if isinstance(value, str):
        echo(value)
    else:
        print_json(value)


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
    from model_analyzer.app.checkpoints.metadata import set_metadata

    set_metadata(directory, prefix, key, value)


@metadata.command("remove")
@click.argument("key")
@directory_options
def remove(key: str, directory: Path, prefix: str) -> None:
    """Remove KEY and everything below it.

    \b
    Example:
      model-analyzer checkpoint metadata remove note
    """
    from model_analyzer.app.checkpoints.metadata import remove_metadata

    remove_metadata(directory, prefix, key)
