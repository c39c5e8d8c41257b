# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""`model-analyzer doctor`: would a run work here, and if not, what mends it."""

from __future__ import annotations

import os

import click

from model_analyzer.errors import EXIT_OK, EXIT_RUN_FAILED


def doctor() -> click.Command:
    return _doctor


@click.command("doctor", context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--triton-server-path", metavar="TEXT", help="Look at this tritonserver.")
@click.option("--perf-analyzer-path", metavar="TEXT", help="Look at this perf_analyzer.")
def _doctor(triton_server_path: str | None, perf_analyzer_path: str | None) -> int:
    """Check everything that a run needs, and say how to mend what is missing.

    Starts the server, sends one request through a tiny model, and lets perf_analyzer measure it.
    Ends with status 1 if a run could not work.
    """
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from model_analyzer.cli.init import STARTER
    from model_analyzer.runner.checks import State, examine

    styles = {State.OK: "green", State.NOTE: "yellow", State.FAILED: "bold red"}
    table = Table("", "Check", "Found", "What to do", header_style="bold")
    checks = []
    for check in examine(
        dict(os.environ),
        server_path=triton_server_path,
        perf_analyzer_path=perf_analyzer_path,
        tiny_models=STARTER / "model_repository",
    ):
        checks.append(check)
        table.add_row(
            Text(check.state.value, style=styles[check.state]),
            Text(check.name),
            Text(check.found, overflow="fold"),
            Text(check.mend, overflow="fold"),
        )
    Console().print(table)
    failed = any(check.state is State.FAILED for check in checks)
    click.echo("A run would not work here." if failed else "Everything that a run needs is here.")
    return EXIT_RUN_FAILED if failed else EXIT_OK
