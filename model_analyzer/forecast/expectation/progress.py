# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The outcomes of a search so far, and how many trials are expected to remain."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from model_analyzer.domain.measurements import Measurement
from model_analyzer.domain.profiles import TrialRecord


@dataclass(slots=True)
class SearchProgress:
    """The outcomes of a search, in order. The first `searched` are those of the search itself;
    `passed` places of its list are behind it, if it has one.
    """

    records: list[TrialRecord] = field(default_factory=list)
    searched: int = 0
    passed: int = 0
    loaded: str = ""  # the content of the variants that are in place
    loads_taken: list[float] = field(default_factory=list)
    leader: Measurement | None = None
    best_at: int = 0  # how many outcomes there were with the leader

    @property
    def of_search(self) -> Sequence[TrialRecord]:
        return self.records[: self.searched]


@dataclass(frozen=True, slots=True)
class Remaining:
    """Further trials, and what has to be loaded for them: see `load_of`. Expected numbers."""

    trials: float
    loads: float
