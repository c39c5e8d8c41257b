# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Everything that a person sees while a command runs: log lines, progress, the answer."""

from __future__ import annotations

import logging
import os
import sys
import textwrap
import time
from collections import deque
from collections.abc import Sequence
from types import TracebackType
from typing import TextIO, cast

from rich import box
from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Column
from rich.table import Table as RichTable
from rich.text import Text

from model_analyzer.domain.goals import Goal
from model_analyzer.domain.measurements import Measurement, Outcome
from model_analyzer.domain.trials import Failure, Trial
from model_analyzer.profiling import Event, GivenUp, TrialFinished, TrialStarted
from model_analyzer.reports.tables import Table, show

log = logging.getLogger(__name__)

_LAST = 5
_LOG_WIDTH = 120
_HEADER_WIDTH = 11


class _LogHandler(logging.Handler):
    """Prints log lines as `[Model Analyzer] text`, above the live view if there is one."""

    def __init__(self, console: Console, *, with_time: bool) -> None:
        super().__init__()
        self._console = console
        self._with_time = with_time

    def emit(self, record: logging.LogRecord) -> None:
        text = record.getMessage()
        if text:
            level = "" if record.levelno == logging.INFO else f"{record.levelname}: "
            clock = time.strftime("%H:%M:%S ") if self._with_time else ""
            text = f"{clock}[Model Analyzer] {level}{text}"
        style = {logging.WARNING: "yellow", logging.ERROR: "red", logging.DEBUG: "dim"}
        self._console.print(
            Text(text, style=style.get(record.levelno, "")), soft_wrap=True, highlight=False
        )


class _Output:
    """Standard output, as long as somebody takes it.

    A terminal that has gone, a full disk or a closed pipe must not cost a measurement: then
    nothing more is shown, and the run goes on.
    """

    def __init__(self) -> None:
        self._lost = False

    @property
    def encoding(self) -> str:
        return sys.stdout.encoding

    def isatty(self) -> bool:
        return not self._lost and sys.stdout.isatty()

    def fileno(self) -> int:
        return sys.stdout.fileno()

    def write(self, text: str) -> int:
        if not self._lost:
            try:
                sys.stdout.write(text)
            except OSError:
                self._lose()
        return len(text)

    def flush(self) -> None:
        if not self._lost:
            try:
                sys.stdout.flush()
            except OSError:
                self._lose()

    def _lose(self) -> None:
        self._lost = True
        # what is buffered would raise again at the end of the program
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


