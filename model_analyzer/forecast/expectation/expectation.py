# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The trials that a running search is expected to ask for: an estimate that improves with outcomes.

The rest of a list of trials is estimated from its finished parts, that of another search is what
its mode says. The sweep over the loads of the best variants is asked itself. Of a search that goes
its own way to the end, only the limit is known.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from enum import Enum
from statistics import fmean, median

from model_analyzer.domain.arrivals import has_own_times
from model_analyzer.domain.measurements import Measurement, Outcome
from model_analyzer.domain.profiles import TrialRecord
from model_analyzer.domain.settings import SearchSettings
from model_analyzer.domain.trials import Trial, Workload
from model_analyzer.forecast.expectation.history import (
    History,
    Remaining,
    load_of,
    load_of_instances,
    loads_of,
)
from model_analyzer.forecast.expectation.listed import ListProgress
from model_analyzer.forecast.expectation.refinement import (
    further_rounds,
    left_of_load_sweep,
    usual_further_rounds,
)
from model_analyzer.forecast.run_plan import AROUND_S
from model_analyzer.forecast.searches import Forecast, forecast
from model_analyzer.noise.first_look import FIRST_LOOK_S, first_look_s, in_flight, reached_rate
from model_analyzer.search.choose import mode_for
from model_analyzer.search.modes.mode import RefiningMode
from model_analyzer.search.plan import Subject
from model_analyzer.search.space import INSTANCES

# The weight of the assumed amount to load, in trials.
_ASSUMED_WEIGHT = 2

# The weight of the last trial in the usual size.
_FADING = 0.2

_USUAL_S = FIRST_LOOK_S + AROUND_S


class TrialStage(Enum):
    """The purpose of a trial."""

    SEARCH = "search"
    REFINEMENT = "refinement"  # other loads of the best variants
    FINALISTS = "finalists"  # repetitions of the best trials


def expectation(subject: Subject, settings: SearchSettings, *, slots: int = 1) -> Expectation:
    """What is expected of the search for a subject with so many `slots`."""
    mode = mode_for(subject, settings)
    foreseen = forecast(subject, settings, slots=slots)
    if isinstance(mode, RefiningMode):
        return RefinedExpectation(mode, foreseen, slots)
    assert foreseen.most_trials is not None, "a search that goes its own way has a limit"
    return Expectation(foreseen.most_trials)


class Expectation:
    """The expected rest of a search that goes its own way up to its limit; it gets all outcomes in
    order, also resumed ones. A trial is expected to take as long as the others.
    """

    def __init__(self, most_trials: int | None) -> None:
        self.most_trials = most_trials
        self.outcomes = 0

    def stage_of(self, trial: Trial) -> TrialStage:
        """The stage of the next trial, which has no outcome yet."""
        return TrialStage.FINALISTS if trial.repetition else TrialStage.SEARCH

    def start(self, trial: Trial) -> None:
        """Adds a trial that is under way now."""

    def size_of(self, trial: Trial) -> float:
        """How long a trial takes, as a multiple of a usual one."""
        return 1.0

    def load_of(self, trial: Trial) -> float:
        """How much time of its own is to be expected for loading it: see `load_of`."""
        return 0.0

    def record(self, trial: Trial, outcome: Outcome, slot: str = "") -> None:
        """Adds the outcome of a trial on the slot with this name."""
        self.outcomes += 1

    def remaining(self) -> Remaining:
        """The expected rest."""
        left = max((self.most_trials or 0) - self.outcomes, 0)
        return Remaining(left, 0.0, left)


