# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""A simulated server as the source of a surface: a table of what was measured at its points."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from benchmarks.search.machine import Client, Floats, Response, Setting, Work
from benchmarks.search.simulated.server import Server
from benchmarks.search.simulated.simulator import Simulator

Effective = tuple[Setting, ...]


@dataclass(slots=True, kw_only=True, eq=False)
class Simulated:
    """Curves over the `nodes` (loads, ascending), by the effective settings of the stages; between
    two nodes they are interpolated, over the logarithm of the load. What is not among them is
    simulated when it is asked for, and added. All times are `scale` times those of the server.
    """

    server: Server
    simulator: Simulator
    nodes: Sequence[int]
    curves: dict[Effective, Floats]
    scale: float = 1.0

    def respond(
        self, settings: Mapping[str, Setting], clients: Sequence[Client]
    ) -> Response | None:
        """What was measured; the requests of a client's batch count as single ones."""
        (client,) = clients
        memory = self.server.used_mb(settings)
        if memory > self.server.memory_mb:
            return None
        load = client.values * client.batch_size
        curve = self._curve(self.server.effective(settings))
        at = [
            np.exp(np.interp(np.log(load), np.log(self.nodes), np.log(column)))
            for column in curve.T
        ]
        return Response(
            throughput=(at[0] / self.scale,),
            latency_avg=(at[1] * self.scale,),
            latency_p99=(np.maximum(at[1], at[2]) * self.scale,),
            memory=memory,
            fails=memory + self._live_mb(settings, load) > self.server.memory_mb,
            steps=self._steps(at[3:]),
        )

    def _steps(self, columns: Sequence[Floats]) -> Mapping[str, Work]:
        """What each stage does, where there are several."""
        if len(self.server.stages) == 1:
            return {}
        return {
            name: Work(batch=columns[2 * place], batch_ms=columns[2 * place + 1] * self.scale)
            for place, name in enumerate(self.server.stages)
        }

    def _curve(self, settings: Effective) -> Floats:
        if settings not in self.curves:
            self.curves[settings] = self.simulator.curve(self.server, settings, self.nodes)
        return self.curves[settings]

    def _live_mb(self, settings: Mapping[str, Setting], load: Floats) -> Floats:
        """What the largest batches take that so many requests can make."""
        total = np.zeros_like(load)
        for name, stage in self.server.stages.items():
            setting = stage.effective(settings[name])
            batch = np.minimum(load / setting.instances, setting.batch_limit)
            total += setting.instances * batch * self.server.live_mb
        return total


def simulated(
    server: Server,
    settings: Sequence[Mapping[str, Setting]],
    loads: Sequence[int],
    simulator: Simulator,
) -> Simulated:
    """The source for surfaces with these settings and loads (ascending).

    Raises NoSimulatorError.
    """
    nodes = _nodes(loads)
    # what makes no difference is simulated once, and gives the very same
    effective = list(dict.fromkeys(server.effective(choice) for choice in settings))
    curves = simulator.curves(server, effective, nodes)
    return Simulated(
        server=server,
        simulator=simulator,
        nodes=nodes,
        curves=dict(zip(effective, curves, strict=True)),
    )


def _nodes(loads: Sequence[int]) -> Sequence[int]:
    """The loads, and three more to each of them but the last: an octave is divided in four."""
    between = {max(round(low * share), 1) for low in loads[:-1] for share in (1.25, 1.5, 1.75)}
    return sorted({*loads, *between})
