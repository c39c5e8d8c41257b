# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""`model-analyzer checkpoint`: what is in checkpoints (`list`, `show`, `trials`, `best`), and whole
ones (`verify`, `stats`, `merge`, `import`, `export`, `metadata`, `download`, `upload`).
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from model_analyzer.cli.complete import complete_model
from model_analyzer.cli.echo import complain, echo
from model_analyzer.cli.shared_options import (
    FORMATS,
    TABLE,
    allow_miss_option,
    check_format,
    checkpoint_argument,
    conditions_option,
    directory_options,
    format_option,
    goal_options,
    is_shown,
    json_option,
    metric,
    open_checkpoint,
    open_path,
    order_option,
    output_option,
    path_option,
    prefix_option,
    prices_of,
    prices_option,
    print_json,
    print_table,
    print_tables,
    put,
    remarks_option,
    shows_remarks,
    warn_all,
)
from model_analyzer.domain.words import counted
from model_analyzer.errors import EXIT_OK, EXIT_RUN_FAILED, EXIT_USAGE, wrong

if TYPE_CHECKING:
    from model_analyzer.domain.goals import GoalOverride


_NO_METRICS_OF_TRIALS = ("time", "index", "state")


@click.command("list")
@directory_options
@click.option("--metric", "shown", metavar="METRIC", help="Metric whose best value is shown.")
@click.option(
    "--sort-by",
    default="index",
    metavar="METRIC|time|index|state",
    show_default=True,
    help="Column to sort by. A metric sorts by its best value.",
)
@order_option("best first for metrics, otherwise lowest first.")
@click.option(
    "--limit", type=click.IntRange(1), metavar="N", help="Maximum number of checkpoints to show."
)
@json_option
def list_(
    directory: Path,
    prefix: str,
    shown: str | None,
    sort_by: str,
    order: str | None,
    limit: int | None,
    as_json: bool,
) -> None:
    """List the checkpoints of a directory.

    The best value is that of a whole trial: its measurements, such as rounds, are pooled.

    \b
    Example:
      model-analyzer checkpoint list --sort-by perf_latency_p99 --limit 3
    """
    from model_analyzer.app.checkpoints.show import list_checkpoints

    listing = list_checkpoints(
        directory,
        prefix,
        sort_by=sort_by if sort_by in _NO_METRICS_OF_TRIALS else metric(sort_by, "--sort-by"),
        metric=metric(shown, "--metric") if shown else None,
        order=order,
        limit=limit,
    )
    if as_json:
        print_json(listing.documents())
    else:
        print_table(f"Checkpoints in {directory}", listing.table())


@click.command()
@checkpoint_argument
@directory_options
@click.option(
    "--metric",
    "shown",
    metavar="METRIC",
    help="Metric to rank variants by.  [default: what the run optimized]",
)
def show(which: str, directory: Path, prefix: str, shown: str | None) -> None:
    """Show the content of a checkpoint.

    Values of variants are those of whole trials: their measurements, such as rounds, are
    pooled.

    \b
    Example:
      model-analyzer checkpoint show 3
    """
    from model_analyzer.app.checkpoints.show import content_tables

    tag = metric(shown, "--metric") if shown else None
    print_tables(content_tables(open_checkpoint(which, directory, prefix), tag))


