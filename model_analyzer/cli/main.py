# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Where the program begins and ends.

Nothing is imported here: until `main` runs, an interrupt is answered by a traceback of Python.
"""

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from model_analyzer.runner.timings import Timings

# After so many new objects, Python searches for garbage. A program that holds many measurements
# makes little of it, and by default spends a fourth of its time on searching.
GARBAGE_THRESHOLD = 100_000


def main(timings: "Timings | None" = None) -> None:
    """Runs the program, and exits. A test may choose the `timings`."""
    try:
        status = _run(timings)
    except KeyboardInterrupt:
        _leave_signals()
        _complain("interrupted")
        status = 1
    except (MemoryError, ImportError, OSError, SystemError) as error:
        reason = _exhausted(error)
        if not reason:
            raise
        _complain(reason)
        status = 1
    _leave_signals()
    _exit(status)


def _run(timings: "Timings | None") -> int:
    from model_analyzer.cli.uninterrupted import hear_interrupts

    hear_interrupts()
    import gc

    gc.set_threshold(GARBAGE_THRESHOLD)
    from model_analyzer.cli.streams import lost_output, open_streams

    open_streams()
    from model_analyzer.cli.program import run

    status = run(timings)
    if reason := lost_output():
        _complain(f"cannot write to standard output: {reason}")
        status = status or 1
    return status


def _exhausted(error: MemoryError | ImportError | OSError | SystemError) -> str:
    """What the system has too little of, in one line; "" if that is not why it failed. Libraries
    are loaded when they are needed: that may fail anywhere. Python itself, short of memory while
    it loads one, may raise a `SystemError`.
    """
    from errno import EMFILE, ENFILE, ENOMEM

    number, text = getattr(error, "errno", None), str(error)
    if number in (EMFILE, ENFILE) or "Too many open files" in text:
        return "too many open files: raise the limit, for example `ulimit -n 4096`"
    is_memory = isinstance(error, MemoryError) or number == ENOMEM
    if isinstance(error, SystemError):
        is_memory = _short_of_memory()
    if is_memory or "failed to map segment" in text or "annot allocate memory" in text:
        return "out of memory: free some, or raise the limit (`ulimit -v`, or the container's)"
    return ""


def _short_of_memory() -> bool:
    """Whether as much as a library needs cannot be had now."""
    try:
        bytearray(32 << 20)
    except MemoryError:
        return True
    return False


def _exit(status: int) -> None:
    """Ends the process, also if something hangs in a store: Python would wait for it."""
    urls = sys.modules.get("model_analyzer.urls")  # imported where a store is used
    if urls is not None and urls.is_any_left_behind():
        import os

        for stream in filter(None, (sys.stdout, sys.stderr)):
            stream.flush()
        os._exit(status)
    sys.exit(status)


def _leave_signals() -> None:
    from model_analyzer.cli.uninterrupted import leave_signals

    leave_signals()


def _complain(text: str) -> None:
    if sys.stderr is not None:
        sys.stderr.write(f"model-analyzer: {text}\n")
