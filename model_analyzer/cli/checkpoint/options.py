# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Options and arguments that several commands have."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from model_analyzer.cli.complete import complete_checkpoint
from model_analyzer.config.table import VARIABLE_PREFIX
from model_analyzer.errors import wrong

F = TypeVar("F", bound=Callable[..., Any])

FORMATS = ("csv", "json", "parquet")


def _expanded(ctx: click.Context, parameter: click.Parameter, value: Path | None) -> Path | None:
    try:
        return None if value is None else value.expanduser()
    except RuntimeError as error:
        raise click.BadParameter(f"cannot expand {str(value)!r}: {error}") from error


def path_option(*flags: str, **options: Any) -> Callable[[F], F]:
    """An option whose value is a path; `~` is the home directory."""
    return click.option(*flags, type=click.Path(path_type=Path), callback=_expanded, **options)


def _file_prefix(ctx: click.Context, parameter: click.Parameter, value: str) -> str:
    """Judged as that of `profile`. Raises ConfigError."""
    if value:
        from model_analyzer.config.nodes import Node
        from model_analyzer.config.options import OPTIONS

        option = next(option for option in OPTIONS if option.key == "checkpoint_prefix")
        source = ctx.get_parameter_source(parameter.name or "")
        is_variable = source is click.core.ParameterSource.ENVIRONMENT
        option.kind.parse(Node(value, option.variable if is_variable else "--checkpoint-prefix"))
    return value


def prefix_option(command: F) -> F:
    """Which checkpoints of a directory it is about."""
    return click.option(
        "--checkpoint-prefix",
        "prefix",
        default="",
        metavar="NAME",
        envvar=f"{VARIABLE_PREFIX}CHECKPOINT_PREFIX",
        show_envvar=True,
        callback=_file_prefix,
        help="Prefix of the run's checkpoint names (NAME-0.ckpt).",
    )(command)


def directory_options(command: F) -> F:
    """Which checkpoint directory it is about."""
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


def checkpoint_argument(command: F) -> F:
    """Which checkpoint of the directory it is about."""
    return click.argument(
        "which", metavar="[CHECKPOINT]", default="latest", shell_complete=complete_checkpoint
    )(command)


def order_option(otherwise: str) -> Callable[[F], F]:
    """`otherwise` tells the order where none is given."""
    return click.option(
        "--order",
        type=click.Choice(["asc", "desc"]),
        help=f"Lowest first (asc) or highest first (desc). Default: {otherwise}",
    )


def json_option(command: F) -> F:
    return click.option("--json", "as_json", is_flag=True, help="Print JSON, for programs.")(
        command
    )


def output_option(command: F) -> F:
    return path_option(
        "-o",
        "--output",
        metavar="FILE",
        help="File to write instead of printing.",
    )(command)


def metric(name: str, flag: str) -> str:
    """The tag of the metric that `flag` names. Raises ConfigError where there is none."""
    from model_analyzer.config.goals import Tag
    from model_analyzer.config.nodes import Node

    return Tag().parse(Node(name, flag))


def column(name: str, flag: str) -> str:
    """The column of the trials that `flag` names."""
    from model_analyzer.results.conditions import column_named

    try:
        return column_named(name)
    except ValueError as error:
        raise wrong(flag, str(error)) from error
