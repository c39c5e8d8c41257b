# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Everything that a person sees while a command runs: log lines, the answer, and progress by one of
the sinks of `cli.progress`.
"""

from __future__ import annotations

import logging
import os
import re
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from rich.console import Console
from rich.text import Text

from model_analyzer.app.progress.events import Silence, Sink
from model_analyzer.cli.progress.sinks import JsonLines, Lines, LiveView
from model_analyzer.cli.streams import write_now
from model_analyzer.cli.table_layout import cell_text, laid_out
from model_analyzer.domain.secrets import masked_text
from model_analyzer.domain.settings import ProgressMode
from model_analyzer.domain.words import counted, one_line, printable
from model_analyzer.reports.tables import Table
from model_analyzer.results.columns import data_text

if TYPE_CHECKING:
    from model_analyzer.app.delivery.answer import Answers, Delivery
    from model_analyzer.reports.build import Statement

log = logging.getLogger(__name__)

# Loggers of searches begin like this, and this one says what a search has come to at its end.
_SEARCHES = "model_analyzer.search."
_CONCLUSIONS = "model_analyzer.search.conclusions"

# Loggers of what is done for a single trial begin like these.
_STEPS = (_SEARCHES, "model_analyzer.runner.load.")

_LOG_WIDTH = 120

# What a run of many models has written fills no screen.
_MOST_FILES = 20
_MOST_DEPLOYMENTS = 5

# of an answer, by its standing
_COLOURS = {"good": "green", "unsure": "yellow", "bad": "red"}

_COMMAND = re.compile("`[^` ]+ [^`]+`")  # to copy, so its line is not broken


class _LogHandler(logging.Handler):
    """Prints log lines as `[Model Analyzer] text`, above the live view if there is one."""

    def __init__(self, console: Console, *, with_time: bool, conceal: Callable[[str], str]) -> None:
        super().__init__()
        self._conceal = conceal
        self._console = console
        self._with_time = with_time

    def emit(self, record: logging.LogRecord) -> None:
        text = printable(self._conceal(record.getMessage()))
        if text:
            level = "" if record.levelno == logging.INFO else f"{record.levelname}: "
            clock = time.strftime("%H:%M:%S ") if self._with_time else ""
            text = f"{clock}[Model Analyzer] {level}{text}"
        style = {logging.WARNING: "yellow", logging.ERROR: "red", logging.DEBUG: "dim"}
        is_to_copy = _COMMAND.search(text) is not None
        self._console.print(
            Text(text, style=style.get(record.levelno, "")),
            soft_wrap=is_to_copy or not self._console.is_terminal,
            highlight=False,
        )


class TerminalView:
    """The terminal, or whatever takes its place: log lines and results.

    `verbosity` is -1 (quiet), 0 or 1 (verbose). What programs read goes to standard output: with
    `on_stderr` everything for people goes elsewhere. Remarks are shown `with_remarks`, or if it is
    verbose; otherwise they are counted. `conceal` takes secrets out of log lines.
    """

    def __init__(
        self,
        verbosity: int,
        *,
        on_stderr: bool = False,
        with_remarks: bool = False,
        conceal: Callable[[str], str] = masked_text,
    ) -> None:
        self._verbosity = verbosity
        self._with_remarks = with_remarks or self.is_verbose
        output = sys.stderr if on_stderr else sys.stdout
        self._console = Console(file=output)
        if not self._console.is_terminal:
            self._console = Console(file=output, width=_LOG_WIDTH)
        level = {-1: logging.ERROR, 0: logging.INFO, 1: logging.DEBUG}[verbosity]
        self._handler = _LogHandler(self._console, with_time=verbosity == 1, conceal=conceal)
        logger = logging.getLogger("model_analyzer")
        logger.handlers = [self._handler]
        logger.setLevel(level)
        logger.propagate = False

    @property
    def is_verbose(self) -> bool:
        return self._verbosity > 0

    def say(self, text: str) -> None:
        """A line that matters; safe to call from a signal handler."""
        try:
            log.warning("%s", text)
        except RuntimeError:  # the handler came in the middle of another line
            write_now(self._console.file, f"[Model Analyzer] WARNING: {printable(text)}")

    @contextmanager
    def hypothetically(self) -> Iterator[None]:
        """Inside, nothing is shown of what searches log: they are only asked what they would do."""

        def has_happened(record: logging.LogRecord) -> bool:
            return not record.name.startswith(_SEARCHES)

        self._handler.addFilter(has_happened)
        try:
            yield
        finally:
            self._handler.removeFilter(has_happened)

    def progress(
        self, mode: ProgressMode, *, clock: Callable[[], float], stopping: Callable[[], bool]
    ) -> Sink:
        """What shows a run here: see `LiveView` for `clock` and `stopping`."""
        match self._mode(mode):
            case ProgressMode.JSON:
                return JsonLines(_write_line)
            case ProgressMode.NONE:
                return Silence()
            case ProgressMode.LIVE:
                if not self.is_verbose:
                    self._handler.addFilter(_is_news)
                return LiveView(self._console, clock=clock, stopping=stopping)
        return Lines()

    def _mode(self, mode: ProgressMode) -> ProgressMode:
        """What `auto` means here. A live view needs a terminal that can move its cursor."""
        is_able = self._console.is_terminal and not self._console.is_dumb_terminal
        if mode is ProgressMode.LIVE and not is_able:
            log.warning("--progress live needs a terminal: showing plain lines instead")
        if self._verbosity < 0 and mode is not ProgressMode.JSON:
            return ProgressMode.NONE
        if mode is ProgressMode.LIVE and is_able:
            return mode
        if mode in (ProgressMode.JSON, ProgressMode.NONE):
            return mode
        is_wanted = mode is ProgressMode.AUTO and not self.is_verbose and not is_ci(os.environ)
        return ProgressMode.LIVE if is_wanted and is_able else ProgressMode.PLAIN

    def show(self, answers: Answers) -> None:
        """Tables if every detail is wanted; then each answer with its remarks."""
        if self.is_verbose:
            for title, _, table in answers.tables:
                for line in log_table(title, table) if table.rows else ():
                    self.print(line)
        for page, tables in answers.pages:
            for summary, table in zip(page.parts, tables, strict=True):
                self.answer(summary.statement, table, summary.swept)
                if summary.shortage:
                    log.warning("%s", summary.shortage)
            if page.hardware is not None:
                self.hardware(page.model, page.hardware)

    def deliver(self, delivery: Delivery) -> None:
        """Remarks about files, and the files."""
        for remark in delivery.remarks:
            log.warning("%s", remark)
        if delivery.error_log:
            log.warning("Some trials failed: see %s", delivery.error_log)
        for path in delivery.paths[:_MOST_FILES]:
            self.print(f"wrote {path}")
        more = len(delivery.paths) - _MOST_FILES
        if more > 0:
            below = os.path.commonpath(delivery.paths)
            self.print(f"wrote {counted(more, 'more file')} below {below}")
        for model, command in delivery.deployments[:_MOST_DEPLOYMENTS]:
            self.print(f"to deploy {model} on Kubernetes: {command}")
        more = len(delivery.deployments) - _MOST_DEPLOYMENTS
        if more > 0:
            self.print(f"to deploy {counted(more, 'more model')}: the same, with their names")

    def answer(
        self,
        statement: Statement,
        table: Table,
        swept: Table | None,
        *,
        more: str = "in the report, or with -v",
    ) -> None:
        """The result of one model: the sentence, the best configurations, the best for each value
        that was `swept`, and up to two lines. Remarks are counted; a verbose view has them. `more`
        says where they are otherwise.
        """
        if self._verbosity < 0:
            return
        self._console.print()
        self._sentence(statement.sentence, f"bold {_COLOURS[statement.standing.value]}")
        if table.rows:
            self._table(table)
        if swept is not None:
            self._console.print()
            self._sentence("Best for each value:", "bold")
            self._table(swept)
        for text in statement.lines:
            self._sentence(text)
        if self._with_remarks:
            for remark in statement.folded:
                log.warning("%s", remark)
        elif statement.folded:
            self._sentence(f"{counted(len(statement.folded), 'remark')}: {more}")

    def hardware(self, model: str, table: Table) -> None:
        """The best configuration of a model on each kind of hardware."""
        if self._verbosity >= 0:
            self._console.print()
            self._sentence(f"Which hardware for {model}:", "bold")
            self._table(table)

    def _table(self, table: Table) -> None:
        for part in laid_out(table, self._console.width):
            self._console.print(part)

    def print(self, text: str) -> None:
        """A plain line of result, to copy: a path or a command is one line."""
        if self._verbosity >= 0:
            self._console.print(Text(printable(text)), soft_wrap=True)

    def _sentence(self, text: str, style: str = "") -> None:
        """A sentence: broken between words on a terminal, one line in a log."""
        self._console.print(
            Text(printable(text), style=style), soft_wrap=not self._console.is_terminal
        )


def _write_line(text: str) -> None:
    """Writes to standard output, and does not keep it back."""
    sys.stdout.write(text)
    sys.stdout.flush()


def _is_news(record: logging.LogRecord) -> bool:
    """Whether a line belongs above the live view: not what that shows of every trial itself."""
    is_step = record.name.startswith(_STEPS) and record.name != _CONCLUSIONS
    return not is_step or record.levelno > logging.INFO


def is_ci(environment: Mapping[str, str]) -> bool:
    """Whether a machine runs us, and keeps what we write as a log."""
    return environment.get("CI", "").lower() not in ("", "0", "false")


def plain_table(title: str, table: Table) -> Sequence[str]:
    """A table for people as padded columns; without rows, its title."""
    if not table.rows:
        return [title, ""]
    return _padded(title, table.headers, table.texts())


def log_table(title: str, table: Table) -> Sequence[str]:
    """A table of a CSV file in the form that scripts know from the log: the cells of the file in
    padded columns.
    """
    return _padded(title, table.headers, [[*map(data_text, row)] for row in table.rows])


def _padded(
    title: str, headers: Sequence[str], rows: Iterable[Sequence[str | None]]
) -> Sequence[str]:
    cells = [[*map(one_line, headers)], *([*map(cell_text, row)] for row in rows)]
    widths = [max(map(len, column)) + 2 for column in zip(*cells, strict=True)]
    lines = [
        " ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        for row in cells
    ]
    return [f"{title}:", *lines, ""]