@click.command()
@checkpoint_argument
@directory_options
@click.option(
    "--where",
    multiple=True,
    metavar="FILTER",
    help="Show only rows that match this filter, for example 'perf_latency_p99<20', 'model=m'"
    " or 'concurrency>=8'. Operators: < <= > >= = !=. Can be repeated: rows must match all"
    " filters.",
)
@click.option("--sort-by", metavar="COLUMN", help="Metric or other column to sort by.")
@order_option("best first for metrics, otherwise lowest first.")
@click.option("--top-n", type=click.IntRange(1), metavar="N", help="Show only the first N rows.")
@click.option(
    "--single",
    is_flag=True,
    help="Show each single measurement, such as a round, instead of their pooled values.",
)
@format_option(*FORMATS)
@output_option
def trials(
    which: str,
    directory: Path,
    prefix: str,
    where: Sequence[str],
    sort_by: str | None,
    order: str | None,
    top_n: int | None,
    single: bool,
    form: str,
    output: Path | None,
) -> None:
    """Show the trials of a checkpoint, filtered and sorted.

    If a trial was measured several times, for example in rounds, its measurements are pooled,
    as in `best` and in reports. A trial of several models has one row for each model.

    \b
    Example:
      model-analyzer checkpoint trials --where 'perf_latency_p99<20' --sort-by perf_throughput
    """
    from model_analyzer.app.checkpoints.show import choose_trials, parse_query

    query = parse_query(where, sort_by, order, top_n, single=single)
    check_format(form, output, FORMATS)
    chosen = choose_trials(open_checkpoint(which, directory, prefix), query)
    count = len(chosen.rows)
    if count and not any((query.sort_by or "model") in row for row in chosen.rows):
        complain(f"no trial has {query.sort_by}: they are not sorted by it")
    if form != TABLE:
        put(chosen.encoded(form), output, counted(count, "row"))
    elif count:
        print_table(chosen.title, chosen.table())
    else:
        echo("no measurement matches the filters" if where else "no measurements")


@click.command()
@checkpoint_argument
@directory_options
@click.option(
    "--model", metavar="MODEL", shell_complete=complete_model, help="Show only this model."
)
@goal_options("those of the run, otherwise perf_throughput")
@click.option(
    "--top-n", type=click.IntRange(1), default=3, metavar="N", show_default=True,
    help="Number of variants of each model to show and write.",
)  # fmt: skip
@prices_option
@conditions_option
@allow_miss_option
@remarks_option
@path_option(
    "--output-dir",
    metavar="DIR",
    help="Write DIR/MODEL/VARIANT/config.pbtxt, with the measurements beside it.",
)
def best(
    which: str,
    directory: Path,
    prefix: str,
    model: str | None,
    asked: GoalOverride,
    top_n: int,
    conditions: int | None,
    allow_miss: bool,
    output_dir: Path | None,
) -> int:
    """Show the best variants for the goals of the run, or for other goals.

    Nothing is measured.

    \b
    Example:
      model-analyzer checkpoint best --constraint 'perf_latency_p99<20' --output-dir deploy
    """
    from model_analyzer.app.checkpoints.show import best_variants
    from model_analyzer.cli.console import TerminalView

    variants = best_variants(
        open_checkpoint(which, directory, prefix),
        asked,
        count=top_n,
        model=model,
        conditions=conditions,
        directory=output_dir,
        prices=prices_of(click.get_current_context()),
    )
    warn_all(variants.remarks)
    view = TerminalView(0, with_remarks=shows_remarks(click.get_current_context()))
    has_all = True
    paths: list[Path] = []
    for each in variants.models:
        for answer in each.answers:
            statement, table = variants.statement(answer)
            view.answer(statement, table, variants.swept(answer), more="shown with -v")
            is_usable = is_shown(answer, allow_miss=allow_miss)
            has_all = has_all and is_usable
            paths += variants.write(answer) if is_usable else ()
        if each.is_of_several_kinds:
            view.hardware(each.model, variants.hardware(each))
    for path in paths:
        view.print(f"wrote {path}")
    return EXIT_OK if has_all else EXIT_RUN_FAILED


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


_COMMANDS = (
    list_, show, trials, best, metadata, verify, stats, merge, import_, export, download, upload,
)  # fmt: skip


class _InOrder(click.Group):
    """Lists its commands in the order in which people meet them."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.commands)


@click.group("checkpoint", cls=_InOrder, context_settings={"help_option_names": ["-h", "--help"]})
def checkpoint() -> None:
    """Show, check, export and merge checkpoints.

    CHECKPOINT is a number, a uuid or the beginning of a uuid, the path of a file, `best` or
    `latest`. The default, `latest`, means all results of the directory.

    \b
    Example:
      model-analyzer checkpoint list -s start/checkpoints
    """


for _command in _COMMANDS:
    checkpoint.add_command(_command)
