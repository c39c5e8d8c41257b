# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""What happens in a run, as values. Times are in seconds: `elapsed_s` since the run began, and
`time_left_s` until it will have ended, which is None where nothing is known yet.
"""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from enum import Enum
from typing import Protocol

from model_analyzer.domain.goals import Goal
from model_analyzer.domain.measurements import Measurement
from model_analyzer.domain.trials import Failure, Trial


class Phase(Enum):
    """What a run is about just now."""

    STARTING_SERVER = "starting_server"
    OBSERVING_IDLE_SERVER = "observing_idle_server"
    MEASURING = "measuring"
    REFINING = "refining"
    FINALISTS = "finalists"
    REPORTS = "reports"


@dataclass(frozen=True, slots=True, kw_only=True)
class PhaseStarted:
    """Another phase begins, of all models (`model` is empty) or of one."""

    elapsed_s: float
    phase: Phase
    model: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelStarted:
    """The search for a model (or several, measured together) begins: the `number`th, from 1, `of`
    so many. It may ask for `most_trials`; None: nobody knows. `tags` are the metrics to show of it.
    """

    elapsed_s: float
    time_left_s: float | None
    model: str
    number: int
    of: int
    most_trials: int | None
    goal: Goal
    tags: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialStarted:
    """A trial is about to be measured: the `number`th of its model, from 1; `expected_trials` there
    will be.
    """

    elapsed_s: float
    time_left_s: float | None
    trial: Trial
    number: int
    expected_trials: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialFinished:
    """A trial gave a measurement: just now, or it is `known` from an earlier run."""

    elapsed_s: float
    time_left_s: float | None
    trial: Trial
    number: int
    expected_trials: int
    measurement: Measurement
    known: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialFailed:
    """A trial gave none."""

    elapsed_s: float
    time_left_s: float | None
    trial: Trial
    number: int
    expected_trials: int
    failure: Failure
    known: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class BestChanged:
    """Another trial is the best of its model so far, measured so many `times`, with their mean.

    `gain_percent` is over the best load of the default configuration, None where that was not
    measured, is the best itself, or is held back by its load, and where the answer would not tell
    a gain, since constraints are missed; `shortfall_percent` by how much they are.
    """

    elapsed_s: float
    trial: Trial
    measurement: Measurement
    times: int
    gain_percent: float | None
    shortfall_percent: float


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelFinished:
    """The search for a model has ended: `trials` outcomes, `failures` of them without a
    measurement. With `given_up`, too many failed before any succeeded.
    """

    elapsed_s: float
    model: str
    trials: int
    failures: int
    given_up: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class RunStarted:
    """The run begins: these models, in the order of measuring; joined where measured together."""

    elapsed_s: float
    version: str
    models: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class RunFinished:
    """The run has ended with this exit status; all files are written."""

    elapsed_s: float
    exit_status: int


Event = (
    RunStarted
    | PhaseStarted
    | ModelStarted
    | TrialStarted
    | TrialFinished
    | TrialFailed
    | BestChanged
    | ModelFinished
    | RunFinished
)


class Sink(Protocol):
    """Shows events, each in its way."""

    def show(self, event: Event) -> None:
        """Something has just happened."""

    def paused(self) -> AbstractContextManager[None]:
        """Inside, somebody else may write to the terminal, and ask."""

    def close(self) -> None:
        """Nothing more will. Closing twice is fine."""


class Silence:
    """Shows nothing."""

    def show(self, event: Event) -> None:
        pass

    def paused(self) -> AbstractContextManager[None]:
        return nullcontext()

    def close(self) -> None:
        pass
