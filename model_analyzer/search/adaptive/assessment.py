# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""What the outcomes of an adaptive search predict for all that it could measure, and how likely
each trial fails.

A variant that needs more memory than one that did not load does not load either. Goodput is
predicted by its definition, the part of the predicted throughput within the limits: it is 0
wherever latencies are beyond them, by whatever, so what was measured says little about other
trials. Throughput and latencies follow laws, so they tell where it begins.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from statistics import median

import numpy as np
import numpy.typing as npt

from model_analyzer.domain.goals import Goal, ModelGoal
from model_analyzer.domain.goodput import GOODPUT, request_limits
from model_analyzer.domain.measurements import Measurement
from model_analyzer.domain.metrics import canonical
from model_analyzer.domain.trials import Failure, FailureReason, LoadKind, Trial
from model_analyzer.domain.words import number_text
from model_analyzer.search.adaptive.candidates import (
    Candidates,
    Prospect,
    evaluate,
    expected_improvement,
    first_looks_s,
    loading_cost,
    relative_durations,
    round_durations,
    utility,
)
from model_analyzer.search.adaptive.donors import Donor, anchored, donors_among, foretell, interval
from model_analyzer.search.adaptive.encoding import DEFAULT, Encoding, Lattice, without_fields
from model_analyzer.search.adaptive.outcomes import Outcomes, relative_errors
from model_analyzer.search.adaptive.queueing_model import Floats, Settings
from model_analyzer.search.adaptive.surrogate import THROUGHPUT, Points, Predictions, Surrogate
from model_analyzer.search.plan import Subject
from model_analyzer.search.trial_map import Coordinate, Space

# The deviation of the logarithms of latencies, if it was not measured, and at least.
_USUAL, _LEAST = 0.3, 0.03
# Where the 99th percentile of a normal distribution lies, in deviations.
_AT_P99 = 2.326
# A normal distribution is nearly a logistic one of this steepness.
_STEEPNESS = 1.702
_PERCENTILE = re.compile(r"_p(\d+)$")


def with_goodput(
    predictions: Predictions, goal: ModelGoal, measured: Sequence[Measurement], index: int
) -> Predictions:
    """The predictions of the model with that index, with goodput if it is judged by that and has
    it: by throughput and latencies, which are taken as lognormal. Without it if a latency has no
    predictions.
    """
    if GOODPUT not in goal.tags or all(m.model_value(index, GOODPUT) is None for m in measured):
        return predictions
    limits = request_limits(goal)
    tags = {family: _predicted(goal, family, predictions) for family in limits}
    if "" in tags.values():
        return predictions
    within: Floats = predictions.values[THROUGHPUT]
    for family, limit in limits.items():
        tag = tags[family]
        found = _PERCENTILE.search(tag)
        rank = int(found[1]) / 100 if found else 0.5  # an average is nearly a median
        deviations = [*_deviations(measured, index, family)]
        deviation = max(median(deviations), _LEAST) if deviations else _USUAL
        room = np.log(limit / np.maximum(predictions.values[tag], 1e-9)) / deviation
        within = within / (1 + (1 - rank) / rank * np.exp(np.clip(-_STEEPNESS * room, -50, 50)))
    return replace(
        predictions,
        values={**predictions.values, GOODPUT: within},
        noise={**predictions.noise, GOODPUT: predictions.noise[THROUGHPUT]},
    )


def _predicted(goal: ModelGoal, family: str, predictions: Predictions) -> str:
    """The latency of the family that a constraint is about and that has predictions; "" if none."""
    tags = (canonical(constraint.tag) for constraint in goal.constraints)
    return next(
        (tag for tag in tags if tag.rpartition("_")[0] == family and tag in predictions.values), ""
    )


def _deviations(measured: Sequence[Measurement], index: int, family: str) -> Iterator[float]:
    """The deviation of the logarithms of latencies in each measurement that has it."""
    for each in measured:
        p50, p99 = (each.model_value(index, f"{family}_p{rank}") for rank in (50, 99))
        if p50 and p99:
            yield math.log(max(p99 / p50, 1.0)) / _AT_P99


# Failures that the variant causes, whatever the load.
_VARIANT_FAILURES = frozenset(
    {FailureReason.MODEL_NOT_LOADED, FailureReason.LOAD_TIMEOUT, FailureReason.SERVER_DIED}
)

# The risk of each doubling of a size beyond the trials that worked, and the most doublings that
# count.
_RISK, _FAR = 0.015, 8.0

# Hypotheses about the memory of a variant: an instance needs a fixed amount, plus a part of it for
# each inference of its largest batch. The part is e to a power from this range. In some hypotheses
# the number of instances hardly matters, in some the batches hardly matter.
_HYPOTHESES = 240
_INFERENCE_PART = (-6.5, -0.5)
_ONE_SIZE_ONLY = 0.1
_HARDLY = 0.02
# The probability that a failure has another reason.
_OTHER_REASON = 0.02


