# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Several measurements of one trial as one.

Rounds are pooled, as if all their requests had been measured at once: throughput is all
requests over the whole time, and a percentile is that of all latencies together. Measurements
without any round among them have means. Wherever one value of a trial is shown or compared, it
is that of its pooled measurements.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import accumulate, pairwise
from math import fsum
from statistics import NormalDist
from typing import TypeVar

from model_analyzer.domain.goals import DEFAULT_OBJECTIVE
from model_analyzer.domain.histograms import BINS, Histogram, place_of
from model_analyzer.domain.measurements import (
    REQUESTS_FOR_P99,
    Doubt,
    Measurement,
    ModelMeasurement,
    Notice,
    NoticeKind,
    Values,
    added,
    joined,
)
from model_analyzer.domain.metrics import METRICS, PERCENTILES, Reduction, Unit
from model_analyzer.domain.models import empty
from model_analyzer.domain.profiles import MeasuredTrial
from model_analyzer.noise.laws import with_doubts

_RATES = (Unit.INFERENCES_PER_SECOND, Unit.TOKENS_PER_SECOND)
_EXTREMES = {"_min": min, "_max": max}

T = TypeVar("T")

# values with their weights
_Weighted = Sequence[tuple[float, Values]]


def pool(measurements: Sequence[Measurement]) -> Measurement:
    """The measurements of one trial as one: the first, with values of all.

    If some lack a metric, the others count. Commands and windows of all are joined; seconds,
    requests and the counts of the server are added. A single one stays as it is.
    """
    first = measurements[0]
    if len(measurements) == 1:
        return first
    is_counted = _are_counted(measurements)
    of_models = zip(*(run.models for run in measurements), strict=True)
    models = [_pooled(models) if is_counted else _averaged(models) for models in of_models]
    times = [_time(run.models[0]) if is_counted else 1.0 for run in measurements]
    observed = _over_time if is_counted else _means
    runs = list(zip(times, measurements, strict=True))
    gpus = _by_first(measurements)
    return replace(
        first,
        models=tuple(models),
        gpus={
            uuid: observed(
                [(time, own[uuid]) for time, own in zip(times, gpus, strict=True) if uuid in own]
            )
            for uuid in dict.fromkeys(uuid for own in gpus for uuid in own)
        },
        host=observed([(time, run.host) for time, run in runs]),
        statistics=added(run.statistics for run in measurements),
        doubts=_doubts(measurements),
        notices=_notices(measurements, are_enough=is_counted and _are_enough(models)),
        commands=tuple(command for run in measurements for command in run.commands),
        duration_s=sum(run.duration_s for run in measurements),
        loading_s=sum(run.loading_s for run in measurements),
        resources=joined([run.resources for run in measurements]),
    )


def _by_first(measurements: Sequence[Measurement]) -> Sequence[Mapping[str, Values]]:
    """The GPU values of each measurement, by the UUIDs of the first that has any. On another
    machine, other GPUs of the same kind measure: the first stands for the first, and so on.
    """
    uuids = next((list(run.gpus) for run in measurements if run.gpus), [])
    return [
        run.gpus
        if set(run.gpus) <= set(uuids) or len(run.gpus) != len(uuids)
        else dict(zip(uuids, run.gpus.values(), strict=True))
        for run in measurements
    ]


def in_rounds(measurements: Sequence[Measurement]) -> bool:
    """Whether at least one of these is a round."""
    return True in [run.is_round for run in measurements]  # often asked: `any` is slower


def is_replaced(run: Measurement, others: Iterable[Measurement]) -> bool:
    """Whether one of the `others` of the same trial replaces this round: a later measurement
    in perf_analyzer's own windows. These are measured only if they are asked for instead of
    rounds. A round that follows them continues them.
    """
    return run.is_round and any(
        other.started > run.started and not other.is_round for other in others
    )


def histogram_of(model: ModelMeasurement, family: str) -> Histogram | None:
    """The histogram of the latencies of this `family` (see `PERCENTILES`), or an approximate one
    from its percentiles; None without at least two.
    """
    if family in model.histograms:
        return model.histograms[family]
    known = {
        share: model.values[tag]
        for tag, (own, share) in PERCENTILES.items()
        if own == family and tag in model.values
    }
    return approximate(known, model.requests or 0)


def _are_counted(measurements: Sequence[Measurement]) -> bool:
    """Whether there is a round, and all have the counts to be pooled with it."""
    return in_rounds(measurements) and all(
        model.requests and model.values.get(DEFAULT_OBJECTIVE, 0.0) > 0
        for run in measurements
        for model in run.models
    )


def _are_enough(models: Sequence[ModelMeasurement]) -> bool:
    return all((model.requests or 0) >= REQUESTS_FOR_P99 for model in models)


def _time(model: ModelMeasurement) -> float:
    """The time in which the requests were counted, by the size of the client's batches."""
    return (model.requests or 0) / model.values[DEFAULT_OBJECTIVE]


