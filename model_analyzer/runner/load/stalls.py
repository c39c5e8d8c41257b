# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Loads that end with their last answer, and never end if perf_analyzer misses one."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Mapping, Sequence

from model_analyzer.domain.models import ModelVariant
from model_analyzer.domain.protocols import Server
from model_analyzer.runner.load.generators import Generator
from model_analyzer.runner.load.own_schedule import threads

# How often the server is asked: seldom, since that is work beside the measurement.
_EVERY_S = 1.0
# A server is silent for longer than between two answers of this load, by a factor; in seconds, for
# at least so long.
_LONGER, _SILENT_S = 5.0, 10.0

_NS_PER_S = 1e9


class StallWatch:
    """Notices a perf_analyzer that waits in vain for the last answers of its load.

    Where each request has its time, perf_analyzer sends so many requests and ends with the last
    answer. It may lose an answer that comes before it begins to collect them, and a thread of it
    may miss the signal to begin. Then the server has answered all requests, or all but those of a
    thread; any other number means that it is slow. Without statistics, nothing is noticed.
    """

    def __init__(self, generators: Sequence[Generator], server: Server) -> None:
        self._server = server
        self._variants: list[ModelVariant] = []
        self._sizes: dict[str, int] = {}
        # by model, for each generator: its requests, and the threads that send them
        self._requests: dict[str, list[tuple[int, int]]] = defaultdict(list)
        last_due = 0
        for each in generators:
            if each.window.total and each.due is not None:
                name = each.work.variant.model
                self._variants.append(each.work.variant)
                self._sizes[name] = each.work.load.batch_size
                self._requests[name].append((len(each.due), threads(each.work.flags)))
                last_due = max(last_due, int(each.due[-1]))
        self._begin = self._counts = self._inferences()
        self._looked = self._answered = time.monotonic()
        self._all_due = self._looked + last_due / _NS_PER_S
        self._longest_s = 0.0
        self.has_stalled = False

    def look(self) -> bool:
        """Whether it waits in vain, from now on also in `has_stalled`."""
        now = time.monotonic()
        if not self._variants or now - self._looked < _EVERY_S:
            return False
        self._looked = now
        counts = self._inferences()
        if counts != self._counts:
            self._longest_s = max(self._longest_s, now - self._answered)
            self._counts, self._answered = counts, now
        is_silent = now - self._answered > max(_SILENT_S, _LONGER * self._longest_s)
        self.has_stalled = is_silent and now > self._all_due and self._misses_threads()
        return self.has_stalled

    def _inferences(self) -> Mapping[str, int]:
        if not self._variants:
            return {}
        statistics = self._server.statistics(self._variants)
        return {name: statistics[name].inferences for name in self._sizes if name in statistics}

    def _misses_threads(self) -> bool:
        """Whether each model has answered all its requests, or all but those of a thread."""
        return all(
            name in self._counts
            and name in self._begin
            and _is_share(
                sum(count for count, _ in requests)
                - (self._counts[name] - self._begin[name]) / self._sizes[name],
                requests,
            )
            for name, requests in self._requests.items()
        )


def _is_share(missing: float, requests: Sequence[tuple[int, int]]) -> bool:
    """Whether none are missing, or as many as a thread of one of the generators sends."""
    return missing <= 0 or any(
        missing in (count // senders, -(-count // senders)) for count, senders in requests
    )
