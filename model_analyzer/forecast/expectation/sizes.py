# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""How long a trial takes, as a multiple of a usual one: slow models need longer instalments."""

from __future__ import annotations

from collections import defaultdict
from statistics import median

from model_analyzer.domain.arrivals import has_own_times
from model_analyzer.domain.measurements import Measurement
from model_analyzer.domain.trials import Trial, Workload
from model_analyzer.forecast.durations import AROUND_S
from model_analyzer.noise.first_look import FIRST_LOOK_S, first_look_s, in_flight, reached_rate

_USUAL_S = FIRST_LOOK_S + AROUND_S


class Sizes:
    """The sizes of trials, from the requests per second of those that were measured. A trial that
    is not measured in instalments, or whose load has its own times, and any trial before the first
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
        if trial.instalment_s is None or any(map(has_own_times, trial.workloads)):
            return 1.0
        return max(self._seconds(work, trial.instalment_s) for work in trial.workloads) / _USUAL_S

    def of_length(self, seconds: float) -> float:
        """The size of an instalment with this length."""
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
