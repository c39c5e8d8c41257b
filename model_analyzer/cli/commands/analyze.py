# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""`model-analyzer analyze`: ranks the measurements of a checkpoint again."""

from __future__ import annotations

from model_analyzer.cli.table_command import Invocation, table_command
from model_analyzer.config.table import ANALYZE
from model_analyzer.errors import EXIT_OK, EXIT_RUN_FAILED


@table_command(ANALYZE)
def analyze(invocation: Invocation) -> int:
    """Write tables and reports from the checkpoint (legacy command, see report).

    \b
    Example:
      model-analyzer analyze -f my.yaml
    """
    from model_analyzer.app.analyze import analyze as rank_again
    from model_analyzer.cli.console import TerminalView

    job = invocation.job(ANALYZE)
    view = TerminalView(invocation.verbosity)
    answers, delivery = rank_again(job)
    view.show(answers)
    view.deliver(delivery)
    return EXIT_OK if answers.is_success(job.settings.export) else EXIT_RUN_FAILED
