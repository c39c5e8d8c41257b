# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""How much a running search is still expected to ask for: a guess that gets better as it goes.

A brute search is held against the list of all that it could come to: the share that it has taken
of what it has passed is the share that it will take of the rest. A load sweep is asked itself, with
guessed answers. A search that decides as it goes has no list: there the guess is what such searches
usually take, within their bounds.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum

from model_analyzer.domain.measurements import Measurement, ModelMeasurement, Outcome, Values
from model_analyzer.domain.metrics import METRICS
from model_analyzer.domain.profiles import TrialRecord
from model_analyzer.domain.settings import (
    AdaptiveSettings,
    OptunaSettings,
    QuickSettings,
    SearchMode,
    SearchSettings,
)
from model_analyzer.domain.trials import Trial
from model_analyzer.search.choose import load_sweep, sweeps_loads
from model_analyzer.search.forecast import Forecast, forecast
from model_analyzer.search.plan import Subject, load_values
from model_analyzer.search.refine import best_trials

# Where stop rules hold, about this share of a list is measured: as sure as after so many sweeps.
_TAKEN = 0.75
_SURE = 2

# A climb in so many dimensions takes about `_CLIMB + _CLIMB_PER_DIMENSION * dimensions` trials,
# and one that has taken more goes on for a few.
_CLIMB, _CLIMB_PER_DIMENSION = 5, 2
_LEAST_LEFT = 3.0

# An adaptive search takes about this share of what it may; at its end it repeats the best a
# few times.
_ADAPTIVE = 0.92
_REPETITIONS = 4.0

# Optuna waits for a better one; with those that come, about so many times as long as it may.
_BETTER_ONES = 1.5


class Stage(Enum):
    """What a search is about."""

    SEARCH = "search"
    REFINEMENT = "refinement"  # loads of the best
    FINALISTS = "finalists"  # the best again


# Every further instance takes so much of what the first one takes to load.
_FURTHER_INSTANCE = 0.5


@dataclass(frozen=True, slots=True)
class Remaining:
    """Further trials, and what has to be loaded for them: see `load_of`. Expected numbers."""

    trials: float
    loads: float


def load_of(trial: Trial) -> float:
    """How much there is to load for a trial: 1 for one instance, half as much for each other."""
    counts = [
        sum(count for count, _ in part.instances(gpus=max(len(trial.setup.devices), 1)))
        for work in trial.workloads
        for part in work.variant.served
    ]
    return 1 + _FURTHER_INSTANCE * max(sum(counts) - 1, 0)


