# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""How much a running search is still expected to ask for: a guess that gets better as it goes.

A brute search is held against its list. The sweep over the loads of the best is asked itself. Quick
and Optuna searches have no list: there the guess is what such searches usually take, within their
bounds. An adaptive search is expected to take its bound, as most do.
"""

from __future__ import annotations

from enum import Enum
from statistics import fmean

from model_analyzer.domain.measurements import Measurement, Outcome
from model_analyzer.domain.profiles import TrialRecord
from model_analyzer.domain.settings import (
    SearchMode,
    SearchSettings,
)
from model_analyzer.domain.trials import Trial
from model_analyzer.forecast.expectation.climbing import left_of_climb
from model_analyzer.forecast.expectation.history import History, Remaining
from model_analyzer.forecast.expectation.listed import left_of_list, loads_of_list, places_of
from model_analyzer.forecast.expectation.load_sweep import left_of_load_sweep
from model_analyzer.forecast.expectation.loading import load_of, load_of_instances
from model_analyzer.forecast.expectation.patience import left_of_optuna
from model_analyzer.forecast.searches import Forecast, forecast
from model_analyzer.search.choose import sweeps_loads
from model_analyzer.search.plan import Subject
from model_analyzer.search.space import INSTANCES

# What is assumed of what there is to load counts as much as so many trials that were seen.
_SURE = 2


class Stage(Enum):
    """What a search is about."""

    SEARCH = "search"
    REFINEMENT = "refinement"  # loads of the best
    FINALISTS = "finalists"  # the best again


class Expectation:
    """The expected rest of one search; it gets all outcomes in order, resumed ones too."""

    def __init__(self, subject: Subject, settings: SearchSettings) -> None:
        self._subject = subject
        self._settings = settings
        self._forecast: Forecast = forecast(subject, settings)
        self._sweeps = sweeps_loads(subject, settings)
        self._places = places_of(self._forecast.trials or ())
        self._history = History()

    @property
    def mode(self) -> SearchMode:
        return self._forecast.mode

    @property
    def most_trials(self) -> int | None:
        return self._forecast.most_trials

    @property
    def outcomes(self) -> int:
        """Number of outcomes so far."""
        return len(self._history.records)

    def stage_of(self, trial: Trial) -> Stage:
        """The stage of the next trial, whose outcome is not there yet."""
        if trial.repetition:
            return Stage.FINALISTS
        if self._history.searched < self.outcomes:
            return Stage.REFINEMENT
        match self.mode:
            case SearchMode.BRUTE if self._places and self._place_of(trial) is None:
                return Stage.REFINEMENT
            case SearchMode.QUICK if any(
                record.trial.content == trial.content for record in self._history.records
            ):
                return Stage.REFINEMENT  # a climb has one load for each variant
        return Stage.SEARCH

    def record(self, trial: Trial, outcome: Outcome) -> None:
        """Tells an outcome."""
        stage, history = self.stage_of(trial), self._history
        if trial.content != history.loaded:
            history.loaded = trial.content
            history.loads_taken.append(load_of(trial))
        history.records.append(TrialRecord(trial=trial, outcome=outcome))
        if stage is Stage.REFINEMENT:
            return
        history.searched = len(history.records)
        place = self._place_of(trial)
        if place is not None:
            history.passed = place + 1
        if isinstance(outcome, Measurement) and self._leads(outcome):
            history.leader, history.best_at = outcome, len(history.records)

    def remaining(self) -> Remaining:
        """What is left to be asked for."""
        is_searching = self._history.searched == self.outcomes
        trials = self._left_of_search() if is_searching else 0.0
        loads = self._loads_of_search(trials)
        if self._sweeps:
            swept = left_of_load_sweep(
                self._history, self._subject, self._settings, self.mode, self._settings.refined
            )
            trials += swept.trials
            loads += swept.loads
        most = self.most_trials
        if most is not None:
            trials = min(trials, most - self.outcomes)
        return Remaining(max(trials, 0.0), max(loads, 0.0) if trials > 0 else 0.0)

    def _left_of_search(self) -> float:
        match self.mode:
            case SearchMode.BRUTE if self._forecast.trials is not None:
                are_several = len(self._subject.models) > 1
                return left_of_list(self._history, self._forecast, are_several=are_several)
            case SearchMode.QUICK:
                return left_of_climb(self._history, self._subject, self._forecast)
            case SearchMode.OPTUNA:
                return left_of_optuna(self._history, self._forecast, self._settings.optuna)
            case _:  # more than could be listed, or a search that mostly takes all it may
                return float((self.most_trials or 0) - self.outcomes)

    def _loads_of_search(self, trials: float) -> float:
        """What has to be loaded for so many further trials of the search itself."""
        if not trials:
            return 0.0
        if self._forecast.trials is not None:
            return loads_of_list(self._history, self._forecast.trials)
        # as often, and as much, as before; at first, as much as the space has in the mean
        taken = sum(self._history.loads_taken) + _SURE * self._usual_load
        return trials * taken / (self.outcomes + _SURE)

    @property
    def _usual_load(self) -> float:
        """What there is to load for a trial in the middle of the space."""
        counts = [fmean(one.values) for one in self._forecast.varied if one.parameter == INSTANCES]
        return load_of_instances(sum(counts)) if counts else 1.0

    def _place_of(self, trial: Trial) -> int | None:
        """Where it is in the list of all, behind what was passed."""
        places = self._places.get(trial.key, ())
        return next((place for place in places if place >= self._history.passed), None)

    def _leads(self, measurement: Measurement) -> bool:
        leader = self._history.leader
        if leader is None:
            return True
        both = [leader, measurement]
        return self._subject.goal.best_first(both, lambda item: item)[0] is measurement