class _Computed(Mapping[str, T]):
    """Items by name, each computed when it is read first: of many trials, few are read."""

    __slots__ = ("_compute", "_known")

    def __init__(self, names: Iterable[str], compute: Callable[[str], T]) -> None:
        self._known: dict[str, T | None] = dict.fromkeys(names)
        self._compute = compute

    def __getitem__(self, name: str) -> T:
        item = self._known[name]
        if item is None:
            item = self._known[name] = self._compute(name)
        return item

    def __contains__(self, name: object) -> bool:
        return name in self._known

    def __iter__(self) -> Iterator[str]:
        return iter(self._known)

    def __len__(self) -> int:
        return len(self._known)


def _pooled(models: Sequence[ModelMeasurement]) -> ModelMeasurement:
    """All requests of a model together."""
    times = [_time(model) for model in models]
    tags = dict.fromkeys(tag for model in models for tag in model.values)
    families = dict.fromkeys(PERCENTILES[tag][0] for tag in tags if tag in PERCENTILES)
    parts = {name: known for name in families if (known := _known_histograms(models, name))}
    histograms = _Computed(parts, lambda family: merged(parts[family]))

    def compute(tag: str) -> float:
        family, share = PERCENTILES.get(tag, ("", 0.0))
        if family in histograms and histograms[family].total:
            return histograms[family].quantile(share)
        is_rate = tag in METRICS and METRICS[tag].unit in _RATES
        weights = times if is_rate else [float(each.requests or 0) for each in models]
        pairs = zip(weights, models, strict=True)
        own = [(weight, each.values[tag]) for weight, each in pairs if tag in each.values]
        extreme = next((_EXTREMES[end] for end in _EXTREMES if tag.endswith(end)), None)
        if extreme is not None and not is_rate:
            return extreme(value for _, value in own)
        return _reduce(Reduction.MEAN, own)

    return _joined(models, times, values=_Computed(tags, compute), histograms=histograms)


def _averaged(models: Sequence[ModelMeasurement]) -> ModelMeasurement:
    """The means of a model's values."""
    return _joined(
        models,
        [1.0] * len(models),
        values=_means([(1.0, model.values) for model in models]),
        histograms=empty(),
    )


def _joined(
    models: Sequence[ModelMeasurement],
    weights: Sequence[float],
    *,
    values: Values,
    histograms: Mapping[str, Histogram],
) -> ModelMeasurement:
    requests = [model.requests for model in models if model.requests is not None]
    names = dict.fromkeys(name for model in models for name in model.composing)
    composing = [(weight, model.composing) for weight, model in zip(weights, models, strict=True)]
    return ModelMeasurement(
        values=values,
        requests=sum(requests) if requests else None,
        windows=tuple(window for model in models for window in model.windows),
        seconds=sum(model.seconds for model in models),
        histograms=histograms,
        composing={
            name: _means([(weight, own[name]) for weight, own in composing if name in own])
            for name in names
        },
        evidence=_means([(float(model.requests or 1), model.evidence) for model in models]),
    )


def _known_histograms(models: Sequence[ModelMeasurement], family: str) -> Sequence[Histogram]:
    """Those of all models that have this family; none if one of them is unknown."""
    tags = [tag for tag, (own, _) in PERCENTILES.items() if own == family]
    having = (model for model in models if any(tag in model.values for tag in tags))
    known = [histogram_of(model, family) for model in having]
    present = [histogram for histogram in known if histogram is not None]
    return present if len(present) == len(known) else ()


def _means(parts: _Weighted) -> Values:
    return _reduced(parts, lambda tag: Reduction.MEAN)


def _over_time(parts: _Weighted) -> Values:
    """The values of a device, reduced as the samples of one measurement are."""
    return _reduced(parts, lambda tag: METRICS[tag].over_time if tag in METRICS else Reduction.MEAN)


def _reduced(parts: _Weighted, reduction: Callable[[str], Reduction]) -> Values:
    tags = dict.fromkeys(tag for _, own in parts for tag in own)
    present = {tag: [(weight, own[tag]) for weight, own in parts if tag in own] for tag in tags}
    return {tag: _reduce(reduction(tag), items) for tag, items in present.items()}


def _reduce(reduction: Reduction, parts: Sequence[tuple[float, float]]) -> float:
    values = [value for _, value in parts]
    if reduction is not Reduction.MEAN:
        return reduction.apply(values)
    # equal values stay as they are: a bound may be this value, and a rounded mean would break it
    if min(values) == max(values):
        return values[0]
    return fsum(weight * value for weight, value in parts) / fsum(weight for weight, _ in parts)


def _doubts(measurements: Sequence[Measurement]) -> tuple[Doubt, ...]:
    """The first doubt of each law."""
    doubts: dict[str, Doubt] = {}
    for run in measurements:
        for doubt in run.doubts:
            doubts.setdefault(doubt.law, doubt)
    return tuple(doubts.values())


def _notices(measurements: Sequence[Measurement], *, are_enough: bool) -> tuple[Notice, ...]:
    """All notices, each once; none about few requests if all together `are_enough`."""
    notices = dict.fromkeys(notice for run in measurements for notice in run.notices)
    return tuple(
        notice for notice in notices if notice.kind is not NoticeKind.FEW_REQUESTS or not are_enough
    )


