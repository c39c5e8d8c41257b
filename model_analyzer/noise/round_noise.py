# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The noise of trials that were measured in rounds.

It has two parts. Sampling noise comes from the few requests of a measurement, and falls as more are
measured. Drift is what changes from one round to the next, however long they are: only their
number makes it smaller. docs/decisions/0020-rounds.md has the reasons and figures.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

from model_analyzer.domain.goals import DEFAULT_OBJECTIVE
from model_analyzer.domain.goodput import GOODPUT
from model_analyzer.domain.histograms import LATENCY, Histogram
from model_analyzer.domain.measurements import Measurement, ModelMeasurement
from model_analyzer.domain.metrics import METRICS, PERCENTILES, canonical
from model_analyzer.noise.lag import SEND_LAG
from model_analyzer.noise.noise import Interval, Noise, combined, pooled, spread
from model_analyzer.noise.pooling import clustering_at, histogram_of, merged, pool

# Deviations to each side of a 95 % interval.
_DEVIATIONS = 1.96

# Drift is about as large as the difference between parts of one round: its windows make so
# many parts. It is never assumed to be smaller than this.
_PARTS = 3
_LEAST_DRIFT = 0.01
# The parts of a single measurement count with two degrees of freedom, those of all others with at
# most so many. Both together count with at most so many for the drift, and with fewer if there are
# trials with several rounds: only these show it.
_MOST_FROM_OTHERS = 8.0
_MOST_FROM_PARTS, _MOST_BESIDE_EVIDENCE = 4.0, 2.0
# This part of the drift lasts longer than a run, so no number of rounds makes it smaller. It
# counts for a single value only: trials that are compared were measured in the same run.
_LASTING = 0.5
# A disturbance changes high percentiles more than the mean: this many times, from this share on.
_DRIFT_OF_PERCENTILES = ((0.99, 2.5), (0.95, 1.6), (0.9, 1.3))

# Of many trials, so many show how the rounds of all vary: more would hardly change it.
_MOST_TRIALS = 2000

# The limits of a percentile's interval: its inner end, and the logarithm of its outer one.
_MOST_BEYOND = 0.95
_MOST_FAR = 5.0
# A percentile is below the fastest request by at most so much (a logarithm): machines drift.
_FASTER = 0.25
# Beyond the slowest request, latencies grow with at least this power of their rarity.
_LEAST_POWER = 0.15

# With requests that do not wait for each other, queues build up: long ones are rare, and then last.
# A short measurement has not seen the longest, so its percentiles are rather too low than too high:
# they reach so many times as far upwards as order statistics say, by at most so much more (as a
# logarithm).
_UNSEEN, _MOST_UNSEEN = 5.0, 1.2
_MEAN, _LIKE_MEAN = "perf_latency_avg", "perf_latency_p90"


class _Reaches(NamedTuple):
    """How far (as a logarithm) one standard error reaches below and above a value, and how far
    below it the fastest request is.
    """

    below: float
    above: float
    freedom: float
    lowest: float = math.inf

    @property
    def noise(self) -> Noise:
        return Noise((self.below + self.above) / 2, self.freedom)


