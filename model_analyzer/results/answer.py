# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The answer as one value: what is recommended, against what, how sure that is, and why not surer.

Terminal, page, `results.json`, `best`, manifests and the live view all show this value.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from heapq import nsmallest

from model_analyzer.domain.conclusions import StopReason
from model_analyzer.domain.measurements import Measurement
from model_analyzer.domain.near_misses import NearMiss, near_misses
from model_analyzer.domain.profiles import MeasuredTrial
from model_analyzer.domain.ties import chance_to_keep
from model_analyzer.results.ranking import NO_GAIN, Ranking, VariantResult
from model_analyzer.results.selection import Gain, gain_over_default

# With a higher chance of something better, the answer is unsure.
_UNSURE = 0.5

# The answer mentions the chance to meet the constraints if it is lower than this.
_SAFE = 0.8

# Of those that meet the constraints, and those that do not, so many are looked at for near misses.
_CLOSEST = 100
_NEAR_MISSES = 2

# A search that stopped at a limit is offered this multiple of it.
_FURTHER = 2


class AnswerVerdict(Enum):
    """What can be recommended."""

    RECOMMENDED = "recommended"
    EQUAL = "equal"  # the default is as good within noise
    KEEP = "keep"  # the default is the best
    NEAREST = "nearest"  # nothing meets the constraints
    NOTHING = "nothing"  # nothing was measured


@dataclass(frozen=True, slots=True, kw_only=True)
class Certainty:
    """What the search that chose the answer may have missed.

    With the probability `chance`, something that is better by more than `margin` (a fraction) was
    not tried; where nothing `is_feasible`, something that meets the constraints. `explanation` says
    why the search stopped, `option` what makes it go on ("" where nothing does).
    """

    chance: float
    margin: float
    is_feasible: bool
    explanation: str
    option: str

    @property
    def is_low(self) -> bool:
        return self.chance > _UNSURE


@dataclass(frozen=True, slots=True, kw_only=True)
class Compliance:
    """Whether the recommendation meets the constraints: in how many of its measurements, and the
    probability that it does, as far as noise can hide it.
    """

    kept: int
    measurements: tuple[Measurement, ...]
    chance: float

    @property
    def is_doubtful(self) -> bool:
        return self.kept < len(self.measurements) or self.chance < _SAFE


@dataclass(frozen=True, slots=True, kw_only=True)
class Rival:
    """A trial that measured better than the recommendation by so many percent; `chance` is the
    probability that it meets the constraints.
    """

    item: MeasuredTrial
    gain_percent: float
    chance: float


@dataclass(frozen=True, kw_only=True)
class Answer:
    """What is recommended: the first of the `ranking`.

    `gain` is that over the default configuration, None where there is nothing to compare with or
    where it may be owed to the load alone. `compliance` is None without constraints, `certainty`
    where no search said how sure it is. `rivals` meet the constraints and measured better, but are
    not recommended; `near_misses` are better, and just miss a constraint, or may break it.
    """

    ranking: Ranking
    verdict: AnswerVerdict
    gain: Gain | None
    certainty: Certainty | None
    compliance: Compliance | None
    rivals: tuple[Rival, ...]
    near_misses: tuple[NearMiss[MeasuredTrial], ...]

    @property
    def best(self) -> VariantResult | None:
        """What is recommended, or nearest to the constraints."""
        return self.ranking.results[0] if self.ranking.results else None

    @property
    def is_met(self) -> bool:
        """Whether something was measured that meets the constraints."""
        return self.verdict not in (AnswerVerdict.NEAREST, AnswerVerdict.NOTHING)

    @property
    def is_unsure(self) -> bool:
        """Whether something better was more likely missed than not, or a constraint was broken."""
        return (self.certainty is not None and self.certainty.is_low) or (
            self.compliance is not None and self.compliance.is_doubtful
        )

    @property
    def times(self) -> int:
        """How often the recommendation was measured."""
        best = self.best
        return 0 if best is None else len(best.best.runs)


def answer_of(ranking: Ranking) -> Answer:
    """The answer that a ranking gives."""
    gain, chance = gain_over_default(ranking), _chances(ranking)
    return Answer(
        ranking=ranking,
        verdict=_verdict(ranking, gain),
        gain=gain,
        certainty=_certainty(ranking),
        compliance=_compliance(ranking, chance),
        rivals=tuple(_rivals(ranking, chance)),
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
    return AnswerVerdict.RECOMMENDED if gain.is_clear else AnswerVerdict.EQUAL


def _certainty(ranking: Ranking) -> Certainty | None:
    conclusion = ranking.conclusion
    if conclusion is None:
        return None
    option = ""
    match conclusion.reason:
        case StopReason.LIMIT if conclusion.limit is not None:
            option = f"--max-trials {_FURTHER * conclusion.limit}"
        case StopReason.BUDGET:
            option = "a longer --budget"
    return Certainty(
        chance=conclusion.chance,
        margin=conclusion.margin,
        is_feasible=conclusion.feasible,
        explanation=conclusion.explanation,
        option=option,
    )


def _compliance(ranking: Ranking, chance: Callable[[MeasuredTrial], float]) -> Compliance | None:
    if not (ranking.results and ranking.goal.has_constraints):
        return None
    best = ranking.results[0].best
    return Compliance(
        kept=sum(map(ranking.goal.passes, best.runs)),
        measurements=best.runs,
        chance=chance(best),
    )


def _rivals(ranking: Ranking, chance: Callable[[MeasuredTrial], float]) -> Iterator[Rival]:
    """The best one of those that measured better, meet the constraints, and are no tie."""
    if not ranking.any_passes:
        return
    best = ranking.results[0].best
    equal = {id(item) for item in (best, *ranking.ties)}
    others = (
        next((item for item in result.measured if id(item) not in equal), None)
        for result in ranking.results
        if result.passes
    )  # each has its best first
    found = [item for item in others if item and ranking.goal.passes(item.measurement)]
    for item in ranking.goal.best_first(found, _measurement)[:1]:
        gain = ranking.goal.gain_percent(item.measurement, best.measurement)
        if gain >= NO_GAIN:
            yield Rival(item=item, gain_percent=gain, chance=chance(item))


def _near_misses(ranking: Ranking) -> Iterator[NearMiss[MeasuredTrial]]:
    if not ranking.any_passes:
        return
    items = list(zip(ranking.measured, ranking.passing, strict=True))
    passing = [item for item, passes in items if passes]
    missing = [item for item, passes in items if not passes]
    nearest = nsmallest(_CLOSEST, missing, lambda item: ranking.goal.shortfall(item.measurement))
    best = ranking.results[0].best
    by_id = {id(item): item for item in (best, *passing[:_CLOSEST], *nearest)}
    runs = {key: item.runs for key, item in by_id.items()}
    for miss in near_misses(ranking.goal, id(best), runs)[:_NEAR_MISSES]:
        yield NearMiss(
            item=by_id[miss.item],
            gain_percent=miss.gain_percent,
            chance=miss.chance,
            misses=miss.misses,
        )


def _chances(ranking: Ranking) -> Callable[[MeasuredTrial], float]:
    """The probability that something measured meets the constraints."""
    chance = chance_to_keep(ranking.goal, {id(item): item.runs for item in ranking.measured})
    return lambda item: chance(id(item))


def _measurement(item: MeasuredTrial) -> Measurement:
    return item.measurement


def answers_of(rankings: Sequence[Ranking]) -> Sequence[Answer]:
    """The answer of each ranking."""
    return [answer_of(ranking) for ranking in rankings]
