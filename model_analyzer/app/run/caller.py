# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Whoever calls a run: follows it, may interrupt it, and can be asked."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, closing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from model_analyzer.app.bench.devices import Job
from model_analyzer.config.resolve import described
from model_analyzer.errors import ModelAnalyzerError

if TYPE_CHECKING:
    from model_analyzer.app.conceal import Conceal
    from model_analyzer.app.delivery.answer import Answers, Delivery
    from model_analyzer.app.progress.tracker import Tracker

log = logging.getLogger(__name__)


class Audience(Protocol):
    """Shows the output of a run."""

    def print(self, text: str) -> None:
        """Shows output of perf_analyzer."""

    def show(self, answers: Answers) -> None:
        """Shows the answers, before their files are written."""

    def deliver(self, delivery: Delivery) -> None:
        """Shows which files were written."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """Whoever runs it, and may interrupt it or be asked. `conceal` masks secrets."""

    interrupts: Interrupts
    ask: Questions
    tracker: Tracker
    audience: Audience
    conceal: Conceal


def followed(job: Job, caller: Caller, run: Callable[[Job, Caller], int]) -> int:
    """Runs it with everything around: settings in the log, and the end of the progress; the exit
    status.
    """
    for line in described(job.settings):
        log.debug("%s", line)
    for remark in job.remarks:
        log.warning("%s", remark)
    with closing(caller.tracker):
        try:
            status = run(job, caller)
        except ModelAnalyzerError as error:
            from model_analyzer.app.conceal import conceal_error

            conceal_error(error, caller.conceal)
            caller.tracker.run_finished(error.exit_status)
            raise
        caller.tracker.run_finished(status)
    return status


class Interrupts(Protocol):
    """Interrupts of the run by the user."""

    @property
    def requested(self) -> bool:
        """Whether to stop after the running trial."""

    def further(self) -> Callable[[], bool]:
        """A function that returns whether there was another interrupt since this call, or an
        interrupt to leave at once.
        """

    def interruptible(self) -> AbstractContextManager[None]:
        """A block in which an interrupt to leave at once raises `Interrupted`."""


class Questions(Protocol):
    """Asks the user."""

    def confirm(self, text: str) -> bool:
        """Whether the user agrees; True without a terminal."""

    def choose(self, text: str, choices: Sequence[str], default: str) -> str | None:
        """The user's choice; None without a terminal."""
