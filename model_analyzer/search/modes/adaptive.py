# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The adaptive search: it measures the trial with the highest expected improvement.

After every outcome the search updates a surrogate of the server (`surrogate`), computes the
expected improvement of each candidate (`acquisition`), and measures the best candidate, until no
candidate is worth a measurement. Then it repeats the best trials until the winner is clear
(`finalists`).
"""

from __future__ import annotations

import logging
import math
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from itertools import chain, count, islice

from model_analyzer.domain.arrivals import is_random
from model_analyzer.domain.models import VariantNames
from model_analyzer.domain.profiles import Outlook, StopReason
from model_analyzer.domain.trials import Trial
from model_analyzer.search.adaptive.encoding import LOAD_PARAMETERS
from model_analyzer.search.adaptive.knowledge import Candidate, Knowledge
from model_analyzer.search.adaptive.recommendation import MAX_ATTEMPTS
from model_analyzer.search.adaptive.stopping import (
    SAFE,
    conclude,
    contenders,
    explanation,
    has_stalled,
    is_late,
    is_settled,
    is_sure,
    is_unconfirmed,
    most_trials,
    outlook_of,
    repetitions,
)
from model_analyzer.search.modes.mode import Mode
from model_analyzer.search.plan import (
    SEED,
    LearningPlan,
    PartialPlan,
    PlannedSearch,
    log_skipped,
    side_by_side,
)
from model_analyzer.search.trial_map import Coordinate, Space, TrialMap

log = logging.getLogger(__name__)
# The conclusion has its own logger, for readers who see the single steps elsewhere.
conclusions = logging.getLogger("model_analyzer.search.conclusions")

# Load steps per doubling, where the user lists no loads.
LOAD_STEPS = 8

# The least expected gain of a candidate while there is no answer.
_LEAST_WORTH = 0.0015
# A candidate with at least this expected gain is measured before repetitions of the best trial,
# which may not be the best for long.
_GREAT_GAIN = 0.1

# Trials reserved for repetitions of the best, by noise level (a standard deviation, as a fraction
# of the value): noisier measurements need more. At most a third of all trials is reserved.
_REPETITIONS = ((0.03, 3), (0.0, 2))
# Of those, this number waits for the outcomes of new trials.
_KEPT = 2

# In rounds, the last trials confirm the best, unless the limit is too low for more than these.
_LAST, _LEAST_BEFORE = 2, 2
# Under random arrivals, first looks see too low latencies: several may have to be given up.
_LAST_OF_RANDOM = 4

_ITERATIONS = 50  # of the fixed-point iteration of `spread`, which has converged by then


class AdaptiveMode(Mode):
    """Learns how the server behaves, and refines and confirms the best on its way."""

    @cached_property
    def trial_map(self) -> TrialMap:
        return TrialMap(self.subject, self.settings, use_formula=False, load_steps=LOAD_STEPS)

    def search(self, names: VariantNames, *, seed: int = SEED, slots: int = 1) -> PlannedSearch:
        learning = AdaptiveSearch(self, names, seed)
        return PlannedSearch(learning.plan(), learning.most_trials(slots), lambda: learning.outlook)


class AdaptiveSearch:
    """The plan of an adaptive search for one model, or for several that are measured together."""

    def __init__(self, mode: AdaptiveMode, names: VariantNames, seed: int) -> None:
        self._subject = mode.subject
        self._names = names
        self._limits = mode.settings.adaptive
        self._seed = seed
        self._map = mode.trial_map
        self._remaining = _Remaining(mode)
        # what is to be gained yet, when it last chose a trial
        self.outlook: Outlook | None = None
        # what it would have recommended, by the number of outcomes so far
        self._course: dict[int, Coordinate] = {}

    def most_trials(self, at_once: int = 1) -> int:
        """The measurement limit with so many trials at once; the default and repetitions count."""
        return self._remaining.most_trials(at_once)

    def plan(self) -> LearningPlan:
        log.info("")
        log.info("Starting adaptive mode search to find optimal configs")
        log.info("")
        knowledge = Knowledge(self._subject, self._map, self._names, self._seed)
        stages = self._first(knowledge), self._proposals(knowledge), self._comparison(knowledge)
        yield from side_by_side(chain.from_iterable(stages))
        if not knowledge.measured:
            return None
        most = self.most_trials(knowledge.most_under_way)
        conclusion = conclude(knowledge, self._stop_reason(knowledge), most, self._limits)
        for line in (*explanation(knowledge, conclusion, self._course), knowledge.foretold):
            if line:
                conclusions.info("%s", line)
        log.info("Done with adaptive mode search.")
        return conclusion

    def _first(self, knowledge: Knowledge) -> Iterator[PartialPlan[None] | None]:
        """The trials until there is a measurement: the default, then the smallest, which often
        works if the default fails. With free slots meanwhile, further ones cover the space; at most
        a third of all trials, since they are chosen without any outcome.
        """
        default = [knowledge.lattice.default_at] if knowledge.lattice.default.is_legal else []
        if not default:
            log_skipped(knowledge.lattice.default)
        most = self._remaining.most_trials(is_sure=True)
        first = islice(
            chain(default, spread(self._map, excluded=default)),
            min(max(math.ceil(most / 3), 2), most),
        )
        for number, coordinate in enumerate(first):
            have_failed = number > len(default) and not knowledge.under_way
            if knowledge.measured or have_failed or is_late(knowledge.records, self._limits):
                return
            yield self._measure(knowledge, coordinate)
        while knowledge.under_way and not knowledge.measured:
            yield None

    def _proposals(self, knowledge: Knowledge) -> Iterator[PartialPlan[None] | None]:
        """The trials after the first measurement; none without one."""
        while knowledge.measured and knowledge.asked < self._remaining.most(knowledge):
            self._course[len(knowledge.records)] = knowledge.recommended[0]
            coordinate = self._next(knowledge)
            if coordinate is not None and self._remaining.fits(knowledge, coordinate):
                yield self._measure(knowledge, coordinate)
            elif knowledge.under_way:
                yield None
            else:
                return

    def _comparison(self, knowledge: Knowledge) -> Iterator[PartialPlan[None] | None]:
        """The last trial, where the default cannot run under the load of the answer: the
        recommended variant under the load of the default.
        """
        while knowledge.under_way:
            yield None
        trial, left_s = (
            self._remaining.missing_comparison(knowledge),
            self._remaining.left_s(knowledge),
        )
        is_over = knowledge.asked >= self.most_trials(knowledge.most_under_way) or left_s == 0
        if trial is not None and not is_over:
            yield knowledge.compare(trial, left_s)

    def _measure(self, knowledge: Knowledge, coordinate: Coordinate) -> PartialPlan[None]:
        """The plan of the trial at a coordinate, which ends when the budget does."""
        return knowledge.measure(coordinate, self._remaining.left_s(knowledge))

    def _stop_reason(self, knowledge: Knowledge) -> StopReason:
        if knowledge.asked >= self._remaining.most(knowledge):
            return StopReason.LIMIT
        if is_late(knowledge.records, self._limits):
            return StopReason.BUDGET
        if knowledge.lattice.is_covered_by(knowledge.measured):
            return StopReason.EVERYTHING
        enough = self._enough(knowledge)
        if enough is not None:
            return enough
        if not self._candidate(knowledge):
            return StopReason.NOTHING_WORTH
        kept = self._remaining.kept(knowledge, is_great=False)
        has_trials = knowledge.asked < self._remaining.most(knowledge) - kept
        return StopReason.BUDGET if has_trials else StopReason.KEPT

    def _next(self, knowledge: Knowledge) -> Coordinate | None:
        """The coordinate to measure next; None ends the search, or waits for what is under way.

        The order is: what has to be known at the end, if there is no room for more; repetitions of
        contenders; a new candidate while unreserved trials remain; then lower loads, repetitions of
        the best and what has to be known at the end; then new candidates again. A candidate whose
        expected gain is great comes before repetitions.
        """
        ending = self._ending(knowledge)
        candidate = self._candidate(knowledge)
        is_great = candidate is not None and candidate.expected_gain >= _GREAT_GAIN
        has_room = self._remaining.has_room(knowledge, ending, is_great=is_great)
        if ending and not has_room:
            fitting = (c for c in ending if self._remaining.fits(knowledge, c))
            return next((c for c in fitting if c not in knowledge.under_way), None)
        if candidate is None or not (is_great or self._explores(knowledge)):
            reserved = [*self._other_loads(knowledge), *repetitions(knowledge), *ending]
            if reserved:
                possible = self._remaining.affordable(knowledge, reserved, ending)
                return self._next_reserved(knowledge, [*possible, *ending])
        elif not is_great:
            again = contenders(knowledge, candidate.expected_gain)
            possible = self._remaining.affordable(knowledge, again, ending)
            contender = next((c for c in possible if c not in knowledge.under_way), None)
            if contender is not None:
                return contender
        if candidate is None:
            return None
        chosen = next(self._remaining.affordable(knowledge, [candidate.coordinate], ending), None)
        if chosen is None or not has_room:
            return ending[0] if ending else _confirmation(knowledge)
        log.debug("Expected gain of the next trial: %.1f %%", 100 * candidate.expected_gain)
        return chosen

    def _next_reserved(
        self, knowledge: Knowledge, reserved: Sequence[Coordinate]
    ) -> Coordinate | None:
        """The first of the reserved trials that is not under way; None if they wait."""
        # a new trial that is under way may become the best, and then needs repetitions
        kept = _KEPT if knowledge.has_new_under_way else 0
        if knowledge.asked >= self._remaining.most(knowledge) - kept:
            return None
        return next((c for c in reserved if c not in knowledge.under_way), None)

    def _ending(self, knowledge: Knowledge) -> Sequence[Coordinate]:
        """What has yet to be measured before the search may end: the answer again if it was
        measured once, then the default under its load, which comes first if a single trial is left.
        """
        best = knowledge.answer[0]
        default = knowledge.missing_default(best) if knowledge.is_feasible else None
        single = dict.fromkeys((knowledge.recommended[0], best))
        again = [each for each in single if is_unconfirmed(knowledge, each)]
        ending = [*again, *([] if default is None else [default])]
        is_last = knowledge.asked + 1 >= self._remaining.most(
            knowledge
        ) or not self._remaining.has_time(knowledge, sum(map(knowledge.expected_s, ending)))
        return ending[::-1] if is_last else ending

    def _other_loads(self, knowledge: Knowledge) -> Sequence[Coordinate]:
        """Loads of the recommended variant to look at before the end."""
        return [*knowledge.lower_loads, *knowledge.higher_loads]

    def _explores(self, knowledge: Knowledge) -> bool:
        """Whether trials and time remain beside those reserved for the end of the search."""
        if not knowledge.is_answered:
            return True
        noise = knowledge.assessment().prospect.noise
        reserved = next(count for level, count in _REPETITIONS if noise >= level)
        reserved += len(self._other_loads(knowledge))
        done, most = knowledge.asked, self._remaining.most(knowledge)
        # what several trials at once may take more is for repetitions
        kept = max(min(reserved, math.ceil(most / 3)), most - self.most_trials())
        again_s = knowledge.expected_s(knowledge.recommended[0])
        reserved_s = min(reserved, done // 3) * again_s
        return done < most - kept and self._remaining.has_time(
            knowledge, knowledge.expected_s(None) + reserved_s
        )

    def _enough(self, knowledge: Knowledge) -> StopReason | None:
        """Why no new trial is due, though there may be candidates."""
        if self._limits.sure_at is None and is_settled(knowledge):
            return StopReason.NOTHING_WORTH
        if self._remaining.is_sure(knowledge):
            return StopReason.SURE
        return StopReason.STALLED if has_stalled(knowledge, self._limits) else None

    def _candidate(self, knowledge: Knowledge) -> Candidate | None:
        """The best candidate; None once continuing does not pay."""
        self.outlook = outlook_of(knowledge)
        if self._enough(knowledge) is not None:
            return None
        candidate = knowledge.best_candidate()
        if candidate is None or (
            not knowledge.is_answered and candidate.expected_gain < _LEAST_WORTH
        ):
            return None
        return candidate


class _Remaining:
    """The trials and the time that are left for a search, and what is kept of them for its end."""

    def __init__(self, mode: AdaptiveMode) -> None:
        coarse = TrialMap(mode.subject, mode.settings, use_formula=False)
        self._size = _with_default(coarse.space)
        self._limits = mode.settings.adaptive
        self._in_rounds = mode.subject.in_rounds

    def most_trials(self, at_once: int = 1, *, is_sure: bool = False) -> int:
        """The measurement limit with so many trials at once; for a search that `is_sure`, that of
        new trials.
        """
        return most_trials(
            self._size, self._limits, at_once, in_rounds=self._in_rounds, is_sure=is_sure
        )

    def is_sure(self, knowledge: Knowledge) -> bool:
        """Whether the search is sure: as the user asks, or after the new trials of a sure one."""
        usual = self.most_trials(knowledge.most_under_way, is_sure=True)
        has_tried = knowledge.asked >= usual - self.kept(knowledge, is_great=False)
        may_end = has_tried or self._limits.sure_at is not None
        return may_end and is_sure(knowledge, self._limits)

    def missing_comparison(self, knowledge: Knowledge) -> Trial | None:
        if not knowledge.measured or not knowledge.is_feasible:
            return None
        return knowledge.missing_comparison(knowledge.answer[0])

    def most(self, knowledge: Knowledge) -> int:
        """The measurement limit, without what is kept for the comparison with the default."""
        kept = self.missing_comparison(knowledge) is not None
        return max(self.most_trials(knowledge.most_under_way) - kept, 1)

    def affordable(
        self, knowledge: Knowledge, wanted: Iterable[Coordinate], ending: Sequence[Coordinate]
    ) -> Iterator[Coordinate]:
        """Those of the wanted trials whose next measurement leaves enough time for the `ending`."""
        for coordinate in wanted:
            first_s = knowledge.expected_s(coordinate)
            others_s = sum(knowledge.expected_s(each) for each in ending if each != coordinate)
            if self.has_time(knowledge, first_s + others_s):
                yield coordinate

    def has_room(
        self, knowledge: Knowledge, ending: Sequence[Coordinate], *, is_great: bool
    ) -> bool:
        """Whether trials and time remain for another new trial and for what is kept for the end:
        the `ending`, or that of the new trial, which may turn out to be the best.
        """
        kept = self.kept(knowledge, is_great=is_great)
        new_s = knowledge.expected_s(None)
        kept_s = max(sum(map(knowledge.expected_s, ending)), kept * new_s)
        has_trials = knowledge.asked < max(self.most(knowledge) - kept, _LEAST_BEFORE)
        return has_trials and self.has_time(knowledge, new_s + kept_s)

    def kept(self, knowledge: Knowledge, *, is_great: bool) -> int:
        """The number of trials that are kept for the end, if a new trial with such a gain comes."""
        if not knowledge.in_rounds:
            repetitions = 0 if is_great or not knowledge.is_answered else 1
        else:
            # a first look, which tells little, is never the last trial
            is_random_load = any(map(is_random, knowledge.lattice.default.workloads))
            repetitions = _LAST_OF_RANDOM if is_random_load else _LAST
        # the default may have to be measured under another load
        return repetitions + knowledge.lattice.has_several_loads

    def fits(self, knowledge: Knowledge, coordinate: Coordinate) -> bool:
        """Whether the next measurement of a trial fits into the budget."""
        return self.has_time(knowledge, knowledge.expected_s(coordinate))

    def has_time(self, knowledge: Knowledge, seconds: float) -> bool:
        """Whether so much of the budget is left."""
        left_s = self.left_s(knowledge)
        kept = self.missing_comparison(knowledge) is not None
        kept_s = knowledge.expected_s(None) if kept else 0.0
        return left_s is None or 0 < left_s >= seconds + kept_s

    def left_s(self, knowledge: Knowledge) -> float | None:
        """The seconds that are left of the budget; None without one."""
        return self._limits.budget.limit_s([record.outcome for record in knowledge.records])


def _confirmation(knowledge: Knowledge) -> Coordinate | None:
    """The recommended coordinate, if a repetition is useful and does not put the answer at risk."""
    best = knowledge.recommended[0]
    is_safe = knowledge.assessment().feasibility_of(best) >= SAFE
    return best if is_safe and knowledge.attempts(best) < MAX_ATTEMPTS else None


def _with_default(space: Space) -> int:
    """The number of trials of the space, plus one for the default under each load."""
    loads = [
        len(dimension.values)
        for dimension in space.dimensions
        if dimension.parameter in LOAD_PARAMETERS
    ]
    return space.size + math.prod(loads)


def spread(trial_map: TrialMap, excluded: Iterable[Coordinate]) -> Iterator[Coordinate]:
    """Different legal coordinates: the smallest one, then others, without those `excluded`, in an
    order that covers the space evenly however many are taken.

    In each dimension, the steps are multiples of an irrational part of its length (an additive
    recurrence: Roberts 2018, "The unreasonable effectiveness of quasirandom sequences").
    """
    sizes = [len(dimension.values) for dimension in trial_map.space.dimensions]
    parts = _steps_of(len(sizes))
    seen = set(excluded)
    nearest: Coordinate | None = trial_map.smallest
    for number in count(1):
        if nearest is None:
            return  # these are all
        seen.add(nearest)
        yield nearest
        at = (
            int(size * ((0.5 + number * part) % 1)) for size, part in zip(sizes, parts, strict=True)
        )
        nearest = trial_map.nearest(tuple(at), seen)


def _steps_of(dimensions: int) -> Sequence[float]:
    """The step in each dimension: powers of the root of x^(n + 1) = x + 1 for n dimensions, which
    generalizes the golden ratio.
    """
    root = 1.0
    for _ in range(_ITERATIONS):
        root = (1 + root) ** (1 / (dimensions + 1))
    return [root ** -(position + 1) for position in range(dimensions)]


MODE = AdaptiveMode
