# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Where the program begins and ends.

Nothing is imported here: until `main` runs, an interrupt is answered by a traceback of Python.
"""

import sys


def main() -> None:
    """Runs the program, and exits."""
    try:
        status = _run()
    except KeyboardInterrupt:
        _leave_signals()
        _complain("interrupted")
        status = 1
    _leave_signals()
    sys.exit(status)


def _run() -> int:
    from model_analyzer.cli.uninterrupted import hear_interrupts

    hear_interrupts()
    from model_analyzer.cli.streams import lost_output, open_streams

    open_streams()
    from model_analyzer.cli.program import run

    status = run()
    if reason := lost_output():
        _complain(f"cannot write to standard output: {reason}")
        status = status or 1
    return status


def _leave_signals() -> None:
    from model_analyzer.cli.uninterrupted import leave_signals

    leave_signals()


def _complain(text: str) -> None:
    if sys.stderr is not None:
        sys.stderr.write(f"model-analyzer: {text}\n")
