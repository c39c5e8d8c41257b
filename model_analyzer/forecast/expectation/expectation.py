# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The trials that a running search is expected to ask for: an estimate that improves with outcomes.

A brute search has a list of trials. The sweep over the loads of the best variants is asked itself.
Quick and Optuna searches are expected to take as many trials as usual, within their limits, and an
adaptive search to take its limit, as most do.
"""

from __future__ import annotations

from collections.abc import Iterator
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
from model_analyzer.forecast.expectation.confirmation import (
    further_instalments,
    usual_further_instalments,
)
from model_analyzer.forecast.expectation.history import History, Remaining
from model_analyzer.forecast.expectation.listed import ListProgress
from model_analyzer.forecast.expectation.load_sweep import left_of_load_sweep
from model_analyzer.forecast.expectation.loading import (
    load_of,
    load_of_instances,
    loads_of,
)
from model_analyzer.forecast.expectation.patience import left_of_optuna
from model_analyzer.forecast.expectation.sizes import Sizes
from model_analyzer.forecast.searches import Forecast, forecast
from model_analyzer.search.choose import sweeps_loads
from model_analyzer.search.plan import Subject
from model_analyzer.search.space import INSTANCES

# The weight of the assumed amount to load, in trials.
_ASSUMED_WEIGHT = 2

# The weight of the last trial in the usual size.
_FADING = 0.2


class Stage(Enum):
    """The purpose of a trial."""

    SEARCH = "search"
    REFINEMENT = "refinement"  # other loads of the best variants
    FINALISTS = "finalists"  # repetitions of the best trials


class Expectation:
    """The expected rest of a search with so many `slots`; it gets all outcomes in order, also
    resumed ones.
    """

    def __init__(self, subject: Subject, settings: SearchSettings, *, slots: int = 1) -> None:
        self._subject = subject
        self._settings = settings
        self._forecast: Forecast = forecast(subject, settings, slots=slots)
        self._sweeps = sweeps_loads(subject, settings)
        self._list = ListProgress(self._forecast.trials or (), slots)
        self._history = History()
        self._sizes = Sizes()
        self._usual_size = 1.0
        self._remaining: Remaining | None = None  # computed when it is asked for
        self._finalists: Remaining | None = None  # as last expected

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
        """The stage of the next trial, which has no outcome yet."""
        if trial.repetition:
            return Stage.FINALISTS
        if self._history.searched < self.outcomes:
            return Stage.REFINEMENT
        match self.mode:
            case SearchMode.BRUTE if self._list and not self._list.includes(trial):
                return Stage.REFINEMENT
            case SearchMode.QUICK if any(
                record.trial.content == trial.content for record in self._history.records
            ):
                return Stage.REFINEMENT  # a climb has one load for each variant
        return Stage.SEARCH

    def start(self, trial: Trial) -> None:
        """Adds a trial that is under way now."""
        self._list.start(trial)
        self._remaining = None

    def size_of(self, trial: Trial) -> float:
        """How long a trial takes, as a multiple of a usual one."""
        return self._sizes.of(trial)

    def record(self, trial: Trial, outcome: Outcome, slot: str = "") -> None:
        """Adds the outcome of a trial on the slot with this name."""
        self._remaining = None
        if isinstance(outcome, Measurement):
            self._sizes.learn(trial, outcome)
            self._usual_size += _FADING * (self.size_of(trial) - self._usual_size)
        stage, history = self.stage_of(trial), self._history
        if trial.content != history.contents.get(slot):
            history.contents[slot] = trial.content
            history.loads_made.append(load_of(trial))
        history.records.append(TrialRecord(trial=trial, outcome=outcome))
        confirms = stage is Stage.FINALISTS and self.mode is not SearchMode.ADAPTIVE
        if stage is Stage.REFINEMENT or confirms:
            return
        history.searched = len(history.records)
        self._list.add(trial, outcome)
        if isinstance(outcome, Measurement) and self._leads(outcome):
            history.leader, history.best_at = outcome, len(history.records)

    def remaining(self) -> Remaining:
        """The expected rest."""
        if self._remaining is None:
            self._remaining = self._expected_rest()
        return self._remaining

    def _expected_rest(self) -> Remaining:
        is_searching = self._history.searched == self.outcomes
        trials, size = self._left_of_search() if is_searching else (0.0, 0.0)
        loads = self._loads_of_search(trials)
        for part in self._after_search(trials):
            trials += part.trials
            loads += part.loads
            size += part.size
        most = trials if self.most_trials is None else self.most_trials - self.outcomes
        if min(trials, most) <= 0:
            return Remaining(0.0, 0.0, 0.0)
        return Remaining(min(trials, most), max(loads, 0.0), size * min(most / trials, 1.0))

    def _after_search(self, left: float) -> Iterator[Remaining]:
        """The expected rest of what follows the search itself, which has so many trials `left`."""
        if self._sweeps:
            yield left_of_load_sweep(
                self._history,
                self._subject,
                self._settings,
                self.mode,
                self._settings.refined,
                self.size_of,
            )
        if self.mode is not SearchMode.ADAPTIVE:  # its limit counts them
            yield self._left_of_confirmation(left)

    def _left_of_confirmation(self, left_of_search: float) -> Remaining:
        """The further instalments of the finalists: they have few rivals until the others are
        measured, so as many as usual are expected for the share of the search that is left.
        """
        if not self.outcomes:
            return self._usual_confirmation(left_of_search)
        trials = further_instalments(self._history, self._subject, self._settings)
        loads = sum(loads_of(trials, self._history.loaded))
        left = Remaining(len(trials), loads, sum(map(self.size_of, trials)))
        if left_of_search and self._finalists is not None:
            # a new leader has no rivals until its other loads are measured
            left = _between(left, self._finalists)
        self._finalists = left
        share = left_of_search / (left_of_search + self.outcomes)
        return _between(left, self._usual_confirmation(left_of_search), share)

    def _usual_confirmation(self, left_of_search: float) -> Remaining:
        count = self._history.searched + round(left_of_search)
        lengths_s = usual_further_instalments(self._history, self._subject, self._settings, count)
        trials = len(lengths_s)
        size = sum(map(self._sizes.of_length, lengths_s))
        if self._subject.own_s:
            size = trials
        return Remaining(trials, trials * self._usual_load, size)

    def _left_of_search(self) -> tuple[float, float]:
        """The trials of the search itself, and their size."""
        if self.mode is SearchMode.BRUTE and self._forecast.trials is not None:
            if len(self._subject.models) == 1:
                return self._list.left(self.size_of, is_exact=self._forecast.is_exact)
            trials = float(self._list.unmeasured)
        elif self.mode is SearchMode.QUICK:
            trials = left_of_climb(self._history, self._subject, self._forecast)
        elif self.mode is SearchMode.OPTUNA:
            trials = left_of_optuna(self._history, self._forecast, self._settings.optuna)
        else:  # too many to list, or an adaptive search
            trials = float((self.most_trials or 0) - self.outcomes)
        return trials, trials * self._usual_size

    def _loads_of_search(self, trials: float) -> float:
        """How much is loaded for so many further trials of the search itself."""
        if not trials:
            return 0.0
        if self._forecast.trials is not None:
            return self._list.loads(self._history.loaded, len(self._history.loads_made))
        # as much for each trial as before; at first, as much as for the mean of the space
        loaded = sum(self._history.loads_made) + _ASSUMED_WEIGHT * self._usual_load
        return trials * loaded / (self.outcomes + _ASSUMED_WEIGHT)

    @property
    def _usual_load(self) -> float:
        """How much is loaded for a trial in the middle of the space."""
        counts = [
            fmean(varied.values)
            for varied in self._forecast.varied
            if varied.parameter == INSTANCES
        ]
        return load_of_instances(sum(counts)) if counts else 1.0

    def _leads(self, measurement: Measurement) -> bool:
        leader = self._history.leader
        if leader is None:
            return True
        candidates = [leader, measurement]
        return self._subject.goal.best_first(candidates, lambda item: item)[0] is measurement


def _between(a: Remaining, b: Remaining, share: float = 0.5) -> Remaining:
    """So far from `a` to `b`."""
    return Remaining(
        a.trials + share * (b.trials - a.trials),
        a.loads + share * (b.loads - a.loads),
        a.size + share * (b.size - a.size),
    )
