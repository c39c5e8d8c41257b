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
    from model_analyzer.cli.init import STARTER
    from model_analyzer.runner.checks import State, examine

    colours = {State.OK: "green", State.NOTE: "yellow", State.FAILED: "red"}
    failed = False
    for check in examine(
        dict(os.environ),
        server_path=triton_server_path,
        perf_analyzer_path=perf_analyzer_path,
        tiny_models=STARTER / "model_repository",
    ):
        # Lines as long as they are, so that a command in one can be copied.
        state = click.style(f"{check.state.value:8}", fg=colours[check.state])
        click.echo(f"{state}{check.name:27}{check.found}")
        if check.mend:
            click.echo(f"{'':8}{'':27}{check.mend}")
        failed = failed or check.state is State.FAILED
    click.echo("A run would not work here." if failed else "Everything that a run needs is here.")
    return EXIT_RUN_FAILED if failed else EXIT_OK
