# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The time that a run still takes: the trials left, times the usual seconds of those so far.

How many trials a search will still ask for depends on how far it has come. Their seconds are first
taken from the settings, then more and more from those of the run.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from itertools import islice
from statistics import fmean, median
from types import MappingProxyType
from typing import NamedTuple

from model_analyzer.domain.arrivals import RANDOM
from model_analyzer.domain.measurements import Measurement, Outcome
from model_analyzer.domain.models import group_members
from model_analyzer.domain.profiles import TrialRecord
from model_analyzer.domain.settings import Budget, ProfileSettings, SearchSettings
from model_analyzer.domain.slots import Lane
from model_analyzer.domain.trials import Failure, Trial
from model_analyzer.forecast.run_plan import LOAD_S, forecast, trial_seconds
from model_analyzer.noise.first_look import FIRST_LOOK_S
from model_analyzer.search.choose import mode_for
from model_analyzer.search.modes.mode import RefiningMode
from model_analyzer.search.plan import Subject
from model_analyzer.search.refine import finalists, further_s, most_confirmed

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
        usual = foreseen.usual_trials or foreseen.most_trials
        self.most_trials = usual if limit is None else limit
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


# Machines and variants change: older outcomes do not count.
_LATEST = 30

_NOWHERE = Lane("")


class Durations:
    """Seconds from one outcome to the next: of trials with the variant that is loaded, and of those
    that load another one. They are assumed at first: `trial_s`, and `load_s` more.
    """

    def __init__(self, trial_s: float, load_s: float) -> None:
        self._assumed_s = (trial_s, trial_s + load_s)
        self._made = (deque[float](maxlen=_LATEST), deque[float](maxlen=_LATEST))

    def add(self, seconds: float, *, is_loaded: bool) -> None:
        """Adds the duration of an outcome, including everything around it."""
        self._made[not is_loaded].append(seconds)

    @property
    def pace(self) -> float:
        """The ratio of the measured to the assumed durations."""
        trial_s, loading_s = self._assumed_s
        same, loading = self._made
        assumed = trial_s + len(same) * trial_s + len(loading) * loading_s
        return (trial_s + sum(same) + sum(loading)) / assumed

    def of(self, remaining: Remaining) -> float:
        same_s, loading_s = (
            fmean([*made, assumed * self.pace])
            for made, assumed in zip(self._made, self._assumed_s, strict=True)
        )
        trials, loads = remaining.trials, remaining.loads
        return max((trials - loads) * same_s + loads * loading_s + remaining.longer_s, 0.0)


@dataclass(slots=True)
class LanePart:
    """The search of a `lane`, with the durations from an outcome to the next one."""

    expected: TrialsLeft
    durations: Durations
    lane: Lane = _NOWHERE
    budget: Budget = field(default_factory=Budget)
    spent_s: float = 0.0
    contents: dict[str, str] = field(default_factory=dict)  # what is loaded, by slot

    def left_s(self, pace: float) -> float:
        seconds = self.durations.of(self.expected.remaining()) * pace
        return self.budget.left(seconds, self.spent_s)

    def trials(self) -> float:
        """The expected number of trials, finished ones included: as many as there is time for."""
        remaining = self.expected.remaining()
        seconds = self.durations.of(remaining)
        share = self.budget.left(seconds, self.spent_s) / seconds if seconds else 1.0
        return self.expected.outcomes + share * remaining.trials


def time_left(
    subjects: Sequence[Subject],
    settings: ProfileSettings,
    *,
    slots: Mapping[str, int] = MappingProxyType({}),
    after_s: float = 0.0,
    trials: int | None = None,
) -> TimeLeft:
    """The estimate for a run over `subjects`, before its first trial. `slots` is the number of
    slots of each kind of hardware, by default 1. If `trials` is given, so many are expected of each
    subject, not those of its search.
    """
    return TimeLeft(
        [
            _part(subject, settings, slots.get(subject.setup.kind, 1), trials)
            for subject in subjects
        ],
        after_s=after_s,
    )


def _part(subject: Subject, settings: ProfileSettings, slots: int, trials: int | None) -> LanePart:
    models = [model.settings for model in subject.models]
    trial_s = trial_seconds(models, own_s=subject.own_s)
    return LanePart(
        TrialsLeft(subject, settings.search, slots=slots, limit=trials),
        Durations(trial_s / slots, LOAD_S / slots),
        lane=subject.lane,
        budget=settings.budget_of(group_members(subject.name)),
    )


class TimeLeft:
    """The estimate for all parts of a run, in their order. Parts of the same subject are measured
    at the same time, each on its kind of hardware.

    `after_s` is the time after the last trial, for reports.
    """

    def __init__(self, parts: Sequence[LanePart], *, after_s: float = 0.0) -> None:
        self.parts = parts
        self._after_s = after_s
        subjects: dict[str, dict[str, LanePart]] = {}
        for part in parts:
            subjects.setdefault(part.lane.subject, {})[part.lane.kind] = part
        self._by_kind = list(subjects.values())
        self._current = 0

    def begin(self, index: int) -> None:
        """Starts the searches for the subject with this index; earlier ones have ended."""
        self._current = index

    def record(self, trial: Trial, outcome: Outcome, seconds: float | None, slot: str = "") -> None:
        """Adds the outcome of a trial on the slot with this name, and the seconds since the
        previous outcome on this kind of hardware; None if it was resumed.
        """
        part = self._by_kind[self._current][trial.setup.kind]
        is_loaded = trial.content == part.contents.get(slot)
        part.expected.record(trial, outcome)
        if seconds is None:
            return  # nothing was loaded for it
        part.contents[slot] = trial.content
        part.spent_s += min(outcome.duration_s, seconds)  # several may be measured at once
        if not trial.repetition:
            part.durations.add(seconds, is_loaded=is_loaded)

    @property
    def most_trials(self) -> int | None:
        """The limit of trials of the current subject; None if unknown."""
        limits = [part.expected.most_trials for part in self._parts]
        known = [limit for limit in limits if limit is not None]
        return sum(known) if len(known) == len(limits) else None

    def trials(self) -> float:
        """The expected number of trials of the current subject, finished ones included."""
        return sum(part.trials() for part in self._parts)

    def seconds(self) -> float:
        """The expected seconds until the end of the run."""
        current, *later = self._by_kind[self._current :]
        paces = {kind: part.durations.pace for kind, part in current.items()}
        left_s = max(part.left_s(1.0) for part in current.values())
        for parts in later:
            left_s += max(part.left_s(paces.get(kind, 1.0)) for kind, part in parts.items())
        return left_s + self._after_s

    @property
    def _parts(self) -> Collection[LanePart]:
        return self._by_kind[self._current].values()
