# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""`model-analyzer mcp`: a server of the Model Context Protocol on standard input and output."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from model_analyzer.errors import EXIT_OK, ModelAnalyzerError
from model_analyzer.extras import check_extra, install_command


@click.command("mcp", context_settings={"help_option_names": ["-h", "--help"]})
@click.option(
    "--root",
    "roots",
    type=click.Path(path_type=Path),
    multiple=True,
    required=True,
    metavar="DIR",
    help="Directory in which an agent may name files and directories. Can be repeated; relative"
    " paths start at the first one.",
)
@click.option(
    "--budget",
    required=True,
    metavar="DURATION",
    help="Time that all runs together may measure, for example 30m.",
)
def mcp(roots: Sequence[Path], budget: str) -> int:
    """Let an agent measure, within directories and a budget that you name.

    A client of the Model Context Protocol starts this command and talks to it on standard input and
    output. It gets tools: check, plan, start a run, follow and stop it, ask for the answer and for
    other goals, explain, compare, count replicas. When the client leaves, a run ends after its
    current measurement.

    \b
    Example:
      model-analyzer mcp --root start --budget 30m
    """
    try:
        check_extra("mcp")
        import mcp as library  # noqa: F401
    except ImportError as error:
        raise ModelAnalyzerError(
            f"mcp needs the package mcp: {error} ({install_command('mcp')})"
        ) from error

    from model_analyzer.cli.uninterrupted import hear_terminations
    from model_analyzer.config.kinds import Duration
    from model_analyzer.config.nodes import Node
    from model_analyzer.features.agents.agent_server import serve
    from model_analyzer.features.agents.borders import Borders

    borders = Borders.of(roots)
    budget_s = Duration().parse(Node(budget, "--budget"))
    hear_terminations()
    serve(borders, budget_s)
    return EXIT_OK
