# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Options and arguments that several commands have; and what the commands on checkpoints open,
print and write.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

import click

from model_analyzer.cli.complete import complete_checkpoint, complete_metrics, complete_model
from model_analyzer.cli.echo import complain, echo, echo_data
from model_analyzer.config.table import (
    VARIABLE_PREFIX,
)
from model_analyzer.domain.words import one_line
from model_analyzer.errors import wrong

if TYPE_CHECKING:
    from model_analyzer.reports.tables import Table
    from model_analyzer.results.answer import Answer
    from model_analyzer.results.columns import Cell
    from model_analyzer.state.checkpoint import Checkpoint


F = TypeVar("F", bound=Callable[..., Any])

FORMATS = ("csv", "json", "parquet")  # of rows, for programs
TABLE = "table"  # for people: see `check_format`


def _expanded(ctx: click.Context, parameter: click.Parameter, value: Path | None) -> Path | None:
    try:
        return None if value is None else value.expanduser()
    except RuntimeError as error:
        raise click.BadParameter(f"cannot expand {str(value)!r}: {error}") from error


def path_option(*flags: str, **options: Any) -> Callable[[F], F]:
    """An option whose value is a path; `~` is the home directory."""
    return click.option(*flags, type=click.Path(path_type=Path), callback=_expanded, **options)


def _file_prefix(ctx: click.Context, parameter: click.Parameter, value: str) -> str:
    """Checked as that of `profile`. Raises ConfigError."""
    if value:
        from model_analyzer.config.nodes import Node
        from model_analyzer.config.options import OPTIONS

        option = next(option for option in OPTIONS if option.key == "checkpoint_prefix")
        source = ctx.get_parameter_source(parameter.name or "")
        is_variable = source is click.core.ParameterSource.ENVIRONMENT
        option.kind.parse(Node(value, option.variable if is_variable else "--checkpoint-prefix"))
    return value


# `prefix`: which checkpoints of a directory the command uses.
prefix_option = click.option(
    "--checkpoint-prefix",
    "prefix",
    default="",
    metavar="NAME",
    envvar=f"{VARIABLE_PREFIX}CHECKPOINT_PREFIX",
    show_envvar=True,
    callback=_file_prefix,
    help="Prefix of the run's checkpoint names (NAME-0.ckpt).",
)


def directory_options(command: F) -> F:
    """`directory` and `prefix`: where the checkpoints are."""
    command = prefix_option(command)
    return path_option(
        "-s",
        "--checkpoint-directory",
        "directory",
        default=Path("checkpoints"),
        show_default=True,
        metavar="DIR",
        envvar=f"{VARIABLE_PREFIX}CHECKPOINT_DIRECTORY",
        show_envvar=True,
        help="Checkpoint directory.",
    )(command)


_PRICES = "prices"
_VERBOSE = "verbose"


def _kept(ctx: click.Context, parameter: click.Parameter, value: Path | None) -> None:
    ctx.meta[_PRICES] = _expanded(ctx, parameter, value)


# The file with prices of hardware: see `prices_of`, and `given_result_options`.
prices_option = click.option(
    "--prices",
    type=click.Path(path_type=Path),
    metavar="FILE",
    callback=_kept,
    expose_value=False,
    help="YAML file with prices of hardware, for what inferences cost.",
)


def prices_of(ctx: click.Context) -> Path | None:
    """The value of `prices_option`."""
    path: Path | None = ctx.meta.get(_PRICES)
    return path


def is_given(ctx: click.Context, name: str) -> bool:
    """Whether the user gave the parameter of this name."""
    return ctx.get_parameter_source(name) is not click.core.ParameterSource.DEFAULT


def given_result_options(ctx: click.Context, directory: Path, prefix: str) -> Mapping[str, str]:
    """The flags of `directory_options` and `prices_option` with their values, as far as they are
    given.
    """
    flags = {"directory": "--checkpoint-directory", "prefix": "--checkpoint-prefix"}
    values = {"directory": str(directory), "prefix": prefix}
    given = {flag: values[name] for name, flag in flags.items() if is_given(ctx, name)}
    prices = prices_of(ctx)
    return given if prices is None else {**given, "--prices": str(prices)}


# `which`: one checkpoint of the directory.
checkpoint_argument = click.argument(
    "which", metavar="[CHECKPOINT]", default="latest", shell_complete=complete_checkpoint
)


def model_option(condition: str = "") -> Callable[[F], F]:
    """`model`: one model of the checkpoint. It is only needed if this `condition` is true, too."""
    text = f"Model to use. Needed if the checkpoint has several{condition}."
    return click.option("-m", "--model", metavar="MODEL", shell_complete=complete_model, help=text)


# `config_file`: the file of the run whose results are used.
config_file_option = path_option(
    "-f",
    "--config-file",
    "config_file",
    metavar="FILE",
    help="YAML file of the run, for its goals and checkpoint directory.",
)


def order_option(default: str) -> Callable[[F], F]:
    """`order`, described as `default` where it is not given."""
    return click.option(
        "--order",
        type=click.Choice(["asc", "desc"]),
        help=f"Lowest first (asc) or highest first (desc). Default: {default}",
    )


json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON, for programs.")


def format_option(
    *forms: str, default: str = TABLE, help: str = "Output format."
) -> Callable[[F], F]:
    """`form`: the default or one of the other formats."""
    choice = click.Choice([default, *forms])
    return click.option(
        "--format", "form", type=choice, default=default, show_default=True, help=help
    )


output_option = path_option(
    "-o", "--output", metavar="FILE", help="File to write instead of printing."
)

