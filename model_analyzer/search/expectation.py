# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""How much a running search is still expected to ask for: a guess that gets better as it goes.

A brute search is held against the list of all that it could come to: sweeps over loads will be as
long as those that it has passed. A load sweep is asked itself, with
guessed answers. A search that decides as it goes has no list: there the guess is what such searches
usually take, within their bounds.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from statistics import fmean

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
from model_analyzer.domain.trials import Failure, Trial
from model_analyzer.search.choose import load_sweep, sweeps_loads
from model_analyzer.search.forecast import Forecast, forecast
from model_analyzer.search.optuna_search import trial_counts
from model_analyzer.search.plan import Subject, load_values
from model_analyzer.search.refine import best_trials
from model_analyzer.search.space import Quantity

# Where stop rules hold, about this share of a sweep is measured. What is assumed counts as much as
# so many sweeps, or trials, that were seen.
_TAKEN = 0.75
_SURE = 2

# A variant twice as large is busy under the double load: its sweep is one trial longer, as far as
# others do not tell anything else.
_SLOPE = 1.0

# A climb in so many dimensions takes about `_CLIMB + _CLIMB_PER_DIMENSION * dimensions` trials,
# more where it goes along constraints, and one that has taken more goes on for a few.
_CLIMB, _CLIMB_PER_DIMENSION = 5, 2
_CLIMB_ALONG_CONSTRAINTS = 3
_LEAST_LEFT = 3.0

# An adaptive search takes about this share of what it may; at its end it repeats the best a
# few times.
_ADAPTIVE = 0.92
_REPETITIONS = 4.0

# Optuna waits for a better one; with those that come, about so many times as long as it may.
_BETTER_ONES = 1.5


_INSTANCES = Quantity.INSTANCES.value


class Stage(Enum):
    """What a search is about."""

    SEARCH = "search"
    REFINEMENT = "refinement"  # loads of the best
    FINALISTS = "finalists"  # the best again


# Under constraints, about this share of the variants keeps them under low loads only.
_BOUNDARIES = 0.5

# Every further instance takes so much of what the first one takes to load.
_FURTHER_INSTANCE = 0.5


@dataclass(frozen=True, slots=True)
class Remaining:
    """Further trials, and what has to be loaded for them: see `load_of`. Expected numbers."""

    trials: float
    loads: float


def load_of(trial: Trial) -> float:
    """How much there is to load for a trial: 1 for one instance, half as much for each other."""
    return _load(_instances(trial))


def _instances(trial: Trial) -> int:
    return sum(
        count
        for work in trial.workloads
        for part in work.variant.served
        for count, _ in part.instances(gpus=max(len(trial.setup.devices), 1))
    )


