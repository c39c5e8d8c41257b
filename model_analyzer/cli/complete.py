# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Completes command lines in a shell. `app.complete` looks up names at each press of Tab."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

import click
from click.core import ParameterSource
from click.shell_completion import BashComplete, CompletionItem, add_completion_class

from model_analyzer.config.kinds import FilePath, ListOf, OneOf, PathOrUrl
from model_analyzer.config.table import Option
from model_analyzer.domain.words import one_line

_PROGRAMS = ("triton_server_path", "perf_analyzer_path")

_WITH_NAMES = (
    "profile_models", "bls_composing_models", "ensemble_composing_models",
    "cpu_only_composing_models", "report_model_configs",
)  # fmt: skip


class _Bash(BashComplete):
    """Knows that bash makes three words of `--flag=value`."""

    def get_completion_args(self) -> tuple[list[str], str]:
        words, incomplete = super().get_completion_args()
        return [word for word in words if word != "="], incomplete


def prepare() -> None:
    """To be called before click answers a shell."""
    add_completion_class(_Bash)


def complete_option(
    option: Option, ctx: click.Context, parameter: click.Parameter, incomplete: str
) -> list[CompletionItem[str]]:
    """Values of an option of the table: choices, paths, names of models and of variants."""
    kind = option.kind
    if isinstance(kind, OneOf):
        return _beginning(incomplete, kind.words)
    if isinstance(kind, ListOf) and isinstance(kind.item, OneOf):
        return _after_comma(incomplete, kind.item.words)
    if isinstance(kind, (FilePath, PathOrUrl)) or option.key in _PROGRAMS:
        return [CompletionItem(incomplete, type="file")]
    if option.key not in _WITH_NAMES:
        return []
    from model_analyzer.app.complete import option_names

    return _after_comma(incomplete, option_names(option.key, ctx.params, os.environ))


def complete_checkpoint(
    ctx: click.Context, parameter: click.Parameter, incomplete: str
) -> list[CompletionItem[str]]:
    """Numbers of the checkpoints in the directory, and the words that stand for one."""
    from model_analyzer.errors import CheckpointError
    from model_analyzer.state.format.layout import Layout

    directory, prefix = ctx.params.get("directory"), ctx.params.get("prefix")
    layout = Layout(directory or Path("checkpoints"), prefix or "")
    try:
        numbers = [str(index) for index in layout.indices()]
    except CheckpointError:
        numbers = []
    return _beginning(incomplete, ["latest", "best", *numbers])


def complete_model(
    ctx: click.Context, parameter: click.Parameter, incomplete: str
) -> list[CompletionItem[str]]:
    """Models of the checkpoint that the command is about."""
    from model_analyzer.app.complete import checkpoint_layout, measured_names

    # where the value of an option is still to come, click leaves arguments as they are
    which = next(iter(ctx.args), None) or str(ctx.params.get("which") or "latest")
    # these commands have names of their own for options of the table
    typed = ctx.params | {
        key: ctx.params[name]
        for name, key in (("directory", "checkpoint_directory"), ("prefix", "checkpoint_prefix"))
        if ctx.get_parameter_source(name) is ParameterSource.COMMANDLINE
    }
    return _beginning(incomplete, measured_names(which, checkpoint_layout(typed, os.environ)))


def complete_program(
    ctx: click.Context, parameter: click.Parameter, incomplete: str
) -> list[CompletionItem[str]]:
    """Programs of the installed runtime."""
    return _beginning(incomplete, ("tritonserver", "perf_analyzer", "python3"))


def complete_metrics(
    ctx: click.Context, parameter: click.Parameter, incomplete: str
) -> list[CompletionItem[str]]:
    """Metrics, with commas in between."""
    from model_analyzer.domain.metrics import METRICS

    return _after_comma(incomplete, METRICS)


def _beginning(
    incomplete: str, words: Iterable[str], before: str = ""
) -> list[CompletionItem[str]]:
    """The words that begin so, behind `before`, but for those that are not printable."""
    return [
        CompletionItem(before + word)
        for word in words
        if word.startswith(incomplete) and one_line(word) == word
    ]


def _after_comma(incomplete: str, words: Iterable[str]) -> list[CompletionItem[str]]:
    """Words for the last place of a list, but for those that are in it."""
    before, comma, last = incomplete.rpartition(",")
    listed = before.split(",")
    return _beginning(last, (word for word in words if word not in listed), before + comma)
