# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""A person at a terminal, who follows a run and may interrupt it."""

from __future__ import annotations

import time

from model_analyzer.app.conceal import concealing
from model_analyzer.app.progress.tracker import Tracker
from model_analyzer.app.run.caller import Caller
from model_analyzer.cli.console import TerminalView
from model_analyzer.cli.questions import Terminal
from model_analyzer.cli.signals import Interrupts
from model_analyzer.domain.settings import ProfileSettings, ProgressMode


def caller_at_terminal(
    settings: ProfileSettings, verbosity: int, *, on_stderr: bool = False
) -> Caller:
    """Takes over log lines and signals, until the program ends. With `on_stderr`, nothing goes to
    standard output but JSON lines.
    """
    mode = settings.display.progress
    conceal = concealing(settings)
    on_stderr = on_stderr or mode is ProgressMode.JSON
    view = TerminalView(verbosity, on_stderr=on_stderr, conceal=conceal)
    interrupts = Interrupts(view.say)
    interrupts.install()
    sink = view.progress(mode, clock=time.monotonic, stopping=lambda: interrupts.requested)
    return Caller(
        interrupts=interrupts,
        ask=Terminal(),
        tracker=Tracker(sink, clock=time.monotonic, hypothetically=view.hypothetically),
        audience=view,
        conceal=conceal,
    )