# `conditions`: the number of a group, or None.
conditions_option = click.option(
    "--conditions",
    "--circumstances",  # its earlier name
    "conditions",
    type=click.IntRange(1),
    metavar="N",
    help="Rank the measurements of this group of conditions; `checkpoint show` lists the"
    " groups.  [default: the group of the configuration file, otherwise the one with the"
    " most measurements]",
)

# `allow_miss`, for `output.is_shown`.
allow_miss_option = click.option(
    "--allow-miss",
    is_flag=True,
    help="If no configuration meets the constraints, use the closest one.",
)


def _keep_verbose(ctx: click.Context, parameter: click.Parameter, value: bool) -> None:
    ctx.meta[_VERBOSE] = value


# For commands that count the remarks of an answer: see `shows_remarks`.
remarks_option = click.option(
    "-v",
    "--verbose",
    is_flag=True,
    callback=_keep_verbose,
    expose_value=False,
    help="Show all remarks about the recommendation.",
)


def shows_remarks(ctx: click.Context) -> bool:
    """The value of `remarks_option`."""
    return bool(ctx.meta.get(_VERBOSE))


def metric(name: str, flag: str) -> str:
    """The tag of the metric that `flag` names. Raises ConfigError where there is none."""
    from model_analyzer.config.goal_kinds import Tag
    from model_analyzer.config.nodes import Node

    return Tag().parse(Node(name, flag))


def goal_options(default: str) -> Callable[[F], F]:
    """`asked`: the goal (`GoalOverride`) that the user asks for, described as `default` where it is
    not given.
    """
    options = (
        click.option(
            "--metric",
            "metrics",
            metavar="METRIC[:WEIGHT],...",
            shell_complete=complete_metrics,
            help=f"Metrics to optimize.  [default: {default}]",
        ),
        click.option(
            "--constraint",
            "constraints",
            multiple=True,
            metavar="CONSTRAINT",
            help="Constraint, for example 'perf_latency_p99<20'; 'none' for no constraints."
            " Can be repeated.",
        ),
        click.option("--latency-budget", metavar="MS", help="Maximum p99 latency, in ms."),
        click.option(
            "--min-throughput", metavar="N", help="Minimum throughput, in inferences per second."
        ),
    )

    def decorate(command: F) -> F:
        decorated: Any = _with_goal(command)
        for option in reversed(options):
            decorated = option(decorated)
        return cast(F, decorated)

    return decorate


def _with_goal(command: F) -> Callable[..., Any]:
    @wraps(command)
    def with_goal(
        *arguments: Any,
        metrics: str | None,
        constraints: Sequence[str],
        latency_budget: str | None,
        min_throughput: str | None,
        **others: Any,
    ) -> Any:
        from model_analyzer.config.goal_kinds import goal_override

        asked = goal_override(metrics, constraints, latency_budget, min_throughput)
        return command(*arguments, asked=asked, **others)

    return with_goal


def open_checkpoint(which: str, directory: Path, prefix: str) -> Checkpoint:
    """The checkpoint that the user means, with a warning where it is damaged."""
    from model_analyzer.state.find import find

    checkpoint = find(which, directory, prefix)
    warn_all(checkpoint.damage_warnings)
    return checkpoint


def open_path(path: Path, prefix: str) -> Checkpoint:
    """The checkpoint of a file or a directory, with a warning where it is damaged."""
    from model_analyzer.state.checkpoint import load_chosen

    checkpoint = load_chosen(None if os.path.isdir(path) else path, path, prefix)
    warn_all(checkpoint.damage_warnings)
    return checkpoint


def warn(text: str) -> None:
    complain(text)


def warn_all(texts: Iterable[str]) -> None:
    for text in texts:
        complain(text)


def is_shown(answer: Answer, *, allow_miss: bool) -> bool:
    """Whether there is a configuration to use; a warning says if it misses the constraints."""
    if answer.best is None:
        return False
    if not answer.is_met and not allow_miss:
        warn(
            f"{answer.ranking.model}: no configuration meets the constraints, so there is none to"
            " use: --allow-miss uses the closest one"
        )
        return False
    return True


def print_json(document: Any) -> None:
    import json  # few commands need it

    echo(json.dumps(document, indent=1))


def print_tables(tables: Iterable[tuple[str, Table]]) -> None:
    for title, table in tables:
        print_table(title, table)


def print_table(title: str, table: Table) -> None:
    """A table for people: drawn on a terminal, padded columns elsewhere."""
    from rich.console import Console
    from rich.text import Text

    from model_analyzer.cli.console import plain_table
    from model_analyzer.cli.table_layout import laid_out

    shown = replace(table, rows=tuple(tuple(map(_in_words, row)) for row in table.rows))
    if sys.stdout.isatty():
        console = Console()
        console.print(Text(one_line(title), style="bold"))
        for part in laid_out(shown, console.width):
            console.print(part)
        return
    for line in plain_table(title, shown):
        echo(line.rstrip())


def _in_words(cell: Cell) -> Cell:
    """The cell; yes or no for a truth value."""
    return ("no", "yes")[cell] if isinstance(cell, bool) else cell


def check_format(form: str, output: Path | None, others: Sequence[str] = ()) -> None:
    """Refuses a table in a file, which takes the `others`, and a binary format on a terminal.
    Raises ConfigError.
    """
    if form == TABLE and output is not None:
        *first, last = others
        choices = f"{', '.join(first)} or {last}"
        raise wrong("-o", f"a table cannot be written to a file: choose --format {choices}")
    if form == "parquet" and output is None and sys.stdout.isatty():
        raise wrong("--format", "parquet cannot be printed to a terminal: give a file with -o FILE")


def put(content: bytes, output: Path | None, description: str) -> None:
    """Writes to the file, or to standard output."""
    if output is None:
        echo_data(content)
        return
    from model_analyzer.reports.write import write_file

    write_file(content, output, "-o")
    echo(f"wrote {description} to {output}", err=True)
