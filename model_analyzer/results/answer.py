# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The answer as one value: the recommendation, its gain over the default, its certainty, and near
misses: better than it, but a constraint is just missed or uncertain, and the user decides.

Terminal, page, `results.json`, `best`, manifests and the live view all show this value.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from heapq import nsmallest
from itertools import compress, islice
from operator import not_
from typing import Generic, TypeVar

from model_analyzer.domain.goals import Constraint, Goal, are_met
from model_analyzer.domain.measurements import Measurement
from model_analyzer.domain.profiles import Conclusion, MeasuredTrial, Proof, StopReason, Verdict
from model_analyzer.noise.noise_model import NoiseModel
from model_analyzer.noise.ties import Comparison, Undecided, chance_to_meet, undecided
from model_analyzer.results.ranking import NO_GAIN, Ranking, VariantResult
from model_analyzer.results.selection import Gain, gain_over_default

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
