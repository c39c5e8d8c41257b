# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The knowledge of an adaptive search: its outcomes, and what follows from them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from model_analyzer.domain.measurements import Measurement
from model_analyzer.domain.models import VariantNames
from model_analyzer.domain.trials import Failure
from model_analyzer.noise.ties import price_of, total_load
from model_analyzer.search.adaptive.assessment import Assessment, Assessor
from model_analyzer.search.adaptive.candidates import (
    HALF,
    SEVEN_TENTHS,
    expected_improvement,
    higher_loads,
    lower_loads,
)
from model_analyzer.search.adaptive.encoding import Lattice
from model_analyzer.search.adaptive.outcomes import Outcomes
from model_analyzer.search.adaptive.queueing_model import Floats
from model_analyzer.search.adaptive.recommendation import (
    CREDIBLE,
    MAX_ATTEMPTS,
    answer,
    contenders,
    doubtful,
    recommendation,
)
from model_analyzer.search.plan import Subject
from model_analyzer.search.trial_map import Coordinate, TrialMap

# A quarter or half of the load of the recommended trial is worth a measurement if its score is at
# most this margin lower, with at least this probability.
_TIE_MARGIN, _TIE_CHANCE = 0.03, 0.05


@dataclass(frozen=True, slots=True)
class Candidate:
    """A trial to measure next, and its expected gain."""

    coordinate: Coordinate
    expected_gain: float


class Knowledge(Outcomes):
    """All outcomes of a search, with the predictions and the recommendation that follow from them,
    computed once after each outcome.
    """

    def __init__(
        self, subject: Subject, trial_map: TrialMap, names: VariantNames, seed: int
    ) -> None:
        super().__init__(subject, Lattice(trial_map, names))
        self._assessor = Assessor(subject, trial_map.space, self.lattice, seed)
        self._assessment: Assessment | None = None
        self._recommended: Sequence[Coordinate] = ()
        self._answer: Sequence[Coordinate] = ()

    def _learn(self, coordinate: Coordinate, outcome: Measurement | Failure) -> None:
        super()._learn(coordinate, outcome)
        self._assessment, self._recommended, self._answer = None, (), ()

    def assessment(self) -> Assessment:
        """The predictions."""
        if self._assessment is None:
            self._assessment = self._assessor.assess(self)
        return self._assessment

    @property
    def recommended(self) -> Sequence[Coordinate]:
        """The recommended coordinate first, then its ties, which need more resources."""
        if not self._recommended:
            self._recommended = recommendation(self, self.assessment())
        return self._recommended

    @property
    def answer(self) -> Sequence[Coordinate]:
        """`recommended` at the end of the search, which relies on measurements more."""
        if not self._answer:
            self._answer = answer(self, self.assessment(), self.recommended)
        return self._answer

    @property
    def is_answered(self) -> bool:
        """Whether a measured trial meets the constraints and is credible."""
        return (
            self.is_feasible
            and max(map(self.assessment().feasibility_of, self.feasible)) >= CREDIBLE
        )

    @property
    def doubtful(self) -> list[Coordinate]:
        """What measured better than the recommended trial, but probably by luck."""
        return doubtful(self, self.assessment(), self.recommended[0])

    @property
    def contenders(self) -> list[Coordinate]:
        """What looks better than the recommended trial, and is to be measured again."""
        return contenders(self, self.assessment(), self.recommended[0])

    @property
    def foretold(self) -> str:
        """What was predicted for the answer before any measurement; "" if nothing was."""
        best = self.answer[0]
        return self._assessor.foretold(self.tried[best], self.mean(best))

    # -- what to measure next ----------------------------------------------------------------

    def best_candidate(self) -> Candidate | None:
        """The candidate with the highest expected gain for its cost; None if none gains."""
        assessment = self.assessment()
        proposed = self._assessor.propose(self, assessment, is_answered=self.is_answered)
        if proposed is not None:
            return Candidate(*proposed)
        gain = self._gains(assessment) * assessment.chance
        tried = [assessment.rows[coordinate] for coordinate in self.tried]
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

    def rival_gains(self) -> Mapping[Coordinate, float]:
        """By how much each other measured trial is expected to gain over the recommended one,
        beyond a tie, without constraints.
        """
        assessment, best = self.assessment(), self.recommended[0]
        score = assessment.prospect.score
        lead = score - score[:, assessment.rows[best], None]
        margins = np.maximum(self.tie_margins(best), price_of(1.0))
        gains = np.maximum(lead - margins, 0).mean(axis=0)
        return {c: float(gains[assessment.rows[c]]) for c in self.ranked if c != best}

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
        is_over = [c in self.failed or self.attempts(c) >= MAX_ATTEMPTS for c in self.tried]
        return np.where(is_over, 0.0, share)

    def tie_margins(self, best: Coordinate) -> Floats:
        """By trial, the lead over `best` that is no gain, since `best` would still be recommended:
        0 unless the trial is the same variant under a higher load, and so with a longer latency.
        """
        assessment, variant = self.assessment(), self.lattice.variant(best)
        tie_margins = np.zeros(len(assessment.rows))
        least_s = assessment.request_s[assessment.rows[best]]
        for coordinate, row in assessment.rows.items():
            request_s = assessment.request_s[row]
            if request_s > least_s and self.lattice.variant(coordinate) == variant:
                tie_margins[row] = price_of(least_s / request_s)
        return tie_margins

    @property
    def lower_loads(self) -> list[Coordinate]:
        """Unmeasured lower loads of the recommended trial that may tie with it."""
        best = self.recommended[0]
        expected = [
            coordinate
            for coordinate in lower_loads(self.lattice, best)
            if coordinate not in self.tried and self._may_tie(coordinate)
        ]
        return list(dict.fromkeys([*expected, *self._nearest_lower_load(best)]))

    def _nearest_lower_load(self, best: Coordinate) -> Sequence[Coordinate]:
        """Half of the load of the recommended trial, then seven tenths of it, until a measurement
        says that so little load is too little.

        No law is sure where throughput ends to grow, so this does not depend on predictions. Near
        constraints, the loads below are measured anyway; and only in rounds, a look costs little.
        """
        if self.goal.has_constraints or not (self.in_rounds and self.lattice.is_in_space(best)):
            return ()
        comparison, variant = self.comparison, self.lattice.variant
        load_of = {c: total_load(self.tried[c]) for c in self.measured}
        too_low = [
            load_of[c]
            for c in self.measured
            if variant(c) == variant(best)
            and load_of[c] < load_of[best]
            and comparison.lead(best, c) > comparison.price(best, c)
        ]
        lower = lower_loads(self.lattice, best, (HALF, SEVEN_TENTHS))
        return [
            c
            for c in lower
            if c not in self.tried and self.lattice.total_load(c) > max(too_low, default=0)
        ][:1]

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
        """An unmeasured higher load of the recommended trial, if its latencies leave room."""
        return higher_loads(self, self.recommended[0])
