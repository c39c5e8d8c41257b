# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Events of a run. `elapsed_s` is the time in seconds since the run began; `time_left_s` is the
expected time in seconds until it ends, or None if there is no estimate yet.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from enum import Enum
from typing import Protocol

from model_analyzer.domain.goals import Goal
from model_analyzer.domain.measurements import Measurement, Outcome
from model_analyzer.domain.profiles import Outlook
from model_analyzer.domain.trials import Trial
from model_analyzer.noise.noise import Interval
from model_analyzer.results.answer import Answer
from model_analyzer.results.selection import Gain


class Phase(Enum):
    """The current phase of a run."""

    STARTING_SERVER = "starting_server"
    OBSERVING_IDLE_SERVER = "observing_idle_server"
    TESTING_SLOTS = "testing_slots"
    MEASURING = "measuring"
    REFINING = "refining"
    FINALISTS = "finalists"
    CHECKING_OUTPUTS = "checking_outputs"
    ENDURANCE = "endurance"
    REPORTS = "reports"


@dataclass(frozen=True, slots=True, kw_only=True)
class PhaseStarted:
    """A phase begins, for one model, or for all models (`model` is "")."""

    elapsed_s: float
    phase: Phase
    model: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelStarted:
    """The search for a model or group begins: `number` (from 1) `of` all searches. It makes at most
    `most_trials` measurements; None means unknown. `tags` are the metrics to show. `slots` are the
    names of the slots that measure at the same time, empty if there is one. `kinds` are the kinds
    of hardware that are searched at the same time, empty if there is one.
    """

    elapsed_s: float
    time_left_s: float | None
    model: str
    number: int
    of: int
    most_trials: int | None
    goal: Goal
    tags: tuple[str, ...]
    slots: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialStarted:
    """A trial is about to be measured. `number` counts the measurements of its model, from 1, and
    each round is one; `expected_trials` is the expected total. `slot` is its name, "" if there
    is one slot. `outlook` is what its search expected of further trials; None if it does not know.
    """

    elapsed_s: float
    time_left_s: float | None
    trial: Trial
    number: int
    expected_trials: int
    slot: str = ""
    outlook: Outlook | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class StillMeasuring:
    """A trial takes much longer than the seconds that were expected (None: it lasts until windows
    are stable): it has been measured `for_s`, and is given up after `limit_s`, None if unknown.
    `slot` is its name, "" if there is one slot.
    """

    elapsed_s: float
    trial: Trial
    for_s: float
    expected_s: float | None
    limit_s: float | None
    slot: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialEnded:
    """A trial has an outcome: from this run, or `resumed` from an earlier one. `goal` is that of
    its models.
    """

    elapsed_s: float
    time_left_s: float | None
    trial: Trial
    number: int
    expected_trials: int
    goal: Goal
    outcome: Outcome
    resumed: bool
    slot: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialLost:
    """A trial was lost with its slot, for this reason; another slot will measure it."""

    elapsed_s: float
    trial: Trial
    slot: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class BestChanged:
    """A new best trial of its model by the `goal`, on a `kind` of hardware ("" if there is one).
    `measurement` is the mean of its `times` measurements. `outlook` is what the search last
    expected of further trials; None if it does not know.

    `gain` compares it with the best load of the default configuration, given the noise of all
    measurements so far. It is None if the default was not measured, is the best itself, or cannot
    be compared, or if constraints are not met. `intervals` are those of 95 %, by metric, as far as
    they are known.
    """

    elapsed_s: float
    trial: Trial
    measurement: Measurement
    times: int
    goal: Goal
    gain: Gain | None
    outlook: Outlook | None
    intervals: Mapping[str, Interval]
    kind: str = ""

    @property
    def shortfall_percent(self) -> float:
        """By how much the constraints are not met."""
        return self.goal.shortfall(self.measurement)


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelFinished:
    """The search for a model has ended with `trials` outcomes, of which `failures` failed.
    `given_up` means that too many measurements failed and none succeeded.
    """

    elapsed_s: float
    model: str
    trials: int
    failures: int
    given_up: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class RunStarted:
    """The run begins. `models` are its models and groups, in the order of measuring."""

    elapsed_s: float
    version: str
    models: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """The answer for a model on a kind of hardware, and in words (`sentence`). `files` are the
    files of all answers to open; they are written.
    """

    elapsed_s: float
    answer: Answer
    sentence: str
    files: tuple[str, ...]


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
    | StillMeasuring
    | TrialEnded
    | TrialLost
    | BestChanged
    | ModelFinished
    | Answered
    | RunFinished
)


class Sink(Protocol):
    """A way to show events."""

    def show(self, event: Event) -> None:
        """Shows an event that has just happened."""

    def paused(self) -> AbstractContextManager[None]:
        """A block in which other code may write to the terminal and ask questions."""

    def close(self) -> None:
        """Ends the display. Closing twice is fine."""


class Silence:
    """Shows nothing."""

    def show(self, event: Event) -> None:
        pass

    def paused(self) -> AbstractContextManager[None]:
        return nullcontext()

    def close(self) -> None:
        pass