class RefinedExpectation(Expectation):
    """The expected rest of a search that refines and confirms the best at its end."""

    def __init__(self, mode: RefiningMode, foreseen: Forecast, slots: int = 1) -> None:
        super().__init__(foreseen.most_trials)
        self._mode = mode
        self._subject = mode.subject
        self._forecast = foreseen
        self._list = ListProgress(mode.subject, foreseen.trials or (), slots)
        self._history = History()
        self._sizes = Sizes()
        self._usual_size = 1.0
        self._remaining: Remaining | None = None  # computed when it is asked for
        self._finalists: Remaining | None = None  # as last expected

    def stage_of(self, trial: Trial) -> TrialStage:
        if trial.repetition:
            return TrialStage.FINALISTS
        is_over = (
            self._history.searched < self.outcomes
            or (self._list and not self._list.includes(trial))
            or (self._mode.has_one_load and self._has_measured(trial.content))
        )
        return TrialStage.REFINEMENT if is_over else TrialStage.SEARCH

    def _has_measured(self, content: str) -> bool:
        return any(record.trial.content == content for record in self._history.records)

    def start(self, trial: Trial) -> None:
        self._list.start(trial)
        self._remaining = None

    def size_of(self, trial: Trial) -> float:
        return self._sizes.of(trial)

    def load_of(self, trial: Trial) -> float:
        return load_of(trial)

    def record(self, trial: Trial, outcome: Outcome, slot: str = "") -> None:
        self._remaining = None
        if isinstance(outcome, Measurement):
            self._sizes.learn(trial, outcome)
            self._usual_size += _FADING * (self.size_of(trial) - self._usual_size)
        stage, history = self.stage_of(trial), self._history
        if trial.content != history.contents.get(slot):
            history.contents[slot] = trial.content
            history.loads_made.append(load_of(trial))
        history.records.append(TrialRecord(trial=trial, outcome=outcome))
        self.outcomes += 1
        if stage is not TrialStage.SEARCH:
            return
        history.searched = len(history.records)
        self._list.add(trial, outcome)
        if isinstance(outcome, Measurement) and self._leads(outcome):
            history.leader, history.best_at = outcome, len(history.records)

    def remaining(self) -> Remaining:
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
        if self._mode.sweeps_loads:
            yield left_of_load_sweep(self._history, self._mode, self.size_of)
        yield self._left_of_confirmation(left)

    def _left_of_confirmation(self, left_of_search: float) -> Remaining:
        """The further rounds of the finalists: they have few rivals until the others are
        measured, so as many as usual are expected for the share of the search that is left.
        """
        if not self.outcomes:
            return self._usual_confirmation(left_of_search)
        trials = further_rounds(self._history, self._mode)
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
        lengths_s = usual_further_rounds(self._history, self._mode, count)
        trials = len(lengths_s)
        size = sum(map(self._sizes.of_length, lengths_s))
        if self._subject.own_s:
            size = trials
        return Remaining(trials, trials * self._usual_load, size)

    def _left_of_search(self) -> tuple[float, float]:
        """The trials of the search itself, and their size."""
        if self._forecast.trials is None:
            trials = self._mode.left(self.outcomes, self._history.best_at)
        elif len(self._subject.models) > 1:
            trials = float(self._list.unmeasured)
        else:
            return self._list.left(self.size_of, is_exact=self._forecast.is_exact)
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


class Sizes:
    """The sizes of trials, from the requests per second of those that were measured. A trial that
    is not measured in rounds, or whose load has its own times, and any trial before the first
    outcome, has the size 1.
    """

    def __init__(self) -> None:
        # requests per second by load, by variant, by kind of load of a model
        self._rates: dict[object, dict[str, dict[int, float]]] = defaultdict(
            lambda: defaultdict(dict)
        )
        self._of_others: dict[object, float | None] = {}  # rates of variants that are not measured

    def learn(self, trial: Trial, measurement: Measurement) -> None:
        for work, model in zip(trial.workloads, measurement.models, strict=True):
            if model.requests and model.seconds:
                rates = self._rates[_kind(work)][work.variant.identity]
                rates[work.load.value] = model.requests / model.seconds
                self._of_others.clear()

    def of(self, trial: Trial) -> float:
        """The size of a trial, measured or not."""
        if trial.round_s is None or any(map(has_own_times, trial.workloads)):
            return 1.0
        return max(self._seconds(work, trial.round_s) for work in trial.workloads) / _USUAL_S

    def of_length(self, seconds: float) -> float:
        """The size of a round with this length."""
        return (seconds + AROUND_S) / _USUAL_S

    def _seconds(self, work: Workload, asked_s: float) -> float:
        rate = self._rate(work)
        if rate is None:
            return asked_s + AROUND_S if asked_s else _USUAL_S
        length_s = asked_s or first_look_s(rate, in_flight(work))
        # it ends when the requests in flight are answered
        return length_s + in_flight(work) / rate + AROUND_S

    def _rate(self, work: Workload) -> float | None:
        """The requests per second of a workload; those of half of the variants if its own was not
        measured.
        """
        kind, load = _kind(work), work.load.value
        own = self._rates[kind].get(work.variant.identity)
        if own:
            return reached_rate(own, load)
        if (kind, load) not in self._of_others:
            rates = [reached_rate(rates, load) for rates in self._rates[kind].values()]
            known = [rate for rate in rates if rate is not None]
            self._of_others[kind, load] = median(known) if known else None
        return self._of_others[kind, load]


def _kind(work: Workload) -> object:
    return work.variant.model, work.load.kind, work.load.batch_size
