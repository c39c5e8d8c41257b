# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""`model-analyzer report`: detailed reports of variants, or an overview of models; and `analyze`,
which ranks the measurements of a checkpoint again.
"""

from __future__ import annotations

from pathlib import Path

import click

from model_analyzer.cli.table_command import Invocation, table_command
from model_analyzer.config.table import ANALYZE, BEST, REPORT
from model_analyzer.errors import EXIT_OK, EXIT_RUN_FAILED

_FLEET = click.Option(
    ["--fleet"],
    is_flag=True,
    help="Write the page of each model, and an overview of them: reports/index.html. Each DIRECTORY"
    " has checkpoints, or a subdirectory `checkpoints`. [default: --checkpoint-directory]",
)
_DIRECTORIES = click.Argument(["directories"], nargs=-1, metavar="[DIRECTORY]...")


@table_command(REPORT, _FLEET, _DIRECTORIES)
def report(invocation: Invocation) -> int:
    """Write reports from checkpoints, without a server: details of variants, or an overview.

    \b
    Examples:
      model-analyzer report -n resnet_config_4,resnet_config_7 -e reports
      model-analyzer report --fleet runs/* -e overview
    """
    from model_analyzer.app.recommend import fleet
    from model_analyzer.app.recommend import report as write_reports
    from model_analyzer.cli.console import TerminalView

    is_fleet, directories = invocation.switches["fleet"], invocation.arguments
    if directories and not is_fleet:
        raise click.UsageError(
            f"unexpected argument {directories[0]!r}: give variants with -n, or directories with"
            " --fleet",
            click.get_current_context(),
        )
    # a fleet needs no names of variants
    settings = invocation.options.report(BEST if is_fleet else REPORT).settings
    if is_fleet and settings.variants:
        raise click.UsageError(
            "--fleet and --report-model-configs cannot be combined", click.get_current_context()
        )
    view = TerminalView(invocation.verbosity)
    paths = [Path(name) for name in directories] or [settings.checkpoint_directory]
    for path in fleet(settings, paths) if is_fleet else write_reports(settings):
        view.print(f"wrote {path}")
    return EXIT_OK


@table_command(ANALYZE)
def analyze(invocation: Invocation) -> int:
    """Write tables and reports from the checkpoint (legacy command, see report).

    \b
    Example:
      model-analyzer analyze -f my.yaml
    """
    from model_analyzer.app.recommend import analyze as rank_again
    from model_analyzer.cli.console import TerminalView

    job = invocation.job(ANALYZE)
    view = TerminalView(invocation.verbosity)
    answers, delivery = rank_again(job)
    view.show(answers)
    view.deliver(delivery)
    return EXIT_OK if answers.is_success(job.settings.export) else EXIT_RUN_FAILED
