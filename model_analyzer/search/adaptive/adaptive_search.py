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
from collections.abc import Iterator, Sequence
from itertools import chain, islice

from model_analyzer.domain.arrivals import is_random
from model_analyzer.domain.conclusions import Outlook, StopReason
from model_analyzer.domain.models import VariantNames
from model_analyzer.domain.settings import AdaptiveSettings, SearchSettings
from model_analyzer.search.adaptive.finalists import SAFE, repetitions
from model_analyzer.search.adaptive.knowledge import (
    LOAD_PARAMETERS,
    MAX_ATTEMPTS,
    Candidate,
    Knowledge,
)
from model_analyzer.search.adaptive.spread import spread
from model_analyzer.search.adaptive.stopping import (
    conclude,
    explanation,
    is_late,
    is_settled,
    most_trials,
    outlook_of,
)
from model_analyzer.search.plan import (
    SEED,
    LearningPlan,
    PartialPlan,
    Subject,
    log_skipped,
    side_by_side,
)
from model_analyzer.search.space import Coordinate, Space
from model_analyzer.search.trial_map import TrialMap

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

# In instalments, the last trials confirm the best, unless the limit is too low for more than these.
_LAST, _LEAST_BEFORE = 2, 2
# Under random arrivals, first looks see too low latencies: several may have to be given up.
_LAST_OF_RANDOM = 4


