# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The time that a run still takes, from its outcomes and their durations.

`forecast.expectation` estimates how many trials are left. The duration of a trial is first taken
from the settings, then more and more from measured durations.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

from model_analyzer.domain.budget import Budget
from model_analyzer.domain.measurements import Outcome
from model_analyzer.domain.model_names import group_members
from model_analyzer.domain.settings import ProfileSettings
from model_analyzer.domain.slots import Lane
from model_analyzer.domain.trials import Failure, Trial
from model_analyzer.forecast.expectation.expectation import Expectation, TrialStage, expectation
from model_analyzer.forecast.expectation.history import Remaining
from model_analyzer.forecast.run_plan import LOAD_S, trial_seconds
from model_analyzer.search.plan import Subject

# The weight of the assumed durations, in outcomes.
_PRIOR = 1.0

# The weight of an outcome relative to the next one: machines and variants change.
_FADING = 0.95


_NOWHERE = Lane("")


@dataclass(slots=True)
class _Sums:
    """Sums over outcomes; older ones count less."""

    weight: float = 0.0
    seconds: float = 0.0
    load: float = 0.0

    def add(self, seconds: float, load: float, size: float) -> None:
        self.weight = self.weight * _FADING + size
        self.seconds = self.seconds * _FADING + seconds
        self.load = self.load * _FADING + load


class Durations:
    """Seconds from one outcome to the next: `trial_s` for a trial of size 1 (`Sizes`) with the same
    variant, and `load_s` more for each unit that is loaded (`forecast.expectation.history`). Both
    are assumed at first.
    """

    def __init__(self, trial_s: float, load_s: float) -> None:
        self._assumed = (trial_s, load_s)
        self._same = _Sums()
        self._loaded = _Sums()
        self._failed = _Sums()
        self._count, self._failures = 0, 0

    def add(self, seconds: float, *, load: float, failed: bool, size: float = 1.0) -> None:
        """Adds the duration of an outcome, including everything around it."""
        self._count += 1
        self._failures += failed
        kind = self._failed if failed else self._loaded if load else self._same
        kind.add(seconds, load, 1.0 if failed else size)

    @property
    def pace(self) -> float:
        """The ratio of the measured to the assumed durations."""
        trial_s, load_s = self._assumed
        assumed = (self._same.weight + self._loaded.weight + _PRIOR) * trial_s
        assumed += self._loaded.load * load_s
        return (self._same.seconds + self._loaded.seconds + _PRIOR * trial_s) / assumed

    @property
    def trial_s(self) -> float:
        assumed = self._assumed[0] * self.pace
        return (self._same.seconds + _PRIOR * assumed) / (self._same.weight + _PRIOR)

    @property
    def load_s(self) -> float:
        seconds = self._loaded.seconds - self._loaded.weight * self.trial_s
        seconds += _PRIOR * self._assumed[1]
        return max(seconds / (self._loaded.load + _PRIOR), 0.0)

    def of(self, remaining: Remaining) -> float:
        """The expected seconds of the remaining trials, with failures as before."""
        seconds = remaining.size * self.trial_s + remaining.loads * self.load_s
        if not self._failures:
            return seconds
        share = self._failures / (self._count + _PRIOR)
        failure_s = self._failed.seconds / self._failed.weight
        return (1 - share) * seconds + share * remaining.trials * failure_s


@dataclass(slots=True)
class LanePart:
    """The search of a `lane`, with the durations from an outcome to the next one."""

    expectation: Expectation
    durations: Durations
    lane: Lane = _NOWHERE
    budget: Budget = field(default_factory=Budget)
    spent_s: float = 0.0
    contents: dict[str, str] = field(default_factory=dict)  # what is loaded, by slot

    def left_s(self, pace: float) -> float:
        seconds = self.durations.of(self.expectation.remaining()) * pace
        return self.budget.left(seconds, self.spent_s)


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
        expectation(subject, settings.search, slots=slots)
        if trials is None
        else Expectation(trials),
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

    def start(self, trial: Trial) -> None:
        """Adds a trial that is under way now."""
        self._part_of(trial).expectation.start(trial)

    def record(self, trial: Trial, outcome: Outcome, seconds: float | None, slot: str = "") -> None:
        """Adds the outcome of a trial on the slot with this name, and the seconds since the
        previous outcome on this kind of hardware; None if it was resumed.
        """
        part = self._part_of(trial)
        is_loaded = trial.content == part.contents.get(slot)
        load = 0.0 if is_loaded else part.expectation.load_of(trial)
        part.expectation.record(trial, outcome, slot)
        if seconds is None:
            return  # nothing was loaded for it
        part.contents[slot] = trial.content
        part.spent_s += min(outcome.duration_s, seconds)  # several may be measured at once
        size = part.expectation.size_of(trial)
        part.durations.add(seconds, load=load, failed=isinstance(outcome, Failure), size=size)

    @property
    def most_trials(self) -> int | None:
        """The limit of trials of the current subject; None if unknown."""
        limits = [part.expectation.most_trials for part in self._parts]
        known = [limit for limit in limits if limit is not None]
        return sum(known) if len(known) == len(limits) else None

    def stage_of(self, trial: Trial) -> TrialStage:
        """The stage of the next trial."""
        return self._part_of(trial).expectation.stage_of(trial)

    def trials(self) -> float:
        """The expected number of trials of the current subject, finished ones included."""
        expectations = [part.expectation for part in self._parts]
        return sum(each.outcomes + each.remaining().trials for each in expectations)

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

    def _part_of(self, trial: Trial) -> LanePart:
        return self._by_kind[self._current][trial.setup.kind]
