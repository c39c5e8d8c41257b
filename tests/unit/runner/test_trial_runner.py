# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""How long a trial takes, and the power of its GPUs while it is measured."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from typing import Any

import pytest

from model_analyzer.domain.measurements import Measurement, Observation
from model_analyzer.domain.trials import Failure, FailureReason
from model_analyzer.runner import trial_runner
from model_analyzer.runner.load.launches import Reading
from model_analyzer.runner.trial_runner import TrialRunner
from tests.unit.builders import measurement as values
from tests.unit.state.samples import trial

LOADING_S, MEASURING_S = 10.0, 5.0


def reading(during: tuple[float, float] | None = None) -> Reading:
    """100 inferences per second."""
    return Reading(values(100.0).models, (), (), during=during)


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
    """Runs a trial with programs that give these answers, and with these monitors."""

    def call(*answers: Any, monitors: Sequence[Any] = ()) -> Any:
        clock = Clock()
        monkeypatch.setattr(trial_runner, "time", clock)
        programs: Any = Programs(clock, iter(answers))
        runner = TrialRunner(
            programs, programs, programs, monitors=lambda _: monitors, interruptible=nullcontext
        )
        return runner.run(trial())

    return call


def test_loading_is_a_part_of_what_a_trial_takes(run) -> None:
    outcome = run(reading())

    assert isinstance(outcome, Measurement)
    assert outcome.loading_s == LOADING_S
    assert outcome.duration_s == LOADING_S + MEASURING_S


@pytest.mark.parametrize("reason", [FailureReason.SERVER_DIED, FailureReason.MODEL_DIED])
def test_a_first_attempt_that_failed_is_not_counted_as_measuring(run, reason) -> None:
    outcome = run(Failure(reason=reason, message="killed"), reading())

    assert isinstance(outcome, Measurement)
    assert outcome.duration_s == 2 * (LOADING_S + MEASURING_S)
    assert outcome.duration_s - outcome.loading_s == MEASURING_S


class Meter:
    """A monitor of a GPU that takes 100 W, and 400 W from second 2 to 8, of 10 seconds."""

    def __enter__(self) -> Meter:
        return self

    def __exit__(self, *_: object) -> None:
        """It has nothing to end."""

    @property
    def observation(self) -> Observation:
        joules = [100 * at + 300 * min(max(at - 2, 0), 6) for at in range(11)]
        counters = tuple((float(at), {"GPU-1": float(value)}) for at, value in enumerate(joules))
        return Observation(gpus={"GPU-1": {"gpu_power_usage": 250.0}}, counters=counters)


def test_energy_is_that_of_the_time_in_which_requests_were_measured(run) -> None:
    """And not of that in which perf_analyzer starts and ends, without requests."""
    outcome = run(reading(during=(2.2, 7.9)), monitors=[Meter()])

    assert outcome.gpus == {"GPU-1": {"gpu_power_usage": 400.0, "gpu_metered_power": 400.0}}
    assert outcome.host == {"energy_per_inference": 4.0}


def test_energy_is_that_of_the_whole_launch_if_the_time_is_unknown(run) -> None:
    outcome = run(reading(), monitors=[Meter()])

    assert outcome.gpus == {"GPU-1": {"gpu_power_usage": 250.0, "gpu_metered_power": 280.0}}
    assert outcome.host == {"energy_per_inference": 2.8}
