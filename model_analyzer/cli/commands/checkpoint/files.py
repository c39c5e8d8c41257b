# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""`checkpoint verify`, `stats`, `merge`, `import`, `export`, `metadata`, `download` and `upload`:
whole checkpoints.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from model_analyzer.cli.echo import complain, echo
from model_analyzer.cli.output import (
    check_format,
    open_checkpoint,
    open_path,
    print_json,
    print_tables,
    put,
    warn_all,
)
from model_analyzer.cli.shared_options import (
    FORMATS,
    checkpoint_argument,
    directory_options,
    json_option,
    metric,
    order_option,
    output_option,
    path_option,
    prefix_option,
)
from model_analyzer.domain.words import counted
from model_analyzer.errors import EXIT_OK, EXIT_RUN_FAILED, EXIT_USAGE, wrong

_PATH = click.Path(path_type=Path)

_NO_METRICS = ("time", "index")
_STORE = "Store: a directory, or s3://bucket/folder."


@click.command()
@click.argument("paths", nargs=-1, type=_PATH, metavar="[FILE|DIRECTORY]...")
@directory_options
@json_option
def verify(paths: Sequence[Path], directory: Path, prefix: str, as_json: bool) -> int:
    """Check that checkpoint files are intact.

    For a damaged file, it shows what is lost. Without a FILE, it checks all checkpoints and
    journals of the directory. The exit status is 1 if a file is damaged, 2 if one does not exist.

    \b
    Example:
      model-analyzer checkpoint verify -s start/checkpoints
    """
    from model_analyzer.app.checkpoints.files import verify_files

    verification = verify_files(paths, directory, prefix)
    if as_json:
        print_json(verification.documents())
    else:
        for line in verification.lines():
            echo(line)
    if verification.has_missing:
        return EXIT_USAGE
    return EXIT_OK if verification.is_intact else EXIT_RUN_FAILED


@click.command()
@checkpoint_argument
@directory_options
@json_option
def stats(which: str, directory: Path, prefix: str, as_json: bool) -> None:
    """Show the size of a checkpoint, its loading time and the share of each node.

    \b
    Example:
      model-analyzer checkpoint stats 3
    """
    from model_analyzer.app.checkpoints.files import measure

    statistics = measure(which, directory, prefix)
    warn_all(statistics.damage_warnings)
    if as_json:
        print_json(statistics.document())
        return
    print_tables(statistics.tables())
    if statistics.remark:
        echo(statistics.remark)


@click.command()
@click.argument("sources", nargs=-1, required=True, type=_PATH, metavar="A B...")
@path_option(
    "--output-dir", required=True, metavar="DIR", help="Directory for the merged checkpoint."
)
@prefix_option
def merge(sources: Sequence[Path], output_dir: Path, prefix: str) -> None:
    """Merge checkpoints of several runs on the same hardware.

    A and B are checkpoint directories or files. The result is the next numbered checkpoint of
    DIR; nothing else is changed. Every measurement is kept: if several checkpoints measured a
    trial, it has all of them.

    \b
    Example:
      model-analyzer checkpoint merge monday/checkpoints tuesday/checkpoints --output-dir both
    """
    from model_analyzer.app.checkpoints.files import merge_into

    if len(sources) < 2:
        raise wrong("A B", "give at least two checkpoints to merge")
    written, merged = merge_into(output_dir, [open_path(path, prefix) for path in sources], prefix)
    echo(f"wrote {written} with {counted(len(merged.checkpoint.records), 'outcome')}")
    if merged.repetitions:
        echo(
            f"kept {counted(merged.repetitions, 'repetition')} of trials that another checkpoint"
            " measured, too: rankings pool all measurements of a trial"
        )
    if merged.failures:
        echo(
            f"left out {counted(merged.failures, 'failure')}, because another checkpoint has a"
            " measurement or a newer failure of the same trial"
        )
    if merged.renamed:
        echo(
            f"renamed {counted(merged.renamed, 'variant')}, because each name must mean one"
            " configuration"
        )


@click.command("import")
@click.argument("file", type=_PATH, metavar="FILE")
@directory_options
def import_(file: Path, directory: Path, prefix: str) -> None:
    """Start a checkpoint directory from a file.

    The file is a checkpoint of model-analyzer or of Triton Model Analyzer. `profile` and all
    other commands then use the directory.

    \b
    Example:
      model-analyzer checkpoint import old/4.ckpt -s checkpoints
    """
    from model_analyzer.app.checkpoints.files import start_directory

    written, imported = start_directory(file, directory, prefix)
    warn_all([*imported.damage_warnings, *imported.remarks])
    echo(f"wrote {written} with {counted(len(imported.records), 'outcome')}")


@click.command()
@checkpoint_argument
@directory_options
@click.option(
    "--format",
    "form",
    type=click.Choice([*FORMATS, "upstream"]),
    required=True,
    help="Output format. upstream: a checkpoint of Triton Model Analyzer.",
)
@output_option
def export(which: str, directory: Path, prefix: str, form: str, output: Path | None) -> None:
    """Write a whole checkpoint, with failures, for other programs.

    There is one row for each model of each single measurement: rounds are not pooled. To get
    the pooled values, use `checkpoint trials --format`. The format upstream has pooled values.

    \b
    Example:
      model-analyzer checkpoint export --format parquet -o trials.parquet
    """
    from model_analyzer.app.checkpoints.files import export_checkpoint

    check_format(form, output)
    exported = export_checkpoint(open_checkpoint(which, directory, prefix), form)
    put(exported.content, output, exported.description)
    warn_all(exported.remarks)


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
    from model_analyzer.app.checkpoints.files import read_metadata

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
    from model_analyzer.app.checkpoints.files import set_metadata

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
    from model_analyzer.app.checkpoints.files import remove_metadata

    remove_metadata(directory, prefix, key)


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
    from model_analyzer.app.checkpoints.files import Downloaded, Top, download_checkpoints

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
    from model_analyzer.app.checkpoints.files import Uploaded, upload_checkpoints

    status = EXIT_OK
    for copy in upload_checkpoints(which, directory, prefix, target):
        if isinstance(copy, Uploaded):
            number = f" as number {copy.number}" if copy.is_new else ""
            echo(f"uploaded {copy.name} to {copy.store}{number}")
        else:
            complain(copy.reason)
            status = EXIT_RUN_FAILED
    return status
