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
    """Begin a checkpoint directory with a file.

    It may be ours, or one of Triton Model Analyzer. Whatever reads the directory afterwards,
    `profile` among it, goes on from that. (It would from the file, too, wherever it takes a
    checkpoint.)

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
                f"{directory}: has measurements already: import into another directory, and put"
                " both together with `model-analyzer checkpoint merge`"
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
    help="What is written; upstream: a checkpoint of Triton Model Analyzer.",
)
@output_option
def export(which: str, directory: Path, prefix: str, form: str, output: Path | None) -> None:
    """Write all of a checkpoint for other programs.

    Failures, too. One row for each model of each trial.

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
        warn(f"failures left out, for which there is no place: {written.failures}")
    if written.outdated:
        warn(f"measurements left out that were made again since: {written.outdated}")
