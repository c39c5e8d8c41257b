# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The live view: the screen at the bottom of a terminal, drawn anew twice a second."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console, ConsoleOptions, RenderResult
from rich.control import Control
from rich.live import Live
from rich.segment import ControlType

from model_analyzer.app.progress.events import Event
from model_analyzer.cli.progress.screen import Screen
from model_analyzer.domain.printable import one_line

_PER_SECOND = 2


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
