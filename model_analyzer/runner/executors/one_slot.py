# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The executor with one slot: this machine, in the main thread."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from model_analyzer.domain.hardware import WITHOUT_GPU
from model_analyzer.domain.protocols import Runner
from model_analyzer.domain.slots import Finished, Slot
from model_analyzer.domain.trials import Trial


class LocalExecutor:
    """Measures with `runner`, inside `wait`: signals reach the trial that is measured. `kind` is
    that of the hardware, in words.
    """

    def __init__(self, runner: Runner, kind: str = WITHOUT_GPU) -> None:
        self._runner = runner
        self._slot = Slot(kind=kind)
        self._started: Trial | None = None

    @property
    def slots(self) -> Sequence[Slot]:
        return (self._slot,)

    @property
    def free(self) -> Sequence[Slot]:
        return self.slots if self._started is None else ()

    def start(self, trial: Trial, slot: Slot, *, is_test: bool = False) -> None:
        assert self._started is None, "the slot is not free"
        self._started = trial
        self._slot = replace(slot, loaded=trial.content)

    def wait(self) -> Finished:
        trial, self._started = self._started, None
        assert trial is not None, "no trial is under way"
        return Finished(trial=trial, slot=self._slot, result=self._runner.run(trial))