def success_chances(points: Points, worked: list[int], failed: dict[int, Failure]) -> Floats:
    """The probability that each point gives a measurement.

    `worked` are the rows of `points` that gave one, `failed` those that failed. More instances and
    larger batches take more memory, and clients fail at higher loads first.
    """
    settings = points.settings
    sizes = np.log2(np.concatenate([settings.instances, settings.batch], axis=1))
    chance = 1 - _RISK * np.minimum(_steps_beyond(sizes, worked), _FAR)
    not_loaded = [row for row, failure in failed.items() if failure.reason in _VARIANT_FAILURES]
    if not_loaded:
        chance = np.minimum(chance, _loads(settings, worked, not_loaded))
    scale = np.concatenate([sizes, np.log2(settings.flight)[:, None]], axis=1)
    for row, failure in failed.items():
        if failure.reason not in _VARIANT_FAILURES:
            # doublings up to the failed load; a different variant may well handle that load
            to_failure = np.maximum(scale[row] - scale, 0).sum(axis=1)
            to_failure = to_failure + 0.5 * np.abs(sizes - sizes[row]).sum(axis=1)
            beyond = np.minimum(_steps_beyond(scale, worked), _FAR)
            total = to_failure + beyond
            share = np.where(total > 0, to_failure / np.maximum(total, 1e-9), 0.5)
            chance = np.minimum(chance, share**2)
    return chance


def _loads(settings: Settings, worked: list[int], failed: list[int]) -> Floats:
    """The probability that variants load: the share of all hypotheses about their memory and about
    the available memory that agree with the outcomes so far.
    """
    needs = _needs(settings)
    enough_memory = needs[:, worked].max(axis=1) if worked else needs.min(axis=1) - 1
    # where more has worked, memory is not the reason
    lacking = [row for row in failed if (needs[:, row] > enough_memory).any()]
    if not lacking:
        return np.ones(needs.shape[1])
    too_much_memory = needs[:, lacking].min(axis=1)
    # the available memory is uniformly distributed between the two
    room = np.maximum(too_much_memory - enough_memory, 0)
    if not room.any():
        return np.full(needs.shape[1], 0.5)
    enough = np.clip((too_much_memory[:, None] - needs) / np.maximum(room, 1e-9)[:, None], 0, 1)
    chance = np.asarray((room[:, None] * enough).sum(axis=0) / room.sum())
    has_worked = np.zeros(len(chance), dtype=bool)
    has_worked[worked] = True
    return np.where(has_worked, 1.0, (1 - _OTHER_REASON) * chance)


def _needs(settings: Settings) -> Floats:
    """The logarithm of the memory that each variant (columns) needs, by hypothesis (rows)."""
    generator = np.random.default_rng(0)
    stations = settings.instances.shape[1]
    shape = (_HYPOTHESES, stations)
    part = np.exp(generator.uniform(*_INFERENCE_PART, shape))
    fixed = np.exp(generator.standard_normal(shape)) if stations > 1 else np.ones(shape)
    power = np.ones(_HYPOTHESES)
    count = int(_HYPOTHESES * _ONE_SIZE_ONLY)
    power[:count] = _HARDLY
    part[count : 2 * count] *= _HARDLY
    need = np.zeros((_HYPOTHESES, len(settings)))
    for station in range(stations):
        per_instance = fixed[:, station, None] * (
            1 + part[:, station, None] * settings.batch[:, station]
        )
        need += settings.instances[:, station] ** power[:, None] * per_instance
    return np.log(need)


def _steps_beyond(sizes: Floats, worked: list[int]) -> Floats:
    """By how many doublings each row is larger than the nearest row that worked."""
    beyond = np.full(len(sizes), np.inf)
    for row in np.unique(sizes[worked], axis=0):
        beyond = np.minimum(beyond, np.maximum(sizes - row, 0).sum(axis=1))
    return beyond


# Beyond this number of attempts, further trials of a variant count as more expensive.
_VARIANT_ATTEMPTS = 3

# Trials after which donors propose no more.
_PROPOSALS = 2
# The weight of the logarithm of the chance to be feasible in a proposal.
_FEASIBLE, _TINY = 3.0, 1e-3
_LEAST_GAIN = 0.01  # of a proposal


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


