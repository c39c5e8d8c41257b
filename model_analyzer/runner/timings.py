# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Waiting times of the runner, and the CPU time that other programs may use."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Timings:
    """Times in seconds. They are passed in, so that a test can choose its own.

    `grace_s`: the time for a server to end, before it is killed. The server gets the same limit
    (`exit-timeout-secs`).
    `dying_s`: the time for a server process to end after its connection broke, before it counts as
    alive.
    `settle_s`: the time for the model processes of an unloaded variant to end.
    `warm_up_s`: the time for all warm-up requests of a variant; a request that has begun may take
    longer.
    `busy_share`: not a time, but a share (0 to 1) of the CPU time of all cores. If other programs
    use more during a load, its measurement gets a notice. On an idle machine, they use 1 to 5 %; a
    busy process on eight cores uses 12 %, which changes a measurement by less than its noise.
    """

    grace_s: float = 5.0
    dying_s: float = 2.0
    settle_s: float = 15.0
    warm_up_s: float = 5.0
    busy_share: float = 0.15


DEFAULT = Timings()
