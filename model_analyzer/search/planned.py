# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""`PlannedSearch`, which makes a `Search` from a plan: several trials may be under way at once."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable
from typing import Any

from model_analyzer.domain.conclusions import Conclusion, Outlook
from model_analyzer.domain.measurements import Outcome
from model_analyzer.domain.trials import Trial
from model_analyzer.search.plan import Fork, LearningPlan, PartialPlan, Plan


class PlannedSearch:
    """A search that runs a plan.

    The trials depend on the outcomes told so far, and on nothing else: the same calls of `ask` and
    `tell` in the same order give the same trials. `outlook` says what a learning plan expects.
    """

    def __init__(
        self,
        plan: Plan | LearningPlan,
        most_trials: int | None,
        outlook: Callable[[], Outlook | None] = lambda: None,
    ) -> None:
        self._root = _Strand(plan)
        self._most_trials = most_trials
        self._outlook = outlook
        self._waiting: defaultdict[tuple[str, str], deque[_Strand]] = defaultdict(deque)

    @property
    def most_trials(self) -> int | None:
        return self._most_trials

    def ask(self) -> Trial | None:
        strand = self._root.next_ready()
        if strand is None:
            return None
        trial = strand.take()
        self._waiting[_identity(trial)].append(strand)
        return trial

    def tell(self, trial: Trial, outcome: Outcome) -> None:
        self._waiting[_identity(trial)].popleft().resume(outcome)

    @property
    def outlook(self) -> Outlook | None:
        return self._outlook()

    @property
    def conclusion(self) -> Conclusion | None:
        result = self._root.result
        return result if isinstance(result, Conclusion) else None


def _identity(trial: Trial) -> tuple[str, str]:
    """Identifies a trial that was asked: the same content may have two names."""
    return trial.key, trial.variants


class _Strand:
    """A plan under way. It waits for the outcome of its trial or for the branches of its fork."""

    def __init__(self, plan: PartialPlan[Any]) -> None:
        self._plan = plan
        self._trial: Trial | None = None
        self._branches: _Branches | None = None
        self._has_begun = False
        self.is_done = False
        self.result: Any = None

    def next_ready(self) -> _Strand | None:
        """The first strand, this one or one inside of it, with a trial to take."""
        if not self._has_begun:
            self._has_begun = True
            self.resume(None)
        while self._branches is not None:
            strand = self._branches.next_ready()
            if strand is not None or not self._branches.are_done:
                return strand
            self.resume(self._branches.results)
        return None if self._trial is None else self

    def take(self) -> Trial:
        """The trial to measure; it is given out once."""
        trial, self._trial = self._trial, None
        assert trial is not None, "the strand is not ready"
        return trial

    def resume(self, answer: Any) -> None:
        """Runs the plan to its next trial or fork, or to its end."""
        self._branches = None
        try:
            step = self._plan.send(answer)
        except StopIteration as stop:
            self.is_done, self.result = True, stop.value
            return
        if isinstance(step, Fork):
            self._branches = _Branches(step)
        else:
            self._trial = step


class _Branches:
    """The branches of a fork; each begins when all earlier ones wait for outcomes."""

    def __init__(self, fork: Fork) -> None:
        self._further = fork.branches
        self._begun: list[_Strand] = []
        self._active: list[_Strand] = []

    @property
    def are_done(self) -> bool:
        return not self._active

    @property
    def results(self) -> list[Any]:
        return [strand.result for strand in self._begun]

    def next_ready(self) -> _Strand | None:
        ready = next(filter(None, (strand.next_ready() for strand in self._active)), None)
        self._active = [strand for strand in self._active if not strand.is_done]
        while ready is None and (plan := next(self._further, None)) is not None:
            strand = _Strand(plan)
            self._begun.append(strand)
            ready = strand.next_ready()
            if not strand.is_done:
                self._active.append(strand)
        return ready
