# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The executor with a thread for each slot, for servers that run elsewhere."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor
from concurrent.futures import wait as wait_for
from dataclasses import replace

from model_analyzer.domain.measurements import Outcome
from model_analyzer.domain.protocols import Runner
from model_analyzer.domain.slots import Finished, Slot
from model_analyzer.domain.trials import Trial


class ThreadedExecutor:
    """Measures with one runner for each slot, by the name of the slot. Slots differ in their host.

    A context manager: leaving waits for the trials that are under way.
    """

    def __init__(self, runners: Mapping[str, Runner]) -> None:
        self._runners = runners
        self._slots = {name: Slot(name=name, host=name) for name in runners}
        self._under_way: dict[Future[Outcome], tuple[Trial, str]] = {}
        self._pool = ThreadPoolExecutor(max_workers=len(runners), thread_name_prefix="slot")

    def __enter__(self) -> ThreadedExecutor:
        return self

    def __exit__(self, *_: object) -> None:
        self._pool.shutdown()

    @property
    def slots(self) -> Sequence[Slot]:
        return tuple(self._slots.values())

    @property
    def free(self) -> Sequence[Slot]:
        busy = {name for _, name in self._under_way.values()}
        return tuple(slot for slot in self.slots if slot.name not in busy)

    def start(self, trial: Trial, slot: Slot) -> None:
        assert slot in self.free, "the slot is not free"
        self._slots[slot.name] = replace(slot, loaded=trial.content)
        future = self._pool.submit(self._runners[slot.name].run, trial)
        self._under_way[future] = (trial, slot.name)

    def wait(self) -> Finished:
        done, _ = wait_for(self._under_way, return_when=FIRST_COMPLETED)
        future = next(future for future in self._under_way if future in done)
        trial, name = self._under_way.pop(future)
        return Finished(trial=trial, slot=self._slots[name], result=future.result())
