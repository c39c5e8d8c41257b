# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""A search under way on the slots of one kind of hardware."""

from __future__ import annotations

from collections.abc import Sequence

from model_analyzer.domain.hardware import Lane
from model_analyzer.domain.protocols import Executor, Search, State
from model_analyzer.domain.slots import Slot
from model_analyzer.domain.trials import Trial
from model_analyzer.profiling.events import GivenUp
from model_analyzer.profiling.failures import Foresight, Patience
from model_analyzer.profiling.questions import Questions


class RunningLane:
    """Its questions, its patience, and the keys of its trials `under_way`.

    Questions are recorded if several of its trials may be under way at once.
    """

    def __init__(self, lane: Lane, search: Search, state: State, executor: Executor) -> None:
        self.kind = lane.kind
        self._executor = executor
        self.questions = Questions(search, state, lane, records=len(self.slots) > 1)
        self.foresight = Foresight()
        self.patience = Patience(lane.kind)
        self.under_way: set[str] = set()
        self._has_ended = False

    @property
    def slots(self) -> Sequence[Slot]:
        """Its working slots."""
        return [slot for slot in self._executor.slots if slot.kind == self.kind]

    @property
    def free(self) -> Sequence[Slot]:
        """Its slots without a trial."""
        return [slot for slot in self._executor.free if slot.kind == self.kind]

    @property
    def is_over(self) -> bool:
        """Whether the search has ended or is given up. A trial may be under way yet."""
        return self._has_ended or self.patience.is_exhausted

    @property
    def given_up(self) -> GivenUp | None:
        """Set if no trial succeeded."""
        return self.patience.given_up

    def next(self) -> Trial | None:
        """The next trial; None if there is none now, or none at all."""
        trial = self.questions.next()
        self._has_ended = trial is None and not self.under_way
        return trial
