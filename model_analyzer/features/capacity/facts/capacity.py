# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""What a checkpoint says about the capacity of one server: for each variant of a model.

Which measurement is missing to say, or to say more exactly, what one server carries.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum

from model_analyzer.domain.arrivals import without_load_flags
from model_analyzer.domain.costs import ENERGY_PER_INFERENCE, Efficiency, Prices, Resources
from model_analyzer.domain.flags import Flag
from model_analyzer.domain.goals import Constraint, Goal
from model_analyzer.domain.measurements import Measurement
from model_analyzer.domain.models import ModelVariant, group_members
from model_analyzer.domain.profiles import (
    FailedTrial,
    Profile,
    TrialRecord,
    failed_trials,
    measured_trials,
)
from model_analyzer.domain.trials import Trial
from model_analyzer.features.capacity.facts.points import (
    Carried,
    Keeps,
    Lack,
    Loads,
    Point,
    broken_when_idle,
    carried,
    closed_loads,
    highest_throughput,
    is_as_good,
    keeps_at,
    loads_of,
    rates_that_keep,
)
from model_analyzer.noise.noise_model import NoiseModel
from model_analyzer.noise.pooling import pooled_trials
from model_analyzer.noise.ties import resources_used
from model_analyzer.results.conditions import Conditions, LeftOut, comparable
from model_analyzer.results.ranking import Ranking, knee_of