class Assessor:
    """Learns from outcomes, and predicts: it keeps one surrogate for each model, and where the last
    candidates were drawn.
    """

    def __init__(self, subject: Subject, space: Space, lattice: Lattice, seed: int) -> None:
        self._goal = subject.goal
        self._in_rounds = subject.in_rounds
        self._lattice = lattice
        self._candidates = Candidates(lattice, seed)
        self._encoding = Encoding(subject, space)
        self._surrogates = [
            Surrogate(
                self._encoding.stations(model),
                is_open=model.settings.load_kind is LoadKind.REQUEST_RATE,
                seed=seed + index,
            )
            for index, model in enumerate(subject.models)
        ]
        self._donors: Sequence[Donor] = ()
        if len(subject.models) == 1:  # nothing is known of models that share a server
            (model,) = subject.models
            known = subject.earlier.beside(subject.setup)
            stations = self._encoding.stations(model)
            self._donors = [*donors_among(known, stations, model.settings.load_kind)]

    def assess(self, outcomes: Outcomes) -> Assessment:
        """Updates the surrogates, and predicts all candidates and measured trials."""
        drawn = dict.fromkeys(self._candidates.after(outcomes))
        rows = {coordinate: row for row, coordinate in enumerate(drawn)}
        candidates, defaults = self._parted(rows)
        measured, measured_rows = _measured(outcomes, rows)
        predictions, chance = [], np.ones(len(rows))
        waiting, lengths = np.zeros(len(rows)), np.zeros(len(rows))
        for index, surrogate in enumerate(self._surrogates):
            points = self._encoding.encode(index, candidates, defaults)
            trained = points.take(measured_rows)
            values = _values(self._goal, index, measured)
            shares = self._encoding.busy_shares(index, measured, trained, values[THROUGHPUT])
            groups = [*outcomes.measured.values()]
            relative = {tag: relative_errors(groups, tag, index) for tag in values}
            surrogate.learn(trained, values, shares, relative)
            predicted = surrogate.predict(points)
            predictions.append(with_goodput(predicted, self._goal.models[index], measured, index))
            request_s = surrogate.waiting(points, predictions[-1])
            waiting = np.maximum(waiting, request_s)
            if self._in_rounds:
                load = points.settings.flight / points.settings.client
                lengths = np.maximum(lengths, first_looks_s(load, request_s))
            success = success_chances(
                points,
                [rows[c] for c in outcomes.measured],
                {rows[c]: failure for c, failure in outcomes.failed.items()},
            )
            chance = np.minimum(chance, success)
        chance[self._impossible(outcomes, rows)] = 0
        leader = _most_credible(outcomes, predictions, rows)
        evaluation = evaluate(self._goal, predictions, rows[leader])
        measuring = np.array([max(each.duration_s - each.loading_s, 0.0) for each in measured])
        if self._in_rounds and measuring.any():
            durations = _round_durations(outcomes, rows, lengths, waiting) / measuring.mean()
        else:
            durations = relative_durations(waiting, waiting[measured_rows], measuring)
        loading = loading_cost(_loading_s(outcomes), measuring)
        costs = _costs(outcomes, candidates, durations, loading)
        score, feasibility = evaluation.score.mean(axis=0), evaluation.passes.mean(axis=0)
        return Assessment(rows, leader, evaluation, score, feasibility, chance, waiting, costs)

    def _parted(self, rows: Iterable[Coordinate]) -> tuple[Sequence[Coordinate], Sequence[Trial]]:
        """The coordinates in the space, and the trials of the defaults, which are not."""
        lattice = self._lattice
        candidates = [at for at in rows if lattice.is_in_space(at)]
        return candidates, [lattice.default_trial(at) for at in rows if not lattice.is_in_space(at)]

    def propose(
        self, outcomes: Outcomes, assessment: Assessment, *, is_answered: bool
    ) -> tuple[Coordinate, float] | None:
        """What the donors predict to be the best of all that was never tried, and its expected
        gain; None if they expect none, or after `_PROPOSALS` trials. `is_answered`: see
        `expected_improvement`.
        """
        if not self._donors or outcomes.asked > _PROPOSALS:
            return None
        rows = assessment.rows
        points = without_fields(self._encoding.encode(0, *self._parted(rows)))
        measured, measured_rows = _measured(outcomes, rows)
        values = _values(self._goal, 0, measured)
        predicted = anchored(self._donors, points, points.take(measured_rows), values)
        if predicted is None:
            return None
        prospect = evaluate(self._goal, [predicted], rows[assessment.leader])
        # the score of a multiple is limited, but its logarithm is not
        ratio = np.log((2 + prospect.score) / np.maximum(2 - prospect.score, _TINY))
        chance = np.maximum(prospect.passes.mean(axis=0) * assessment.chance, _TINY)
        # cautious: what the donors know well comes first
        value = ratio.mean(axis=0) - ratio.std(axis=0) + _FEASIBLE * np.log(chance)
        value[[rows[at] for at in outcomes.tried]] = -np.inf
        best = int(np.argmax(value))
        none = np.zeros(len(rows))
        leader = rows[assessment.leader]
        gain = expected_improvement(prospect, leader, none, is_answered=is_answered)[best]
        return ([*rows][best], float(gain)) if gain >= _LEAST_GAIN else None

    def foretold(self, trial: Trial, measured: Measurement) -> str:
        """What the donors alone say about a trial, beside what was measured; "" without donors."""
        if not self._donors:
            return ""
        model, value = trial.workloads[0].variant.model, measured.model_value(0, THROUGHPUT)
        samples = foretell(self._donors, model, trial.setup.kind, [trial])[THROUGHPUT]
        low, _, high = map(number_text, interval(samples))
        return (
            f"Predicted before measuring: {low} to {high} inferences/s for {trial}; measured"
            f" {number_text(value or 0.0)}"
        )

    def _impossible(self, outcomes: Outcomes, rows: Mapping[Coordinate, int]) -> list[int]:
        """The columns of what cannot be measured: the default where it is illegal or has another
        coordinate, and variants that do not load.
        """
        lattice, unloadable = self._lattice, outcomes.unloadable
        is_possible = lattice.default_at == DEFAULT and lattice.default.is_legal
        default = [] if is_possible else [rows[DEFAULT]]
        return [*default, *(row for c, row in rows.items() if lattice.variant(c) in unloadable)]


