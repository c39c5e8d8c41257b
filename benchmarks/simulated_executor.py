# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""An executor on a virtual clock: slots that take no time, for benchmarks and tests."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from model_analyzer.domain.hardware import WITHOUT_GPU
from model_analyzer.domain.measurements import Outcome
from model_analyzer.domain.slots import Finished, Lost, Slot
from model_analyzer.domain.trials import Trial


class SimulatedExecutor:
    """So many slots, each on a host of its own. `kinds` is the hardware of each, by default the
    same.

    `measure` gives the result of a trial on a slot, and `seconds` how long it takes there. `now_s`
    is the virtual time, `busy_s` the time that all slots together measured.
    """

    def __init__(
        self,
        slots: int,
        measure: Callable[[Trial, Slot], Outcome | Lost],
        seconds: Callable[[Trial, Slot], float],
        kinds: Sequence[str] = (),
    ) -> None:
        self._slots = [
            Slot(name=f"slot {n}", host=f"host {n}", kind=kind)
            for n, kind in enumerate(kinds or (WITHOUT_GPU,) * slots, 1)
        ]
        self._measure = measure
        self._seconds = seconds
        self._under_way: list[tuple[float, float, Trial, str]] = []
        self.now_s = 1.0  # an outcome that starts at 0 has no known start
        self.busy_s = 0.0

    @property
    def slots(self) -> Sequence[Slot]:
        return tuple(self._slots)

    @property
    def free(self) -> Sequence[Slot]:
        busy = {name for *_, name in self._under_way}
        return tuple(slot for slot in self._slots if slot.name not in busy)

    def start(self, trial: Trial, slot: Slot, *, is_test: bool = False) -> None:
        assert slot in self.free, "the slot is not free"
        end_s = self.now_s + self._seconds(trial, slot)
        self._under_way.append((end_s, self.now_s, trial, slot.name))
        self._slots = [
            replace(each, loaded=trial.content) if each == slot else each for each in self._slots
        ]

    def wait(self) -> Finished:
        first = min(self._under_way, key=lambda entry: entry[0])
        self._under_way.remove(first)
        end_s, began_s, trial, name = first
        self.now_s = end_s
        self.busy_s += end_s - began_s
        slot = next(each for each in self._slots if each.name == name)
        result = self._measure(trial, slot)
        if not isinstance(result, Lost):
            result = replace(result, started=began_s, duration_s=round(end_s - began_s, 3))
        return Finished(trial=trial, slot=slot, result=result)
