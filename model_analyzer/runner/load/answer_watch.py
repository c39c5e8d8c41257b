# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The throughput of loads of so many requests that perf_analyzer cannot export.

It rounds the time of such a load up to whole seconds, so the throughput in its table is too low.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from model_analyzer.domain.measurements import Values
from model_analyzer.domain.models import ModelVariant
from model_analyzer.domain.protocols import Server
from model_analyzer.runner.load.generators import Generator

# How often the server is asked: the first and the last answer are seen so much too late.
LOOK_S = 0.05

_Count = tuple[float, int]


class AnswerWatch:
    """Sees when the first and the last requests of a load were answered, in the statistics of the
    server. Without these, the table stays as it is.
    """

    def __init__(self, generators: Sequence[Generator], server: Server) -> None:
        self._server = server
        self._variants: dict[str, ModelVariant] = {}
        # all requests of a model, which several generators may send
        self._requests: Counter[str] = Counter()
        for each in generators:
            if each.window.total and not each.exports:
                self._variants[each.work.variant.model] = each.work.variant
                self._requests[each.work.variant.model] += each.window.total
        self._seen = dict(self._inferences())
        self._first: dict[str, _Count] = {}
        self._last: dict[str, _Count] = {}

    @property
    def is_needed(self) -> bool:
        """Whether there is such a load."""
        return bool(self._variants)

    def look(self, now: float) -> None:
        """Asks the server, at a time in seconds."""
        for model, count in self._inferences().items():
            if count != self._seen.get(model):
                self._last[model] = now, count
                self._first.setdefault(model, (now, count))
                self._seen[model] = count

    def corrected(self, generator: Generator, table: Values | None) -> Values | None:
        """The table of a generator, with its part of the inferences per second between the first
        answer and the last one.
        """
        model, requests = generator.work.variant.model, generator.window.total
        if table is None or requests is None or generator.exports or model not in self._last:
            return table
        (begin, before), (end, after) = self._first[model], self._last[model]
        if end <= begin or after <= before:  # too short to see, or the server was restarted
            return table
        rate = (after - before) / (end - begin)
        return {**table, "perf_throughput": rate * requests / self._requests[model]}

    def _inferences(self) -> Mapping[str, int]:
        if not self._variants:
            return {}
        statistics = self._server.statistics([*self._variants.values()])
        return {name: statistics[name].inferences for name in self._variants if name in statistics}
