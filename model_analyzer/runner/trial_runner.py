# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Runs one trial: loads the variants, starts monitors and load, and returns the outcome; and the
executor with one slot, in the main thread.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import replace

from model_analyzer.domain.costs import (
    ENERGY_PER_INFERENCE,
    energy_per_inference,
    with_metered_power,
)
from model_analyzer.domain.hardware import WITHOUT_GPU, Machine
from model_analyzer.domain.measurements import (
    CounterReading,
    Measurement,
    ModelMeasurement,
    Notice,
    Observation,
    Outcome,
    Values,
)
from model_analyzer.domain.protocols import LoadGenerator, Monitor, Runner, Server
from model_analyzer.domain.secrets import masked_text
from model_analyzer.domain.slots import Finished, Slot
from model_analyzer.domain.trials import Failure, FailureReason, Trial
from model_analyzer.noise.laws import judged
from model_analyzer.noise.response_cache import with_hits
from model_analyzer.runner.repository import OutputRepository

log = logging.getLogger(__name__)

# After these failures, the state of the server is unknown: a crashed model process is never
# restarted.
_SPOILS_SERVER = frozenset(
    {
        FailureReason.REQUEST_FAILED,
        FailureReason.TIMEOUT,
        FailureReason.BUDGET,
        FailureReason.SERVER_DIED,
        FailureReason.MODEL_DIED,
        FailureReason.LOAD_TIMEOUT,
        FailureReason.NO_REQUESTS,
    }
)


# Failures to try again: somebody may have killed the process. The second time, the variant is the
# cause.
_MAY_BE_CHANCE = frozenset(
    {
        FailureReason.SERVER_DIED,
        FailureReason.MODEL_DIED,
        FailureReason.LOAD_GENERATOR_DIED,
    }
)


class TrialRunner:
    """Measures trials on one server with one load generator.

    `monitors` creates new monitors for a trial. `interruptible` is the block around a trial, in
    which an interrupt may raise. `conceal` removes secrets from messages of other programs.
    `machine` is where it measures; None if unknown.
    """

    def __init__(
        self,
        server: Server,
        load_generator: LoadGenerator,
        output: OutputRepository,
        *,
        monitors: Callable[[Trial], Iterable[Monitor]],
        interruptible: Callable[[], AbstractContextManager[object]],
        conceal: Callable[[str], str] = masked_text,
        machine: Machine | None = None,
    ) -> None:
        self._server = server
        self._load_generator = load_generator
        self._output = output
        self._monitors = monitors
        self._interruptible = interruptible
        self._conceal = conceal
        self._machine = machine

    def run(self, trial: Trial) -> Outcome:
        for work in trial.workloads:
            self._output.write(work.variant)
        started, clock = round(time.time(), 3), time.monotonic()
        with self._interruptible():
            outcome = self._measure(trial, clock)
            if isinstance(outcome, Failure) and outcome.reason in _MAY_BE_CHANCE:
                log.warning("%s: trying once more", outcome.message)
                self._server.discard()
                outcome = self._measure(trial, clock)
        if isinstance(outcome, Failure) and outcome.reason in _SPOILS_SERVER:
            self._server.discard()
        # as in the checkpoint, so that a resumed search sees the same
        duration_s = round(time.monotonic() - clock, 3)
        outcome = replace(outcome, started=started, duration_s=duration_s, machine=self._machine)
        return judged(trial, outcome)

    def _measure(self, trial: Trial, clock: float) -> Outcome:
        """The outcome, without secrets, of a trial that began at `clock`."""
        return concealed(self._tried(trial, clock), self._conceal)

    def _tried(self, trial: Trial, clock: float) -> Outcome:
        failure = self._server.serve([work.variant for work in trial.workloads], trial.setup)
        if failure is not None:
            return failure
        loading_s = round(time.monotonic() - clock, 3)
        monitors = list(self._monitors(trial))
        with ExitStack() as stack:
            for monitor in monitors:
                stack.enter_context(monitor)
            left_s = trial.limit_s and trial.limit_s - (time.monotonic() - clock)
            readings = self._load_generator.generate(
                trial.workloads, self._server, trial.round_s, trial.repetition, left_s
            )
        if isinstance(readings, Failure):
            return readings
        observed = _merged(monitor.observation for monitor in monitors)
        gpus = with_metered_power(observed.gpus, observed.counters, readings.during)
        models = tuple(
            with_hits(model, work, readings.statistics)
            for work, model in zip(trial.workloads, readings.models, strict=True)
        )
        return Measurement(
            models=models,
            gpus=gpus,
            host=_with_energy(observed.host, gpus, models),
            statistics=readings.statistics,
            notices=(*readings.notices, *observed.notices),
            commands=readings.commands,
            loading_s=loading_s,
            resources=observed.resources,
        )


def _with_energy(
    host: Values, gpus: Mapping[str, Values], models: Sequence[ModelMeasurement]
) -> Values:
    """The values of the server with the energy of the GPUs for an inference, if it is known."""
    joules = energy_per_inference(gpus, models)
    return host if joules is None else {**host, ENERGY_PER_INFERENCE: joules}


def concealed(outcome: Outcome, conceal: Callable[[str], str]) -> Outcome:
    """The outcome with `conceal` applied to its texts."""
    if isinstance(outcome, Failure):
        return replace(
            outcome,
            message=conceal(outcome.message),
            log=tuple(map(conceal, outcome.log)),
            hint=conceal(outcome.hint),
        )
    notices = [replace(notice, text=conceal(notice.text)) for notice in outcome.notices]
    return replace(outcome, notices=tuple(notices))


def _merged(observations: Iterable[Observation]) -> Observation:
    """The observations of several monitors in one; each monitor observes different metrics."""
    host: dict[str, float] = {}
    gpus: dict[str, Values] = {}
    counters: Sequence[CounterReading] = ()
    notices: list[Notice] = []
    resources = None
    for observation in observations:
        host |= observation.host
        gpus |= observation.gpus
        counters = observation.counters or counters
        notices += observation.notices
        resources = observation.resources or resources
    return Observation(
        host=host, gpus=gpus, counters=counters, notices=tuple(notices), resources=resources
    )


class LocalExecutor:
    """Measures with `runner`, inside `wait`: signals reach the trial that is measured. `kind` is
    that of the hardware, in words.
    """

    def __init__(self, runner: Runner, kind: str = WITHOUT_GPU) -> None:
        self._runner = runner
        self._slot = Slot(kind=kind)
        self._started: Trial | None = None

    @property
    def slots(self) -> Sequence[Slot]:
        return (self._slot,)

    @property
    def free(self) -> Sequence[Slot]:
        return self.slots if self._started is None else ()

    def start(self, trial: Trial, slot: Slot, *, is_test: bool = False) -> None:
        assert self._started is None, "the slot is not free"
        self._started = trial
        self._slot = replace(slot, loaded=trial.content)

    def wait(self) -> Finished:
        trial, self._started = self._started, None
        assert trial is not None, "no trial is under way"
        return Finished(trial=trial, slot=self._slot, result=self._runner.run(trial))
