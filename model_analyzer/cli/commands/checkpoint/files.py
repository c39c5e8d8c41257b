# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""`checkpoint verify`, `stats`, `merge`, `import` and `export`: checkpoints as files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from model_analyzer.cli.echo import echo
from model_analyzer.cli.options import (
    FORMATS,
    checkpoint_argument,
    directory_options,
    json_option,
    output_option,
    path_option,
    prefix_option,
)
from model_analyzer.cli.output import (
    check_printable,
    open_checkpoint,
    open_path,
    print_json,
    print_tables,
    put,
    warn_all,
)
from model_analyzer.domain.words import counted
from model_analyzer.errors import EXIT_OK, EXIT_RUN_FAILED, EXIT_USAGE, wrong

_PATH = click.Path(path_type=Path)


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
    from model_analyzer.app.checkpoints.stats import measure

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
    merged = merge_into(output_dir, [open_path(path, prefix) for path in sources], prefix)
    echo(f"wrote {merged.path} with {counted(merged.outcomes, 'outcome')}")
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

    imported = start_directory(file, directory, prefix)
    warn_all(imported.remarks)
    echo(f"wrote {imported.path} with {counted(imported.outcomes, 'outcome')}")


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

    There is one row for each model of each single measurement: instalments are not pooled. To get
    the pooled values, use `checkpoint trials --format`. The format upstream has pooled values.

    \b
    Example:
      model-analyzer checkpoint export --format parquet -o trials.parquet
    """
    from model_analyzer.app.checkpoints.files import export_checkpoint

    check_printable(form, output)
    exported = export_checkpoint(open_checkpoint(which, directory, prefix), form)
    put(exported.content, output, exported.description)
    warn_all(exported.remarks)
