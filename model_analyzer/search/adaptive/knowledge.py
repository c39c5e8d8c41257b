# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The knowledge of an adaptive search: its measurements and failures, and what they predict."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise, takewhile

import numpy as np
import numpy.typing as npt

from model_analyzer.domain.goodput import GOODPUT
from model_analyzer.domain.joint_histogram import LATENCY
from model_analyzer.domain.measurements import Measurement
from model_analyzer.domain.models import VariantNames
from model_analyzer.domain.profiles import TrialRecord
from model_analyzer.domain.trials import Failure, LoadKind, Trial
from model_analyzer.noise.pooling import pool
from model_analyzer.noise.ties import (
    Comparison,
    assurance,
    assured_first,
    chance_to_meet,
    cheapest_first,
    price_of,
    surely_met,
    tied,
    undefeated,
    undominated,
)
from model_analyzer.search.adaptive.acquisition import (
    Prospect,
    evaluate,
    expected_improvement,
    utility,
)
from model_analyzer.search.adaptive.duration import (
    first_looks_s,
    loading_cost,
    relative_durations,
    round_durations,
)
from model_analyzer.search.adaptive.encoding import Encoding
from model_analyzer.search.adaptive.failure_model import success_chances
from model_analyzer.search.adaptive.goodput_model import with_goodput
from model_analyzer.search.adaptive.precision import relative_errors
from model_analyzer.search.adaptive.queueing_model import Floats
from model_analyzer.search.adaptive.surrogate import THROUGHPUT, Predictions, Surrogate
from model_analyzer.search.plan import PartialPlan, Subject, recorded
from model_analyzer.search.rounds import measured_again
from model_analyzer.search.space import Coordinate
from model_analyzer.search.trial_map import TrialMap

# Random candidates of each decision, and the number of best trials whose neighbours are candidates.
_CANDIDATES = 600
_BEST = 3
# Random candidates are drawn again after so many records: the check whether they are legal is slow.
_DRAW_INTERVAL = 4
# Perturbed candidates: their number, the largest step, and the share of values that change.
_PERTURBED, _STEPS, _CHANGED = 200, 3, 0.5

# The limit of attempts for each trial.
MAX_ATTEMPTS = 4

# Beyond this number of attempts, further trials of a variant count as more expensive.
_VARIANT_ATTEMPTS = 3

# A trial that met the constraints, but with a lower predicted probability, is not credible.
_CREDIBLE = 0.5

# A trial is much more likely to meet the constraints if the chance is higher by this.
_SURER = 0.1

# A lower load of the recommended trial is worth a measurement if its score is lower by at most this
# margin, with at least this probability.
_TIE_MARGIN, _TIE_CHANCE = 0.03, 0.05
# The most values of one dimension that become neighbours of a trial.
_MAX_NEIGHBOURS = 200
# A higher load is worth a measurement if it is higher by these factors: at least, and at most.
_LEAST_HIGHER, _MOST_HIGHER = 1.2, 2.0
# Lower loads are a quarter and a half of the load.
_LOAD_DIVISORS = (4, 2)

# Dimensions of the load: they are cheap to change, because the variant stays.
LOAD_PARAMETERS = ("batch_sizes", *(kind.value for kind in LoadKind))

# The coordinate of the default configuration where the space does not contain it. Under another
# load, it is the part of a coordinate that is its load.
DEFAULT: Coordinate = ()


@dataclass(frozen=True, slots=True)
class Candidate:
    """A trial to measure next, and its expected gain."""

    coordinate: Coordinate
    expected_gain: float


@dataclass(frozen=True, slots=True)
class Assessment:
    """The predictions for all candidates and all measured trials.

    `rows` maps each coordinate to its column in `prospect`, whose scores are relative to the
    `leader`. By column: `score` is the mean score, `feasibility` the probability to meet the
    constraints, `chance` the probability that the trial gives a measurement, `request_s` the
    latency of its requests in seconds (0 for an open loop), and `cost` its cost.
    """

    rows: dict[Coordinate, int]
    leader: Coordinate
    prospect: Prospect
    score: Floats
    feasibility: Floats
    chance: Floats
    request_s: Floats
    cost: Floats

    def feasibility_of(self, coordinate: Coordinate) -> float:
        """The probability that a trial meets all constraints."""
        return float(self.feasibility[self.rows[coordinate]])

    def lead(self, a: Coordinate, b: Coordinate) -> float:
        """The mean score of `a` minus that of `b`."""
        return float(self.score[self.rows[a]] - self.score[self.rows[b]])

    def utility(self, coordinate: Coordinate) -> float:
        """The utility of recommending a trial."""
        return utility(float(self.score[self.rows[coordinate]]), self.feasibility_of(coordinate))


