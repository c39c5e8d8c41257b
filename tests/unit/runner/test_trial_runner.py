# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""How long a trial takes: what goes by before it is measured, and in all."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import nullcontext
from typing import Any

import pytest

from model_analyzer.domain.measurements import Measurement
from model_analyzer.domain.trials import Failure, FailureReason
from model_analyzer.runner import trial_runner
from model_analyzer.runner.trial_runner import TrialRunner
from tests.unit.state.samples import measurement, trial

LOADING_S, MEASURING_S = 10.0, 5.0


class Clock:
    """Time that goes by when it is told to."""

    def __init__(self) -> None:
        self.now = 1_000.0

    def time(self) -> float:
        return self.now

    monotonic = time


class Programs:
    """A server that takes its time to load, and a load generator that gives one answer after the
    other.
    """

    def __init__(self, clock: Clock, answers: Iterator[Any]) -> None:
        self._clock = clock
        self._answers = answers

    def serve(self, *_: object) -> None:
        self._clock.now += LOADING_S

    def generate(self, *_: object) -> Any:
        self._clock.now += MEASURING_S
        return next(self._answers)

    def write(self, *_: object) -> None:
        """Variants are of no interest here."""

    def discard(self) -> None:
        """Nor is the process of the server."""


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """Runs a trial with programs that give these answers."""

    def call(*answers: Any) -> Any:
        clock = Clock()
        monkeypatch.setattr(trial_runner, "time", clock)
        programs: Any = Programs(clock, iter(answers))
        runner = TrialRunner(
            programs, programs, programs, monitors=lambda _: (), interruptible=nullcontext
        )
        return runner.run(trial())

    return call


def test_loading_is_a_part_of_what_a_trial_takes(run) -> None:
    outcome = run(measurement())

    assert isinstance(outcome, Measurement)
    assert outcome.loading_s == LOADING_S
    assert outcome.duration_s == LOADING_S + MEASURING_S


@pytest.mark.parametrize("reason", [FailureReason.SERVER_DIED, FailureReason.MODEL_DIED])
def test_a_first_attempt_that_failed_is_not_counted_as_measuring(run, reason) -> None:
    died = Failure(reason=reason, message="killed")
    outcome = run(died, measurement())

    assert isinstance(outcome, Measurement)
    assert outcome.duration_s == 2 * (LOADING_S + MEASURING_S)
    assert outcome.duration_s - outcome.loading_s == MEASURING_S
