# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The commands whose options are in the table.

What a command needs to run is imported when it runs, so that its help is instant.
"""

from __future__ import annotations

import functools
import os
from pathlib import Path

import click

from model_analyzer.cli.table_command import Invocation, table_command
from model_analyzer.config.nodes import Entry, Node
from model_analyzer.config.options import options_of
from model_analyzer.config.table import ANALYZE, DOCTOR, PROFILE, REPORT


def _profile(given: Invocation) -> int:
    from model_analyzer.config.resolve import resolve_profile

    as_json, dry_run = given.switches["as_json"], given.switches["dry_run"]
    if as_json and not dry_run:
        raise click.UsageError("--json needs --dry-run: give both", click.get_current_context())
    resolved = resolve_profile(
        given.command_line,
        given.yaml,
        Path.cwd(),
        environment=given.environment,
        offline=given.offline,
    )
    if dry_run:
        from model_analyzer.cli.dry_run import run as preview

        return preview(resolved, as_json=as_json)
    from model_analyzer.cli.profile import run
    from model_analyzer.runner.timings import Timings

    return run(resolved, given.verbosity, given.timings or Timings())


def _analyze(given: Invocation) -> int:
    from model_analyzer.cli.analyze import run
    from model_analyzer.config.resolve import resolve_profile

    resolved = resolve_profile(
        given.command_line,
        given.yaml,
        Path.cwd(),
        environment=given.environment,
        command=ANALYZE,
        offline=given.offline,
    )
    return run(resolved.settings, resolved.remarks, given.verbosity)


def _report(given: Invocation) -> int:
    from model_analyzer.cli.report import run
    from model_analyzer.config.resolve import resolve_report

    resolved = resolve_report(
        given.command_line,
        given.yaml,
        Path.cwd(),
        environment=given.environment,
        offline=given.offline,
    )
    return run(resolved.settings, given.verbosity)


def _doctor(given: Invocation) -> int:
    from model_analyzer.app.bench.job import Job
    from model_analyzer.app.doctor import Asked
    from model_analyzer.cli.doctor import run
    from model_analyzer.config.origins import origins
    from model_analyzer.config.resolve import resolve_profile
    from model_analyzer.runner.repository import model_names

    resolve = functools.partial(
        resolve_profile,
        yaml=given.yaml,
        cwd=Path.cwd(),
        environment=given.environment,
        command=DOCTOR,
        offline=given.offline,
    )
    resolved = resolve(given.command_line)
    repository = resolved.settings.repository.path
    if repository is not None and not resolved.settings.models:
        where = str(repository)
        names = tuple(Entry(name, where, Node(None, where)) for name in model_names(repository))
        if names:
            every = Entry("profile_models", where, Node(names, where, is_mapping=True))
            resolved = resolve([*given.command_line, every])
    in_file = given.yaml.entries if given.yaml is not None else ()
    asked = Asked(
        job=Job.of(resolved, os.environ, given.timings),
        remarks=resolved.remarks,
        given=origins(
            (given.environment, in_file), options_of(DOCTOR), Path.cwd(), with_defaults=False
        ),
        with_models=not given.switches["no_models"],
    )
    return run(asked, as_json=given.switches["as_json"], verbosity=given.verbosity)


def profile() -> click.Command:
    return table_command(
        PROFILE,
        _profile,
        switches=(
            click.Option(["--dry-run"], is_flag=True, help="Show what would run, then exit."),
            click.Option(
                ["--json", "as_json"],
                is_flag=True,
                help="With --dry-run: print JSON, for programs.",
            ),
        ),
        help_text="""Measure configurations of models and recommend the best.

        \b
        Examples:
          model-analyzer profile -m models --profile-models resnet --latency-budget 50
          model-analyzer profile -f my.yaml --dry-run
          model-analyzer profile -f my.yaml --search adaptive
        """,
    )


def analyze() -> click.Command:
    return table_command(
        ANALYZE,
        _analyze,
        help_text="""Write tables and reports from the checkpoint (legacy command, see report).

        \b
        Example:
          model-analyzer analyze -f my.yaml
        """,
    )


def report() -> click.Command:
    return table_command(
        REPORT,
        _report,
        help_text="""Write detailed reports of variants from the checkpoint, without a server.

        \b
        Example:
          model-analyzer report -n resnet_config_4,resnet_config_7 -e reports
        """,
    )


def doctor() -> click.Command:
    return table_command(
        DOCTOR,
        _doctor,
        switches=(
            click.Option(["--json", "as_json"], is_flag=True, help="Print JSON, for programs."),
            click.Option(
                ["--no-models"], is_flag=True, help="Do not start a server or load models."
            ),
        ),
        help_text="""Check that everything a run needs is in place, and say how to fix problems.

        It takes the options of profile and checks them. Quick checks come first; then it starts a
        server, loads each model of the run (or of the repository) and sends it one request.

        The exit status is 1 if there is a problem, which would make a run fail. A warning means
        that measurements would be less precise.

        \b
        Examples:
          model-analyzer doctor
          model-analyzer doctor -f my.yaml
          model-analyzer doctor -m models --no-models --json
        """,
    )