class RoundNoise:
    """The noise of trials, from all their rounds; `runs` holds those of each trial."""

    def __init__(self, runs: Sequence[Sequence[Measurement]]) -> None:
        self._models = [model for group in _some(runs) for run in group for model in run.models]
        self._repeated = _some([group for group in runs if len(group) > 1])
        self._evidence: dict[str, Noise | None] = {}

    def of(self, runs: Sequence[Measurement], tag: str, index: int | None = None) -> Noise | None:
        """The noise of the pooled value: see `NoiseModel.of`."""
        tag = canonical(tag)
        count = len(runs[0].models)
        if index is not None or count == 1 or METRICS[tag].is_of_the_server:
            return self._of_model(runs, tag, index or 0)
        values = [model.values.get(tag, 0.0) for model in pool(runs).models]
        total = sum(values)
        if total <= 0:
            return None
        parts = enumerate(values)
        return combined((value / total, self._of_model(runs, tag, place)) for place, value in parts)

    def interval(
        self, runs: Sequence[Measurement], tag: str, index: int | None = None
    ) -> Interval | None:
        """The 95 % interval of the pooled value. That of a percentile reaches as far to each side
        as its latencies do.
        """
        tag = canonical(tag)
        whole = pool(runs)
        value = whole.value(tag) if index is None else whole.model_value(index, tag)
        noise = self.of(runs, tag, index)
        if value is None or noise is None:
            return None
        steady = DEFAULT_OBJECTIVE if tag == GOODPUT else tag
        drifting = self._drift(runs, steady, index or 0)
        lasting = 0.0 if drifting is None else drifting.error * _LASTING
        below = above = math.hypot(noise.error, lasting)
        lowest = math.inf
        if index is not None or len(runs[0].models) == 1:
            sampling = self._percentile(runs, tag, index or 0)
            if sampling is not None:
                lowest = sampling.lowest + _FASTER
                drift = math.sqrt(max(below**2 - sampling.noise.error**2, 0.0))
                below, above = math.hypot(sampling.below, drift), math.hypot(sampling.above, drift)
        return Interval(
            low=value * math.exp(-min(Noise(below, noise.freedom).reach, lowest)),
            high=value * math.exp(Noise(above, noise.freedom).reach),
        )

    def _of_model(self, runs: Sequence[Measurement], tag: str, index: int) -> Noise | None:
        if METRICS[tag].is_of_the_server:
            drift = self._drift(runs, tag, index)
            return None if drift is None else drift.of_mean(len(runs))
        sampling = self._sampling(runs, tag, index)
        if sampling is None:
            return None
        if tag == GOODPUT:
            error = share_error([run.models[index] for run in runs], self._share_drift)
            throughput = self._of_model(runs, DEFAULT_OBJECTIVE, index)
            return combined(((1.0, throughput), (1.0, Noise(error, math.inf))))
        share = _concentration(runs, index)
        return combined(((1.0, sampling.noise), (share, self._drift(runs, tag, index))))

    def _sampling(self, runs: Sequence[Measurement], tag: str, index: int) -> _Reaches | None:
        """The noise from the number of requests; None if the metric was not measured."""
        if any(run.models[index].values.get(tag) is None for run in runs):
            return None
        of_percentile = self._percentile(runs, tag, index)
        if of_percentile is not None:
            return of_percentile
        # other metrics vary like the throughput
        shares = _shares(runs, index)
        noise = combined(
            (share, self._windows(run.models[index]))
            for share, run in zip(shares, runs, strict=True)
        )
        return None if noise is None else _Reaches(noise.error, noise.error, noise.freedom)

    def _percentile(self, runs: Sequence[Measurement], tag: str, index: int) -> _Reaches | None:
        """The noise of a percentile by order statistics, and of the mean of an open load, which
        long queues make vary like a high percentile; None for other metrics.
        """
        is_open = _is_of_open_load(runs, index)
        family, share = PERCENTILES.get(tag, ("", 0.0))
        if is_open and tag == _MEAN:
            family, share = PERCENTILES[_LIKE_MEAN]
        histograms = [histogram_of(run.models[index], family) for run in runs]
        known = [each for each in histograms if each is not None and each.total]
        if not known or len(known) < len(runs):
            return None
        reaches = _reaches(merged(known), share)
        if is_open:
            above = min(_UNSEEN * reaches.above, reaches.above + _MOST_UNSEEN / _DEVIATIONS)
            reaches = reaches._replace(above=above)
        return reaches

    def _windows(self, model: ModelMeasurement) -> Noise | None:
        """The sampling noise of a model's throughput, from its windows and those of others."""
        own, every = spread(model.windows), self._every_window
        mixed = _mixed(own, every)
        return None if mixed is None else mixed.of_mean(max(len(model.windows), 1))

    def _drift(self, runs: Sequence[Measurement], tag: str, index: int) -> Noise | None:
        """The noise between rounds; None if it is unknown."""
        if METRICS[tag].is_of_the_server:
            return self._drift_of_server(runs, tag)
        return self._drift_of_load(runs, tag, index)

    def _drift_of_server(self, runs: Sequence[Measurement], tag: str) -> Noise | None:
        """That of memory and the like, from repeated trials only: how much the throughput changes
        says nothing about it. Several equal readings have none, whatever other trials show.
        """
        first = runs[0].value(tag)
        if first is not None and len(runs) > 1 and all(run.value(tag) == first for run in runs):
            return Noise(0.0, len(runs) - 1.0)
        return self._between(tag)

    def _drift_of_load(self, runs: Sequence[Measurement], tag: str, index: int) -> Noise:
        """That of requests, from the parts of each round and from repeated trials."""
        own = pooled(spread(_parts(run.models[index].windows)) for run in runs)
        parts, least = _mixed(own, self._every_part), Noise(_LEAST_DRIFT, _MOST_FROM_PARTS)
        prior = least if parts is None or parts.error < least.error else parts
        share = PERCENTILES.get(tag, ("", 0.0))[1]
        factor = next((times for lowest, times in _DRIFT_OF_PERCENTILES if share >= lowest), 1.0)
        between = self._between(tag)
        most = _MOST_FROM_PARTS if between is None else _MOST_BESIDE_EVIDENCE
        prior = Noise(prior.error * factor, min(prior.freedom, most))
        return pooled((prior, between)) or prior

    def _between(self, tag: str) -> Noise | None:
        """The drift between the rounds of repeated trials; None if there are none."""
        if tag not in self._evidence:
            self._evidence[tag] = self._observed_drift(tag)
        return self._evidence[tag]

    def _observed_drift(self, tag: str) -> Noise | None:
        """The spread of rounds, without the part that their sampling noise explains."""
        squares, freedom = 0.0, 0.0
        for group in self._repeated:
            for index in range(len(group[0].models)):
                values = [run.model_value(index, tag) for run in group]
                logs = [math.log(value) for value in values if value is not None and value > 0]
                if len(logs) != len(group):
                    continue
                # from the first, so that equal values have exactly no spread
                changes = [each - logs[0] for each in logs]
                mean = math.fsum(changes) / len(changes)
                squares += math.fsum((change - mean) ** 2 for change in changes)
                if not METRICS[tag].is_of_the_server:
                    samplings = (self._sampling([run], tag, index) for run in group)
                    sampled = math.fsum(each.noise.error**2 for each in samplings if each)
                    squares -= sampled * (1 - 1 / len(logs))
                freedom += len(logs) - 1
        return Noise(math.sqrt(max(squares, 0.0) / freedom), freedom) if freedom else None

    @cached_property
    def _share_drift(self) -> float:
        return share_drift(
            [run.models[index] for run in group]
            for group in self._repeated
            for index in range(len(group[0].models))
        )

    @cached_property
    def _every_window(self) -> Noise | None:
        return pooled(spread(model.windows) for model in self._models)

    @cached_property
    def _every_part(self) -> Noise | None:
        return pooled(spread(_parts(model.windows)) for model in self._models)


