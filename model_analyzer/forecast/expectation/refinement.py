# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""What follows a search: the load sweep of the best variants, and further rounds of the
finalists. Their plans are asked themselves: with estimated answers, and as if each trial measured
the same again.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from statistics import median

from model_analyzer.domain.arrivals import RANDOM
from model_analyzer.domain.measurements import Measurement, ModelMeasurement, Values
from model_analyzer.domain.metrics import METRICS, Unit
from model_analyzer.domain.profiles import TrialRecord
from model_analyzer.domain.trials import Trial
from model_analyzer.forecast.expectation.history import History, Remaining, loads_of
from model_analyzer.noise.first_look import FIRST_LOOK_S
from model_analyzer.search.confirm import FINALISTS, confirm, further_s, most_confirmed
from model_analyzer.search.modes.mode import RefiningMode
from model_analyzer.search.plan import Subject, load_values
from model_analyzer.search.planned import PlannedSearch
from model_analyzer.search.refine import best_trials

# About this share of the variants meets the constraints at low loads only.
_BOUNDARIES = 0.5

# Comparing more trials would take too long, and the others do not become finalists.
_MOST_TRIALS = 24
# Most finalists have rivals for so many further rounds; under random arrivals for all.
_USUAL, _OF_RANDOM = 2, 3


def left_of_load_sweep(
    history: History, mode: RefiningMode, size: Callable[[Trial], float]
) -> Remaining:
    """The trials that the sweep over the loads of the best variants would still ask for; `size`
    gives that of a trial.
    """
    best = mode.settings.refined
    swept = best + 1  # with the default
    leaders = len(best_trials(mode.subject.goal, history.of_search, best))
    if not leaders:
        usual = _usual(mode)
        return Remaining(swept * usual, swept if usual else 0.0, swept * usual)
    trials = _new_trials(history, mode)
    loads = sum(loads_of(trials, history.loaded))
    if history.searched < len(history.records) or swept <= leaders:
        return Remaining(len(trials), loads, sum(map(size, trials)))
    # more variants will be swept; not every sweep has a boundary of the constraints
    share = _BOUNDARIES if mode.covers_loads else 1.0
    factor = 1 + share * (swept / leaders - 1)
    return Remaining(len(trials) * factor, loads * factor, sum(map(size, trials)) * factor)


def _usual(mode: RefiningMode) -> float:
    """The usual number of trials to refine a variant, before the first outcome."""
    if not mode.covers_loads:
        return float(len(load_values(mode.subject.models[0], mode.settings)))
    steps = mode.settings.max_binary_search_steps
    return steps * _BOUNDARIES if mode.subject.goal.has_constraints else 0.0


def _new_trials(history: History, mode: RefiningMode) -> Sequence[Trial]:
    """The trials without an outcome that the sweep would ask for."""
    outcomes = {record.trial.key: record.outcome for record in history.records}
    trials: list[Trial] = []
    search = PlannedSearch(mode.load_sweep(history.of_search), None)
    while (trial := search.ask()) is not None:
        outcome = outcomes.get(trial.key)
        if outcome is None:
            trials.append(trial)
            outcome = _estimated(trial, history.records)
        search.tell(trial, outcome)
    return trials


def _estimated(trial: Trial, records: Sequence[TrialRecord]) -> Measurement:
    """An estimate from measurements of the same variants at other loads: between two loads, values
    are interpolated over the logarithm of the load; beyond them, throughput stays the same, and
    latency grows with the load.
    """
    measured = {
        record.trial.workloads[0].load.value: record.outcome
        for record in records
        if record.trial.content == trial.content and isinstance(record.outcome, Measurement)
    }
    load = trial.workloads[0].load.value
    below = max((value for value in measured if value <= load), default=None)
    above = min((value for value in measured if value >= load), default=None)
    if below is None and above is None:
        return Measurement(models=tuple(ModelMeasurement(values={}) for _ in trial.workloads))
    low, high = below or above or 1, above or below or 1
    share = math.log(load / low) / math.log(high / low) if low < high else 0.0
    # at a load that kept the variant busy, half of it would have been enough
    slower = min(2 * load / low, 1.0) if below is None else 1.0
    stretch = load / low / slower if low == high else 1.0
    return Measurement(
        models=tuple(
            ModelMeasurement(values=_between(first.values, second.values, share, slower, stretch))
            for first, second in zip(measured[low].models, measured[high].models, strict=True)
        )
    )


def _between(low: Values, high: Values, share: float, slower: float, stretch: float) -> Values:
    """Values at this share of the way; rates are multiplied by `slower`, and times by `stretch`."""
    factors = {
        Unit.MILLISECONDS: stretch,
        Unit.INFERENCES_PER_SECOND: slower,
        Unit.TOKENS_PER_SECOND: slower,
    }
    return {
        tag: (value + share * (high[tag] - value)) * factors.get(METRICS[tag].unit, 1.0)
        for tag, value in low.items()
        if tag in high
    }


def further_rounds(history: History, mode: RefiningMode) -> Sequence[Trial]:
    """The rounds that the finalists would still get, by the outcomes so far."""
    subject, settings = mode.subject, mode.settings
    if not most_confirmed(subject, settings):
        return ()
    records = _best(history.records, subject)
    latest = {
        record.trial.first.key: record.outcome
        for record in records
        if isinstance(record.outcome, Measurement)
    }
    trials: list[Trial] = []
    search = PlannedSearch(confirm(subject, settings, records), None)
    while (trial := search.ask()) is not None:
        trials.append(trial)
        search.tell(trial, _lasting(latest[trial.first.key], trial.round_s or 0.0))
    return trials


def usual_further_rounds(history: History, mode: RefiningMode, trials: int) -> Sequence[float]:
    """The usual lengths of all of them in seconds, if the search itself has so many `trials`."""
    if not most_confirmed(mode.subject, mode.settings):
        return ()
    measured = [
        max(model.seconds for model in record.outcome.models)
        for record in history.of_search
        if isinstance(record.outcome, Measurement)
    ]
    lengths_s = [median(measured) if measured else FIRST_LOOK_S]
    traffics = [model.settings.traffic for model in mode.subject.models]
    is_random = any(traffic is not None and traffic.arrivals in RANDOM for traffic in traffics)
    for _ in range(_OF_RANDOM if is_random else _USUAL):
        lengths_s.append(further_s(sum(lengths_s), is_random=is_random))
    return [seconds for seconds in lengths_s[1:] for _ in range(min(trials, FINALISTS))]


def _best(records: Sequence[TrialRecord], subject: Subject) -> Sequence[TrialRecord]:
    """The records of the best trials, and of all failures, in their order."""
    if len(records) <= _MOST_TRIALS:
        return records
    first = {
        record.trial.first.key: record.outcome
        for record in reversed(records)
        if isinstance(record.outcome, Measurement)
    }
    best = set(subject.goal.best_first(first, first.__getitem__)[:_MOST_TRIALS])
    return [
        record
        for record in records
        if not isinstance(record.outcome, Measurement) or record.trial.first.key in best
    ]


def _lasting(measurement: Measurement, seconds: float) -> Measurement:
    """The same values of a round with this length."""
    models = [
        replace(
            model,
            requests=round((model.requests or 0) * seconds / model.seconds),
            seconds=seconds,
        )
        if model.seconds
        else model
        for model in measurement.models
    ]
    return replace(measurement, models=tuple(models))