class AdaptiveSearch:
    """The plan of an adaptive search for one model, or for several that are measured together."""

    def __init__(
        self,
        subject: Subject,
        settings: SearchSettings,
        limits: AdaptiveSettings,
        names: VariantNames,
        *,
        seed: int = SEED,
    ) -> None:
        self._subject = subject
        self._names = names
        self._limits = limits
        self._seed = seed
        self._map = TrialMap(subject, settings, use_formula=False, load_steps=LOAD_STEPS)
        coarse = TrialMap(subject, settings, use_formula=False)
        self._size = _with_default(coarse.space)
        # what is to be gained yet, when it last chose a trial
        self.outlook: Outlook | None = None

    def most_trials(self, at_once: int = 1) -> int:
        """The measurement limit with so many trials at once; the default and repetitions count."""
        return most_trials(
            self._size, self._limits, at_once, in_instalments=self._subject.in_instalments
        )

    def plan(self) -> LearningPlan:
        log.info("")
        log.info("Starting adaptive mode search to find optimal configs")
        log.info("")
        knowledge = Knowledge(self._subject, self._map, self._names, self._seed)
        yield from side_by_side(chain(self._first(knowledge), self._proposals(knowledge)))
        if not knowledge.measured:
            return None
        most = self._most(knowledge)
        conclusion = conclude(knowledge, self._stop_reason(knowledge), most, self._limits)
        for line in explanation(knowledge, conclusion):
            conclusions.info("%s", line)
        log.info("Done with adaptive mode search.")
        return conclusion

    def _first(self, knowledge: Knowledge) -> Iterator[PartialPlan[None] | None]:
        """The trials until there is a measurement: the default, then the smallest, which often
        works if the default fails. With free slots meanwhile, further ones cover the space; at most
        a third of all trials, since they are chosen without any outcome.
        """
        default = [knowledge.default_at] if knowledge.default.is_legal else []
        if not default:
            log_skipped(knowledge.default)
        most = self.most_trials()
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
        while (
            knowledge.measured
            and knowledge.asked < self._most(knowledge)
            and not is_late(knowledge.records, self._limits)
        ):
            coordinate = self._next(knowledge)
            yield None if coordinate is None else self._measure(knowledge, coordinate)

    def _measure(self, knowledge: Knowledge, coordinate: Coordinate) -> PartialPlan[None]:
        """The plan of the trial at a coordinate, which ends when the budget does."""
        outcomes = [record.outcome for record in knowledge.records]
        return knowledge.measure(coordinate, self._limits.budget.limit_s(outcomes))

    def _most(self, knowledge: Knowledge) -> int:
        return self.most_trials(knowledge.most_under_way)

    def _stop_reason(self, knowledge: Knowledge) -> StopReason:
        if knowledge.asked >= self._most(knowledge):
            return StopReason.LIMIT
        if is_late(knowledge.records, self._limits):
            return StopReason.BUDGET
        if knowledge.has_everything:
            return StopReason.EVERYTHING
        return StopReason.LIMIT if self._candidate(knowledge) else StopReason.NOTHING_WORTH

    def _next(self, knowledge: Knowledge) -> Coordinate | None:
        """The coordinate to measure next; None ends the search, or waits for what is under way.

        The order is: a new candidate while unreserved trials remain or its expected gain is great,
        then lower loads and repetitions of the best, then new candidates again.
        """
        if self._has_to_confirm(knowledge):
            best = knowledge.recommended[0]
            return None if best in knowledge.under_way else best
        candidate = self._candidate(knowledge)
        is_great = candidate is not None and candidate.expected_gain >= _GREAT_GAIN
        if candidate is None or not (is_great or self._explores(knowledge)):
            reserved = [*knowledge.lower_loads, *repetitions(knowledge)]
            if reserved:
                return self._next_reserved(knowledge, reserved)
        if candidate is None:
            return None
        # a first look, which tells little, is never the last trial
        may_be_last = is_great and not knowledge.in_instalments
        if not (may_be_last or self._has_room_to_confirm(knowledge)):
            return _confirmation(knowledge)
        log.debug("Expected gain of the next trial: %.1f %%", 100 * candidate.expected_gain)
        return candidate.coordinate

    def _next_reserved(
        self, knowledge: Knowledge, reserved: Sequence[Coordinate]
    ) -> Coordinate | None:
        """The first of the reserved trials that is not under way; None if they wait."""
        # a new trial that is under way may become the best, and then needs repetitions
        kept = _KEPT if knowledge.has_new_under_way else 0
        if knowledge.asked >= self._most(knowledge) - kept:
            return None
        return next((c for c in reserved if c not in knowledge.under_way), None)

    def _has_to_confirm(self, knowledge: Knowledge) -> bool:
        """Whether the last trials are left, and all that is known of the best is a first look."""
        is_random_load = any(map(is_random, knowledge.default.workloads))
        last = _LAST_OF_RANDOM if is_random_load else _LAST
        is_last = knowledge.asked >= max(self._most(knowledge) - last, _LEAST_BEFORE)
        return is_last and knowledge.is_first_look(knowledge.recommended[0])

    def _explores(self, knowledge: Knowledge) -> bool:
        """Whether trials and time remain beside those reserved for the end of the search."""
        if not knowledge.is_answered:
            return True
        noise = knowledge.assessment().prospect.noise
        reserved = next(count for level, count in _REPETITIONS if noise >= level)
        reserved += len(knowledge.lower_loads)
        done, most = knowledge.asked, self._most(knowledge)
        # what several trials at once may take more is for repetitions
        kept = max(min(reserved, math.ceil(most / 3)), most - self.most_trials())
        return done < most - kept and not is_late(
            knowledge.records, self._limits, further=min(reserved, done // 3)
        )

    def _has_room_to_confirm(self, knowledge: Knowledge) -> bool:
        """Whether a new trial that turns out to be the best could still be repeated."""
        return not knowledge.is_answered or knowledge.asked + 1 < self._most(knowledge)

    def _candidate(self, knowledge: Knowledge) -> Candidate | None:
        """The best candidate; None once continuing does not pay."""
        self.outlook = outlook_of(knowledge)
        if is_settled(knowledge, self.outlook):
            return None
        candidate = knowledge.best_candidate()
        if candidate is None or (
            not knowledge.is_answered and candidate.expected_gain < _LEAST_WORTH
        ):
            return None
        return candidate


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
