# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The outcomes of a search so far, and its expected rest."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

from model_analyzer.domain.measurements import Measurement
from model_analyzer.domain.profiles import TrialRecord


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
