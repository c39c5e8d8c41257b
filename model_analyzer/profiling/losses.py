# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Trials that were lost with their slots."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from model_analyzer.domain.measurements import Outcome
from model_analyzer.domain.protocols import State
from model_analyzer.domain.slots import Lost, Slot
from model_analyzer.domain.trials import Failure, FailureReason, Trial

# A trial that was lost so often is a failure: it may be the cause.
MOST_LOSSES = 3


class Losses:
    """Counts the losses of each trial."""

    def __init__(self, state: State) -> None:
        self._state = state
        self._hosts: defaultdict[str, list[str]] = defaultdict(list)  # by key of the trial

    def hosts(self, trial: Trial) -> Sequence[str]:
        """The hosts that have lost this trial."""
        return self._hosts[trial.key]

    def add(self, trial: Trial, slot: Slot, lost: Lost) -> Outcome | None:
        """The outcome of a trial that was lost on a slot: what its node had stored before, or a
        failure if it was lost too often; otherwise None.
        """
        self._hosts[trial.key].append(slot.host)
        stored = self._state.record_loss(trial, slot.node)
        if stored is None and len(self._hosts[trial.key]) >= MOST_LOSSES:
            return Failure(reason=FailureReason.LOST, message=lost.reason)
        return stored
