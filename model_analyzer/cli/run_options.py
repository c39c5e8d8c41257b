# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The flags of `profile` for commands that measure a known model again."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

import click

from model_analyzer.config.kinds import Boolean
from model_analyzer.config.options import options_of
from model_analyzer.config.table import (
    EXECUTOR,
    GENERAL,
    LOAD_GENERATOR,
    PROFILE,
    REPOSITORY,
    SERVER,
)

if TYPE_CHECKING:
    from model_analyzer.app.bench.devices import Job
    from model_analyzer.app.run.caller import Caller
    from model_analyzer.config.given_options import GivenOptions

F = TypeVar("F", bound=Callable[..., Any])

_GROUPS = (GENERAL, REPOSITORY, EXECUTOR, SERVER, LOAD_GENERATOR)
_RUN = "run"


def run_options(command: F) -> F:
    """The flags that say how to measure: see `given_run_options`. They are in the help of `profile`
    only.
    """
    decorated: Any = command
    for option in options_of(PROFILE):
        if option.flags and option.group in _GROUPS and option.key != "config_file":
            flag = option.flags[-1]
            decorated = click.option(
                flag,
                hidden=True,
                expose_value=False,
                is_flag=isinstance(option.kind, Boolean),
                default=None,
                callback=partial(_kept, flag),
            )(decorated)
    return cast(F, decorated)


def _kept(flag: str, ctx: click.Context, parameter: click.Parameter, value: Any) -> None:
    if value is not None:
        ctx.meta.setdefault(_RUN, {})[flag] = value


def given_run_options(
    ctx: click.Context, given: Mapping[str, str], config_file: Path | None, model: str
) -> GivenOptions:
    """The options of a run that measures a model again: those that are `given`, those of
    `run_options`, then variables and the file. Without a file, `model` is the one to profile.
    """
    from model_analyzer.config.given_options import given_options

    flags = {**ctx.meta.get(_RUN, {}), **given}
    if config_file is None:
        flags["--profile-models"] = model
    return given_options(flags, config_file, os.environ)


def followed_job(ctx: click.Context, run: GivenOptions) -> tuple[Job, Caller]:
    """The job of a run, and who follows it on standard error. Raises ConfigError."""
    from model_analyzer.app.bench.devices import Job
    from model_analyzer.cli.progress.at_terminal import caller_at_terminal

    job = Job.of(run.profile(), os.environ, (ctx.obj or {}).get("timings"))
    return job, caller_at_terminal(job.settings, 0, on_stderr=True)
