# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Events of a run. `elapsed_s` is the time in seconds since the run began; `time_left_s` is the
expected time in seconds until it ends, or None if there is no estimate yet.

Events of a run as JSON: docs/progress.md describes it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, fields
from enum import Enum
from typing import Any, Protocol, TypeVar

from model_analyzer.domain.goals import Goal
from model_analyzer.domain.measurements import Measurement, Outcome
from model_analyzer.domain.metrics import METRICS
from model_analyzer.domain.models import ModelVariant, group_members, thaw
from model_analyzer.domain.profiles import Outlook
from model_analyzer.domain.secrets import masked_values
from model_analyzer.domain.trials import Failure, Trial, load_words
from model_analyzer.noise.noise import Interval
from model_analyzer.noise.noise_model import intervals_of
from model_analyzer.reports.document import verdicts
from model_analyzer.results.answer import Answer, Gain


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


# It grows when a field is taken away or gets another meaning, not when one is added.
SCHEMA = 1

V = TypeVar("V")

# The others are named as their types.
_NAMES: Mapping[type, str] = {PhaseStarted: "phase", BestChanged: "best", Answered: "answer"}

# Fields of a config.pbtxt that say what the model is.
_OF_THE_MODEL = ("name", "platform", "backend", "input", "output", "default_model_filename")


def document_of(event: Event) -> Mapping[str, Any]:
    """The event, with the names and units of docs/progress.md."""
    named = re.sub(r"(?<!^)(?=[A-Z])", "_", type(event).__name__).lower()
    if isinstance(event, TrialEnded):
        named = f"trial_{'failed' if isinstance(event.outcome, Failure) else 'finished'}"
    about: dict[str, Any] = {
        "event": _NAMES.get(type(event), named),
        "elapsed_s": event.elapsed_s,
    }
    match event:
        case RunStarted():
            about["schema"] = SCHEMA
        case PhaseStarted():
            return {**about, "phase": event.phase.value, "model": event.model or None}
        case TrialStarted():
            return {**about, **_place(event), **_expected(event.outlook), **_trial(event.trial)}
        case StillMeasuring():
            lasting = {
                "for_s": event.for_s,
                "expected_s": event.expected_s,
                "given_up_after_s": event.limit_s,
            }
            return {**about, **_slot(event.slot), **_trial(event.trial), **lasting}
        case TrialEnded():
            return {**about, **_place(event), **_ended(event)}
        case TrialLost():
            lost = {"slot": event.slot, "reason": event.reason}
            return {**about, **_trial(event.trial), **lost}
        case BestChanged():
            return {
                **about,
                **_measured(event.trial, event.measurement, event.goal),
                "intervals": _intervals(event.intervals),
                "times_measured": event.times,
                "constraints": [*_constraints(event.trial, event.measurement, event.goal)],
                **_expected(event.outlook),
                **_gain(event.gain),
                "shortfall_percent": event.shortfall_percent,
            }
    if isinstance(event, Answered):
        rest = _answer(event)
    else:
        rest = {field.name: getattr(event, field.name) for field in fields(event)}
    if isinstance(event, ModelStarted):
        rest["objectives"] = [
            objective.tag for goal in event.goal.models for objective in goal.objectives
        ]
        rest["constraints"] = [
            {
                "model": name,
                "metric": bound.tag,
                "minimum": bound.minimum,
                "maximum": bound.maximum,
            }
            for name, goal in zip(group_members(event.model), event.goal.models, strict=True)
            for bound in goal.constraints
        ]
        del rest["goal"], rest["tags"]
        if not event.slots:
            del rest["slots"]
        kinds = rest.pop("kinds")
        if kinds:
            rest["hardware"] = kinds
    return {**about, **rest}


def _ended(event: TrialEnded) -> Mapping[str, Any]:
    outcome = event.outcome
    times = {
        "known": event.resumed,
        "started": outcome.started,
        "duration_s": round(outcome.duration_s, 3),
    }
    if isinstance(outcome, Failure):
        return {
            **times,
            **_trial(event.trial),
            "reason": outcome.reason.name.lower(),
            "message": outcome.message,
            "hint": outcome.hint or None,
        }
    measured = _measured(event.trial, outcome, event.goal)
    return {**times, **measured, "notices": [*outcome.remarks]}