# Clustering is known where this share of the latencies is beyond; elsewhere, it changes with the
# root of the share.
_CLUSTERED_BEYOND = 0.1

_NORMAL = NormalDist()


def merged(histograms: Sequence[Histogram]) -> Histogram:
    """The histogram of all latencies together."""
    if len(histograms) == 1:
        return histograms[0]
    total = sum(histogram.total for histogram in histograms)
    clustering = sum(histogram.clustering * histogram.total for histogram in histograms)
    counts: Counter[int] = Counter()
    for histogram in histograms:
        counts.update(histogram.counts)
    return Histogram.counting(
        counts,
        clustering / total if total else 1.0,
        is_approximate=any(histogram.is_approximate for histogram in histograms),
    )


def approximate(percentiles: Mapping[float, float], count: int) -> Histogram | None:
    """The histogram of `count` latencies of which only some `percentiles` are known: the latency
    (ms) by share. None with fewer than two.

    Between them, the logarithm of the latency is interpolated over the quantiles of the normal
    distribution, so it is a mixture of parts of log-normal distributions.
    """
    known = sorted((_NORMAL.inv_cdf(share), value) for share, value in percentiles.items())
    if len(known) < 2 or count < 1 or known[0][1] <= 0:
        return None
    deviations = [deviation for deviation, _ in known]
    places = list(accumulate((place_of(value) for _, value in known), max))
    end = _NORMAL.inv_cdf(1 - 0.5 / count)
    first = places[0] - _slope(deviations, places, 0) * max(end + deviations[0], 0.0)
    last = places[-1] + _slope(deviations, places, -2) * max(end - deviations[-1], 0.0)
    edges = range(max(math.floor(first), 0) + 1, min(math.ceil(last), BINS))
    below = [round(count * _share(deviations, places, edge)) for edge in edges]
    counts = [high - low for low, high in pairwise([0, *below, count])]
    return Histogram.counting(
        {edges.start - 1 + index: number for index, number in enumerate(counts)},
        is_approximate=True,
    )


def clustering_at(clustering: float, beyond: float) -> float:
    """How many latencies tell as much as an independent one about the latency that this share (0 to
    0.5) is beyond, from the `clustering` at the 90th percentile. Of neighbours, only some are that
    slow.
    """
    return max(1 + (clustering - 1) * math.sqrt(beyond / _CLUSTERED_BEYOND), 1.0)


def _slope(deviations: Sequence[float], places: Sequence[float], index: int) -> float:
    """Bins for each standard deviation, between a known percentile and the next."""
    rise = places[index + 1] - places[index]
    return rise / (deviations[index + 1] - deviations[index])


def _share(deviations: Sequence[float], places: Sequence[float], place: float) -> float:
    """The share of the latencies up to this place."""
    index = min(max(bisect_right(places, place) - 1, 0), len(places) - 2)
    slope = _slope(deviations, places, index)
    if slope:
        return _NORMAL.cdf(deviations[index] + (place - places[index]) / slope)
    return float(place >= places[index])


# The names of the variants of a trial, and the key of its first measurement.
TrialName = tuple[str, str]


def pooled_by_trial(measured: Iterable[MeasuredTrial]) -> Mapping[TrialName, MeasuredTrial]:
    """Each trial, under each of its names, with its measurements that count as one, in the order of
    the first ones.

    Equal variants with different names have the same trials, which are measured once: a repetition
    that only another name has counts, too.
    """
    by_key: dict[str, dict[str, MeasuredTrial]] = {}
    by_name: dict[TrialName, list[MeasuredTrial]] = {}
    for item in measured:
        first, key = item.trial.first, item.trial.key
        by_key.setdefault(first.key, {}).setdefault(key, item)
        by_name.setdefault((first.variants, first.key), []).append(item)
    pooled = {}
    for name, own in by_name.items():
        keys = {item.trial.key for item in own}
        others = [item for key, item in by_key[name[1]].items() if key not in keys]
        item = pooled_measurements([*own, *others])
        pooled[name] = item._replace(trial=own[0].trial) if others else item
    return pooled


def pooled_trials(measured: Sequence[MeasuredTrial]) -> Sequence[MeasuredTrial]:
    """The trials of `pooled_by_trial`; without repetitions, faster."""
    if not has_repetitions(measured):
        return measured
    return [*pooled_by_trial(measured).values()]


def has_repetitions(measured: Iterable[MeasuredTrial]) -> bool:
    """Whether a trial was measured more than once."""
    return any(item.trial.repetition for item in measured)


def pooled_measurements(items: Sequence[MeasuredTrial]) -> MeasuredTrial:
    """The measurements of a trial as one, without the rounds that a later measurement replaces."""
    every = [item.measurement for item in items]
    counted = [item for item in items if not is_replaced(item.measurement, every)]
    if len(counted) == 1:
        return counted[0]
    runs = tuple(item.measurement for item in counted)
    trial = counted[0].trial
    return MeasuredTrial(trial, with_doubts(trial, pool(runs), len(runs)), repetitions=runs)
