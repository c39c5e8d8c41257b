# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""`model-analyzer init`: a starter directory that works as it is."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import click

from model_analyzer.cli.echo import echo
from model_analyzer.errors import EXIT_OK, ConfigError, OutputError, Problem
from model_analyzer.runner.files import copy_writable

STARTER = Path(__file__).parents[1] / "starter"


def init() -> click.Command:
    return _init


@click.command("init", context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("directory", type=click.Path(path_type=Path))
def _init(directory: Path) -> int:
    """Write example models and a commented configuration into a new DIRECTORY.

    Nothing is overwritten: the directory must not exist, or be empty.

    \b
    Example:
      model-analyzer init start && model-analyzer profile -f start/config.yaml
    """
    target = directory.absolute()
    try:
        is_taken = target.exists() and (not target.is_dir() or any(target.iterdir()))
    except OSError as error:
        raise OutputError(f"cannot write {directory}: {error.strerror}") from error
    if is_taken:
        raise ConfigError(
            Problem(
                where=str(directory),
                what="exists and is not empty" if target.is_dir() else "is a file",
                hint="name a new directory: nothing is overwritten",
            )
        )
    try:
        copy_writable(STARTER, target)
        config = target / "config.yaml"
        text = config.read_text(encoding="utf-8")
        text = text.replace("CONFIG_FILE", str(directory / "config.yaml"))
        config.write_text(_with_directory(text, target), encoding="utf-8")
    except (OSError, shutil.Error) as error:
        raise OutputError(f"cannot write {directory}: {error}") from error
    echo(f"Wrote {directory}. Next: model-analyzer profile -f {directory / 'config.yaml'}")
    return EXIT_OK


def _with_directory(text: str, directory: Path) -> str:
    """The configuration with its paths below `directory`, quoted where YAML needs that."""
    return re.sub(r"DIRECTORY(\S*)", lambda found: json.dumps(f"{directory}{found[1]}"), text)
