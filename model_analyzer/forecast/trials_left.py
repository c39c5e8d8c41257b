# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The trials that a running search will still ask for, by how far it has come."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from enum import Enum
from itertools import islice
from statistics import median
from typing import NamedTuple

from model_analyzer.domain.arrivals import RANDOM
from model_analyzer.domain.measurements import Measurement, Outcome
from model_analyzer.domain.profiles import TrialRecord
from model_analyzer.domain.settings import SearchSettings
from model_analyzer.domain.trials import Failure, Trial
from model_analyzer.forecast.searches import forecast
from model_analyzer.noise.first_look import FIRST_LOOK_S
from model_analyzer.search.choose import mode_for
from model_analyzer.search.confirm import finalists, further_s, most_confirmed
from model_analyzer.search.modes.mode import RefiningMode
from model_analyzer.search.plan import Subject

# Where rules stop early, this share of a list is measured; the assumption counts as much as so many
# trials. And this share of the loads of the best variants.
_LISTED, _WEIGHT, _SWEPT = 0.75, 8, 0.6
# So many finalists get so many further rounds; under random arrivals one more.
_RIVALS, _USUAL, _OF_RANDOM = 3, 2, 3


class TrialStage(Enum):
    """The purpose of a trial."""

    SEARCH = "search"
    REFINEMENT = "refinement"  # other loads of the best variants
    FINALISTS = "finalists"  # repetitions of the best trials


def stage_of(trial: Trial) -> TrialStage:
    """The stage of the search that asked for a trial."""
    if trial.repetition:
        return TrialStage.FINALISTS
    return TrialStage.REFINEMENT if trial.refines else TrialStage.SEARCH


class Remaining(NamedTuple):
    """The expected number of further trials, how many of them load another variant, and how much
    longer (in seconds) than first rounds they measure together.
    """

    trials: float
    loads: float
    longer_s: float = 0.0


