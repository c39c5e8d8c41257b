# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""`checkpoint import` and `export`: what other programs write and read."""

from __future__ import annotations

from pathlib import Path

import click

from model_analyzer.cli.checkpoint.options import (
    FORMATS,
    checkpoint_argument,
    directory_options,
    output_option,
)
from model_analyzer.cli.echo import echo
from model_analyzer.domain.words import counted
from model_analyzer.errors import CheckpointError

_UPSTREAM = "upstream"


@click.command("import")
@click.argument("file", type=click.Path(path_type=Path), metavar="FILE")
@directory_options
def import_(file: Path, directory: Path, prefix: str) -> None:
    """Start a checkpoint directory from a file.

    The file is a checkpoint of model-analyzer or of Triton Model Analyzer. `profile` and all
    other commands then use the directory.

    \b
    Example:
      model-analyzer checkpoint import old/4.ckpt -s checkpoints
    """
    from model_analyzer.cli.checkpoint.output import warn
    from model_analyzer.state.checkpoint import read_file
    from model_analyzer.state.profile_state import ProfileState

    imported = read_file(file)
    for sentence in imported.remarks:
        warn(sentence)
    with ProfileState(directory, prefix=prefix) as state:
        if len(state.checkpoint.records):
            raise CheckpointError(
                f"{directory}: already has measurements: import into another directory, then"
                " combine both with `model-analyzer checkpoint merge`"
            )
        state.start_from(imported)
        echo(f"wrote {state.newest} with {counted(len(imported.records), 'outcome')}")


@click.command()
@checkpoint_argument
@directory_options
@click.option(
    "--format",
    "form",
    type=click.Choice([*FORMATS, _UPSTREAM]),
    required=True,
    help="Output format. upstream: a checkpoint of Triton Model Analyzer.",
)
@output_option
def export(which: str, directory: Path, prefix: str, form: str, output: Path | None) -> None:
    """Write a whole checkpoint, with failures, for other programs.

    There is one row for each model of each trial.

    \b
    Example:
      model-analyzer checkpoint export --format parquet -o trials.parquet
    """
    from model_analyzer.cli.checkpoint.output import found, put, put_rows, warn
    from model_analyzer.results.flat_rows import rows_of
    from model_analyzer.state.upstream.writing import exported

    checkpoint = found(which, directory, prefix)
    if form != _UPSTREAM:
        put_rows(rows_of(checkpoint.records.items()), form, output)
        return
    written = exported(checkpoint)
    put(written.text.encode(), output, "the measurements")
    if written.failures:
        warn(f"failures left out, because this format cannot hold them: {written.failures}")
    if written.outdated:
        warn(f"measurements left out, because newer ones replace them: {written.outdated}")