def _load(instances: float) -> float:
    return 1 + _FURTHER_INSTANCE * max(instances - 1, 0)


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
        self._least = 0
        if self.mode is SearchMode.OPTUNA and self._forecast.size is not None:
            self._least = 1 + trial_counts(self._forecast.size, optuna)[0]  # and the default
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
                usual += _CLIMB_ALONG_CONSTRAINTS if self._subject.goal.has_constraints else 0
                return max(usual - done, _LEAST_LEFT)
            case SearchMode.OPTUNA:
                waits = self._patience * _BETTER_ONES - (done - self._best_at)
                return max(waits, self._least - done, 1.0)
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
        if self._limits.max_trials is not None or not self._subject.goal.has_constraints:
            return most
        is_lost = self._leader is not None and not goal.passes(self._leader)
        return most if is_lost and len(self._records) > most / 2 else most * 2 // 3

    def _loads_of_search(self, trials: float) -> float:
        """What has to be loaded for so many further trials of the search itself."""
        if not trials:
            return 0.0
        if self._forecast.trials is None:
            # as often, and as much, as before; at first, as much as the space has in the mean
            taken = sum(self._loads_taken) + _SURE * self._usual_load
            return trials * taken / (len(self._records) + _SURE)
        listed = self._forecast.trials
        passed, left = _loads(listed[: self._passed]), _loads(listed[self._passed :], self._loaded)
        taken = len(self._loads_taken)
        return sum(left) * (taken + _SURE) / (max(len(passed), taken) + _SURE)

    @property
    def _usual_load(self) -> float:
        """What there is to load for a trial in the middle of the space."""
        counts = [fmean(one.values) for one in self._forecast.varied if one.parameter == _INSTANCES]
        return _load(sum(counts)) if counts else 1.0

    def _left_of_list(self) -> float:
        """The rest of the list, sweep by sweep: as long as those before, and longer for variants
        that are larger, since they are busy under higher loads only.
        """
        trials = self._forecast.trials or ()
        if len(self._subject.models) > 1:
            return float(len(trials) - self._passed)  # of a product, nothing is left out
        taken = Counter(_sweep_of(record.trial) for record in self._records[: self._searched])
        failed = {
            _sweep_of(record.trial)
            for record in self._records
            if isinstance(record.outcome, Failure)
        }
        sweeps = _sweeps(trials)
        current = _sweep_of(trials[self._passed - 1]) if self._passed else None
        ended = [one for one in sweeps if one.end <= self._passed and one.key != current]
        if current in failed or (self._passed and self._passed == _end_of(sweeps, current)):
            ended += [one for one in sweeps if one.key == current]
        whole = [one for one in ended if taken[one.key] and one.key not in failed]
        lengths = [(taken[one.key], one.size) for one in whole]
        share_failed = len(failed) / (len(whole) + len(failed) + 1)
        visited = (len(whole) + len(failed) + _SURE) / (len(ended) + _SURE)
        left = 0.0
        for one in sweeps:
            if one in ended:
                continue
            length = self._length(one, lengths)
            if one.key == current:
                left += max(length - taken[one.key], 0.0)
            else:
                left += min(visited, 1.0) * ((1 - share_failed) * length + share_failed)
        return left

    def _length(self, sweep: _Sweep, lengths: Sequence[tuple[int, float]]) -> float:
        """How many trials a sweep is expected to take, from those of others with their sizes."""
        most = sweep.end - sweep.start
        if self._forecast.is_exact:
            return float(most)
        if not lengths:
            return most * _TAKEN
        sizes = [math.log2(size) for _, size in lengths]
        mean = fmean(sizes)
        spread = sum((size - mean) ** 2 for size in sizes)
        growth = sum(taken * (size - mean) for (taken, _), size in zip(lengths, sizes, strict=True))
        slope = max((growth + _SLOPE) / (spread + 1), 0.0)
        length = fmean(taken for taken, _ in lengths)
        return min(max(length + slope * (math.log2(sweep.size) - mean), 1.0), most)

    def _left_of_sweep(self) -> Remaining:
        """What the sweep over the loads of the best would ask for now, answered by guesses."""
        searched = self._records[: self._searched]
        swept = self._best + 1  # with the default
        leaders = len(best_trials(self._subject.goal, searched, self._best))
        if not leaders:
            return Remaining(swept * self._usual_sweep, swept if self._usual_sweep else 0.0)
        asked = self._asked_by_sweep(searched)
        loads = sum(_loads(asked, self._loaded))
        if self._searched < len(self._records) or swept <= leaders:
            return Remaining(len(asked), loads)
        # there will be others; a boundary of the constraints is not in every sweep
        share = _BOUNDARIES if self.mode is SearchMode.BRUTE else 1.0
        more = 1 + share * (swept / leaders - 1)
        return Remaining(len(asked) * more, loads * more)

    @property
    def _usual_sweep(self) -> float:
        """How many trials a variant is refined by, while nothing is known of any."""
        if self.mode is not SearchMode.BRUTE:
            return float(len(self._loads))
        steps = self._settings.max_binary_search_steps
        return steps * _BOUNDARIES if self._subject.goal.has_constraints else 0.0

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


@dataclass(frozen=True, slots=True)
class _Sweep:
    """Where the loads of one variant (and one size of client batches) are in a list. `size` is how
    many requests the variant works on at once.
    """

    key: tuple[str, int]
    start: int
    end: int
    size: float


def _sweep_of(trial: Trial) -> tuple[str, int]:
    return (trial.content, trial.workloads[0].load.batch_size)


def _sweeps(trials: Sequence[Trial]) -> Sequence[_Sweep]:
    sweeps: list[_Sweep] = []
    for place, trial in enumerate(trials):
        key = _sweep_of(trial)
        if sweeps and sweeps[-1].key == key:
            sweeps[-1] = replace(sweeps[-1], end=place + 1)
            continue
        variant = trial.workloads[0].variant
        size = (
            _instances(trial) * max(variant.max_batch_size, 1) / trial.workloads[0].load.batch_size
        )
        sweeps.append(_Sweep(key, place, place + 1, max(size, 1.0)))
    return sweeps


def _end_of(sweeps: Sequence[_Sweep], key: tuple[str, int] | None) -> int:
    return max((one.end for one in sweeps if one.key == key), default=0)


def _loads(trials: Sequence[Trial], loaded: str = "") -> Sequence[float]:
    """What is loaded for trials in their order, where the content `loaded` is in place."""
    befores = [loaded, *(trial.content for trial in trials)]
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
    # below a load that kept the variant busy, half of it would have been enough
    slower = min(2 * load / low, 1.0) if below is None else 1.0
    stretch = load / low / slower if low == high else 1.0
    return Measurement(
        models=tuple(
            ModelMeasurement(values=_between(one.values, other.values, share, slower, stretch))
            for one, other in zip(known[low].models, known[high].models, strict=True)
        )
    )


def _between(low: Values, high: Values, share: float, slower: float, stretch: float) -> Values:
    """Values at that share of the way; rates by one factor, times by another one."""
    factors = {"ms": stretch, "infer/sec": slower, "tokens/sec": slower}
    return {
        tag: (value + share * (high[tag] - value)) * factors.get(METRICS[tag].unit, 1.0)
        for tag, value in low.items()
        if tag in high
    }