class TrialsLeft:
    """What is expected of the search for a subject; it gets all outcomes in order, also resumed
    ones. If `limit` is given, so many trials are expected, not those of the search.
    """

    def __init__(
        self,
        subject: Subject,
        settings: SearchSettings,
        *,
        slots: int = 1,
        limit: int | None = None,
    ) -> None:
        mode = mode_for(subject, settings)
        foreseen = forecast(subject, settings, slots=slots)
        self.most_trials = foreseen.most_trials if limit is None else limit
        self._mode = mode if isinstance(mode, RefiningMode) and limit is None else None
        self._listed = Counter(trial.content for trial in foreseen.trials or ())
        self._is_exact = foreseen.is_exact
        self._usual_share = 1.0 if foreseen.is_exact else _LISTED
        self._slots = slots
        self._counts = dict.fromkeys(TrialStage, 0)
        self._measured: Counter[str] = Counter()  # by content, the latest last
        self._failed: set[str] = set()
        self._refined: Counter[str] = Counter()
        self._lengths_s: list[float] = []  # of first rounds
        self._records: list[TrialRecord] = []
        self._next: dict[str, Trial] = {}  # the next rounds of the finalists, by key

    @property
    def outcomes(self) -> int:
        return sum(self._counts.values())

    def record(self, trial: Trial, outcome: Outcome) -> None:
        stage = stage_of(trial)
        if stage is TrialStage.FINALISTS and trial.key not in self._next:
            self._next = self._next_round()
        self._records.append(TrialRecord(trial=trial, outcome=outcome))
        self._counts[stage] += 1
        match stage:
            case TrialStage.SEARCH:
                self._measured[trial.content] = self._measured.pop(trial.content, 0) + 1
                if isinstance(outcome, Failure):
                    self._failed.add(trial.content)
            case TrialStage.REFINEMENT:
                self._refined[trial.content] += 1
            case TrialStage.FINALISTS:
                self._next.pop(trial.key, None)
                self._next = self._next or self._next_round()
        if isinstance(outcome, Measurement) and not trial.repetition:
            self._lengths_s.append(max(model.seconds for model in outcome.models))

    def remaining(self) -> Remaining:
        if self._mode is None:
            left = max((self.most_trials or 0) - self.outcomes, 0)
            return Remaining(left, left * self._load_share)
        searched = self._left_of_search(self._mode)
        refined = self._left_of_refinement(self._mode, searched)
        lengths_s = self._left_of_finalists(self._mode, round(searched), round(refined.trials))
        trials = searched + refined.trials + len(lengths_s)
        most = trials if self.most_trials is None else self.most_trials - self.outcomes
        share = max(min(most / trials, 1.0), 0.0) if trials else 1.0
        return Remaining(
            share * trials,
            share * (searched * self._load_share + refined.loads + len(lengths_s)),
            share * sum(each - self._first_s for each in lengths_s),
        )

    @property
    def _load_share(self) -> float:
        """The share of trials of the search itself that load another variant."""
        count = self._counts[TrialStage.SEARCH]
        usual = len(self._listed) / self._listed.total() if self._listed else 1.0
        return (len(self._measured) + usual) / (count + 1)

    @property
    def _first_s(self) -> float:
        """The usual length of a first round."""
        return median(self._lengths_s) if self._lengths_s else FIRST_LOOK_S

    def _left_of_search(self, mode: RefiningMode) -> float:
        searched = self._counts[TrialStage.SEARCH]
        if self.outcomes > searched:
            return 0.0
        if not self._listed:
            return mode.left(searched)
        passed, under_way, comes = 0, self._under_way, False
        for content, count in islice(self._listed.items(), self._reached):
            if content in self._measured:
                comes = content in under_way
            # what follows one that is over has been left out
            passed += self._measured[content] if comes else count
        share = (searched + self._usual_share * _WEIGHT) / (passed + _WEIGHT)
        return share * (self._listed.total() - passed)

    @property
    def _reached(self) -> int:
        """How many contents of the list come up to the last of those measured."""
        places = [n for n, content in enumerate(self._listed, 1) if content in self._measured]
        return max(places, default=0)

    @property
    def _under_way(self) -> Collection[str]:
        """The contents whose loads are not all measured: the latest. Of a list that is measured as
        it is, all but those that have failed.
        """
        if self._is_exact:
            return self._listed.keys() - self._failed
        return [*self._measured][-self._slots :]

    def _left_of_refinement(self, mode: RefiningMode, searched: float) -> Remaining:
        """The load sweep of the best variants and the default: for each as many as for those
        before.
        """
        if self._counts[TrialStage.FINALISTS]:
            return Remaining(0, 0)
        variants = min(mode.settings.refined + 1, len(self._measured) + round(searched))
        usual = _SWEPT * mode.most_swept(0)
        *ended, latest = [*self._refined.values()] or [0]
        each = (usual + sum(ended)) / (1 + len(ended))
        left = max(each * (variants - len(ended)) - latest, 0.0)
        return Remaining(left, min(left, variants - len(self._refined)))

    def _next_round(self) -> dict[str, Trial]:
        if self._mode is None:
            return {}
        again = finalists(self._mode.subject.goal, self._records)
        return {trial.key: trial for trial in again}

    def _left_of_finalists(
        self, mode: RefiningMode, searched: int, refined: int
    ) -> Sequence[float]:
        """The lengths of the further rounds of the best: as usual until they are due, then those of
        this round, if there is one, and another one after the first.
        """
        if not most_confirmed(mode.subject, mode.settings):
            return ()
        traffics = [model.settings.traffic for model in mode.subject.models]
        is_random = any(each is not None and each.arrivals in RANDOM for each in traffics)
        has_begun = self._counts[TrialStage.FINALISTS] > 0
        if has_begun or (self._records and not searched + refined):
            coming = (self._next if has_begun else self._next_round()).values()
            known = [trial.round_s or 0.0 for trial in coming]
            if any(trial.repetition > 1 for trial in coming):
                return known
            again = [further_s(self._first_s + each, is_random=is_random) for each in known]
            return [*known, *again]
        lengths_s = [self._first_s]
        for _ in range(_OF_RANDOM if is_random else _USUAL):
            lengths_s.append(further_s(sum(lengths_s), is_random=is_random))
        rivals = min(self.outcomes + searched, _RIVALS)
        return [seconds for seconds in lengths_s[1:] for _ in range(rivals)]
