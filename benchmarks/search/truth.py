# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The truth about a surface: its size, its best point, and the value of a recommendation.

The grid has every combination of the values of its axes with loads that double, and the default
configuration. A search can also choose loads between them, so there are two best points: of the
grid, and under any load.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product

import numpy as np
from numpy.typing import NDArray

from benchmarks.search.machine import Client, Floats, Point, Response, Setting
from benchmarks.search.surface import AVERAGE, MEMORY, P99, THROUGHPUT, Surface
from model_analyzer.domain.goals import Constraint
from model_analyzer.domain.models import VariantNames

Settings = Mapping[str, Setting]

# Values with a smaller relative difference are equal.
_SAME = 1e-6


@dataclass(frozen=True, slots=True, kw_only=True)
class Best:
    """The best point that meets the constraints, and its merit; None if there is none."""

    merit: float | None
    settings: Settings | None
    loads: tuple[float, ...]


class Truth:
    """Everything that can be computed about a surface."""

    def __init__(self, surface: Surface) -> None:
        self._surface = surface

    @cached_property
    def variants(self) -> Sequence[Settings]:
        """Every setting of the grid; the default is the first."""
        names = VariantNames()
        default = {
            part.model: Setting.of(part)
            for facts in self._surface.facts
            for part in names.default(facts).served
        }
        axes = self._surface.axes
        chosen = product(*(axis.settings() for axis in axes.values()))
        return [default, *(dict(zip(axes, settings, strict=True)) for settings in chosen)]

    @property
    def size(self) -> int:
        """The number of points of the grid."""
        clients: int = len(self._surface.loads) ** len(self._surface.facts)
        return len(self.variants) * clients

    @cached_property
    def best(self) -> Best:
        """The best point of the grid."""
        return self._best(self._surface.loads)

    @cached_property
    def best_under_any_load(self) -> Best:
        """The best point under any integer load between the ends of the grid, never below the best
        of the grid. With several clients, it is the best of the grid.
        """
        loads = self._surface.loads
        if len(self._surface.facts) > 1:
            return self.best
        return self._best(range(loads[0], loads[-1] + 1))

    @cached_property
    def feasible(self) -> float:
        """The share of the grid that meets the constraints."""
        met = sum(int(mask.sum()) for *_, mask in self._judged(self._surface.loads))
        return met / self.size

    def metric(self, tag: str) -> Floats:
        """The values of a metric at all points of the grid that meet the constraints, unordered.
        With several models, the worst value, as for a constraint on all models.
        """
        worst = np.min if tag == THROUGHPUT else np.max
        parts = [np.zeros(0)]
        for _, response, _, mask in self._judged(self._surface.loads):
            values = [of_metric(response, index, tag) for index in range(len(self._surface.facts))]
            parts.append(worst(values, axis=0)[mask])
        return np.concatenate(parts)

    def limit(self, tag: str, share: float) -> Constraint:
        """An additional constraint on a metric that about the given `share` of the grid meets: an
        upper limit, or a lower one on throughput. The limit is between two values, so that rounding
        and noise do not matter.
        """
        ordered = self._best_first(tag)
        # tied points meet it together, or not at all
        ends = np.flatnonzero(~np.isclose(ordered[1:], ordered[:-1], rtol=_SAME)) + 1
        if len(ends) == 0:
            ends = np.array([len(ordered) - 1])
        return _after(tag, ordered, ends[np.abs(ends - share * self.size).argmin()])

    def limit_apart(self, tag: str, least: float, most: float) -> Constraint:
        """As `limit`, with a share between `least` and `most`, at the largest gap between values:
        for values with noise, points near a limit would meet it only by chance.
        """
        ordered = self._best_first(tag)
        met = np.arange(math.ceil(least * self.size), math.floor(most * self.size) + 1)
        met = met[met < len(ordered)]
        gaps = np.abs(np.log(ordered[met] / ordered[met - 1]))
        return _after(tag, ordered, met[gaps.argmax()])

    def _best_first(self, tag: str) -> Floats:
        """The values of a metric, the best first."""
        ordered: Floats = np.sort(self.metric(tag))
        return ordered[::-1] if tag == THROUGHPUT else ordered

    def merit_of(self, point: Point) -> float | None:
        """The merit of a point without noise; None if it fails."""
        response = self._surface.response(point)
        if response is None or response.fails[0]:
            return None
        return float(self._merit(response)[0])

    def excess_of(self, point: Point) -> float:
        """The largest relative violation of a constraint at a point, without noise."""
        response = self._surface.response(point)
        if response is None or response.fails[0]:
            return float("inf")
        return max(
            (
                constraint.excess(float(of_metric(response, index, constraint.tag)[0]))
                for index, goal in enumerate(self._surface.goal.models)
                for constraint in goal.constraints
            ),
            default=0.0,
        )

    def _best(self, loads: Sequence[int]) -> Best:
        best = Best(merit=None, settings=None, loads=())
        for settings, response, clients, mask in self._judged(loads):
            if not mask.any():
                continue
            merits = np.where(mask, self._merit(response), -np.inf)
            index = int(merits.argmax())
            if best.merit is None or merits[index] > best.merit:
                best = Best(
                    merit=float(merits[index]),
                    settings=settings,
                    loads=tuple(float(client.values[index]) for client in clients),
                )
        return best

    def _judged(
        self, loads: Sequence[int]
    ) -> Iterator[tuple[Settings, Response, Sequence[Client], NDArray[np.bool_]]]:
        """Every variant that loads, and whether it meets the constraints under each load."""
        for settings, response, clients in self._answered(loads):
            mask = ~response.fails
            for index, goal in enumerate(self._surface.goal.models):
                for constraint in goal.constraints:
                    values = of_metric(response, index, constraint.tag)
                    low = -np.inf if constraint.minimum is None else constraint.minimum
                    high = np.inf if constraint.maximum is None else constraint.maximum
                    mask = mask & (values >= low) & (values <= high)
            yield settings, response, clients, mask

    def _answered(
        self, loads: Sequence[int]
    ) -> Iterator[tuple[Settings, Response, Sequence[Client]]]:
        values = [np.asarray(loads, dtype=float)] * len(self._surface.facts)
        meshed = np.meshgrid(*values, indexing="ij")
        clients = [Client(kind=self._surface.load_kind, values=grid.reshape(-1)) for grid in meshed]
        for settings in self.variants:
            response = self._surface.source.respond(settings, clients)
            if response is not None:
                yield settings, response, clients

    def _merit(self, response: Response) -> Floats:
        """The objectives as one number, whose differences are the goal's scores: a logarithm, so a
        difference is a ratio.
        """
        goals = self._surface.goal.models
        total = np.zeros_like(response.throughput[0])
        for index, goal in enumerate(goals):
            weight = goal.weighting / sum(model_goal.weighting for model_goal in goals)
            weights = sum(objective.weight for objective in goal.objectives)
            for objective in goal.objectives:
                values = np.log(of_metric(response, index, objective.tag))
                sign = 1 if objective.tag == THROUGHPUT else -1
                total = total + sign * weight * objective.weight / weights * values
        return total


def _after(tag: str, ordered: Floats, count: int) -> Constraint:
    """The constraint that the first `count` values meet, between the last of them and the next."""
    bound = float(np.sqrt(ordered[count - 1] * ordered[count]))
    if tag == THROUGHPUT:
        return Constraint(tag=tag, minimum=bound)
    return Constraint(tag=tag, maximum=bound)


def of_metric(response: Response, index: int, tag: str) -> Floats:
    """A metric of one client, for every load."""
    match tag:
        case "perf_throughput":
            return response.throughput[index]
        case "perf_latency_avg":
            return response.latency_avg[index]
        case "perf_latency_p99":
            return response.latency_p99[index]
        case "cpu_used_ram":
            return np.full_like(response.throughput[index], response.memory)
    raise KeyError(f"no surface has {tag}: there are {THROUGHPUT}, {AVERAGE}, {P99}, {MEMORY}")
