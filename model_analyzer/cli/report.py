# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""`model-analyzer report`, at a terminal."""

from __future__ import annotations

from model_analyzer.app.report import report
from model_analyzer.cli.console import View
from model_analyzer.domain.settings import ReportSettings
from model_analyzer.errors import EXIT_OK


def run(settings: ReportSettings, verbosity: int) -> int:
    """Writes one detailed report for each variant; the exit status."""
    view = View(verbosity)
    for path in report(settings):
        view.print(f"wrote {path}")
    return EXIT_OK
