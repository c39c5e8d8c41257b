# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Interrupts of a program that does not measure: they end it, but cut no import in two."""

import signal
import sys

TYPE_CHECKING = False  # as checkers know it: to import typing takes time

if TYPE_CHECKING:
    from types import FrameType

_MAIN = "model_analyzer.cli.main"


def hear_interrupts() -> None:
    """Ends the program on SIGINT and SIGTERM, also where it was started with these ignored.

    A shell without job control starts `COMMAND &` with SIGINT ignored, and so do many CI runners;
    whoever then sends one with `kill -INT` means this program.
    """
    signal.signal(signal.SIGINT, _interrupt)
    if signal.getsignal(signal.SIGTERM) is signal.SIG_IGN:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
    _hear_dropped_ones()


def hear_terminations() -> None:
    """From now on, SIGTERM and SIGHUP interrupt the program, which then tidies up. A SIGHUP that
    `nohup` has it ignore stays ignored.
    """
    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, _interrupt)


def leave_signals() -> None:
    """From now on, signals end the program at once and silently: it has nothing to do any more."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, signal.SIG_DFL)


def _interrupt(number: int, frame: "FrameType | None") -> None:
    """Raises `KeyboardInterrupt`, during an import as soon as that is over.

    Packages in C take one for a broken installation, print a traceback of their own, and raise
    something else.
    """
    importer = _importer(frame)
    if importer is None:
        raise KeyboardInterrupt
    _raise_in(importer)


def _importer(frame: "FrameType | None") -> "FrameType | None":
    """Where our program imports something, if it does; somebody may import what runs ours."""
    importer = None
    while frame is not None and frame.f_globals.get("__name__") != _MAIN:
        if frame.f_code.co_filename.startswith("<frozen importlib"):
            importer = frame.f_back
        frame = frame.f_back
    return importer


def _raise_in(frame: "FrameType") -> None:
    """Raises `KeyboardInterrupt` as soon as this function goes on, by the means of debuggers."""
    frame.f_trace = _raise
    sys.settrace(lambda *_: None)


def _raise(frame: "FrameType", event: str, argument: object) -> None:
    raise KeyboardInterrupt  # which also ends the tracing


def _hear_dropped_ones() -> None:
    """Python prints what is raised inside a destructor, and drops it: then it is raised again."""
    usual = sys.unraisablehook

    def hook(unraisable: "sys.UnraisableHookArgs") -> None:
        if issubclass(unraisable.exc_type, KeyboardInterrupt):
            _raise_in(sys._getframe(1))
        else:
            usual(unraisable)

    sys.unraisablehook = hook
