# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""`model-analyzer report`: detailed reports of variants."""

from __future__ import annotations

from model_analyzer.cli.table_command import Invocation, table_command
from model_analyzer.config.table import REPORT
from model_analyzer.errors import EXIT_OK


@table_command(REPORT)
def report(invocation: Invocation) -> int:
    """Write detailed reports of variants from the checkpoint, without a server.

    \b
    Example:
      model-analyzer report -n resnet_config_4,resnet_config_7 -e reports
    """
    from model_analyzer.app.report import report as write_reports
    from model_analyzer.cli.console import TerminalView

    settings = invocation.options.report().settings
    view = TerminalView(invocation.verbosity)
    for path in write_reports(settings):
        view.print(f"wrote {path}")
    return EXIT_OK
