# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The time that a run still takes: the trials left, times the usual seconds of those so far.

`trials_left` counts the trials. Their seconds are first taken from the settings, then more and more
from those of the run.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean
from types import MappingProxyType

from model_analyzer.domain.budget import Budget
from model_analyzer.domain.measurements import Outcome
from model_analyzer.domain.model_names import group_members
from model_analyzer.domain.settings import ProfileSettings
from model_analyzer.domain.slots import Lane
from model_analyzer.domain.trials import Trial
from model_analyzer.forecast.run_plan import LOAD_S, trial_seconds
from model_analyzer.forecast.trials_left import Remaining, TrialsLeft
from model_analyzer.search.plan import Subject

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
        part = self._part_of(trial)
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

    def _part_of(self, trial: Trial) -> LanePart:
        return self._by_kind[self._current][trial.setup.kind]
