# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""How long the runner waits for servers, and how much of the machine's time others may use."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Timings:
    """Waits in seconds. They are passed in, so that a test chooses its own.

    `grace_s`: a server that is asked to end, before it is killed. It also gets this as its own
    limit (`exit-timeout-secs`).
    `dying_s`: a server whose connection broke, before it counts as alive: the connection breaks a
    moment before the process ends.
    `settle_s`: the model processes of an unloaded variant, to end.
    `warm_up_s`: all requests that warm up a variant; one that has begun is waited for.
    `busy_share`: not a wait, but the share (0 to 1) of the CPU time of all cores. Where other
    programs use more during a load, its measurement gets a notice. A quiet machine has 1 to 5 %
    of it; one busy process on eight cores is 12 %, and moves a measurement by less than its noise.
    """

    grace_s: float = 5.0
    dying_s: float = 2.0
    settle_s: float = 15.0
    warm_up_s: float = 5.0
    busy_share: float = 0.15


DEFAULT = Timings()