def _measured(
    outcomes: Outcomes, rows: Mapping[Coordinate, int]
) -> tuple[Sequence[Measurement], npt.NDArray[np.intp]]:
    """All single measurements, and the column of each."""
    measured = [measurement for group in outcomes.measured.values() for measurement in group]
    repeated = [rows[c] for c, group in outcomes.measured.items() for _ in group]
    return measured, np.array(repeated, dtype=np.intp)


def _values(goal: Goal, index: int, measured: Sequence[Measurement]) -> dict[str, Floats]:
    """The measured values of one model by metric tag, without goodput, which follows from the
    others. NaN where a measurement lacks the metric; metrics that all lack are left out.
    """
    values = {}
    for tag in dict.fromkeys((THROUGHPUT, *goal.models[index].tags)):
        if tag == GOODPUT:
            continue
        column = [each.model_value(index, tag) for each in measured]
        if any(value is not None for value in column):
            values[tag] = np.array([math.nan if value is None else value for value in column])
    return values


def _most_credible(
    outcomes: Outcomes, predictions: Sequence[Predictions], rows: Mapping[Coordinate, int]
) -> Coordinate:
    """The measured trial that is predicted to be the best: by posterior mean, so that one lucky
    measurement does not decide. Only feasible trials count, if there are any.
    """
    if not outcomes.is_feasible:
        return outcomes.ranked[0]
    feasible = outcomes.feasible
    columns = [rows[coordinate] for coordinate in feasible]
    prospect = evaluate(outcomes.goal, [each.take(columns) for each in predictions], 0)
    # an answer that violates a constraint is worth nothing
    value = prospect.passes.mean(axis=0) * np.exp(prospect.score.mean(axis=0))
    return feasible[int(np.argmax(value))]


def _round_durations(
    outcomes: Outcomes, rows: Mapping[Coordinate, int], first_s: Floats, request_s: Floats
) -> Floats:
    """The durations of the next rounds of all trials in seconds; `first_s` are the lengths of first
    ones.
    """
    lengths_s = first_s.copy()
    for coordinate in outcomes.measured:
        lengths_s[rows[coordinate]] = outcomes.next_of(coordinate).round_s
    return round_durations(lengths_s, request_s)


def _costs(
    outcomes: Outcomes, candidates: Sequence[Coordinate], measuring: Floats, load: float
) -> Floats:
    """The cost of each trial, defaults first: `measuring` by trial, plus `load` if its variant is
    not loaded. The cost rises after some trials of a variant: they add little.
    """
    lattice = outcomes.lattice
    index = np.array(candidates, dtype=np.intp).reshape(len(candidates), len(lattice.dimensions))
    defaults = len(measuring) - len(candidates)
    variants = [*defaults * [()], *map(tuple, index[:, lattice.variant_positions].tolist())]
    loaded = lattice.variant(outcomes.loaded)
    missing = np.array([variant != loaded for variant in variants])
    times: Counter[tuple[int, ...]] = Counter()
    for coordinate in outcomes.tried:
        times[lattice.variant(coordinate)] += outcomes.attempts(coordinate)
    spent = np.array([times[variant] for variant in variants])
    return (measuring + load * missing) * np.maximum(spent / _VARIANT_ATTEMPTS, 1)


def _loading_s(outcomes: Outcomes) -> Floats:
    """The loading time of each measurement whose variants differ from the previous trial's."""
    return np.array(
        [
            now.outcome.loading_s
            for before, now in pairwise(outcomes.records)
            if isinstance(now.outcome, Measurement) and now.trial.content != before.trial.content
        ]
    )
