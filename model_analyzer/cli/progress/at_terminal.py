# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""A person at a terminal, who follows a run, answers questions and may interrupt it."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from importlib import import_module

import click

from model_analyzer.app.conceal import concealing
from model_analyzer.app.progress.tracker import Tracker
from model_analyzer.app.run.caller import Caller
from model_analyzer.cli.console import TerminalView
from model_analyzer.cli.signals import SignalInterrupts
from model_analyzer.domain.settings import ProfileSettings, ProgressMode
from model_analyzer.domain.words import one_line

# The feature behind --prometheus-port and --otlp, imported when a run asks for it.
_EXPORTERS = "model_analyzer.features.monitoring.exporters"


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
    interrupts = SignalInterrupts(view.say)
    interrupts.install()
    sink = view.progress(mode, clock=time.monotonic, stopping=lambda: interrupts.requested)
    if settings.display.prometheus_port is not None or settings.display.otlp is not None:
        sink = import_module(_EXPORTERS).ExportingSink(sink, settings.display)
    return Caller(
        interrupts=interrupts,
        ask=Terminal(),
        tracker=Tracker(sink, clock=time.monotonic, hypothetically=view.hypothetically),
        audience=view,
        conceal=conceal,
    )


class Terminal:
    """`app.ports.Questions` for a person, on standard error."""

    def confirm(self, text: str) -> bool:
        return not sys.stdin.isatty() or click.confirm(one_line(text), err=True)

    def choose(self, text: str, choices: Sequence[str], default: str) -> str | None:
        if not (sys.stdin.isatty() and sys.stderr.isatty()):
            return None
        *context, question = text.splitlines()
        shown = "\n".join([one_line("\n".join(context)), question] if context else [question])
        answer: str = click.prompt(shown, type=click.Choice(choices), default=default, err=True)
        return answer
