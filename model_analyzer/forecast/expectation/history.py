# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The outcomes of a search so far, its expected rest, and how much is loaded for a trial: 1 for one
instance, and less for each further one.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import groupby

from model_analyzer.domain.measurements import Measurement
from model_analyzer.domain.profiles import TrialRecord
from model_analyzer.domain.trials import Trial

# The time to load a further instance, relative to the first one.
_FURTHER_INSTANCE = 0.5


@dataclass(slots=True)
class History:
    """The outcomes of a search, in order. The first `searched` are those of the search itself, not
    of a refinement. `contents` are the loaded variants, by name of the slot.
    """

    records: list[TrialRecord] = field(default_factory=list)
    searched: int = 0
    contents: dict[str, str] = field(default_factory=dict)
    loads_made: list[float] = field(default_factory=list)
    leader: Measurement | None = None
    best_at: int = 0  # the number of outcomes up to the leader

    @property
    def loaded(self) -> Collection[str]:
        """The contents of the loaded variants."""
        return self.contents.values()

    @property
    def of_search(self) -> Sequence[TrialRecord]:
        return self.records[: self.searched]


@dataclass(frozen=True, slots=True)
class Remaining:
    """The expected number of further trials, what is loaded for them (see `load_of`), and their
    size: a trial that takes twice as long as a usual one counts twice (see `Sizes`).
    """

    trials: float
    loads: float
    size: float


def load_of(trial: Trial) -> float:
    """How much is loaded for a trial."""
    return load_of_instances(instances_of(trial))


def instances_of(trial: Trial) -> int:
    """The instances of all models on all GPUs."""
    return sum(
        count
        for work in trial.workloads
        for part in work.variant.served
        for count, _ in part.instances(gpus=max(len(trial.setup.devices), 1))
    )


def load_of_instances(instances: float) -> float:
    return 1 + _FURTHER_INSTANCE * max(instances - 1, 0)


def loads_of(trials: Iterable[Trial], loaded: Collection[str] = ()) -> Sequence[float]:
    """How much is loaded for trials in this order; one number for each change of content.

    The contents in `loaded` are loaded in as many slots. They need no loading if they come first.
    """
    first_of_each = [next(group) for _, group in groupby(trials, lambda trial: trial.content)]
    return [
        load_of(trial)
        for index, trial in enumerate(first_of_each)
        if index >= len(loaded) or trial.content not in loaded
    ]