class Expectation:
    """What is expected of one search; told every outcome, known ones too, in their order."""

    def __init__(
        self,
        subject: Subject,
        settings: SearchSettings,
        quick: QuickSettings,
        optuna: OptunaSettings,
        adaptive: AdaptiveSettings,
        *,
        best: int,
    ) -> None:
        self._subject = subject
        self._settings = settings
        self._best = best
        self._limits = adaptive
        self._forecast: Forecast = forecast(subject, settings, quick, optuna, adaptive, best=best)
        self._sweeps = sweeps_loads(subject, settings)
        self._patience = optuna.early_exit_threshold
        self._places = _places(self._forecast.trials or ())
        self._passed = 0
        self._records: list[TrialRecord] = []
        self._searched = 0  # those of the search itself, which come first
        self._loaded = ""
        self._loads_taken: list[float] = []
        self._best_at = 0
        self._leader: Measurement | None = None

    @property
    def mode(self) -> SearchMode:
        return self._forecast.mode

    @property
    def most_trials(self) -> int | None:
        return self._forecast.most_trials

    @property
    def told(self) -> int:
        """How many outcomes it was told."""
        return len(self._records)

    def stage_of(self, trial: Trial) -> Stage:
        """What the next trial, which was not told yet, is for."""
        if trial.repetition:
            return Stage.FINALISTS
        if self._searched < len(self._records):
            return Stage.REFINEMENT
        match self.mode:
            case SearchMode.BRUTE if self._place_of(trial) is None:
                return Stage.REFINEMENT
            case SearchMode.QUICK if any(
                record.trial.content == trial.content for record in self._records
            ):
                return Stage.REFINEMENT  # a climb has one load for each variant
        return Stage.SEARCH

    def record(self, trial: Trial, outcome: Outcome) -> None:
        """Tells an outcome."""
        stage = self.stage_of(trial)
        if trial.content != self._loaded:
            self._loaded = trial.content
            self._loads_taken.append(load_of(trial))
        self._records.append(TrialRecord(trial=trial, outcome=outcome))
        if stage is Stage.REFINEMENT:
            return
        self._searched = len(self._records)
        place = self._place_of(trial)
        if place is not None:
            self._passed = place + 1
        if isinstance(outcome, Measurement) and self._leads(outcome):
            self._leader, self._best_at = outcome, len(self._records)

    def remaining(self) -> Remaining:
        """What is left to be asked for."""
        done = len(self._records)
        is_searching = self._searched == done
        trials: float = self._left_of_search() if is_searching else 0.0
        loads = self._loads_of_search(trials)
        if self._sweeps:
            swept = self._left_of_sweep()
            trials += swept.trials
            loads += swept.loads
        most = self.most_trials
        if most is not None:
            trials = min(trials, most - done)
        return Remaining(max(trials, 0.0), max(loads, 0.0) if trials > 0 else 0.0)

    # -- by mode -----------------------------------------------------------------------------

    def _left_of_search(self) -> float:
        done = len(self._records)
        match self.mode:
            case SearchMode.BRUTE:
                return self._left_of_list()
            case SearchMode.QUICK:
                usual = _CLIMB + _CLIMB_PER_DIMENSION * len(self._forecast.varied)
                return max(usual - done, _LEAST_LEFT)
            case SearchMode.OPTUNA:
                return max(self._patience * _BETTER_ONES - (done - self._best_at), 0.0)
            case SearchMode.ADAPTIVE:
                most = self._most_of_adaptive()
                repeated = sum(record.trial.repetition > 0 for record in self._records)
                if repeated and self._records[-1].trial.repetition:
                    left = max(_REPETITIONS - repeated, 1.0)
                else:
                    left = max(_ADAPTIVE * most - done, _LEAST_LEFT)
                return max(min(left, most - done), 1.0)

    def _most_of_adaptive(self) -> int:
        """What an adaptive search may take, as long as it is not in need of more."""
        most = self.most_trials or 0
        goal = self._subject.goal
        if self._limits.max_trials is not None or not any(one.constraints for one in goal.models):
            return most
        is_lost = self._leader is not None and not goal.passes(self._leader)
        return most if is_lost and len(self._records) > most / 2 else most * 2 // 3

    def _loads_of_search(self, trials: float) -> float:
        """What has to be loaded for so many further trials of the search itself."""
        if not trials:
            return 0.0
        if self._forecast.trials is None:
            # as often, and as much, as before
            taken, done = sum(self._loads_taken), len(self._records)
            return trials * (taken / done if done else 1.0)
        listed = self._forecast.trials
        passed, left = _loads(listed[: self._passed]), _loads(listed[self._passed :])
        taken = len(self._loads_taken)
        return sum(left) * (taken + _SURE) / (max(len(passed), taken) + _SURE)

    def _left_of_list(self) -> float:
        trials = self._forecast.trials or ()
        left = len(trials) - self._passed
        if self._forecast.is_exact:
            return float(left)
        weight = _SURE * len(self._loads)
        return left * (self._searched + weight * _TAKEN) / (self._passed + weight)

    def _left_of_sweep(self) -> Remaining:
        """What the sweep over the loads of the best would ask for now, answered by guesses."""
        searched = self._records[: self._searched]
        swept = self._best + 1  # with the default
        leaders = len(best_trials(self._subject.goal, searched, self._best))
        if not leaders:
            return Remaining(swept * self._usual_sweep, swept if self._usual_sweep else 0.0)
        asked = self._asked_by_sweep(searched)
        is_searching = self._searched == len(self._records)
        more = max(swept / leaders, 1.0) if is_searching else 1.0  # there will be others
        return Remaining(len(asked) * more, sum(_loads(asked)) * more)

    @property
    def _usual_sweep(self) -> float:
        """How many trials a variant is refined by, while nothing is known of any."""
        if self.mode is not SearchMode.BRUTE:
            return float(len(self._loads))
        has_boundary = any(model.constraints for model in self._subject.goal.models)
        return self._settings.max_binary_search_steps / 2 if has_boundary else 0.0

    def _asked_by_sweep(self, searched: Sequence[TrialRecord]) -> Sequence[Trial]:
        known = {record.trial.key: record.outcome for record in self._records}
        asked: list[Trial] = []
        plan = load_sweep(self._subject, self._settings, searched, self._best)
        try:
            trial = next(plan)
            while True:
                answer = known.get(trial.key)
                if answer is None:
                    asked.append(trial)
                    answer = _guessed(trial, self._records)
                trial = plan.send(answer)
        except StopIteration:
            return asked

    # -- what is known -----------------------------------------------------------------------

    @property
    def _loads(self) -> Sequence[int]:
        return load_values(self._subject.models[0], self._settings)

    def _place_of(self, trial: Trial) -> int | None:
        """Where it is in the list of all, behind what was passed."""
        places = self._places.get(trial.key, ())
        return next((place for place in places if place >= self._passed), None)

    def _leads(self, measurement: Measurement) -> bool:
        if self._leader is None:
            return True
        both = [self._leader, measurement]
        return self._subject.goal.best_first(both, lambda item: item)[0] is measurement


