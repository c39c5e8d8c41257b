# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Selects the shown results of a ranking, and computes the gain over the default."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from model_analyzer.domain.goals import Goal, ModelGoal
from model_analyzer.domain.measurements import Measurement, Values
from model_analyzer.domain.metrics import METRICS, canonical
from model_analyzer.domain.models import queue_delay_us
from model_analyzer.domain.profiles import MeasuredTrial
from model_analyzer.domain.trials import LoadKind, Trial
from model_analyzer.noise.noise import (
    LARGEST_LOGARITHM,
    Interval,
    Noise,
    combined,
    log_ratio,
    ratio_noise,
)
from model_analyzer.noise.noise_model import USUAL_ERROR, NoiseModel
from model_analyzer.results.ranking import NO_GAIN, Ranking, VariantResult

# The percentage by which two measurements differ by chance, if nothing tells how noisy they are.
_UNKNOWN_NOISE = 100 * 2 * math.hypot(USUAL_ERROR, USUAL_ERROR)

# Instances count as always busy if the queue time is above this share of the compute time.
_BUSY_SHARE = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class Gain:
    """The gain of the best variant over the default one, in percent.

    `noise` is half the width of its 95 % interval in percentage points; None if unknown. `at` is
    the trial that was compared, if it is not the recommended one but the same variant under a load
    of the default, which cannot run under the recommended load.
    """

    percent: float
    noise: float | None
    at: Trial | None = None

    @property
    def interval(self) -> Interval | None:
        """The 95 % interval in percent; None if unknown. With a large noise, its sides are equal
        as ratios: from half of 20 times to twice that is 900 to 3,900 %.
        """
        if not self.noise:
            return None
        ratio = 1 + self.percent / 100
        if ratio > 0:
            factor = math.exp(min(self.noise / 100 / ratio, LARGEST_LOGARITHM))
            interval = Interval(low=100 * (ratio / factor - 1), high=100 * (ratio * factor - 1))
            if interval.is_lopsided(self.percent):
                return interval
        return Interval(low=self.percent - self.noise, high=self.percent + self.noise)

    @property
    def is_clear(self) -> bool:
        """Whether the gain is larger than the noise, and not negligible. If the noise is unknown,
        it counts as that of most measurements.
        """
        if self.noise is None:
            return self.percent > _UNKNOWN_NOISE
        interval = self.interval
        return self.percent > NO_GAIN and (interval is None or interval.low > 0)


def top(ranking: Ranking, count: int) -> Sequence[VariantResult]:
    """The `count` best results that meet the constraints, or the nearest if none does."""
    passing = [result for result in ranking.results if result.passes]
    return (passing or list(ranking.results))[:count]


def top_with_default(ranking: Ranking, count: int) -> Sequence[VariantResult]:
    """The `count` best results, and the default if it is not among them."""
    chosen = list(top(ranking, count))
    if ranking.default is not None and ranking.default not in chosen:
        chosen.append(ranking.default)
    return chosen


def gain_over_default(ranking: Ranking) -> Gain | None:
    """The gain of the best over the default (`gain_over`); None with nothing to compare."""
    default = ranking.default
    if default is None or ranking.results[0] is default:
        return None
    best = ranking.results[0]
    return gain_over(
        ranking.goal, ranking.noise_model, best.best, default.measured, of_variant=best.measured
    )


def gain_over(
    goal: Goal,
    noise_model: NoiseModel,
    best: MeasuredTrial,
    defaults: Sequence[MeasuredTrial],
    *,
    of_variant: Sequence[MeasuredTrial] = (),
) -> Gain | None:
    """The gain of the `best` trial over the first of the `defaults`, the measurements of the
    default configuration in order of merit. Where that gain may come from the load, both are
    compared under the highest load of the default that is among `of_variant`, the measurements of
    the same variant.

    None if the best misses the constraints, if the default misses them and is not clearly worse, if
    it has nothing of an objective (a goodput of 0), or one of both an unknown value, or if nothing
    else tells that a clear gain does not come from the load.
    """
    old = defaults[0].measurement
    if not goal.passes(best.measurement) or not _has_gain(goal, best.measurement, old):
        return None
    gain: Gain | None = _gain(goal, noise_model, best, defaults[0])
    if gain and gain.is_clear and not are_comparable(goal, best.trial, defaults):
        gain = _gain_at_one_load(goal, noise_model, of_variant, defaults)
    return gain if gain and (gain.is_clear or goal.passes(defaults[0].measurement)) else None


def _gain_at_one_load(
    goal: Goal,
    noise_model: NoiseModel,
    news: Sequence[MeasuredTrial],
    defaults: Sequence[MeasuredTrial],
) -> Gain | None:
    """The gain under the highest load that both have; None if there is none."""
    by_load = {item.trial.load: item for item in news}
    shared = [(by_load[old.trial.load], old) for old in defaults if old.trial.load in by_load]
    if not shared:
        return None
    new, old = max(
        shared, key=lambda pair: [(load.batch_size, load.value) for load in pair[0].trial.load]
    )
    if not _has_gain(goal, new.measurement, old.measurement):
        return None
    return replace(_gain(goal, noise_model, new, old), at=new.trial)