class View:
    """Shows a run: a live display on a terminal, lines elsewhere, errors only when quiet.

    `verbosity` is -1 (quiet), 0 or 1 (verbose).
    """

    def __init__(self, verbosity: int) -> None:
        self._verbosity = verbosity
        output = cast(TextIO, _Output())
        self._console = Console(file=output)
        if not self._console.is_terminal:
            self._console = Console(file=output, width=_LOG_WIDTH)
        self._live: Live | None = None
        self._progress = _progress()
        self._task = self._progress.add_task("", total=None, most="")
        self._last: deque[Text] = deque(maxlen=_LAST)
        self._best: tuple[Trial, Measurement] | None = None
        self._goal: Goal | None = None
        self._spent: list[float] = []
        self._most: int | None = None
        self._done = 0
        level = {-1: logging.ERROR, 0: logging.INFO, 1: logging.DEBUG}[verbosity]
        logger = logging.getLogger("model_analyzer")
        logger.handlers = [_LogHandler(self._console, with_time=verbosity == 1)]
        logger.setLevel(level)
        logger.propagate = False

    def __enter__(self) -> View:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.end()

    @property
    def is_verbose(self) -> bool:
        return self._verbosity > 0

    def say(self, text: str) -> None:
        """A line that matters; safe to call from a signal handler."""
        try:
            log.warning("%s", text)
        except RuntimeError:
            pass  # the handler came in the middle of another line: the count still goes on

    def begin(self, model: str, most_trials: int | None, goal: Goal) -> None:
        """A model's search begins, with at most so many trials, if that is known."""
        self._goal, self._best = goal, None
        self._most, self._done, self._spent = most_trials, 0, []
        self._last.clear()
        self._progress.remove_task(self._task)  # an update cannot forget how many trials there are
        most = f" of at most {most_trials}" if most_trials is not None else ""
        self._task = self._progress.add_task(model, total=most_trials, most=most)
        if self._console.is_terminal and self._verbosity == 0 and self._live is None:
            self._live = Live(
                self._render(),
                console=self._console,
                refresh_per_second=2,
                transient=True,
                get_renderable=self._render,
                # the console writes to standard output itself: it would write into its own display
                redirect_stdout=False,
            )
            self._live.start()

    def end(self) -> None:
        """Takes the live display away."""
        if self._live is not None:
            self._live.stop()
            self._live = None

    def show(self, event: Event) -> None:
        """Shows what has just happened."""
        match event:
            case TrialStarted(trial):
                for work in trial.workloads:
                    self._info(f"Profiling {work.variant.name}: {work.load}")
                self._progress.update(self._task, description=str(trial))
            case TrialFinished(trial, outcome, known):
                self._finished(trial, outcome, known)
            case GivenUp(failures, last, known):
                log.error(
                    "The first %d attempts failed and none succeeded: giving this model up. %s%s",
                    failures,
                    last.message,
                    ". That was in an earlier run: --retry-failed tries again" if known else "",
                )

    def answer(self, sentence: str, table: Table) -> None:
        """The result of one model: the sentence and the best configurations."""
        if self._verbosity < 0:
            return
        self._console.print()
        self._console.print(Text(sentence, style="bold green" if table.rows else "bold red"))
        if table.rows:
            self._console.print(rich_table(table))

    def print(self, text: str) -> None:
        """A plain line of result."""
        if self._verbosity >= 0:
            self._console.print(Text(text), soft_wrap=True)

    def _info(self, text: str) -> None:
        # on a terminal the live display says the same
        log.log(logging.DEBUG if self._live is not None else logging.INFO, "%s", text)

    def _finished(self, trial: Trial, outcome: Outcome, known: bool) -> None:
        self._done += 1
        if known:
            self._info("Existing measurement found for run config. Skipping profile")
        else:
            self._spent.append(outcome.duration_s)
        self._progress.update(self._task, completed=self._done)
        if isinstance(outcome, Failure):
            self._last.append(Text(f"✗ {outcome.message}", style="red"))
            if not known:
                log.warning("%s%s", outcome.message, f" ({outcome.hint})" if outcome.hint else "")
                for line in outcome.log:
                    log.debug("    %s", line)
            return
        if self._goal is not None and self._is_best(outcome):
            self._best = (trial, outcome)
        text = f"{_values(outcome)}  {trial}"
        self._last.append(Text(f"✓ {text}"))
        if not known:
            best = f"; best so far {_values(self._best[1])}" if self._best else ""
            most = f" of at most {self._most}" if self._most is not None else ""
            self._info(f"  {_values(outcome)}  (trial {self._done}{most}{best})")

    def _is_best(self, measurement: Measurement) -> bool:
        if self._best is None or self._goal is None:
            return True
        both = [self._best[1], measurement]
        return self._goal.best_first(both, lambda item: item)[0] is measurement

    def _render(self) -> RenderableType:
        lines: list[RenderableType] = [self._progress]
        if self._best is not None:
            trial, measurement = self._best
            lines.append(Text(f"  best so far  {_values(measurement)}  {trial}", style="green"))
        if self._spent and self._most is not None:
            mean = sum(self._spent) / len(self._spent)
            left = mean * max(self._most - self._done, 0)
            lines.append(Text(f"  time left    at most {_duration(left)}", style="dim"))
        lines += [Text("  ").append_text(line) for line in self._last]
        for line in lines:
            if isinstance(line, Text):
                line.no_wrap, line.overflow = True, "ellipsis"
        return Group(*lines)


def rich_table(table: Table) -> RichTable:
    """A table for the terminal."""
    shown = RichTable(box=box.SIMPLE_HEAD, header_style="bold")
    for index, header in enumerate(table.headers):
        numbers = all(isinstance(row[index], (int, float)) for row in table.rows)
        # long headers take more lines, so that names need not
        lines = textwrap.fill(header, _HEADER_WIDTH, break_long_words=False)
        shown.add_column(lines, justify="right" if numbers else "left", overflow="fold")
    for row in table.rows:
        shown.add_row(*(Text(show(cell)) for cell in row))
    return shown


def plain_table(title: str, table: Table) -> Sequence[str]:
    """A table as padded columns, in the form that scripts know from the log."""
    cells = [list(table.headers), *([show(cell) for cell in row] for row in table.rows)]
    widths = [max(map(len, column)) + 2 for column in zip(*cells, strict=True)]
    lines = [
        " ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        for row in cells
    ]
    return [f"{title}:", *lines, ""]


def _progress() -> Progress:
    return Progress(
        TextColumn("{task.description}"),  # takes a second line where it is long
        BarColumn(bar_width=20),
        TextColumn("trial {task.completed}{task.fields[most]}", table_column=Column(no_wrap=True)),
        TimeElapsedColumn(table_column=Column(no_wrap=True)),
    )


def _values(measurement: Measurement) -> str:
    throughput = measurement.value("perf_throughput")
    latency = measurement.value("perf_latency_p99")
    text = f"{show(throughput)} infer/sec"
    return f"{text}, p99 {show(latency)} ms" if latency is not None else text


def _duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours} h {minutes:02} min"
    return f"{minutes} min {rest:02} s" if minutes else f"{rest} s"
