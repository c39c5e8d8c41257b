# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""`model-analyzer profile`: measures configurations, or shows what it would measure."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import click

from model_analyzer.cli.echo import echo
from model_analyzer.cli.table_command import Invocation, table_command, warn_about
from model_analyzer.config.table import PROFILE
from model_analyzer.errors import EXIT_OK, ConfigError

if TYPE_CHECKING:
    from model_analyzer.app.bench.devices import Job

_DRY_RUN = click.Option(["--dry-run"], is_flag=True, help="Show what would run, then exit.")
_JSON = click.Option(
    ["--json", "as_json"], is_flag=True, help="With --dry-run: print JSON, for programs."
)


@table_command(PROFILE, _DRY_RUN, _JSON)
def profile(invocation: Invocation) -> int:
    """Measure configurations of models and recommend the best.

    \b
    Examples:
      model-analyzer profile -m models --profile-models resnet --latency-budget 50
      model-analyzer profile -f my.yaml --dry-run
      model-analyzer profile -f my.yaml --search adaptive
    """
    as_json, dry_run = invocation.switches["as_json"], invocation.switches["dry_run"]
    if as_json and not dry_run:
        raise click.UsageError("--json needs --dry-run: give both", click.get_current_context())
    job = invocation.job()
    if dry_run:
        return show_preview(job, as_json=as_json)

    from model_analyzer.app.profile import profile as measure
    from model_analyzer.cli.progress.at_terminal import caller_at_terminal

    return measure(job, caller_at_terminal(job.settings, invocation.verbosity))


def show_preview(job: Job, *, as_json: bool) -> int:
    """Shows what a run would do; the exit status."""
    from model_analyzer.app.preview import preview
    from model_analyzer.cli.plan_lines import lines_of

    warn_about(job.remarks)
    foreseen = preview(job)
    warn_about(foreseen.warnings)
    if foreseen.problems:
        raise ConfigError(*foreseen.problems)
    if as_json:
        echo(json.dumps(foreseen.document, indent=2))
    else:
        for line in lines_of(foreseen.plans, foreseen.idle_s, foreseen.resumed):
            echo(line)
    return EXIT_OK
