# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""`model-analyzer profile`, at a terminal."""

from __future__ import annotations

import logging
import os
import time
from contextlib import closing

from model_analyzer.app.bench.job import Job
from model_analyzer.app.conceal import conceal_error, concealing
from model_analyzer.app.delivery.answer import Delivery
from model_analyzer.app.profile import Caller, profile
from model_analyzer.app.progress.tracker import Tracker
from model_analyzer.cli.answer import show
from model_analyzer.cli.console import View
from model_analyzer.cli.questions import Terminal
from model_analyzer.cli.signals import Interrupts
from model_analyzer.config.resolve import Resolved, described
from model_analyzer.domain.settings import ProfileSettings, ProgressMode
from model_analyzer.errors import ModelAnalyzerError
from model_analyzer.runner.timings import Timings

log = logging.getLogger(__name__)


class _Screen:
    """`app.profile.Audience` at a terminal."""

    def __init__(self, view: View) -> None:
        self._view = view

    def transcript(self, text: str) -> None:
        self._view.print(text)

    def deliver(self, delivery: Delivery) -> None:
        show(delivery, self._view)


def run(resolved: Resolved[ProfileSettings], verbosity: int, timings: Timings) -> int:
    """Profiles all models and shows what came of it; the exit status."""
    mode = resolved.settings.display.progress
    conceal = concealing(resolved.settings)
    view = View(verbosity, on_stderr=mode is ProgressMode.JSON, conceal=conceal)
    interrupts = Interrupts(view.say)
    interrupts.install()
    sink = view.progress(mode, clock=time.monotonic, stopping=lambda: interrupts.requested)
    tracker = Tracker(sink, clock=time.monotonic, hypothetically=view.hypothetically)
    for line in described(resolved.settings):
        log.debug("%s", line)
    for remark in resolved.remarks:
        log.warning("%s", remark)
    caller = Caller(
        interrupts=interrupts,
        ask=Terminal(),
        tracker=tracker,
        audience=_Screen(view),
        conceal=conceal,
    )
    with closing(tracker):
        try:
            status = profile(Job.of(resolved, os.environ, timings), caller)
        except ModelAnalyzerError as error:
            conceal_error(error, conceal)
            tracker.run_finished(error.exit_status)
            raise
        tracker.run_finished(status)
    return status
