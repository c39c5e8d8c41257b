# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""What a search starts from, and how a plan written as a generator becomes a `Search`."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass

from model_analyzer.domain.goals import Goal
from model_analyzer.domain.measurements import Outcome
from model_analyzer.domain.models import ModelFacts, ModelVariant
from model_analyzer.domain.profiles import TrialRecord
from model_analyzer.domain.settings import ModelSettings
from model_analyzer.domain.trials import Load, ServerSetup, Trial, Workload

# A plan yields trials, is sent their outcomes, and returns both.
Plan = Generator[Trial, Outcome, list[TrialRecord]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """One model to be searched: what it is, what is wished, and where it will run.

    `inputs` is a fingerprint of the user's input files, see `Workload`.
    """

    facts: ModelFacts
    settings: ModelSettings
    setup: ServerSetup
    inputs: str = ""

    @property
    def goal(self) -> Goal:
        return Goal(models=(self.settings.goal,))

    def trial(self, variant: ModelVariant, value: int, batch_size: int) -> Trial:
        """The trial of `variant` under one load."""
        load = Load(kind=self.settings.load_kind, value=value, batch_size=batch_size)
        work = Workload(
            variant=variant,
            load=load,
            flags=self.settings.perf_analyzer_flags,
            inputs=self.inputs,
        )
        return Trial(workloads=(work,), setup=self.setup)


class PlannedSearch:
    """A search whose next question follows from the answers so far, one at a time.

    Asking again before the answer is told gives the same trial again.
    """

    def __init__(self, plan: Plan, most_trials: int) -> None:
        self._plan = plan
        self._most_trials = most_trials
        self._asked = next(plan, None)

    @property
    def most_trials(self) -> int:
        return self._most_trials

    def ask(self) -> Trial | None:
        return self._asked

    def tell(self, trial: Trial, outcome: Outcome) -> None:
        try:
            self._asked = self._plan.send(outcome)
        except StopIteration:
            self._asked = None


def doubling(low: int, high: int) -> Sequence[int]:
    """`low` (at least 1), twice as much, … as long as it is not above `high`."""
    values = []
    value = max(low, 1)
    while value <= high:
        values.append(value)
        value *= 2
    return values
