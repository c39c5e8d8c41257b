# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""`model-analyzer doctor`: checks what a run needs."""

from __future__ import annotations

import os
from contextlib import ExitStack

import click

from model_analyzer.cli.table_command import Invocation, table_command
from model_analyzer.config.table import DOCTOR

_JSON = click.Option(["--json", "as_json"], is_flag=True, help="Print JSON, for programs.")
_NO_MODELS = click.Option(
    ["--no-models"], is_flag=True, help="Do not start a server or load models."
)


@table_command(DOCTOR, _JSON, _NO_MODELS)
def doctor(invocation: Invocation) -> int:
    """Check that everything a run needs is in place, and say how to fix problems.

    It takes the options of profile and checks them. Quick checks come first; then it starts a
    server, loads each model of the run (or of the repository) and sends it one request.

    The exit status is 1 if there is a problem, which would make a run fail. A warning means
    that measurements would be less precise.

    \b
    Examples:
      model-analyzer doctor
      model-analyzer doctor -f my.yaml
      model-analyzer doctor -m models --no-models --json
    """
    from model_analyzer.features.doctor.examination import Examination, examine
    from model_analyzer.features.doctor.text import show

    with ExitStack() as stack:
        examination = Examination.of(
            invocation.options,
            os.environ,
            invocation.timings,
            with_models=not invocation.switches["no_models"],
            stack=stack,
        )
        return show(
            examine(examination),
            as_json=invocation.switches["as_json"],
            verbosity=invocation.verbosity,
        )
