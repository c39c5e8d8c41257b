# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""A server to be simulated: what its machine and the stages of its models are like.

The simulation (simulator.c) is of single requests and batches, so that throughput and latencies
follow from what is said here; no formula says what they are.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field

import numpy as np

from benchmarks.search.machine import Floats, Setting

# The sizes of batches for which times are given; 0 is there for the index.
SIZES: Floats = np.arange(257.0)
MOST = len(SIZES) - 1


def always(value: float) -> Floats:
    """The same for all sizes of a batch."""
    return np.full_like(SIZES, value)


@dataclass(frozen=True, kw_only=True, eq=False)
class Stage:
    """A model: the milliseconds that a batch of each size takes alone on the machine, launched by
    so many `cores`, copied, and computed, where it fills the share `occupancy` of the device.

    All of that takes 1 + `slowdown` * (instances - 1) times as long. A model that does not form
    batches takes one request at a time, whatever its setting says. Each instance needs memory for
    its weights and for each item up to the batch limit (MB).
    """

    compute_ms: Floats
    occupancy: Floats
    launch_ms: Floats = field(default_factory=lambda: always(0.1))
    copy_ms: Floats = field(default_factory=lambda: always(0))
    cores: float = 1.0
    slowdown: float = 0.0
    forms_batches: bool = True
    weights_mb: float = 200.0
    item_mb: float = 2.0

    def effective(self, setting: Setting) -> Setting:
        """The same setting for all that make no difference to its times."""
        forms_batches = self.forms_batches and setting.forms_batches and setting.batch_limit > 1
        return Setting(
            instances=setting.instances,
            batch_limit=min(setting.batch_limit, MOST) if forms_batches else 1,
            forms_batches=forms_batches,
            delay_us=setting.delay_us if forms_batches else 0,
        )

    def memory_mb(self, setting: Setting) -> float:
        return setting.instances * (self.weights_mb + self.item_mb * setting.batch_limit)


@dataclass(frozen=True, kw_only=True, eq=False)
class Server:
    """Stages that each request goes through, by the names of their models, and what they share.

    - `open_loop`: requests come at random times, so many per second; else there are always as many
      in flight.
    - `front_ms`: for so long one of `front_workers` is busy with a request, in the client or before
      the queue. With n in flight it takes 1 + (n / `front_crowd`) ^ `front_crowd_power` times as
      long. `network_ms` come on top for everybody at once.
    - `cores`: if launches want more, they share; if they want twice as many, they also lose the
      share `core_thrash` of their time.
    - `link_share`: how much longer a copy takes with each other one (0: copies do not meet, 1: they
      share a link).
    - `device_thrash`, `interference`: as `core_thrash`, where batches would fill the device twice;
      and how much longer each further batch makes all of them take.
    - `clock_drop`: the share of its speed that the device loses when it was in use all the time,
      and nothing as long as it was less than `clock_from` of it, over about `clock_ms`.
    - `pause_ms`: for so long every instance stands still after each `pause_every` answers.
    - `jitter`, `front_jitter`: standard deviation of the logarithm of the times of a batch, and of
      a request in the front end.
    - `memory_mb`: what is there; `fixed_mb` is always used, and `live_mb` for each request that an
      instance works on: where it does not suffice, requests fail.
    """

    stages: Mapping[str, Stage]
    open_loop: bool = False
    front_workers: int = 1
    front_ms: float = 0.03
    front_crowd: float = 1e9
    front_crowd_power: float = 1.0
    front_jitter: float = 0.2
    network_ms: float = 0.1
    cores: float = 16.0
    core_thrash: float = 0.0
    link_share: float = 0.9
    interference: float = 0.03
    device_thrash: float = 0.0
    clock_drop: float = 0.0
    clock_from: float = 0.7
    clock_ms: float = 300.0
    pause_every: float = 0.0
    pause_ms: float = 0.0
    jitter: float = 0.06
    fixed_mb: float = 400.0
    live_mb: float = 0.0
    memory_mb: float = 1e12

    def effective(self, settings: Mapping[str, Setting]) -> tuple[Setting, ...]:
        """Of each stage, in their order: equal for all settings with the same times."""
        return tuple(stage.effective(settings[name]) for name, stage in self.stages.items())

    def used_mb(self, settings: Mapping[str, Setting]) -> float:
        """What has to be there for the models to load."""
        each = (stage.memory_mb(settings[name]) for name, stage in self.stages.items())
        return self.fixed_mb + sum(each)

    @property
    def text(self) -> str:
        """The same for the same server."""
        return json.dumps(asdict(self), default=np.ndarray.tolist)
