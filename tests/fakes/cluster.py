# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""A cluster on a virtual clock: what its slots answer, and when, is written down before."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Mapping, Sequence

from model_analyzer.domain.measurements import Outcome
from model_analyzer.domain.protocols import Executor
from model_analyzer.domain.slots import Finished, Slot
from model_analyzer.domain.trials import Trial

Answer = Outcome | Exception | None

# A slot that answers at this time never answers.
NEVER = float("inf")


def next_finished(executor: Executor) -> Finished:
    """The next trial that finishes, whatever else happens to slots."""
    while not isinstance(finished := executor.wait(), Finished):
        pass
    return finished


def slots_on(hosts: Mapping[str, str]) -> Sequence[Slot]:
    """Slots by name, each on a host."""
    return [Slot(name=name, host=host) for name, host in hosts.items()]


class FakeCluster:
    """`measure` gives the answer of a trial, and the seconds until it comes.

    `restarts` are the answers of slots that start again, in order: by default they are ready after
    a second. Nodes in `unreachable` do not answer. `clock` returns the virtual time.
    """

    def __init__(self, measure: Callable[[str, Trial], tuple[Answer, float]]) -> None:
        self._measure = measure
        self._answers: dict[Hashable, tuple[Answer, float]] = {}
        self.now_s = 0.0
        self.restarts: defaultdict[str, list[tuple[Answer, float]]] = defaultdict(list)
        self.restarted: list[str] = []
        self.checked: list[tuple[str, float]] = []
        self.unreachable: set[str] = set()
        self.tests = 0

    def clock(self) -> float:
        return self.now_s

    def run(self, slot: str, trial: Trial, *, is_test: bool = False) -> Hashable:
        self.tests += is_test
        return self._ticket(*self._measure(slot, trial))

    def restart(self, slot: str) -> Hashable:
        self.restarted.append(slot)
        answers = self.restarts[slot]
        return self._ticket(*(answers.pop(0) if answers else (None, 1.0)))

    def first_ready(self, tickets: Sequence[Hashable], timeout_s: float) -> Hashable | None:
        assert tickets, "nobody owes an answer"
        first = min(tickets, key=lambda ticket: self._answers[ticket][1])
        _, ready_s = self._answers[first]
        is_ready = ready_s <= self.now_s + timeout_s
        self.now_s = max(self.now_s, ready_s) if is_ready else self.now_s + timeout_s
        return first if is_ready else None

    def answer(self, ticket: Hashable) -> Outcome | None:
        result, ready_s = self._answers.pop(ticket)
        assert ready_s <= self.now_s, "the answer is not there yet"
        if isinstance(result, Exception):
            raise result
        return result

    def is_reachable(self, slot: str) -> bool:
        self.checked.append((slot, self.now_s))
        return slot not in self.unreachable

    def _ticket(self, answer: Answer, seconds: float) -> Hashable:
        ticket = object()
        self._answers[ticket] = (answer, self.now_s + seconds)
        return ticket
