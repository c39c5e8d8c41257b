# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""What shows a run as it goes on: log lines, lines of JSON, or a live view."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext

from rich.console import Console, ConsoleOptions, RenderResult
from rich.control import Control
from rich.live import Live
from rich.segment import ControlType

from model_analyzer.app.progress.events import (
    BestChanged,
    Event,
    ModelStarted,
    Phase,
    PhaseStarted,
    StillMeasuring,
    TrialEnded,
    TrialStarted,
    document_of,
)
from model_analyzer.cli.progress.screen import Screen, duration, expectation_text, values_text
from model_analyzer.domain.hardware import place_text
from model_analyzer.domain.measurements import Measurement
from model_analyzer.domain.trials import Failure, trial_words
from model_analyzer.domain.words import one_line, percent_text

log = logging.getLogger(__name__)

_PHASES = {
    Phase.REFINING: "Refining the best of %s",
    Phase.FINALISTS: "Measuring the best of %s again",
}

_PER_SECOND = 2


class Lines:
    """Logs what happens."""

    def __init__(self) -> None:
        self._tags: tuple[str, ...] = ()
        self._best: dict[str, str] = {}  # by kind of hardware, "" if there is one

    def show(self, event: Event) -> None:
        match event:
            case ModelStarted():
                self._tags, self._best = event.tags, {}
                if event.kinds:
                    log.info("Searching %s on %s", event.model, ", and on ".join(event.kinds))
                if event.of > 1:
                    log.info("Model %d of %d: %s", event.number, event.of, event.model)
            case PhaseStarted() if event.phase in _PHASES:
                log.info(_PHASES[event.phase], event.model)
            case TrialStarted():
                place = f" on {event.slot}" if event.slot else ""
                # scripts count the lines of new trials
                line = (
                    "Measuring %s again: %s%s" if event.trial.repetition else "Profiling %s: %s%s"
                )
                for work in event.trial.workloads:
                    log.info(line, work.variant.name, work.load_text, place)
            case StillMeasuring():
                log.info(
                    "Still measuring: %s%s, for %s; %s",
                    trial_words(event.trial),
                    f" on {event.slot}" if event.slot else "",
                    duration(event.for_s),
                    expectation_text(event),
                )
            case TrialEnded(outcome=Failure(message=message)):
                if event.resumed:  # in an earlier run, or as its variant did under another load
                    log.info("Skipping profile of %s: %s", event.trial, message)
            case TrialEnded(outcome=Measurement() as measurement):
                self._measured(event, measurement)
            case BestChanged():
                self._best[event.kind] = _best_text(event, self._tags)

    def paused(self) -> AbstractContextManager[None]:
        return nullcontext()

    def close(self) -> None:
        """Nothing is open."""

    def _measured(self, event: TrialEnded, measurement: Measurement) -> None:
        if event.resumed:
            # scripts look for this line
            log.info(
                "Existing measurement found for run config. Skipping profile of %s", event.trial
            )
            return
        for doubt in measurement.doubts:
            log.warning(doubt.sentence)
        values = values_text(measurement, self._tags, separator=", ")
        kind = event.trial.setup.kind
        own = self._best.get(kind) or self._best.get("")
        place = f" {place_text(kind)}" if kind in self._best else ""
        best = f"; best so far{place} {own}" if own else ""
        left = "" if event.time_left_s is None else f"; about {duration(event.time_left_s)} left"
        log.info(
            "  %s  (measurement %d of about %d%s%s)",
            values,
            event.number,
            event.expected_trials,
            best,
            left,
        )


def _best_text(event: BestChanged, tags: Sequence[str]) -> str:
    parts = [values_text(event.measurement, tags, separator=", ")]
    if event.shortfall_percent:
        parts.append(f"misses the constraints by {percent_text(event.shortfall_percent)}")
    if event.times == 1:
        parts.append("measured once")
    return ", ".join(parts)


class JsonLines:
    """Writes a line for each event."""

    def __init__(self, write: Callable[[str], object]) -> None:
        self._write = write

    def show(self, event: Event) -> None:
        self._write(json.dumps(document_of(event), separators=(",", ":")) + "\n")

    def paused(self) -> AbstractContextManager[None]:
        return nullcontext()

    def close(self) -> None:
        """Every line was written whole."""


class LiveView:
    """Shows events on the terminal of `console`; what that prints comes above.

    `clock` gives seconds, and `stopping` tells whether the user asked to stop.
    """

    def __init__(
        self, console: Console, *, clock: Callable[[], float], stopping: Callable[[], bool]
    ) -> None:
        self._screen = Screen()
        self._clock = clock
        self._stopping = stopping
        self._began = clock()
        self._drawn: list[int] = []
        self._live = Live(
            self,
            console=console,
            refresh_per_second=_PER_SECOND,
            transient=True,
            # the console writes to standard output itself: it would write into its own display
            redirect_stdout=False,
            redirect_stderr=False,
        )

    def show(self, event: Event) -> None:
        self._screen.show(event)
        if self._live.is_started:
            self._live.refresh()
        else:
            self._live.start(refresh=True)

    @contextmanager
    def paused(self) -> Iterator[None]:
        was_shown = self._live.is_started
        self._live.stop()
        self._drawn = []
        try:
            yield
        finally:
            if was_shown:
                self._live.start(refresh=True)

    def close(self) -> None:
        self._live.stop()

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        elapsed_s = self._clock() - self._began
        # the last column stays free: some terminals wrap when it is written
        width, height = options.max_width - 1, options.size.height
        lines = self._screen.lines(width, height, elapsed_s, stopping=self._stopping())
        for line in lines:
            line.plain = one_line(line.plain)
        yield self._erase_wrapped(options.max_width)
        self._drawn = [line.cell_len for line in lines]
        yield from lines

    def _erase_wrapped(self, width: int) -> Control:
        """A terminal that got narrower has wrapped what was drawn: what is now above the place
        where it began.
        """
        wrapped = sum(max(-(-length // width), 1) - 1 for length in self._drawn)
        up = [(ControlType.CURSOR_UP, 1), (ControlType.ERASE_IN_LINE, 2)]
        return Control(*up * wrapped)
