# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The adaptive search: each trial is the one that is expected to change the answer most.

After every outcome a model of the server is learnt anew (`surrogate`), asked what each trial would
be worth (`acquisition`), and the best one is measured, until none is worth it. Then the best ones
are measured again, in turn, until it is clear which of them wins (`finalists`).
"""

from __future__ import annotations

import logging
import math

from model_analyzer.domain.conclusions import StopReason
from model_analyzer.domain.models import VariantNames
from model_analyzer.domain.settings import AdaptiveSettings, SearchSettings
from model_analyzer.search.adaptive.finalists import SAFE, next_repetition
from model_analyzer.search.adaptive.knowledge import (
    MOST_TIMES,
    OF_THE_LOAD,
    Guess,
    Knowledge,
)
from model_analyzer.search.adaptive.stopping import (
    conclude,
    explanation,
    is_late,
    is_settled,
    most_trials,
)
from model_analyzer.search.plan import SEED, LearningPlan, Subject
from model_analyzer.search.space import Coordinate, Space
from model_analyzer.search.trial_map import TrialMap

log = logging.getLogger(__name__)
# what it has come to, for who sees its steps elsewhere
conclusions = logging.getLogger("model_analyzer.search.conclusions")

# So many loads are searched for each doubling, where none are listed.
LOAD_STEPS = 8

# Without an answer, a trial has to be worth as much as this.
_LEAST_WORTH = 0.0015
# A trial that is expected to gain as much as this comes before repetitions of the best: that may
# have turned out not to be it.
_GREAT_GAIN = 0.1

# So many trials are kept for repetitions of the best: more where measurements are noisier (by their
# standard deviation, as a fraction), but not more than a quarter.
_REPETITIONS = ((0.03, 3), (0.0, 2))


class AdaptiveSearch:
    """The plan of an adaptive search over one model, or over several measured together."""

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
        self._most = most_trials(_with_default(coarse.space), limits)

    @property
    def most_trials(self) -> int:
        """How many trials there are at most, the default's and repetitions included."""
        return self._most

    def plan(self) -> LearningPlan:
        log.info("")
        log.info("Starting adaptive mode search to find optimal configs")
        log.info("")
        known = Knowledge(self._subject, self._map, self._names, self._seed)
        if known.default.is_legal:
            yield from known.measure(known.default_at)
        else:
            log.info("Skipping illegal run configuration: %s", known.default)
        if not known.measured and len(known.records) < self._most:
            yield from known.measure(self._map.smallest)
        if not known.measured:
            return None
        reason = StopReason.LIMIT
        while len(known.records) < self._most:
            if is_late(known.records, self._limits):
                reason = StopReason.BUDGET
                break
            coordinate = self._next(known)
            if coordinate is None:
                if self._guess(known) is None:
                    reason = StopReason.NOTHING_WORTH
                break
            yield from known.measure(coordinate)
        conclusion = conclude(known, reason, self._most, self._limits)
        for line in explanation(known, conclusion):
            conclusions.info("%s", line)
        log.info("Done with adaptive mode search.")
        return conclusion

    def _next(self, known: Knowledge) -> Coordinate | None:
        """What to measure next, if anything: something new as long as trials are left beside those
        for the end, or as it promises much, then lower loads and repetitions of the best, then
        something new again.
        """
        guess = self._guess(known)
        is_great = guess is not None and guess.worth >= _GREAT_GAIN
        if guess is None or not (is_great or self._explores(known)):
            for at_the_end in (*known.lower_loads, next_repetition(known)):
                if at_the_end is not None:
                    return at_the_end
        if guess is None:
            return None
        if not (is_great or self._has_room_to_confirm(known)):
            return _confirmation(known)
        log.debug("Expected gain of the next trial: %.1f %%", 100 * guess.worth)
        return guess.coordinate

    def _explores(self, known: Knowledge) -> bool:
        """Whether there are trials and time left beside what is kept for the end."""
        if not known.is_answered:
            return True
        noise = known.view().prospect.noise
        kept = next(count for level, count in _REPETITIONS if noise >= level)
        kept += len(known.lower_loads)
        done = len(known.records)
        return done < self._most - min(kept, math.ceil(self._most / 3)) and not is_late(
            known.records, self._limits, further=min(kept, done // 3)
        )

    def _has_room_to_confirm(self, known: Knowledge) -> bool:
        """Whether something new could be measured once more, should it turn out to be the best."""
        return not known.is_answered or len(known.records) + 1 < self._most

    def _guess(self, known: Knowledge) -> Guess | None:
        """The trial that is worth most, as long as going on pays."""
        if is_settled(known):
            return None
        guess = known.best_guess()
        if guess is None or (not known.is_answered and guess.worth < _LEAST_WORTH):
            return None
        return guess


def _confirmation(known: Knowledge) -> Coordinate | None:
    """The recommendation once more, where that tells something and cannot cost the answer."""
    best = known.recommended[0]
    is_safe = known.view().sure(best) >= SAFE
    return best if is_safe and known.times(best) < MOST_TIMES else None


def _with_default(space: Space) -> int:
    """How many trials there are: those of the space, and the models as they come under any load."""
    loads = [
        len(dimension.values)
        for dimension in space.dimensions
        if dimension.parameter in OF_THE_LOAD
    ]
    return space.size + math.prod(loads)
