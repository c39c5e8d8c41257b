# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The answer as one value: the recommendation, its gain over the default, its certainty, and near
misses: better than it, but a constraint is just missed or uncertain, and the user decides.

Terminal, page, `results.json`, `best`, manifests and the live view all show this value.

Selects the shown results of a ranking, and computes the gain over the default.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from heapq import nsmallest
from itertools import compress, islice
from operator import not_
from typing import Generic, TypeVar

from model_analyzer.domain.goals import Constraint, Goal, ModelGoal, are_met
from model_analyzer.domain.measurements import Measurement, Values
from model_analyzer.domain.metrics import METRICS, canonical
from model_analyzer.domain.models import queue_delay_us
from model_analyzer.domain.profiles import Conclusion, MeasuredTrial, Proof, StopReason, Verdict
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
from model_analyzer.noise.ties import Comparison, Undecided, chance_to_meet, undecided
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
    it has nothing of an objective (a goodput of 0, or no value), or if nothing else tells that a
    clear gain does not come from the load.
    """
    if not goal.passes(best.measurement) or _lacks_an_objective(goal, best, defaults[0]):
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
    if _lacks_an_objective(goal, new, old):
        return None
    return replace(_gain(goal, noise_model, new, old), at=new.trial)


def _lacks_an_objective(goal: Goal, new: MeasuredTrial, old: MeasuredTrial) -> bool:
    """Whether `old` has nothing of what `new` has, or 0 where more is better: no percentage says
    how much more there is.
    """
    for index, model in enumerate(goal.models):
        for objective in model.objectives:
            there, here = (
                item.measurement.model_value(index, objective.tag) for item in (new, old)
            )
            is_more_better = METRICS[canonical(objective.tag)].gain(1, 0) > 0
            if there is not None and (here is None or (here == 0 and is_more_better)):
                return True
    return False


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
    """The summands of a gain: for each objective of each model, by how much the gain grows with the
    logarithm of its ratio of better to worse, and the noise of that ratio.
    """
    steepness = (1 + by.gain_percent(new.measurement, old.measurement) / 200) ** 2
    weightings = sum(goal.weighting for goal in by.models)
    for index, goal in enumerate(by.models):
        weights = _weights(goal, index, new.measurement, old.measurement)
        for tag, weight in weights.items():
            ratio = log_ratio(
                old.measurement.model_value(index, tag), new.measurement.model_value(index, tag)
            )
            noises = (model.of(item.runs, tag, index) for item in (old, new))
            share = goal.weighting / weightings * weight / sum(weights.values())
            of_score = math.cosh((ratio or 0.0) / 2) ** -2
            yield share * steepness * of_score, None if ratio is None else ratio_noise(*noises)


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


T = TypeVar("T")

# A miss is near up to this fraction of the limit, or from this probability to meet the constraints.
_JUST = 0.05
# From this probability to meet the constraints, there is no miss.
_SURE = 0.95
# The smallest gain (of the goal's score) that is reported.
_BETTER = 0.03


@dataclass(frozen=True, slots=True, kw_only=True)
class Miss:
    """A constraint that a trial does not meet, or may not meet.

    `value` is the mean of the constrained metric of the model at index `model`. `excess` is the
    distance from the limit as a fraction of it, 0 if the mean meets the constraint. `broken` of the
    `times` measurements did not meet it.
    """

    model: int
    constraint: Constraint
    value: float
    excess: float
    broken: int
    times: int


@dataclass(frozen=True, slots=True, kw_only=True)
class NearMiss(Generic[T]):
    """A measured item that is better than the recommendation by `gain_percent`. It meets all
    constraints with the probability `chance`; `misses` has at least one constraint.
    """

    item: T
    gain_percent: float
    chance: float
    misses: tuple[Miss, ...]


def near_misses(
    goal: Goal, answer: T, repetitions: Mapping[T, Sequence[Measurement]]
) -> list[NearMiss[T]]:
    """Items that are better than `answer` by more than noise, but miss the constraints by a little
    or meet them by less than the noise; highest gain first. Leaves out an item if another one has a
    higher gain and is at least as likely to meet the constraints.
    """
    if not goal.has_constraints:
        return []
    comparison = Comparison(goal, repetitions)
    chance = chance_to_meet(goal, repetitions, noise_model=comparison.noise_model)
    least = chance(answer)
    near = []
    for item in repetitions:
        if item == answer or comparison.lead(item, answer) < _BETTER:
            continue
        misses = tuple(_misses(goal, comparison.mean(item), repetitions[item]))
        is_near = all(miss.excess <= _JUST for miss in misses) or chance(item) >= _JUST
        may_break = any(miss.broken for miss in misses) or chance(item) < min(_SURE, least)
        if comparison.is_better(item, answer) and is_near and may_break:
            gain = goal.gain_percent(comparison.mean(item), comparison.mean(answer))
            near.append(NearMiss(item=item, gain_percent=gain, chance=chance(item), misses=misses))
    near.sort(key=lambda miss: -miss.gain_percent)
    likeliest: list[NearMiss[T]] = []
    for miss in near:
        if all(miss.chance > other.chance for other in likeliest):
            likeliest.append(miss)
    return likeliest


def _misses(goal: Goal, mean: Measurement, runs: Sequence[Measurement]) -> list[Miss]:
    """The constraints that the mean or any measurement does not meet; if there is none, the
    constraint with the smallest margin.
    """
    missed: list[Miss] = []
    met: list[Miss] = []
    for index, wish in enumerate(goal.models):
        for constraint in wish.constraints:
            value = mean.model_value(index, constraint.tag)
            if value is None:
                continue
            values = [run.model_value(index, constraint.tag) for run in runs]
            broken = sum(run is not None and constraint.excess(run) > 0 for run in values)
            miss = Miss(
                model=index,
                constraint=constraint,
                value=value,
                excess=constraint.excess(value),
                broken=broken,
                times=len(runs),
            )
            (missed if broken or miss.excess else met).append(miss)
    nearest = sorted(met, key=lambda miss: miss.constraint.margin(miss.value))[:1]
    return missed or nearest


# If the chance of something better is above this, the answer is unsure.
_UNSURE = 0.5

# If the chance to meet the constraints is below this, the answer mentions it.
SAFE_CHANCE = 0.8

# Candidates for near misses: so many of those that meet the constraints, and of the others.
_CLOSEST = 100
_MOST_NEAR_MISSES = 2

# After a search that stopped at its limit, this multiple of the limit is proposed.
_LIMIT_FACTOR = 2


class AnswerVerdict(Enum):
    """The kind of recommendation."""

    RECOMMENDED = "recommended"
    EQUAL = "equal"  # within noise of the default
    KEEP = "keep"  # the default is the best
    NEAREST = "nearest"  # nothing meets the constraints
    NOTHING = "nothing"  # there is no measurement


@dataclass(frozen=True, slots=True, kw_only=True)
class Compliance:
    """Whether the recommendation meets the constraints: the number of its measurements that do
    (`times_met`), and the probability (0 to 1) that it does, given the noise.
    """

    times_met: int
    measurements: tuple[Measurement, ...]
    chance: float

    @property
    def is_doubtful(self) -> bool:
        return self.times_met < len(self.measurements) or self.chance < SAFE_CHANCE


@dataclass(frozen=True, slots=True, kw_only=True)
class Rival:
    """A trial that measured better than the recommendation; `chance` is the probability (0 to 1)
    that it meets the constraints.
    """

    item: MeasuredTrial
    gain_percent: float
    chance: float


@dataclass(frozen=True, kw_only=True)
class Answer:
    """The recommendation: the first of the `ranking`.

    `gain` is the gain over the default configuration; None if there is no default to compare with,
    or if only the load may cause the gain. `compliance` is None without constraints. `rivals` meet
    the constraints and measured better, but are not recommended. `undecided` measured worse, but by
    no more than noise; the best come first. `near_misses` are better, but miss a constraint
    narrowly, or may miss it.
    """

    ranking: Ranking
    verdict: AnswerVerdict
    gain: Gain | None
    compliance: Compliance | None
    rivals: tuple[Rival, ...]
    undecided: tuple[Undecided[MeasuredTrial], ...]
    near_misses: tuple[NearMiss[MeasuredTrial], ...]

    @property
    def best(self) -> VariantResult | None:
        """The recommendation, or the nearest to the constraints; None without measurements."""
        return self.ranking.results[0] if self.ranking.results else None

    @property
    def conclusion(self) -> Conclusion | None:
        """That of the search that made the recommendation; None without one."""
        return self.ranking.conclusion

    @property
    def proofs(self) -> Sequence[Proof]:
        """What was proven about the recommendation."""
        best = self.best
        if best is None or not self.ranking.proofs:
            return ()
        return [proof for proof in self.ranking.proofs if proof.is_about(best.best.trial)]

    @property
    def is_met(self) -> bool:
        """Whether any measurement meets the constraints."""
        return self.verdict not in (AnswerVerdict.NEAREST, AnswerVerdict.NOTHING)

    @property
    def is_unchecked(self) -> bool:
        """Whether it is unknown if the recommendation meets a constraint: it was not measured."""
        best = self.best
        return best is not None and are_met(self.ranking.goal, best.best.measurement) is None

    @property
    def is_unsure(self) -> bool:
        """Whether the search probably missed something better, a constraint may be broken or was
        not checked, a proof failed, or the values of the recommendation are doubtful.
        """
        if self.is_unchecked or (self.best is not None and self.best.best.measurement.doubts):
            return True
        if any(proof.verdict is Verdict.FAILED for proof in self.proofs):
            return True
        return (self.conclusion is not None and is_low(self.conclusion)) or (
            self.compliance is not None and self.compliance.is_doubtful
        )

    @property
    def times(self) -> int:
        """The number of measurements of the recommendation."""
        best = self.best
        return 0 if best is None else len(best.best.runs)


def answer_of(ranking: Ranking) -> Answer:
    """The answer for a ranking."""
    gain, chance = gain_over_default(ranking), _chances(ranking)
    return Answer(
        ranking=ranking,
        verdict=_verdict(ranking, gain),
        gain=gain,
        compliance=_compliance(ranking, chance),
        rivals=tuple(_rivals(ranking, chance)),
        undecided=tuple(_undecided(ranking)),
        near_misses=tuple(_near_misses(ranking)),
    )


def _verdict(ranking: Ranking, gain: Gain | None) -> AnswerVerdict:
    if not ranking.results:
        return AnswerVerdict.NOTHING
    if not ranking.any_passes:
        return AnswerVerdict.NEAREST
    default = ranking.default
    if ranking.results[0] is default:
        return AnswerVerdict.KEEP
    if default is None or gain is None or not default.passes:
        return AnswerVerdict.RECOMMENDED
    # a default that cannot run under the recommended load is not as good
    is_equal = not gain.is_clear and gain.at is None
    return AnswerVerdict.EQUAL if is_equal else AnswerVerdict.RECOMMENDED


def is_low(conclusion: Conclusion) -> bool:
    """Whether the search probably missed something better, or its recommendation may be chance."""
    return conclusion.chance > _UNSURE or bool(conclusion.doubt)


def continuing(conclusion: Conclusion) -> str:
    """What continues the search, as the end of a sentence; "" if no option does."""
    match conclusion.reason:
        case StopReason.LIMIT | StopReason.KEPT | StopReason.STALLED if conclusion.limit:
            return f"; --max-measurements {_LIMIT_FACTOR * conclusion.limit} continues"
        case StopReason.BUDGET:
            return "; a longer --budget continues"
    return ""


def _compliance(ranking: Ranking, chance: Callable[[MeasuredTrial], float]) -> Compliance | None:
    if not (ranking.results and ranking.goal.has_constraints):
        return None
    best = ranking.results[0].best
    return Compliance(
        times_met=sum(map(ranking.goal.passes, best.runs)),
        measurements=best.runs,
        chance=chance(best),
    )


def _rivals(ranking: Ranking, chance: Callable[[MeasuredTrial], float]) -> Iterator[Rival]:
    """The best trial that measured better and meets the constraints, if any; ties do not count."""
    if not ranking.any_passes:
        return
    best = ranking.results[0].best
    tied = {id(item) for item in (best, *ranking.ties)}
    candidates = (
        next((item for item in result.measured if id(item) not in tied), None)
        for result in ranking.results
        if result.passes
    )  # `measured` has the best first
    is_met = are_met(ranking.goal, best.measurement)
    passing = [
        item for item in candidates if item and are_met(ranking.goal, item.measurement) == is_met
    ]
    for item in ranking.goal.best_first(passing, _measurement)[:1]:
        gain = ranking.goal.gain_percent(item.measurement, best.measurement)
        if gain >= NO_GAIN:
            yield Rival(item=item, gain_percent=gain, chance=chance(item))


def _undecided(ranking: Ranking) -> Iterator[Undecided[MeasuredTrial]]:
    """The trials that measured worse than the best, by too much for a tie and by no more than
    noise. Only in rounds, which may be short.
    """
    if not (ranking.any_passes and ranking.results[0].best.measurement.is_round):
        return
    best = ranking.results[0].best
    passing = [*compress(ranking.measured, ranking.passing)]
    items = [best, *ranking.goal.best_first(passing, _measurement)[:_CLOSEST]]
    by_id = {id(item): item for item in items}
    comparison = Comparison(ranking.goal, {key: item.runs for key, item in by_id.items()})
    for each in undecided(comparison, id(best), by_id, {id(best), *map(id, ranking.ties)}):
        if each.gain_percent < 0:
            yield Undecided(by_id[each.item], each.gain_percent, each.noise_percent)


def _near_misses(ranking: Ranking) -> Iterator[NearMiss[MeasuredTrial]]:
    if not ranking.any_passes:
        return
    passing = islice(compress(ranking.measured, ranking.passing), _CLOSEST)
    missing = compress(ranking.measured, map(not_, ranking.passing))
    nearest = nsmallest(_CLOSEST, missing, lambda item: ranking.goal.shortfall(item.measurement))
    best = ranking.results[0].best
    by_id = {id(item): item for item in (best, *passing, *nearest)}
    runs = {key: item.runs for key, item in by_id.items()}
    for miss in near_misses(ranking.goal, id(best), runs)[:_MOST_NEAR_MISSES]:
        yield NearMiss(
            item=by_id[miss.item],
            gain_percent=miss.gain_percent,
            chance=miss.chance,
            misses=miss.misses,
        )


def _chances(ranking: Ranking) -> Callable[[MeasuredTrial], float]:
    """A function that gives the probability (0 to 1) that a trial meets the constraints."""
    # across models, each has a noise of its own
    noise = (
        NoiseModel(item.runs for item in ranking.measured)
        if ranking.is_across_models
        else ranking.noise_model
    )
    return lambda item: chance_to_meet(ranking.goal, {0: item.runs}, noise_model=noise)(0)


def _measurement(item: MeasuredTrial) -> Measurement:
    return item.measurement


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelAnswer:
    """An answer for each kind of hardware, sorted by the kind. `model` is the
    name of a model, of a group of models, or of a ranking across models.
    """

    model: str
    answers: tuple[Answer, ...]

    @property
    def is_of_several_kinds(self) -> bool:
        return len(self.answers) > 1


def by_model(answers: Iterable[Answer]) -> Sequence[ModelAnswer]:
    """The answers of each model together."""
    models: dict[str, list[Answer]] = {}
    for answer in answers:
        models.setdefault(answer.ranking.model, []).append(answer)
    return [ModelAnswer(model=model, answers=tuple(own)) for model, own in models.items()]