def _places(trials: Sequence[Trial]) -> Mapping[str, Sequence[int]]:
    """Where a trial is in a list, by its key: a variant may come under two names."""
    places: dict[str, list[int]] = {}
    for place, trial in enumerate(trials):
        places.setdefault(trial.key, []).append(place)
    return places


def _loads(trials: Sequence[Trial]) -> Sequence[float]:
    """What is loaded for trials in their order, before the first of each group."""
    befores = [None, *(trial.content for trial in trials)]
    return [
        load_of(trial)
        for before, trial in zip(befores, trials, strict=False)
        if trial.content != before
    ]


def _guessed(trial: Trial, records: Sequence[TrialRecord]) -> Measurement:
    """What the trial would give, from what its variants gave under other loads: in between, values
    on a line over the logarithm of the load; beyond, throughput stays and latencies follow it.
    """
    known = {
        record.trial.workloads[0].load.value: record.outcome
        for record in records
        if record.trial.content == trial.content and isinstance(record.outcome, Measurement)
    }
    load = trial.workloads[0].load.value
    below = max((at for at in known if at <= load), default=None)
    above = min((at for at in known if at >= load), default=None)
    if below is None and above is None:
        return Measurement(models=tuple(ModelMeasurement(values={}) for _ in trial.workloads))
    low, high = below or above or 1, above or below or 1
    share = math.log(load / low) / math.log(high / low) if low < high else 0.0
    stretch = load / (low if below is not None else high) if low == high else 1.0
    return Measurement(
        models=tuple(
            ModelMeasurement(values=_between(one.values, other.values, share, stretch))
            for one, other in zip(known[low].models, known[high].models, strict=True)
        )
    )


def _between(low: Values, high: Values, share: float, stretch: float) -> Values:
    return {
        tag: (value + share * (high[tag] - value)) * (stretch if METRICS[tag].unit == "ms" else 1.0)
        for tag, value in low.items()
        if tag in high
    }