# Throughput is what `--rate` asks for: a limit for one server would have no meaning.
_THROUGHPUTS = frozenset({"perf_throughput", "output_token_throughput"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Knee:
    """Up to so many concurrent requests, throughput grows in proportion: to `rate` requests per
    second. See `results.knee`.
    """

    concurrency: int
    rate: float


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplicaCapacity:
    """What one server with this variant carries, in requests of `batch_size` inferences.

    `keeps` says for the rate of each point whether it keeps the constraints. `carried` is None if
    that is unknown. `most` is the highest rate of requests that it ever answered, under any load:
    an upper bound; None if unknown. `loading_s` is the longest time in which a server loaded the
    variant; None if unknown. `resources` are what the server used, `joules` is the energy of its
    GPUs for an inference, at the highest rate that keeps the constraints; None if unknown.
    `too_slow` is a constraint that it breaks even with a single request in flight, and its value:
    then nothing more needs to be measured. `failed` are the trials of the variant without a
    measurement, under any load.
    """

    variant: ModelVariant
    batch_size: int
    points: tuple[Point, ...]
    keeps: Mapping[float, Keeps]
    carried: Carried | None
    knee: Knee | None
    most: float | None
    missing: Missing | None
    loading_s: float | None
    resources: Resources
    joules: float | None
    too_slow: tuple[Constraint, float] | None
    failed: tuple[FailedTrial, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelCapacity:
    """The capacity of a server with a model on one `kind` of hardware, for the constraints of the
    `goal`.

    `replica` is that of the variant to deploy: the one that carries most. Of those that are as
    good, it is the recommended one, otherwise that with the fewest resources; if no rate is known,
    the recommended one. `others` are those of the other variants, best first.
    `missing` are the measurements to take, the most useful first. `prices` are those of the
    hardware, None if the user gave none.
    """

    model: str
    kind: str
    goal: Goal
    replica: ReplicaCapacity
    others: tuple[ReplicaCapacity, ...]
    missing: tuple[Missing, ...]
    left_out: tuple[LeftOut, ...]
    prices: Prices | None

    @property
    def constraints(self) -> tuple[Constraint, ...]:
        """What a server must keep at any rate."""
        return _constraints(self.goal)

    @property
    def ignored(self) -> tuple[Constraint, ...]:
        """Constraints on throughput: all servers together have to give it."""
        return tuple(each for each in self.goal.models[0].constraints if each.tag in _THROUGHPUTS)


def _constraints(goal: Goal) -> tuple[Constraint, ...]:
    return tuple(each for each in goal.models[0].constraints if each.tag not in _THROUGHPUTS)


def capacity_of(
    profile: Profile,
    ranking: Ranking,
    *,
    batch_size: int,
    needed: float,
    variant: str | None = None,
) -> ModelCapacity:
    """The capacity by all measurements under the conditions of the ranking, whatever their
    loads. All replicas together have to carry the `needed` requests per second. Only the `variant`
    of this name counts, if it is given.

    Raises ValueError, with a message for the user, if there is nothing to say.
    """
    if len(group_members(ranking.model)) != 1:
        raise ValueError("was measured together with other models: measure it alone")
    if ranking.group is None:
        raise ValueError("was not measured")
    records, left_out = _comparable(profile, ranking)
    by_variant = _by_variant(records, variant)
    if not by_variant:
        raise ValueError(f"has no measurement of {variant}, or only such as cannot be compared")
    constraints = _constraints(ranking.goal)
    loads = {key: loads_of(own, batch_size, constraints) for key, own in by_variant.items()}
    noise = NoiseModel(point.runs for each in loads.values() for point in each.points)
    replicas = {
        key: _replica(own, loads[key], batch_size, constraints, noise, profile)
        for key, own in by_variant.items()
    }
    recommended = _recommended(records, ranking, is_known=any(map(_rate, replicas.values())))
    order = sorted(
        replicas,
        key=lambda key: (
            -_rate(replicas[key]), replicas[key].too_slow is not None, key != recommended,
        ),
    )  # fmt: skip
    chosen = _chosen([replicas[key] for key in order], by_variant, ranking, needed)
    first, *others = sorted(
        (replicas[key] for key in order), key=lambda replica: replica is not chosen
    )
    return ModelCapacity(
        model=ranking.model,
        kind=ranking.kind,
        goal=ranking.goal,
        replica=first,
        others=tuple(others),
        missing=tuple(_missing(first, replicas.get(recommended))),
        left_out=left_out,
        prices=profile.prices,
    )


def _recommended(records: Sequence[TrialRecord], ranking: Ranking, *, is_known: bool) -> str:
    """The content of the recommended variant. If it `is_known` what some variants carry, the
    ranking may be about them alone, so the best measurement under any load counts.
    """
    if ranking.results and not is_known:
        return ranking.results[0].variants[0].identity
    measured = pooled_trials(measured_trials(records))
    best = ranking.goal.best_first(measured, lambda item: item.measurement)
    return best[0].trial.workloads[0].variant.identity if best else ""


def _chosen(
    ordered: Sequence[ReplicaCapacity],
    records: Mapping[str, Sequence[TrialRecord]],
    ranking: Ranking,
    needed: float,
) -> ReplicaCapacity:
    """The one to deploy, of those that are `ordered` by what they carry; `records` are those of
    each variant by its content.
    """
    most = ordered[0].carried
    if most is None:
        return ordered[0]
    equal = [
        replica
        for replica in ordered
        if replica.carried is not None and is_as_good(replica.carried, most, needed)
    ]
    recommended = ranking.results[0].variants[0].identity if ranking.results else ""

    def cost(replica: ReplicaCapacity) -> tuple[float, ...]:
        trial = records[replica.variant.identity][0].trial
        assert replica.carried is not None, "it is as good"
        return resources_used(trial, _point_at(replica.points, replica.carried).pooled)

    preferred = (each for each in equal if each.variant.identity == recommended)
    return next(preferred, None) or min(equal, key=cost)


def _rate(replica: ReplicaCapacity) -> float:
    return 0.0 if replica.carried is None else replica.carried.rate


def _missing(first: ReplicaCapacity, recommended: ReplicaCapacity | None) -> Iterator[Missing]:
    """What is missing of the variant to deploy; and of the recommended one, if nothing is known
    about it and it may carry more.
    """
    if first.missing is not None:
        yield first.missing
    if recommended is None or recommended is first or recommended.missing is None:
        return
    if recommended.carried is None and (recommended.most or 0.0) > _rate(first):
        yield recommended.missing


def _replica(
    records: Sequence[TrialRecord],
    loads: Loads,
    batch_size: int,
    constraints: Sequence[Constraint],
    noise: NoiseModel,
    profile: Profile,
) -> ReplicaCapacity:
    work = records[0].trial.workloads[0]
    highest = highest_throughput(records)
    most = None if highest is None else highest / batch_size
    keeping = rates_that_keep(loads.points, constraints)
    known = carried(loads.points, constraints, noise, most=most)
    too_slow = None if known else broken_when_idle(records, batch_size, constraints)
    missing = missing_of(work.variant, batch_size, loads, keeping, known, most)
    return ReplicaCapacity(
        variant=work.variant,
        batch_size=batch_size,
        points=loads.points,
        keeps={point.rate: keeps_at(point, constraints, noise) for point in loads.points},
        carried=known,
        knee=_knee(closed_loads(records, batch_size), batch_size),
        most=most,
        missing=None if too_slow else missing,
        loading_s=max(map(_loading_s, records), default=0.0) or None,
        resources=_resources(records, profile.efficiency),
        joules=None
        if known is None
        else _point_at(loads.points, known).value(ENERGY_PER_INFERENCE),
        too_slow=too_slow,
        failed=failed_trials(records),
    )


def _knee(throughputs: Mapping[int, float], batch_size: int) -> Knee | None:
    """The knee, from the inferences per second by concurrency."""
    load = knee_of(throughputs)
    return None if load is None else Knee(concurrency=load, rate=throughputs[load] / batch_size)


def _resources(records: Sequence[TrialRecord], efficiency: Efficiency) -> Resources:
    """What the server used: the most memory of all measurements."""
    used = [efficiency.resources(*item[:2]) for item in measured_trials(records)]
    memory = [each.memory_gb for each in used if each.memory_gb is not None]
    return replace(used[-1], memory_gb=max(memory, default=None)) if used else Resources()


def _point_at(points: Sequence[Point], known: Carried) -> Point:
    """The point with the highest rate that keeps the constraints."""
    return next(point for point in points if point.rate == known.kept)


def _loading_s(record: TrialRecord) -> float:
    return record.outcome.loading_s if isinstance(record.outcome, Measurement) else 0.0


def _by_variant(
    records: Sequence[TrialRecord], name: str | None
) -> Mapping[str, Sequence[TrialRecord]]:
    """The records by the content of their variants, each outcome once. Two names may stand for the
    same content: the records of the asked `name` come first, and those of the others count, too.
    """
    by_variant: dict[str, dict[str, TrialRecord]] = {}
    for record in sorted(records, key=lambda each: _variant(each).name != name):
        by_variant.setdefault(record.trial.content, {}).setdefault(record.trial.key, record)
    groups = {content: list(own.values()) for content, own in by_variant.items()}
    if name is None:
        return groups
    return {content: own for content, own in groups.items() if _variant(own[0]).name == name}


def _variant(record: TrialRecord) -> ModelVariant:
    return record.trial.workloads[0].variant


def _comparable(
    profile: Profile, ranking: Ranking
) -> tuple[Sequence[TrialRecord], tuple[LeftOut, ...]]:
    """The records of the model on the hardware and under the conditions of the ranking, apart
    from the load.
    """
    assert ranking.group is not None, "the caller checks it"
    (model,) = group_members(ranking.model)
    without: dict[int, Mapping[str, Flag]] = {}  # records share their flags
    originals: dict[int, TrialRecord] = {}
    stripped = []
    for record in profile.records:
        names = [work.variant.model for work in record.trial.workloads]
        if names == [model] and record.trial.setup.kind == ranking.kind:
            other = record._replace(trial=_without_load(record.trial, without))
            originals[id(other)] = record
            stripped.append(other)
    (chosen,) = comparable(
        stripped,
        conditions=Conditions.of(_without_load(ranking.group.sample, {})),
        bases=profile.bases.get(ranking.model),
    )
    records = [originals[id(record)] for record in chosen.records]
    complete = profile.completion(ranking.goal)
    return [
        record._replace(outcome=complete(record.trial, record.outcome)) for record in records
    ], tuple(
        _numbered(part, ranking, originals[id(part.records[-1])].trial) for part in chosen.left_out
    )


def _numbered(part: LeftOut, ranking: Ranking, newest: Trial) -> LeftOut:
    """The part with the number that the ranking gives the conditions of its newest trial."""
    if part.conditions is None:
        return part
    numbers = {group.conditions: group.number for group in ranking.groups}
    return replace(part, conditions=numbers[Conditions.of(newest)])


def _without_load(trial: Trial, without: dict[int, Mapping[str, Flag]]) -> Trial:
    """The trial without the flags and the traffic of its load; `without` has the flags that are
    known.
    """
    (work,) = trial.workloads
    key = id(work.flags)
    if key not in without:
        without[key] = without_load_flags(work.flags)
    return replace(trial, workloads=(replace(work, flags=without[key], traffic=None),))


# Between a rate that keeps the constraints and the next one that breaks them: at most this ratio.
_CLOSE = 1.25

# First rates to measure, as shares of the highest throughput.
_FIRST = (0.5, 0.7, 0.85)

# Rates to try below the lowest that breaks a constraint, and above the highest that keeps all.
_BELOW, _ABOVE = (0.4, 0.65), (1.25, 1.5)

# No measurement is worth it if less than this share can be gained.
_WORTH = 0.1


class Gap(Enum):
    """What the usable measurements leave open."""

    NOTHING = "nothing was measured with such requests"
    ALL_BREAK = "even the lowest measured rate breaks a constraint"
    ALL_KEEP = "no measured rate breaks a constraint, so a server may carry more"
    WIDE = "the rates that keep and that break the constraints are far apart"
    CONTRADICTORY = "a higher rate keeps a constraint that a lower one breaks"
    UNSURE = "given the noise, it is not certain which rates keep the constraints"
    BELOW_ONE = "it needs a rate below 1 request/s, the lowest that is measured"


@dataclass(frozen=True, slots=True, kw_only=True)
class Missing:
    """A measurement to take: of the `variant` with Poisson arrivals of requests of `batch_size`
    inferences, at `rates` (requests per second, ascending; none if no rate can be proposed). Rates
    that were measured already are repeated. `is_needed`: without it, nothing can be said.
    """

    variant: ModelVariant
    batch_size: int
    rates: tuple[int, ...]
    reason: Lack | Gap
    is_needed: bool


def missing_of(
    variant: ModelVariant,
    batch_size: int,
    loads: Loads,
    keeping: Sequence[float],
    carried: Carried | None,
    most: float | None,
) -> Missing | None:
    """The most useful missing measurement of a variant; None if nothing is worth measuring.

    `keeping` are the measured rates that keep the constraints, `most` is the highest rate of
    requests that the server ever answered, under any load.
    """
    if not loads.points:
        gap: _Gap | None = _nothing_usable(loads.unfit, most)
    elif carried is None:
        lowest = loads.points[0].rate
        lower = [share * lowest for share in _BELOW]
        gap = Gap.ALL_BREAK, [rate for rate in lower if round(rate) < lowest]
    else:
        gap = _left_open([point.rate for point in loads.points], keeping, carried, most)
    if gap is None:
        return None
    reason, wanted = gap
    rates = tuple(sorted({round(rate) for rate in wanted if round(rate)}))
    if wanted and not rates:
        reason = Gap.BELOW_ONE
    return Missing(
        variant=variant,
        batch_size=batch_size,
        rates=rates,
        reason=reason,
        is_needed=carried is None,
    )


_Gap = tuple[Lack | Gap, Sequence[float]]


def _nothing_usable(unfit: Mapping[Lack, Sequence[float]], most: float | None) -> _Gap:
    """The gap if no measurement can be used: it is named after the most useful one."""
    lack = next((lack for lack in Lack if lack in unfit), None)
    match lack:
        case Lack.FEW_REQUESTS | Lack.NO_METRIC:
            return lack, unfit[lack]
        case Lack.FAILED if most is None:
            return lack, [share * min(unfit[lack]) for share in _BELOW]
    return lack or Gap.NOTHING, [share * most for share in _FIRST] if most else []


def _left_open(
    rates: Sequence[float], keeping: Sequence[float], carried: Carried, most: float | None
) -> _Gap | None:
    """What the measurements leave open, although they tell a rate."""
    broken, highest = carried.broken, max(keeping, default=0.0)
    disturbed = [rate for rate in rates if rate < highest and rate not in keeping]
    if disturbed:
        return Gap.CONTRADICTORY, [disturbed[0], highest]
    if broken is None:
        higher = [*_higher(carried.kept, most)]
        return (Gap.ALL_KEEP, higher) if higher else None
    if carried.low is None:
        return Gap.UNSURE, [_BELOW[-1] * rates[0], carried.kept]
    if _CLOSE * carried.low < carried.kept:
        return Gap.UNSURE, [carried.kept]
    if broken > _CLOSE * carried.kept:
        # near the estimate, and not too near to either
        third = (broken - carried.kept) / 3
        return Gap.WIDE, [min(max(carried.rate, carried.kept + third), broken - third)]
    return None


def _higher(kept: float, most: float | None) -> Iterator[float]:
    """Rates above one that keeps all constraints, up to what the server ever answered."""
    if most is None or most <= kept:
        yield from (share * kept for share in _ABOVE)
    elif most > (1 + _WORTH) * kept:
        yield from ((kept + most) / 2, most)
