# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""`model-analyzer checkpoint download` and `upload`: checkpoints from and to other places.

What they need is imported when they run, so that their help is instant.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from model_analyzer.cli.checkpoint.options import (
    directory_options,
    metric,
    order_option,
    path_option,
    prefix_option,
)
from model_analyzer.cli.echo import complain, echo
from model_analyzer.errors import EXIT_OK, EXIT_RUN_FAILED, CheckpointError

if TYPE_CHECKING:
    from model_analyzer.state.stores.checkpointer import Checkpointer


@click.command("download")
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
@click.option(
    "--from",
    "source",
    required=True,
    metavar="URL",
    help="Store: a directory, or s3://bucket/folder.",
)
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
    from model_analyzer.cli.checkpoint.output import warn
    from model_analyzer.state.checkpoint import SORTS
    from model_analyzer.state.find import pick, pick_top
    from model_analyzer.state.stores.directory import download as copy_of
    from model_analyzer.state.stores.opening import open_store

    if [which, named, top_n].count(None) != 2:
        raise click.UsageError(
            "no checkpoint is named: give its number or uuid, --latest, --best, or --top-n for"
            " several"
        )
    if top_n is None and (sort_by or order):
        raise click.UsageError("--sort-by and --order need --top-n N")
    column = sort_by or "index"
    if column not in SORTS:
        column = metric(column, "--sort-by")
    store = open_store(source, prefix)
    if top_n is None:
        indices: Sequence[int] = [pick(which or named or "", store)]
    else:
        indices, damage = pick_top(store, top_n, column, order)
        for sentence in damage:
            warn(f"{sentence}: left out")
    if not indices:
        raise CheckpointError(f"{store}: no intact checkpoint found")
    for index in indices:
        path, is_new = copy_of(store, index, output_dir, prefix)
        echo(f"wrote {path}" if is_new else f"{path} already exists")


@click.command("upload")
@click.argument("which", required=False)
@click.option(
    "--to",
    "target",
    required=True,
    metavar="URL",
    help="Store: a directory, or s3://bucket/folder.",
)
@directory_options
def upload(which: str | None, target: str, directory: Path, prefix: str) -> int:
    """Copy numbered checkpoints to a store.

    Without WHICH, all checkpoints that the store does not have. WHICH is a number, a uuid or the
    beginning of a uuid, `latest` or `best`.

    If the store has a different checkpoint with the same number, the copy gets the next free
    number. Damaged checkpoints are not copied, and the exit status is 1.
    """
    from model_analyzer.state.find import pick
    from model_analyzer.state.stores.directory import DirectoryCheckpointer
    from model_analyzer.state.stores.opening import open_store

    source = DirectoryCheckpointer(directory, prefix)
    indices = source.indices() if which is None else [pick(which, source)]
    if not indices:
        raise CheckpointError(
            f"{directory}: no checkpoint found; give --checkpoint-directory, and"
            " --checkpoint-prefix if the run had one"
        )
    return _upload(source, indices, open_store(target, prefix), prefix)


def _upload(source: Checkpointer, indices: Sequence[int], store: Checkpointer, prefix: str) -> int:
    from model_analyzer.state.checkpoint import Checkpoint
    from model_analyzer.state.format.layout import name_of
    from model_analyzer.state.stores.checkpointer import copy

    status = EXIT_OK
    for index in indices:
        name = name_of(index, prefix)
        data = source.read(index)
        try:
            Checkpoint.from_bytes(data, f"{source}: {name}")
        except CheckpointError as error:
            complain(str(error))
            status = EXIT_RUN_FAILED
            continue
        there = copy(index, data, store)
        number = "" if there == index else f" as number {there}"
        echo(f"uploaded {name} to {store}{number}")
    return status
