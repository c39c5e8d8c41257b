# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The executor over the slots of a cluster: what is lost, what starts again, what is retired."""

from __future__ import annotations

import logging
import time
from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from typing import Protocol

from model_analyzer.domain.measurements import Outcome
from model_analyzer.domain.slots import Finished, Lost, Slot
from model_analyzer.domain.trials import Trial
from model_analyzer.domain.words import counted
from model_analyzer.errors import ClusterError

log = logging.getLogger(__name__)

# A slot that was lost so often without an outcome in between does not start again.
MOST_LOSSES = 3

# Whether a trial that takes long is still measured is checked again after this time, and each time
# after twice as long. The first check comes after so many times the longest trial so far.
_LEASE_S, _LEASE_FACTOR = 30.0, 3.0

_PAUSE_S = 0.5


class SlotLostError(Exception):
    """A slot is lost. The text is the reason."""


class Cluster(Protocol):
    """The slots of a cluster, by name. A ticket stands for an answer that is still missing."""

    def run(self, slot: str, trial: Trial) -> Hashable:
        """Begins a trial; the answer is its outcome."""

    def restart(self, slot: str) -> Hashable:
        """Ends a slot, if anything of it is left, and begins to start it again."""

    def first_ready(self, tickets: Sequence[Hashable], timeout_s: float) -> Hashable | None:
        """A ticket whose answer is there, or None."""

    def answer(self, ticket: Hashable) -> Outcome | None:
        """The outcome of a trial, or None from a slot that is ready. Raises SlotLostError, and
        ClusterError if a slot cannot start.
        """

    def is_reachable(self, slot: str) -> bool:
        """Whether the node of a slot answers."""


@dataclass(slots=True)
class _UnderWay:
    """A trial in a slot. It is looked at again at `check_s`, and then every `lease_s` seconds."""

    trial: Trial
    slot: str
    began_s: float
    lease_s: float
    check_s: float


class ClusterExecutor:
    """Measures on the slots of a cluster. `hosts` are by the name of the slot.

    Interrupts may be raised within `interruptible` blocks only. `clock` returns seconds.
    """

    def __init__(
        self,
        cluster: Cluster,
        hosts: Mapping[str, str],
        *,
        interruptible: Callable[[], AbstractContextManager[object]],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._cluster = cluster
        self._slots = {name: Slot(name=name, host=host) for name, host in hosts.items()}
        self._under_way: dict[Hashable, _UnderWay] = {}
        self._starting: dict[Hashable, str] = {}
        self._losses: Counter[str] = Counter()
        self._longest_s = 0.0
        self._interruptible = interruptible
        self._clock = clock

    @property
    def slots(self) -> Sequence[Slot]:
        return tuple(self._slots.values())

    @property
    def free(self) -> Sequence[Slot]:
        while not (self._ready or self._under_way):
            if not self._starting:
                raise ClusterError(
                    "all slots were lost: look at the nodes of the cluster, then run again to"
                    " continue"
                )
            self._step()
        return self._ready

    @property
    def _ready(self) -> Sequence[Slot]:
        taken = {work.slot for work in self._under_way.values()} | {*self._starting.values()}
        return tuple(slot for slot in self.slots if slot.name not in taken)

    def start(self, trial: Trial, slot: Slot) -> None:
        now = self._clock()
        lease_s = max(_LEASE_S, _LEASE_FACTOR * self._longest_s)
        self._slots[slot.name] = replace(slot, loaded=trial.content)
        ticket = self._cluster.run(slot.name, trial)
        self._under_way[ticket] = _UnderWay(trial, slot.name, now, lease_s, now + lease_s)

    def wait(self) -> Finished:
        while (finished := self._step()) is None:
            pass
        return finished

    def _step(self) -> Finished | None:
        """Takes the next answer, if it comes soon."""
        with self._interruptible():
            tickets = [*self._under_way, *self._starting]
            ticket = self._cluster.first_ready(tickets, _PAUSE_S)
        if ticket is None:
            return self._check_leases()
        if ticket in self._starting:
            self._started(ticket)
            return None
        work = self._under_way.pop(ticket)
        try:
            outcome = self._cluster.answer(ticket)
        except SlotLostError as error:
            return self._lost(work, str(error))
        assert outcome is not None, "a trial has an outcome"
        self._losses[work.slot] = 0
        self._longest_s = max(self._longest_s, self._clock() - work.began_s)
        return Finished(trial=work.trial, slot=self._slots[work.slot], result=outcome)

    def _check_leases(self) -> Finished | None:
        """Looks for nodes that hang, which the cluster itself notices late."""
        now = self._clock()
        for ticket, work in self._under_way.items():
            if now < work.check_s:
                continue
            work.lease_s *= 2
            work.check_s = now + work.lease_s
            if not self._cluster.is_reachable(work.slot):
                del self._under_way[ticket]
                return self._lost(work, "its node does not answer")
        return None

    def _lost(self, work: _UnderWay, reason: str) -> Finished:
        slot = replace(self._slots[work.slot], loaded="")
        self._slots[work.slot] = slot
        self._restart(slot, reason)
        return Finished(trial=work.trial, slot=slot, result=Lost(reason))

    def _restart(self, slot: Slot, reason: str) -> None:
        self._losses[slot.name] += 1
        if self._losses[slot.name] >= MOST_LOSSES:
            self._retire(slot, f"lost {self._losses[slot.name]} times in a row: {reason}")
            return
        self._starting[self._cluster.restart(slot.name)] = slot.name

    def _started(self, ticket: Hashable) -> None:
        slot = self._slots[self._starting.pop(ticket)]
        try:
            self._cluster.answer(ticket)
        except SlotLostError as error:
            self._restart(slot, str(error))
        except ClusterError as error:
            self._retire(slot, str(error))
        else:
            log.info("%s works again", slot.name)

    def _retire(self, slot: Slot, reason: str) -> None:
        del self._slots[slot.name]
        log.warning("%s is not used any more (%s); %s left", slot.name, reason, self._left)

    @property
    def _left(self) -> str:
        return counted(len(self._slots), "slot")