def _has_gain(goal: Goal, new: Measurement, old: Measurement) -> bool:
    """Whether a percentage says how much more there is of each objective: not if the old value is 0
    and more is better, or if one of both is unknown.
    """
    for index, model in enumerate(goal.models):
        for objective in model.objectives:
            values = [each.model_value(index, objective.tag) for each in (new, old)]
            is_from_0 = values[1] == 0 and METRICS[canonical(objective.tag)].gain(1, 0) > 0
            if is_from_0 or values.count(None) == 1:
                return False
    return True


def compared_default(ranking: Ranking) -> VariantResult | None:
    """The default, if it can be compared with the best; None if it is the best itself, or if only
    the load may cause the gain.
    """
    default = ranking.default
    if default is None or ranking.results[0] is default:
        return None
    best = ranking.results[0].best
    gain = _gain(ranking.goal, ranking.noise_model, best, default.best)
    may_be_load = not are_comparable(ranking.goal, best.trial, default.measured)
    return None if may_be_load and gain.is_clear else default


def are_comparable(goal: Goal, best: Trial, defaults: Collection[MeasuredTrial]) -> bool:
    """Whether a gain over the default measurements comes from the configuration, not from the load:
    they include the load of `best`, or several loads and no client batches that are too large for
    the default; or throughput is the only objective, and one of them kept the server fully busy.
    """
    loads = {item.trial.load for item in defaults}
    if best.load in loads or (len(loads) > 1 and _takes(defaults, best)):
        return True
    return goal.is_for_throughput and any(_is_busy(item, like=best) for item in defaults)


def _takes(defaults: Collection[MeasuredTrial], best: Trial) -> bool:
    """Whether the default configuration takes the client batches of a trial."""
    works = next(iter(defaults)).trial.workloads
    return all(work.takes(load) for work, load in zip(works, best.load, strict=True))


def _is_busy(item: MeasuredTrial, *, like: Trial) -> bool:
    """Whether more concurrent requests of the same client batch size would hardly increase the
    throughput: there are enough to fill all batches, and some wait for an instance.
    """
    gpus = item.trial.gpus
    return all(
        work.load.kind is LoadKind.CONCURRENCY
        and work.load.batch_size == like_work.load.batch_size
        and work.load.value
        >= sum(part.filling_concurrency(gpus=gpus) for part in work.variant.served)
        and not any(queue_delay_us(part.config) for part in work.variant.served)
        and any(map(_waits, (model.values, *model.composing.values())))
        for work, like_work, model in zip(
            item.trial.workloads, like.workloads, item.measurement.models, strict=True
        )
    )


def _waits(values: Values) -> bool:
    """Whether requests wait so long that instances are hardly ever idle."""
    waiting, working = values.get("perf_server_queue"), values.get("perf_server_compute_infer")
    return waiting is not None and working is not None and waiting > _BUSY_SHARE * working > 0


def _gain(goal: Goal, noise_model: NoiseModel, new: MeasuredTrial, old: MeasuredTrial) -> Gain:
    percent = goal.gain_percent(new.measurement, old.measurement)
    noise = combined(_gain_parts(goal, noise_model, new, old))
    return Gain(percent=percent, noise=None if noise is None else noise.reach * 100)


def _gain_parts(
    by: Goal, model: NoiseModel, new: MeasuredTrial, old: MeasuredTrial
) -> Iterator[tuple[float, Noise | None]]:
    """The summands of a gain: for each objective of each model, its weight (all add up to 1) times
    the ratio of better to worse, and the noise of that ratio.
    """
    weightings = sum(goal.weighting for goal in by.models)
    for index, goal in enumerate(by.models):
        weights = _weights(goal, index, new.measurement, old.measurement)
        for tag, weight in weights.items():
            ratio = log_ratio(
                old.measurement.model_value(index, tag), new.measurement.model_value(index, tag)
            )
            noises = (model.of(item.runs, tag, index) for item in (old, new))
            share = goal.weighting / weightings * weight / sum(weights.values())
            times_better = math.exp(METRICS[tag].gain(ratio or 0.0, 0.0))
            yield share * times_better, None if ratio is None else ratio_noise(*noises)


def _weights(
    goal: ModelGoal, index: int, new: Measurement, old: Measurement
) -> Mapping[str, float]:
    """The weights of a model's objectives by tag, without those that neither measurement has."""
    weights = {canonical(objective.tag): objective.weight for objective in goal.objectives}
    return {
        tag: weight
        for tag, weight in weights.items()
        if weight and any(each.model_value(index, tag) is not None for each in (new, old))
    }