def _some(runs: Sequence[Sequence[Measurement]]) -> Sequence[Sequence[Measurement]]:
    """At most `_MOST_TRIALS` trials, evenly from all."""
    return runs[:: -(-len(runs) // _MOST_TRIALS) or 1]


def _mixed(own: Noise | None, every: Noise | None) -> Noise | None:
    """The noise of one measurement, from its own spread and, with less weight, that of all."""
    if own is None or every is None:
        return every
    return pooled((own, every.worth(min(_MOST_FROM_OTHERS, max(every.freedom - own.freedom, 0)))))


def _parts(windows: Sequence[float]) -> Sequence[float]:
    """The means of successive parts of the windows."""
    if len(windows) <= _PARTS:
        return windows
    edges = [round(place * len(windows) / _PARTS) for place in range(_PARTS + 1)]
    return [math.fsum(windows[low:high]) / (high - low) for low, high in pairwise(edges)]


def _shares(runs: Sequence[Measurement], index: int) -> Sequence[float]:
    """The share of each round in the requests of all."""
    requests = [run.models[index].requests or 0 for run in runs]
    total = sum(requests)
    return [count / total for count in requests] if total else [1 / len(runs)] * len(runs)


def _is_of_open_load(runs: Sequence[Measurement], index: int) -> bool:
    """Whether it is known when the requests of these rounds were due."""
    return all(SEND_LAG in run.models[index].values for run in runs)


def _concentration(runs: Sequence[Measurement], index: int) -> float:
    """The factor from the drift of a round to that of all together: 1 / √n for n of equal
    size, 1 if one of them has nearly all requests.
    """
    return math.sqrt(math.fsum(share**2 for share in _shares(runs, index)))


def _reaches(histogram: Histogram, share: float) -> _Reaches:
    """One standard error of a percentile to each side, by order statistics: the logarithm of the
    share of latencies beyond it has a binomial error.
    """
    beyond = min(share, 1 - share)
    independent = max(histogram.total / clustering_at(histogram.clustering, beyond), 1.0)
    factor = math.exp(_DEVIATIONS * math.sqrt((1 - beyond) / (beyond * independent)))
    inner, outer = min(beyond * factor, _MOST_BEYOND), beyond / factor
    value = histogram.quantile(share)
    if share < 0.5:
        low, high = histogram.quantile(outer), histogram.quantile(inner)
    else:
        low, high = histogram.quantile(1 - inner), _far(histogram, outer)
    return _Reaches(
        max(math.log(value / low), 0.0) / _DEVIATIONS,
        max(math.log(high / value), 0.0) / _DEVIATIONS,
        math.inf,
        math.log(value / histogram.quantile(0.0)),
    )


def _far(histogram: Histogram, beyond: float) -> float:
    """The latency that this share exceeds. If none of the histogram does, its tail goes on as a
    power law. Rare slow requests may not have been seen yet, so the power has a least value.
    """
    end = 1 / histogram.total
    if beyond >= end:
        return histogram.quantile(1 - beyond)
    begin = 0.1 if end < 0.05 else 0.5
    last, first = histogram.quantile(1 - end), histogram.quantile(1 - begin)
    power = math.log(last / first) / math.log(begin / end) if begin > end else 0.0
    power = max(power, _LEAST_POWER)
    return last * math.exp(min(power * math.log(end / beyond), _MOST_FAR))


# Goodput has the noise of the throughput and that of the share of requests that it counts. This
# share has a binomial error, and drifts, the more the farther it is from 0 and 1. So its drift is
# compared with the deviation of a single request. It is assumed without repetitions, and counts
# with so many degrees of freedom.
_USUAL_DRIFT, _USUAL_FREEDOM = 0.05, 2.0


def share_error(rounds: Sequence[ModelMeasurement], drift: float) -> float:
    """The relative error of the share of a model's requests in all these rounds together. All
    have a goodput; `drift` is that of `share_drift`.
    """
    share = _pooled_share(rounds)
    if not 0 < share < 1:
        return 0.0
    weights = _weights(rounds)
    variance = math.fsum(
        weight**2 * (_sampling(model, share) + drift**2)
        for weight, model in zip(weights, rounds, strict=True)
    )
    return math.sqrt((1 - share) / share * variance)


def share_drift(repeated: Iterable[Sequence[ModelMeasurement]]) -> float:
    """The drift of the share, from the rounds of models that were measured several times."""
    squares, freedom = _USUAL_FREEDOM * _USUAL_DRIFT**2, _USUAL_FREEDOM
    for group in repeated:
        if not all(GOODPUT in model.values for model in group):
            continue
        share = _pooled_share(group)
        if not 0 < share < 1:
            continue
        deviations = math.fsum((_share(model) - share) ** 2 for model in group)
        sampled = math.fsum(_sampling(model, share) for model in group) * (1 - 1 / len(group))
        squares += deviations / (share * (1 - share)) - sampled
        freedom += len(group) - 1
    return math.sqrt(max(squares, 0.0) / freedom)


def _share(model: ModelMeasurement) -> float:
    return model.values[GOODPUT] / model.values[DEFAULT_OBJECTIVE]


def _pooled_share(rounds: Sequence[ModelMeasurement]) -> float:
    return math.fsum(
        weight * _share(model) for weight, model in zip(_weights(rounds), rounds, strict=True)
    )


def _weights(rounds: Sequence[ModelMeasurement]) -> Sequence[float]:
    """The share of each round in the requests of all."""
    total = sum(model.requests or 0 for model in rounds) or 1
    return [(model.requests or 0) / total for model in rounds]


def _sampling(model: ModelMeasurement, share: float) -> float:
    """The variance of the share, as a multiple of that of a single request: neighbours are alike,
    so several requests tell as much as one.
    """
    histogram = model.histograms.get(LATENCY)
    clustering = 1.0 if histogram is None else histogram.clustering
    return clustering_at(clustering, min(share, 1 - share)) / max(model.requests or 0, 1)