class Knowledge:
    """All outcomes of a search, and the predictions that follow from them.

    `default` is the trial of the default configuration, `default_at` its coordinate. `ranked` are
    the measured coordinates, best mean first; `under_way` are those that wait for an outcome, once
    for each trial, and `most_under_way` is the largest number of them so far.
    """

    def __init__(
        self, subject: Subject, trial_map: TrialMap, names: VariantNames, seed: int
    ) -> None:
        self.goal = subject.goal
        self.in_rounds = subject.in_rounds
        self.records: list[TrialRecord] = []
        self.measured: dict[Coordinate, list[Measurement]] = {}
        self.ranked: Sequence[Coordinate] = ()
        self.under_way: list[Coordinate] = []
        self.most_under_way = 1
        self._means: dict[Coordinate, Measurement] = {}
        self._failed: dict[Coordinate, Failure] = {}
        self._attempts: dict[Coordinate, int] = {}
        self._trials: dict[Coordinate, Trial] = {}
        self._map = trial_map
        self._names = names
        self._seed = seed
        self.default = trial_map.default(names)
        # one coordinate only: with two, the trial would be measured as two trials
        self.default_at = trial_map.coordinate_of(self.default) or DEFAULT
        self._defaults = {self.default_at: self.default}
        self._encoding = Encoding(subject, trial_map.space)
        self._surrogates = [
            Surrogate(
                self._encoding.stations(model),
                is_open=model.settings.load_kind is LoadKind.REQUEST_RATE,
                seed=seed + index,
            )
            for index, model in enumerate(subject.models)
        ]
        self._variant_positions = [
            position
            for position, dimension in enumerate(trial_map.space.dimensions)
            if dimension.parameter not in LOAD_PARAMETERS
        ]
        self._load_positions = [
            position
            for position in range(len(trial_map.space.dimensions))
            if position not in self._variant_positions
        ]
        self._legal: dict[Coordinate, bool] = {}
        self._random_draw: tuple[int, Sequence[Coordinate]] = (-1, ())
        self._loaded = DEFAULT
        self._assessment: Assessment | None = None
        self._recommended: Sequence[Coordinate] = ()
        self._answer: Sequence[Coordinate] = ()

    # -- trials ------------------------------------------------------------------------------

    def measure(self, coordinate: Coordinate, limit_s: float | None = None) -> PartialPlan[None]:
        """Asks for the trial at a coordinate (a repetition after the first time) and records the
        outcome. It may take `limit_s` seconds: see `Trial`.
        """
        if coordinate not in self._trials:
            self._trials[coordinate] = self._trial(coordinate)
        trial = self._next_of(coordinate)
        self._attempts[coordinate] = trial.repetition + 1
        self.under_way.append(coordinate)
        self.most_under_way = max(self.most_under_way, len(self.under_way))
        if limit_s is not None:
            trial = replace(trial, limit_s=limit_s)
        record = yield from recorded(trial)
        self.under_way.remove(coordinate)
        self.records.append(record)
        outcome = record.outcome
        self._assessment, self._recommended, self._answer = None, (), ()
        self._loaded = coordinate
        if isinstance(outcome, Failure):
            self._failed[coordinate] = outcome
            return
        self.measured.setdefault(coordinate, []).append(outcome)
        self._means[coordinate] = pool(self.measured[coordinate])
        self.ranked = self.goal.best_first(self._means, self._means.__getitem__)

    def _next_of(self, coordinate: Coordinate) -> Trial:
        """The trial at a coordinate, for its next measurement."""
        attempts, measured = self.attempts(coordinate), self.measured.get(coordinate, ())
        return measured_again(self._trials[coordinate], attempts, measured)

    @property
    def asked(self) -> int:
        """The number of all trials, those under way included."""
        return len(self.records) + len(self.under_way)

    @property
    def has_new_under_way(self) -> bool:
        """Whether a trial is under way that was never measured."""
        return any(coordinate not in self.measured for coordinate in self.under_way)

    def attempts(self, coordinate: Coordinate) -> int:
        """How often the trial was asked for; failures count."""
        return self._attempts.get(coordinate, 0)

    def trial(self, coordinate: Coordinate) -> Trial:
        """The trial at a coordinate that was asked for."""
        return self._trials[coordinate]

    def mean(self, coordinate: Coordinate) -> Measurement:
        """The mean of all measurements of a trial; rounds are pooled."""
        return self._means[coordinate]

    def _trial(self, coordinate: Coordinate) -> Trial:
        default = self._defaults.get(coordinate)
        return self._map.trial(coordinate, self._names) if default is None else default

    def expected_s(self, coordinate: Coordinate | None) -> float:
        """How long the next measurement of a trial (None: a new one) may take: as long as the
        longest so far; in rounds as the longest first one, or as its further one is planned.
        """
        if coordinate in self.measured:
            runs, planned_s = self.measured[coordinate], self._next_of(coordinate).round_s
            if planned_s is not None:
                beside_s = (run.duration_s - min(m.seconds for m in run.models) for run in runs)
                return planned_s + max(beside_s)
        groups = (runs[:1] if self.in_rounds else runs for runs in self.measured.values())
        return max((run.duration_s for group in groups for run in group), default=0.0)

    def missing_default(self, coordinate: Coordinate) -> Coordinate | None:
        """The default configuration under the load of a measured trial, if it can and has yet to be
        measured there: without it, a gain over the default may come from the load.
        """
        if self._is_of_default(coordinate):
            return None
        at = self._default_like(coordinate)
        is_possible = self._defaults[at].is_legal and self._variant_of(at) not in self._unloadable
        return at if is_possible and at not in self._trials else None

    def missing_comparison(self, coordinate: Coordinate) -> Trial | None:
        """The variant of a measured trial under the load of the default configuration, where the
        default cannot run under the load of the trial, as with larger client batches. None if it
        can, or if both were measured under one load.
        """
        defaults = [c for c in self.ranked if self._is_of_default(c)]
        if not defaults or self._is_of_default(coordinate) or self.missing_default(coordinate):
            return None
        content = self._trials[coordinate].content
        tried = {each.trial.load for each in self.records if each.trial.content == content}
        loads = [self._trials[c].load for c in defaults]
        is_compared = any(load in tried for load in loads)
        return None if is_compared else self._trials[coordinate].under(loads[0])

    def compare(self, trial: Trial, limit_s: float | None = None) -> PartialPlan[None]:
        """Asks for a trial that tells the gain over the default, and nothing to the search: the
        space need not have its load. It may take `limit_s` seconds: see `Trial`.
        """
        self.records.append((yield from recorded(replace(trial, limit_s=limit_s))))

    def _default_like(self, coordinate: Coordinate) -> Coordinate:
        """The coordinate of the default configuration under the load of a measured trial."""
        trial = self.default.under(self._trials[coordinate].load)
        if trial.load == self.default.load:
            return self.default_at
        at = self._map.coordinate_of(trial) or self._load_of(coordinate)
        self._defaults[at] = trial
        return at

    def _is_of_default(self, coordinate: Coordinate) -> bool:
        is_default = self._variant_of(coordinate) == self._variant_of(self.default_at)
        return is_default or not self._is_in_space(coordinate)

    def _is_in_space(self, coordinate: Coordinate) -> bool:
        return len(coordinate) == len(self._map.space.dimensions)

    @property
    def has_everything(self) -> bool:
        """Whether each combination of the space was measured."""
        space = self._map.space
        has_ends = not any(dimension.is_open for dimension in space.dimensions)
        return has_ends and sum(map(self._is_in_space, self.measured)) >= space.size

    @property
    def has_several_loads(self) -> bool:
        """Whether the best trial may be under another load than the default."""
        dimensions = self._map.space.dimensions
        return any(len(dimensions[position].values) > 1 for position in self._load_positions)

    @property
    def recommended(self) -> Sequence[Coordinate]:
        """The recommended coordinate first, then its ties, which need more resources."""
        if not self._recommended:
            self._recommended = self._recommend()
        return self._recommended

    @property
    def answer(self) -> Sequence[Coordinate]:
        """`recommended` at the end of the search. A first look may be luck, so the best trial with
        further rounds goes first, if the first look is not better by more than noise.
        Predictions do not outvote measurements: what these put first in a ranking goes first.
        """
        if not self._answer:
            ties = self._confirmed
            first = self._first_by_measurements(ties[0])
            self._answer = [first, *(c for c in ties if c != first)]
        return self._answer

    def _first_by_measurements(self, chosen: Coordinate) -> Coordinate:
        """The chosen trial, unless other measurements beat it: then the one that a ranking puts
        first.
        """
        comparison, feasible = self.comparison, self.feasible
        if not feasible:
            return chosen
        trial, noise = self._trials.__getitem__, comparison.noise_model
        chance = chance_to_meet(self.goal, self.measured, noise_model=noise)
        sure = assurance(self.goal, self.measured, noise)
        best = undefeated(comparison, feasible, surely_met(self.goal, self.measured, sure))
        first, is_concluded = chosen, chosen in best
        if not is_concluded:
            ties = tied(comparison, assured_first(comparison, best, sure), chance)
            first = cheapest_first(ties, trial, comparison)[0]
        return undominated(comparison, first, feasible, trial, chance, is_concluded=is_concluded)

    @property
    def _confirmed(self) -> Sequence[Coordinate]:
        ties = self.recommended
        if not self.is_first_look(ties[0]):
            return ties
        comparison, assessment = self.comparison, self.assessment()
        confirmed = [
            c
            for c in self.feasible
            if not (self.is_first_look(c) or comparison.is_better(ties[0], c))
        ]
        if not confirmed:
            return ties
        best = max(confirmed, key=assessment.utility)
        return [best, *(c for c in ties if c != best)]

    def is_first_look(self, coordinate: Coordinate) -> bool:
        """Whether a measured trial had only one round."""
        return self.in_rounds and len(self.measured[coordinate]) == 1

    def _recommend(self) -> Sequence[Coordinate]:
        if not self.feasible:
            return self.ranked[:1]
        assessment, comparison = self.assessment(), self.comparison
        best = undefeated(comparison, self.feasible, self._is_credible)
        order = sorted(best, key=lambda coordinate: -assessment.utility(coordinate))

        def lead(a: Coordinate, b: Coordinate) -> float:
            """The lead of `a` over `b`, from the predictions and from their own measurements.

            The smaller one counts for trials of one variant: they differ in the load only, which
            is cheap to change, and a lower load waits less for sure. Otherwise their mean counts.
            """
            leads = assessment.lead(a, b), comparison.lead(a, b)
            is_same = self._variant_of(a) == self._variant_of(b)
            return min(leads, key=abs) if is_same else sum(leads) / 2

        ties = tied(comparison, order, assessment.feasibility_of, lead)
        cheapest, *_ = cheapest_first(ties, self._trials.__getitem__, comparison)
        # a tie of the first under another load may also tie under an even lower load
        variant = self._variant_of(cheapest)
        same_variant = [c for c in best if c != cheapest and self._variant_of(c) == variant]
        lower = tied(comparison, [cheapest, *same_variant], assessment.feasibility_of, lead)
        all_ties = list(dict.fromkeys([*ties, *lower]))
        return cheapest_first(all_ties, self._trials.__getitem__, comparison)

    def _is_credible(self, coordinate: Coordinate) -> bool:
        """Whether a feasible trial met the constraints by more than luck: it is predicted to meet
        them, or it has the maximum number of measurements.
        """
        return (
            self.assessment().feasibility_of(coordinate) >= _CREDIBLE
            or len(self.measured[coordinate]) >= MAX_ATTEMPTS
        )

    @property
    def doubtful(self) -> list[Coordinate]:
        """Feasible trials that are not credible, though better than the recommended one by more
        than noise.
        """
        best, comparison = self.recommended[0], self.comparison
        better = [c for c in self.feasible if comparison.is_better(c, best)]
        return [c for c in better if not self._is_credible(c)]

    @property
    def comparison(self) -> Comparison[Coordinate]:
        """Compares trials by their own measurements, without predictions."""
        return Comparison(self.goal, self.measured)

    def own_chance(self, coordinate: Coordinate) -> float:
        """The probability that a measured trial meets the constraints, by the measurements without
        predictions.
        """
        return chance_to_meet(self.goal, self.measured)(coordinate)

    @property
    def contenders(self) -> list[Coordinate]:
        """Feasible trials to measure again because they look better than the recommended one:
        those with one measurement and a lead above its noise, those that are as good and much more
        likely to meet the constraints, and the doubtful ones.
        """
        best, comparison = self.recommended[0], self.comparison
        single = [c for c in self.feasible if self.attempts(c) == 1]
        chance = chance_to_meet(self.goal, self.measured, noise_model=comparison.noise_model)
        unconfirmed = [
            c
            for c in single
            if 2 * comparison.lead(c, best) > comparison.apart(c, best)
            or (comparison.lead(c, best) >= 0 and chance(c) > chance(best) + _SURER)
        ]
        doubtful = [c for c in self.doubtful if self.attempts(c) < MAX_ATTEMPTS]
        return list(dict.fromkeys([*unconfirmed, *doubtful]))

    @property
    def lower_loads(self) -> list[Coordinate]:
        """Unmeasured lower loads of the recommended trial that may tie with it."""
        best = self.recommended[0]
        return [c for c in self._lower_loads(best) if c not in self._trials and self._may_tie(c)]

    def _may_tie(self, coordinate: Coordinate) -> bool:
        """Whether a trial may be feasible and within the tie margin of the recommended one."""
        assessment = self.assessment()
        score, best = assessment.prospect.score, assessment.rows[self.recommended[0]]
        row = assessment.rows[coordinate]
        as_good = assessment.prospect.passes[:, row] & (
            score[:, row] >= score[:, best] - _TIE_MARGIN
        )
        return float(as_good.mean()) >= _TIE_CHANCE

    @property
    def higher_loads(self) -> list[Coordinate]:
        """The recommended trial under the highest load that keeps its latencies within the limits
        even if throughput grows no more, if it is much higher and unmeasured.

        A single slow look at another variant may make all higher loads look hopeless; this one
        costs no loading.
        """
        best = self.recommended[0]
        if not (self.is_feasible and self._is_in_space(best) and THROUGHPUT in self.goal.wishes):
            return []
        factor = min(self._room_of_latency(best), _MOST_HIGHER)
        higher = list(best)
        for position, dimension in enumerate(self._map.space.dimensions):
            if dimension.parameter == LoadKind.CONCURRENCY.value:
                now = dimension.values[best[position]]
                higher[position] = bisect_right(dimension.values, factor * now) - 1
                if dimension.values[higher[position]] < _LEAST_HIGHER * now:
                    return []
        found = tuple(higher)
        return [found] if found not in self._trials and self._is_legal(found) else []

    def _room_of_latency(self, coordinate: Coordinate) -> float:
        """How many times its latencies would meet the limits; 1 without such limits."""
        mean = self.mean(coordinate)
        return min(
            (
                constraint.maximum / value
                for index, model in enumerate(self.goal.models)
                for constraint in model.constraints
                if constraint.tag.startswith(LATENCY)
                and constraint.maximum is not None
                and (value := mean.model_value(index, constraint.tag))
            ),
            default=1.0,
        )

    def _lower_loads(self, coordinate: Coordinate) -> list[Coordinate]:
        """The same coordinate with the concurrencies nearest to a quarter and to half of its own.

        Request rates have no lower loads: throughput follows the rate whatever the variant.
        """
        coordinates: list[Coordinate] = []
        concurrencies = [
            (position, dimension.values)
            for position, dimension in enumerate(self._map.space.dimensions)
            if dimension.parameter == LoadKind.CONCURRENCY.value
        ]
        is_searched = self._is_in_space(coordinate) and concurrencies
        for divisor in _LOAD_DIVISORS if is_searched else ():
            lower = list(coordinate)
            for position, values in concurrencies:
                target = math.log(values[coordinate[position]] / divisor)
                distances = [abs(math.log(value) - target) for value in values]
                lower[position] = distances.index(min(distances))
            if tuple(lower) != coordinate and self._is_legal(tuple(lower)):
                coordinates.append(tuple(lower))
        return list(dict.fromkeys(coordinates))

    @property
    def feasible(self) -> list[Coordinate]:
        """Coordinates whose mean meets the constraints, best mean first."""
        # feasible coordinates come before all others
        return list(takewhile(lambda c: self.goal.passes(self._means[c]), self.ranked))

    # -- predictions -------------------------------------------------------------------------

    @property
    def is_feasible(self) -> bool:
        """Whether any measured trial meets the constraints in the mean."""
        return self.goal.passes(self.mean(self.ranked[0]))

    @property
    def is_answered(self) -> bool:
        """Whether a measured trial meets the constraints and is credible."""
        return (
            self.is_feasible
            and max(map(self.assessment().feasibility_of, self.feasible)) >= _CREDIBLE
        )

    def best_candidate(self) -> Candidate | None:
        """The candidate with the highest expected gain for its cost; None if none gains."""
        assessment = self.assessment()
        gain = self._gains(assessment) * assessment.chance
        tried = [assessment.rows[coordinate] for coordinate in self._trials]
        gain[tried] *= self._remaining_information(assessment, tried)
        best = int(np.argmax(gain / assessment.cost))
        if gain[best] <= 0:
            return None
        return Candidate(list(assessment.rows)[best], float(gain[best]))

    def expected_gains(self) -> Mapping[Coordinate, float]:
        """The expected gain of each measured trial over the leader, which is not among them."""
        assessment = self.assessment()
        gains = self._gains(assessment)
        return {c: float(gains[assessment.rows[c]]) for c in self.ranked if c != assessment.leader}

    def _gains(self, assessment: Assessment) -> Floats:
        """The expected gain of each trial over the leader and over what is under way."""
        return expected_improvement(
            assessment.prospect,
            assessment.rows[assessment.leader],
            self.tie_margins(assessment.leader),
            under_way=[assessment.rows[coordinate] for coordinate in self.under_way],
            is_answered=self.is_answered,
        )

    def _remaining_information(self, assessment: Assessment, tried: Sequence[int]) -> Floats:
        """For each measured trial, the share (0 to 1) of its uncertainty that a repetition removes.

        0 for failed trials and for those at the limit of attempts.
        """
        score, shortfall = (
            assessment.prospect.score[:, tried],
            assessment.prospect.shortfall[:, tried],
        )
        spread = np.hypot(score.std(axis=0), shortfall.std(axis=0) / 100)
        share = spread / np.maximum(np.hypot(spread, assessment.prospect.noise), 1e-12)
        is_over = [c in self._failed or self.attempts(c) >= MAX_ATTEMPTS for c in self._trials]
        return np.where(is_over, 0.0, share)

    def tie_margins(self, best: Coordinate) -> Floats:
        """By trial, the lead over `best` that is no gain, since `best` would still be recommended:
        0 unless the trial is the same variant under a higher load, and so with a longer latency.
        """
        assessment, variant = self.assessment(), self._variant_of(best)
        tie_margins = np.zeros(len(assessment.rows))
        least_s = assessment.request_s[assessment.rows[best]]
        for coordinate, row in assessment.rows.items():
            request_s = assessment.request_s[row]
            if request_s > least_s and self._variant_of(coordinate) == variant:
                tie_margins[row] = price_of(least_s / request_s)
        return tie_margins

    def assessment(self) -> Assessment:
        """The predictions, computed once after each outcome."""
        if self._assessment is None:
            self._assessment = self._assess()
        return self._assessment

    def _most_credible(
        self, predictions: Sequence[Predictions], rows: Mapping[Coordinate, int]
    ) -> Coordinate:
        """The measured trial that is predicted to be the best: by posterior mean, so that one lucky
        measurement does not decide. Only feasible trials count, if there are any.
        """
        if not self.is_feasible:
            return self.ranked[0]
        feasible = self.feasible
        columns = [rows[coordinate] for coordinate in feasible]
        prospect = evaluate(self.goal, [each.take(columns) for each in predictions], 0)
        # an answer that violates a constraint is worth nothing
        value = prospect.passes.mean(axis=0) * np.exp(prospect.score.mean(axis=0))
        return feasible[int(np.argmax(value))]

    def _assess(self) -> Assessment:
        """Updates the surrogates, and predicts all candidates and measured trials."""
        rows = {coordinate: row for row, coordinate in enumerate(dict.fromkeys(self._candidates()))}
        candidates = [*filter(self._is_in_space, rows)]
        defaults = [
            self._defaults.get(at, self.default) for at in rows if not self._is_in_space(at)
        ]
        measured = [measurement for group in self.measured.values() for measurement in group]
        repeated = [rows[c] for c, group in self.measured.items() for _ in group]
        measured_rows = np.array(repeated, dtype=np.intp)
        predictions, chance = [], np.ones(len(rows))
        waiting, lengths = np.zeros(len(rows)), np.zeros(len(rows))
        for index, surrogate in enumerate(self._surrogates):
            points = self._encoding.encode(index, candidates, defaults)
            trained = points.take(measured_rows)
            values = self._values(index, measured)
            shares = self._encoding.busy_shares(index, measured, trained, values[THROUGHPUT])
            groups = [*self.measured.values()]
            relative = {tag: relative_errors(groups, tag, index) for tag in values}
            surrogate.learn(trained, values, shares, relative)
            predicted = surrogate.predict(points)
            predictions.append(with_goodput(predicted, self.goal.models[index], measured, index))
            request_s = surrogate.waiting(points, predictions[-1])
            waiting = np.maximum(waiting, request_s)
            if self.in_rounds:
                load = points.settings.flight / points.settings.client
                lengths = np.maximum(lengths, first_looks_s(load, request_s))
            success = success_chances(
                points,
                [rows[c] for c in self.measured],
                {rows[c]: failure for c, failure in self._failed.items()},
            )
            chance = np.minimum(chance, success)
        is_apart = self.default_at == DEFAULT
        chance[rows[DEFAULT]] *= is_apart and self.default.is_legal
        unloadable = self._unloadable
        chance[[row for c, row in rows.items() if self._variant_of(c) in unloadable]] = 0
        leader = self._most_credible(predictions, rows)
        evaluation = evaluate(self.goal, predictions, rows[leader])
        measuring = np.array([max(each.duration_s - each.loading_s, 0.0) for each in measured])
        if self.in_rounds and measuring.any():
            for coordinate in self.measured:
                lengths[rows[coordinate]] = self._next_of(coordinate).round_s
            durations = round_durations(lengths, waiting) / measuring.mean()
        else:
            durations = relative_durations(waiting, waiting[measured_rows], measuring)
        costs = self._costs(candidates, durations, loading_cost(self._loading_s(), measuring))
        score, feasibility = evaluation.score.mean(axis=0), evaluation.passes.mean(axis=0)
        return Assessment(rows, leader, evaluation, score, feasibility, chance, waiting, costs)

    @property
    def _unloadable(self) -> set[tuple[int, ...]]:
        """The variants that did not load under one load, and so do not under any other."""
        failed = {self._variant_of(c) for c, each in self._failed.items() if each.is_of_variant}
        return failed - {self._variant_of(c) for c in self.measured}

    def _values(self, index: int, measured: Sequence[Measurement]) -> dict[str, Floats]:
        """The measured values of one model by metric tag, without goodput, which follows from the
        others. NaN where a measurement lacks the metric; metrics that all lack are left out.
        """
        values = {}
        for tag in dict.fromkeys((THROUGHPUT, *self.goal.models[index].tags)):
            if tag == GOODPUT:
                continue
            column = [each.model_value(index, tag) for each in measured]
            if any(value is not None for value in column):
                values[tag] = np.array([math.nan if value is None else value for value in column])
        return values

    def _costs(self, candidates: Sequence[Coordinate], measuring: Floats, load: float) -> Floats:
        """The cost of each trial, defaults first: `measuring` by trial, plus `load` if its variant
        is not loaded. The cost rises after some trials of a variant: they add little.
        """
        index = np.array(candidates, dtype=np.intp).reshape(
            len(candidates), len(self._map.space.dimensions)
        )
        defaults = len(measuring) - len(candidates)
        variants = [*defaults * [()], *map(tuple, index[:, self._variant_positions].tolist())]
        loaded = self._variant_of(self._loaded)
        missing = np.array([variant != loaded for variant in variants])
        times: Counter[tuple[int, ...]] = Counter()
        for coordinate, asked in self._attempts.items():
            times[self._variant_of(coordinate)] += asked
        spent = np.array([times[variant] for variant in variants])
        return (measuring + load * missing) * np.maximum(spent / _VARIANT_ATTEMPTS, 1)

    def _loading_s(self) -> Floats:
        """The loading time of each measurement whose variants differ from the previous trial's."""
        return np.array(
            [
                now.outcome.loading_s
                for before, now in pairwise(self.records)
                if isinstance(now.outcome, Measurement)
                and now.trial.content != before.trial.content
            ]
        )

    def _variant_of(self, coordinate: Coordinate) -> tuple[int, ...]:
        """The values of a coordinate that identify its variant; empty for the default."""
        if not self._is_in_space(coordinate):
            return ()
        return tuple(coordinate[position] for position in self._variant_positions)

    def _load_of(self, coordinate: Coordinate) -> tuple[int, ...]:
        return tuple(coordinate[position] for position in self._load_positions)

    # -- candidates --------------------------------------------------------------------------

    def _candidates(self) -> Iterator[Coordinate]:
        """The defaults, all tried trials, neighbours of the best ones, and random trials."""
        yield DEFAULT
        yield from sorted(self._trials, key=self._is_in_space)
        for known in self.ranked:
            yield from self._lower_loads(known)
        for leader in self.ranked[:_BEST]:
            if self._is_in_space(leader):
                yield from self._neighbours(leader)
        sizes = np.array([len(dimension.values) for dimension in self._map.space.dimensions])
        generator = np.random.default_rng([self._seed, len(self.records)])
        yield from self._perturbed(sizes, generator)
        yield from self._random(sizes, len(self.records) // _DRAW_INTERVAL)

    def _random(self, sizes: npt.NDArray[np.intp], draw: int) -> Sequence[Coordinate]:
        """Random legal trials; the same `draw` gives the same trials."""
        if self._random_draw[0] != draw:
            generator = np.random.default_rng([self._seed, draw])
            rows = generator.integers(0, sizes, size=(4 * _CANDIDATES, len(sizes)))
            self._random_draw = draw, tuple(self._legal_rows(rows, _CANDIDATES))
        return self._random_draw[1]

    def _perturbed(
        self, sizes: npt.NDArray[np.intp], generator: np.random.Generator
    ) -> Iterator[Coordinate]:
        """Legal trials whose values differ from those of the best trials by a few steps."""
        best = [*filter(self._is_in_space, self.ranked[:_BEST])]
        if best:
            count = 4 * _PERTURBED
            start = np.array(best)[generator.integers(0, len(best), size=count)]
            steps = generator.integers(-_STEPS, _STEPS + 1, size=start.shape)
            steps *= generator.random(start.shape) < _CHANGED
            yield from self._legal_rows(np.clip(start + steps, 0, sizes - 1), _PERTURBED)

    def _legal_rows(self, rows: npt.NDArray[np.intp], most: int) -> Iterator[Coordinate]:
        """The first `most` distinct rows that are legal coordinates."""
        count = 0
        for row in dict.fromkeys(map(tuple, rows.tolist())):
            if count < most and self._is_legal(row):
                count += 1
                yield row

    def _neighbours(self, coordinate: Coordinate) -> Iterator[Coordinate]:
        """Legal coordinates that differ in one value. A dimension with many values contributes the
        nearest ones and a spread of the others.
        """
        for position, dimension in enumerate(self._map.space.dimensions):
            for index in _spread(coordinate[position], len(dimension.values)):
                near = (*coordinate[:position], index, *coordinate[position + 1 :])
                if self._is_legal(near):
                    yield near

    def _is_legal(self, coordinate: Coordinate) -> bool:
        if coordinate not in self._legal:
            self._legal[coordinate] = self._map.is_legal(coordinate)
        return self._legal[coordinate]


def _spread(index: int, count: int) -> Sequence[int]:
    """Indices of `count` values: all of them, or the nearest to `index` plus as many spread out."""
    if count <= _MAX_NEIGHBOURS:
        return range(count)
    around = _MAX_NEIGHBOURS // 4
    near = range(max(index - around, 0), min(index + around + 1, count))
    return sorted({*near, *range(0, count, -(-count // (2 * around))), count - 1})
