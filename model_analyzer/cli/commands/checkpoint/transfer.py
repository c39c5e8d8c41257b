# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""`checkpoint download` and `upload`: checkpoints from and to other places."""

from __future__ import annotations

from pathlib import Path

import click

from model_analyzer.cli.echo import complain, echo
from model_analyzer.cli.options import (
    directory_options,
    metric,
    order_option,
    path_option,
    prefix_option,
)
from model_analyzer.errors import EXIT_OK, EXIT_RUN_FAILED

_NO_METRICS = ("time", "index")
_STORE = "Store: a directory, or s3://bucket/folder."


@click.command()
@click.argument("which", required=False)
@click.option("--latest", "named", flag_value="latest", help="Copy the newest intact checkpoint.")
@click.option(
    "--best", "named", flag_value="best", help="Copy the checkpoint with the highest throughput."
)
@click.option(
    "--top-n",
    type=click.IntRange(1),
    metavar="N",
    help="Copy the N newest intact checkpoints, or the first N by --sort-by.",
)
@click.option(
    "--sort-by",
    metavar="METRIC|time|index",
    help="Column that selects the N checkpoints. A metric sorts by its best value.",
)
@order_option("newest first, or best first for metrics.")
@click.option("--from", "source", required=True, metavar="URL", help=_STORE)
@path_option("--output-dir", required=True, metavar="DIR", help="Directory to write to.")
@prefix_option
def download(
    which: str | None,
    named: str | None,
    top_n: int | None,
    sort_by: str | None,
    order: str | None,
    source: str,
    output_dir: Path,
    prefix: str,
) -> None:
    """Copy checkpoints from a store into a directory.

    WHICH is a number, a uuid or the beginning of a uuid.

    Each checkpoint is verified before it gets its final name. Nothing is overwritten.
    """
    from model_analyzer.app.checkpoints.transfer import Downloaded, Top, download_checkpoints

    if [which, named, top_n].count(None) != 2:
        raise click.UsageError(
            "no checkpoint is named: give its number or uuid, --latest, --best, or --top-n for"
            " several"
        )
    if top_n is None and (sort_by or order):
        raise click.UsageError("--sort-by and --order need --top-n N")
    column = sort_by or "index"
    column = column if column in _NO_METRICS else metric(column, "--sort-by")
    top = None if top_n is None else Top(count=top_n, sort_by=column, order=order)
    for copy in download_checkpoints(source, top or which or named or "", output_dir, prefix):
        if isinstance(copy, Downloaded):
            echo(f"wrote {copy.path}" if copy.is_new else f"{copy.path} already exists")
        else:
            complain(f"{copy.reason}: left out")


@click.command()
@click.argument("which", required=False)
@click.option("--to", "target", required=True, metavar="URL", help=_STORE)
@directory_options
def upload(which: str | None, target: str, directory: Path, prefix: str) -> int:
    """Copy numbered checkpoints to a store.

    Without WHICH, all checkpoints that the store does not have. WHICH is a number, a uuid or the
    beginning of a uuid, `latest` or `best`.

    If the store has a different checkpoint with the same number, the copy gets the next free
    number. Damaged checkpoints are not copied, and the exit status is 1.
    """
    from model_analyzer.app.checkpoints.transfer import Uploaded, upload_checkpoints

    status = EXIT_OK
    for copy in upload_checkpoints(which, directory, prefix, target):
        if isinstance(copy, Uploaded):
            number = f" as number {copy.number}" if copy.is_new else ""
            echo(f"uploaded {copy.name} to {copy.store}{number}")
        else:
            complain(copy.reason)
            status = EXIT_RUN_FAILED
    return status
