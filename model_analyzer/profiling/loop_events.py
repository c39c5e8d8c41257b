# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The events of the main loop."""

from __future__ import annotations

from dataclasses import dataclass

from model_analyzer.domain.conclusions import Outlook
from model_analyzer.domain.hardware import WITHOUT_GPU
from model_analyzer.domain.measurements import Outcome
from model_analyzer.domain.slots import Overdue, Slot
from model_analyzer.domain.trials import Failure, Trial


@dataclass(frozen=True, slots=True)
class TrialStarted:
    """A trial is about to be measured on a slot. `outlook` is what its search expected before."""

    trial: Trial
    slot: Slot
    outlook: Outlook | None = None


@dataclass(frozen=True, slots=True)
class TrialFinished:
    """A trial has an outcome: from this run, on a `slot`, or from an earlier one, if None."""

    trial: Trial
    outcome: Outcome
    slot: Slot | None

    @property
    def resumed(self) -> bool:
        return self.slot is None


@dataclass(frozen=True, slots=True)
class TrialOverdue:
    """A trial on a slot takes much longer than expected."""

    trial: Trial
    slot: Slot
    overdue: Overdue


@dataclass(frozen=True, slots=True)
class TrialLost:
    """A trial was lost with its slot; it will be measured again."""

    trial: Trial
    slot: Slot
    reason: str


@dataclass(frozen=True, slots=True)
class GivenUp:
    """Too many trials on a kind of hardware failed and none succeeded. `last` is the last failure;
    `resumed` means that all failures are from an earlier run.
    """

    failures: int
    last: Failure
    resumed: bool
    kind: str = WITHOUT_GPU


Event = TrialStarted | TrialOverdue | TrialFinished | TrialLost | GivenUp
