# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""`model-analyzer analyze`, at a terminal."""

from __future__ import annotations

import logging
from collections.abc import Sequence

from model_analyzer.app.analyze import analyze
from model_analyzer.cli.answer import show
from model_analyzer.cli.console import View
from model_analyzer.domain.settings import ProfileSettings
from model_analyzer.errors import EXIT_OK, EXIT_RUN_FAILED

log = logging.getLogger(__name__)


def run(settings: ProfileSettings, remarks: Sequence[str], verbosity: int) -> int:
    """Ranks again what was measured of the models, and shows it; the exit status."""
    view = View(verbosity)
    log.warning(
        "analyze is a legacy command: `profile` on the same checkpoint measures what is missing"
    )
    for remark in remarks:
        log.warning("%s", remark)
    delivery = analyze(settings)
    show(delivery, view)
    is_missed = settings.export.fail_on_miss and not delivery.is_met
    return EXIT_OK if delivery.is_whole and not is_missed else EXIT_RUN_FAILED
