# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""What of a ranking is shown, and what the best gains over the default."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from model_analyzer.domain.goals import Goal, ModelGoal
from model_analyzer.domain.measurements import Measurement, Values
from model_analyzer.domain.metrics import ALIASES, METRICS
from model_analyzer.domain.models import queue_delay_us
from model_analyzer.domain.noise import Noise, NoiseModel, combined, log_ratio, ratio_noise
from model_analyzer.domain.profiles import MeasuredTrial
from model_analyzer.domain.trials import LoadKind, Trial
from model_analyzer.results.ranking import NO_GAIN, Ranking, VariantResult

# An instance that requests wait for half as long as they are worked on is always busy.
_MUCH = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class Gain:
    """How much better the best variant is than the default one, in percent.

    `noise` is half the width of its 95 % interval in percent points, where it can be told.
    """

    percent: float
    noise: float | None

    @property
    def is_clear(self) -> bool:
        """Whether the gain is more than noise, and does not round to nothing."""
        return self.percent > max(self.noise or 0.0, NO_GAIN)


def top(ranking: Ranking, count: int) -> Sequence[VariantResult]:
    """The `count` best results: those that pass the constraints, or if none does, the nearest."""
    passing = [result for result in ranking.results if result.passes]
    return (passing or list(ranking.results))[:count]


def top_with_default(ranking: Ranking, count: int) -> Sequence[VariantResult]:
    """The same with the default, wherever it stands."""
    chosen = list(top(ranking, count))
    if ranking.default is not None and ranking.default not in chosen:
        chosen.append(ranking.default)
    return chosen


def gain_over_default(ranking: Ranking) -> Gain | None:
    """What the best gains over the default, as every surface states it; None if there is nothing to
    compare, if the best breaks the constraints, or if the default does and is not clearly worse.
    """
    default = compared_default(ranking)
    if default is None or not ranking.results[0].passes:
        return None
    gain = _gain(ranking, ranking.results[0], default)
    return gain if default.passes or gain.is_clear else None


def compared_default(ranking: Ranking) -> VariantResult | None:
    """The default, if its values can be held against those of the best; None if it is the best
    itself, or if the gain may be owed to the load alone.
    """
    default = ranking.default
    if default is None or ranking.results[0] is default:
        return None
    best = ranking.results[0]
    owes_to_load = not are_comparable(ranking.goal, best.best.trial, default.measured)
    return None if owes_to_load and _gain(ranking, best, default).is_clear else default


def are_comparable(goal: Goal, best: Trial, defaults: Collection[MeasuredTrial]) -> bool:
    """Whether a gain over the best of the defaults tells about the configuration: they were
    measured under the load of the best one, or several loads were tried; or throughput is all that
    counts, and one of them was as busy as it can be.
    """
    loads = {item.trial.load for item in defaults}
    if len(loads) > 1 or best.load in loads:
        return True
    return goal.is_for_throughput and any(_is_busy(item, like=best) for item in defaults)


def _is_busy(item: MeasuredTrial, *, like: Trial) -> bool:
    """Whether more requests in flight, of the same client batches, would hardly give more: there
    are enough for full batches everywhere, and some wait for an instance.
    """
    gpus = len(item.trial.setup.devices)
    return all(
        work.load.kind is LoadKind.CONCURRENCY
        and work.load.batch_size == other.load.batch_size
        and work.load.value
        >= sum(part.filling_concurrency(gpus=gpus) for part in work.variant.served)
        and not any(queue_delay_us(part.config) for part in work.variant.served)
        and any(map(_waits, (model.values, *model.composing.values())))
        for work, other, model in zip(
            item.trial.workloads, like.workloads, item.measurement.models, strict=True
        )
    )


def _waits(values: Values) -> bool:
    """Whether requests wait for an instance so long that hardly one is ever idle."""
    waiting, working = values.get("perf_server_queue"), values.get("perf_server_compute_infer")
    return waiting is not None and working is not None and waiting > _MUCH * working > 0


def _gain(ranking: Ranking, new: VariantResult, old: VariantResult) -> Gain:
    percent = ranking.goal.gain_percent(new.best.measurement, old.best.measurement)
    noise = combined(_gain_parts(ranking.goal, ranking.noise_model, new.best, old.best))
    return Gain(percent=percent, noise=None if noise is None else noise.reach * 100)


def _gain_parts(
    by: Goal, model: NoiseModel, new: MeasuredTrial, old: MeasuredTrial
) -> Iterator[tuple[float, Noise | None]]:
    """What a gain is the sum of: for each objective of each model its share times the ratio of
    better to worse, and the noise of that ratio.
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
    """The objectives that count for a model, by tag: those that either measurement has."""
    weights = {
        ALIASES.get(objective.tag, objective.tag): objective.weight for objective in goal.objectives
    }
    return {
        tag: weight
        for tag, weight in weights.items()
        if weight and any(one.model_value(index, tag) is not None for one in (new, old))
    }
