# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Several measurements of one trial as one.

Instalments are pooled, as if all their requests had been measured at once: throughput is all
requests over the whole time, and a percentile is that of all latencies together. Measurements
without any instalment among them have means.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from math import fsum

from model_analyzer.domain.goals import DEFAULT_OBJECTIVE
from model_analyzer.domain.histograms import Histogram
from model_analyzer.domain.measurements import (
    REQUESTS_FOR_P99,
    Doubt,
    Measurement,
    ModelMeasurement,
    Notice,
    NoticeKind,
    Values,
)
from model_analyzer.domain.metrics import METRICS, PERCENTILES, Reduction, Unit
from model_analyzer.domain.models import empty
from model_analyzer.domain.resources import joined
from model_analyzer.domain.statistics import added
from model_analyzer.noise.pooled_histograms import approximate, merged

_RATES = (Unit.INFERENCES_PER_SECOND, Unit.TOKENS_PER_SECOND)
_EXTREMES = {"_min": min, "_max": max}

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


def in_instalments(measurements: Sequence[Measurement]) -> bool:
    """Whether at least one of these is an instalment."""
    return True in [run.is_instalment for run in measurements]  # often asked: `any` is slower


def is_replaced(run: Measurement, others: Iterable[Measurement]) -> bool:
    """Whether one of the `others` of the same trial replaces this instalment: a later measurement
    in perf_analyzer's own windows. These are measured only if they are asked for instead of
    instalments. An instalment that follows them continues them.
    """
    return run.is_instalment and any(
        other.started > run.started and not other.is_instalment for other in others
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
    """Whether there is an instalment, and all have the counts to be pooled with it."""
    return in_instalments(measurements) and all(
        model.requests and model.values.get(DEFAULT_OBJECTIVE, 0.0) > 0
        for run in measurements
        for model in run.models
    )


def _are_enough(models: Sequence[ModelMeasurement]) -> bool:
    return all((model.requests or 0) >= REQUESTS_FOR_P99 for model in models)


def _time(model: ModelMeasurement) -> float:
    """The time in which the requests were counted, by the size of the client's batches."""
    return (model.requests or 0) / model.values[DEFAULT_OBJECTIVE]


def _pooled(models: Sequence[ModelMeasurement]) -> ModelMeasurement:
    """All requests of a model together."""
    times = [_time(model) for model in models]
    rates = _means(list(zip(times, (model.values for model in models), strict=True)))
    means = _means([(float(model.requests or 0), model.values) for model in models])
    families = dict.fromkeys(PERCENTILES[tag][0] for tag in means if tag in PERCENTILES)
    histograms = {family: _together(models, family) for family in families}

    def value(tag: str) -> float:
        if tag in METRICS and METRICS[tag].unit in _RATES:
            return rates[tag]
        family, share = PERCENTILES.get(tag, ("", 0.0))
        histogram = histograms.get(family)
        if histogram is not None and histogram.total:
            return histogram.quantile(share)
        extreme = next((_EXTREMES[end] for end in _EXTREMES if tag.endswith(end)), None)
        own = [model.values[tag] for model in models if tag in model.values]
        return means[tag] if extreme is None else extreme(own)

    return _joined(
        models,
        times,
        values={tag: value(tag) for tag in means},
        histograms={name: each for name, each in histograms.items() if each is not None},
    )


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


def _together(models: Sequence[ModelMeasurement], family: str) -> Histogram | None:
    """The histogram of the latencies of all models that have this family; None if one of them is
    unknown.
    """
    tags = [tag for tag, (own, _) in PERCENTILES.items() if own == family]
    known = [histogram_of(model, family) for model in models if _has_any(model, tags)]
    present = [histogram for histogram in known if histogram is not None]
    return merged(present) if len(present) == len(known) else None


def _has_any(model: ModelMeasurement, tags: Sequence[str]) -> bool:
    return any(tag in model.values for tag in tags)


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
