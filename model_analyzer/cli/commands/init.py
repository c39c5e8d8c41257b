# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""`model-analyzer init`: a starter directory that works as it is."""

from __future__ import annotations

import shlex
from pathlib import Path

import click

from model_analyzer.cli.echo import echo
from model_analyzer.errors import EXIT_OK


@click.command("init", context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("directory", type=click.Path(path_type=Path))
def init(directory: Path) -> int:
    """Write example models and a commented configuration into a new DIRECTORY.

    Nothing is overwritten: the directory must be new or empty.

    \b
    Example:
      model-analyzer init start && model-analyzer profile -f start/config.yaml
    """
    from model_analyzer.app.starter import write_starter

    config = write_starter(directory)
    echo(f"Wrote {directory}. Next: model-analyzer profile -f {shlex.quote(str(config))}")
    return EXIT_OK
