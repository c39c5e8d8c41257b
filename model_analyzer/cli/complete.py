# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""What a shell may offer while a command line is typed.

It runs at each press of Tab: what takes long to look up is not offered, and what cannot be looked
up is nothing that a shell should hear about.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import click
from click.core import ParameterSource
from click.shell_completion import BashComplete, CompletionItem, add_completion_class

from model_analyzer.config.kinds import Choice, FilePath, ListOf
from model_analyzer.config.table import Option
from model_analyzer.domain.printable import one_line

# A larger checkpoint takes too long to read between two keys.
_MOST_BYTES = 4 * 2**20

_PROGRAMS = ("triton_server_path", "perf_analyzer_path")


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
    if isinstance(kind, Choice):
        return _beginning(incomplete, kind.words)
    if isinstance(kind, ListOf) and isinstance(kind.item, Choice):
        return _after_comma(incomplete, kind.item.words)
    if isinstance(kind, FilePath) or option.key in _PROGRAMS:
        return [CompletionItem(incomplete, type="file")]
    find = _NAMES.get(option.key)
    return _after_comma(incomplete, find(ctx)) if find is not None else []


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
    """Models of the checkpoint that the command is about, as long as that is small: what was
    measured, alone or together, and then the models in it.
    """
    from model_analyzer.errors import ModelAnalyzerError
    from model_analyzer.state.find import LATEST, find
    from model_analyzer.state.format.layout import Layout

    # where the value of an option is still to come, click leaves arguments as they are
    which = next(iter(ctx.args), None) or str(ctx.params.get("which") or LATEST)
    directory = Path(_given_in(ctx, "directory", "checkpoint_directory") or "checkpoints")
    layout = Layout(directory, _given_in(ctx, "prefix", "checkpoint_prefix") or "")
    try:
        newest = [layout.checkpoint(index) for index in layout.indices()[-1:]]
        journals = map(layout.journal, ("", *layout.nodes()))
        read = [Path(which)] if os.path.isfile(which) else [*newest, *journals]
        if sum(path.stat().st_size for path in read if path.exists()) > _MOST_BYTES:
            return []
        # the models of the best are among those of all, and to find it takes longer
        which = LATEST if which == "best" else which
        records = find(which, layout.directory, layout.prefix).records
    except (ModelAnalyzerError, OSError, ValueError):
        return []
    subjects = dict.fromkeys(record.trial.models for record in records)
    parts = [
        part.model
        for record in records
        for work in record.trial.workloads
        for part in work.variant.with_parts()
    ]
    return _beginning(incomplete, dict.fromkeys((*subjects, *parts)))


def _given_in(ctx: click.Context, name: str, key: str) -> str | None:
    """What was given for an option of the table (`key`) that a command calls `name`."""
    is_given = ctx.get_parameter_source(name) is ParameterSource.COMMANDLINE
    return str(ctx.params[name]) if is_given else _value(ctx, key)


def complete_metrics(
    ctx: click.Context, parameter: click.Parameter, incomplete: str
) -> list[CompletionItem[str]]:
    """Metrics, with commas in between."""
    from model_analyzer.domain.metrics import METRICS

    return _after_comma(incomplete, METRICS)


def _beginning(incomplete: str, words: Iterable[str]) -> list[CompletionItem[str]]:
    """What is not for printing is offered to no shell."""
    return [
        CompletionItem(word)
        for word in words
        if word.startswith(incomplete) and one_line(word) == word
    ]


def _after_comma(incomplete: str, words: Iterable[str]) -> list[CompletionItem[str]]:
    """Words for the last place of a list that have not been named before."""
    before, comma, last = incomplete.rpartition(",")
    named = before.split(",")
    return [
        CompletionItem(before + comma + word)
        for word in words
        if word.startswith(last) and word not in named and one_line(word) == word
    ]


def _models(ctx: click.Context) -> Sequence[str]:
    """The directories of the model repository."""
    from model_analyzer.runner.repository import model_names

    path = _value(ctx, "model_repository")
    return () if path is None else model_names(Path(path))


def _variants(ctx: click.Context) -> Sequence[str]:
    """The variants in the newest checkpoint, as long as that is small."""
    from model_analyzer.errors import ModelAnalyzerError
    from model_analyzer.state.checkpoint import read_file
    from model_analyzer.state.format.layout import Layout

    directory = Path(_value(ctx, "checkpoint_directory") or "checkpoints")
    layout = Layout(directory, _value(ctx, "checkpoint_prefix") or "")
    try:
        newest = layout.checkpoint(layout.indices()[-1])
        if newest.stat().st_size > _MOST_BYTES:
            return ()
        profile = read_file(newest).profile
    except (ModelAnalyzerError, OSError, IndexError):
        return ()
    return sorted({work.variant.name for one in profile.records for work in one.trial.workloads})


_NAMES: dict[str, Callable[[click.Context], Sequence[str]]] = {
    "profile_models": _models,
    "bls_composing_models": _models,
    "ensemble_composing_models": _models,
    "cpu_only_composing_models": _models,
    "report_model_configs": _variants,
}


def _value(ctx: click.Context, key: str) -> str | None:
    """What the command line, the environment or the file has given so far."""
    from model_analyzer.config.environment import read_environment
    from model_analyzer.config.sources import read_yaml
    from model_analyzer.errors import ConfigError

    given: dict[str, str | None] = dict(ctx.params)
    try:
        for entry in read_environment(os.environ):
            if given.get(entry.key) is None and entry.node.is_scalar:
                given[entry.key] = entry.node.text
        if given.get(key) is None and given.get("config_file") is not None:
            yaml = read_yaml(Path(os.path.expanduser(str(given["config_file"]))))
            for entry in yaml.entries if yaml is not None and yaml.is_mapping else ():
                if entry.key == key and entry.node.is_scalar and not entry.node.is_null:
                    given[key] = entry.node.text
    except ConfigError:
        pass  # the command itself will say what is wrong
    value = given.get(key)
    return None if value is None else os.path.expanduser(value)