def _place(event: TrialStarted | TrialEnded) -> Mapping[str, Any]:
    return {
        "time_left_s": event.time_left_s,
        "number": event.number,
        "expected_trials": event.expected_trials,
        **_slot(event.slot),
    }


def _slot(name: str) -> Mapping[str, Any]:
    return {"slot": name} if name else {}


def _expected(outlook: Outlook | None) -> Mapping[str, Any]:
    if outlook is None:
        return {}
    if not outlook.feasible:
        return {"chance_to_meet_constraints": round(outlook.chance, 3)}
    return {
        "chance_of_better": round(outlook.chance, 3),
        "better_by_percent": round(100 * outlook.margin, 3),
    }


def _trial(trial: Trial) -> Mapping[str, Any]:
    return {
        "trial": trial.key,
        "repetition": trial.repetition,
        "hardware": trial.setup.kind,
        "workloads": [
            {
                "model": work.variant.model,
                "variant": work.variant.name,
                work.load.kind.value: work.load.value,
                "batch_size": work.load.batch_size,
                "settings": {part.name: _settings(part) for part in work.variant.served},
            }
            for work in trial.workloads
        ],
    }


def _settings(variant: ModelVariant) -> Mapping[str, Any]:
    """The fields of its config.pbtxt that a search may change, without secrets."""
    fields = thaw(masked_values(variant.config))
    return {name: value for name, value in fields.items() if name not in _OF_THE_MODEL}


def _answer(event: Answered) -> dict[str, Any]:
    """The answer: `results.json` has the rest of it."""
    answer = event.answer
    best, conclusion = answer.best, answer.conclusion
    goal = answer.ranking.goal
    measured: Mapping[str, Any] = {}
    if best is not None:
        of_best = best.best.trial, best.best.measurement, goal
        intervals = intervals_of(answer.ranking.noise_model, goal, best.best.runs)
        measured = {
            **_measured(*of_best),
            "intervals": _intervals(intervals),
            "constraints": [*_constraints(*of_best)],
        }
    is_feasible = conclusion is not None and conclusion.feasible
    return {
        "model": answer.ranking.model,
        "hardware": answer.ranking.kind or None,
        "verdict": answer.verdict.value,
        "sentence": event.sentence,
        "is_unsure": answer.is_unsure,
        **_gain(answer.gain),
        "chance_of_better": round(conclusion.chance, 3) if conclusion and is_feasible else None,
        "chance_to_meet_constraints": None
        if answer.compliance is None
        else round(answer.compliance.chance, 3),
        **measured,
        "files": list(event.files),
    }


def _gain(gain: Gain | None) -> Mapping[str, Any]:
    """The gain over the default. `gain_load` says under which load both were compared, if not that
    of the best.
    """
    return {
        "gain_percent": None if gain is None else gain.percent,
        "gain_noise_percent": None if gain is None else gain.noise,
        "gain_is_clear": None if gain is None else gain.is_clear,
        "gain_load": load_words(gain.at) if gain and gain.at else None,
    }


def _constraints(trial: Trial, measurement: Measurement, goal: Goal) -> Iterator[Mapping[str, Any]]:
    return verdicts(goal, [work.variant.model for work in trial.workloads], measurement)


def _measured(trial: Trial, measurement: Measurement, goal: Goal) -> Mapping[str, Any]:
    """The trial with its metrics, those that the goal wishes for first, and where there are several
    models also with those of each.
    """
    document, totals = dict(_trial(trial)), measurement.totals
    shown = [tag for tag in goal.wishes_first(totals) if tag in totals]
    document["metrics"] = _named({tag: totals[tag] for tag in shown})
    if len(measurement.models) > 1:
        document["workloads"] = [
            {**work, "metrics": _named(model.values)}
            for work, model in zip(document["workloads"], measurement.models, strict=True)
        ]
    return document


def _intervals(intervals: Mapping[str, Interval]) -> Mapping[str, Any]:
    return _named({tag: [each.low, each.high] for tag, each in intervals.items()})


def _named(values: Mapping[str, V]) -> Mapping[str, V]:
    """The values by tags with units: `perf_latency_p99_ms`."""
    return {f"{tag}_{METRICS[tag].unit.in_names}": value for tag, value in values.items()}
