# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""What a measurement used of the machine: CPU time and memory, by server and load generators."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class ResourceUse:
    """CPU seconds of the server's processes, of the load generators, and of other programs (None if
    unknown) within `seconds`; and the memory of the server's processes, in MB, without what they
    share: before and after.
    """

    seconds: float
    server_cpu_s: float
    client_cpu_s: float
    memory_before: float
    memory_after: float
    other_cpu_s: float | None = None

    @property
    def server_cores(self) -> float:
        """The cores that the server kept busy, on average."""
        return self.server_cpu_s / self.seconds if self.seconds else 0.0

    @property
    def client_cores(self) -> float:
        """The cores that the load generators kept busy, on average."""
        return self.client_cpu_s / self.seconds if self.seconds else 0.0

    @property
    def other_cores(self) -> float:
        """The cores that other programs kept busy, on average; 0 if unknown."""
        return (self.other_cpu_s or 0.0) / self.seconds if self.seconds else 0.0

    @property
    def growth(self) -> float:
        """The memory (MB) that the server took meanwhile; negative if it returned some."""
        return self.memory_after - self.memory_before


def joined(several: Sequence[ResourceUse | None]) -> ResourceUse | None:
    """The use of several measurements together, in their order; None if that of one is unknown."""
    known = [use for use in several if use is not None]
    if not known or len(known) < len(several):
        return None
    others = [use.other_cpu_s for use in known]
    return ResourceUse(
        seconds=sum(use.seconds for use in known),
        server_cpu_s=sum(use.server_cpu_s for use in known),
        client_cpu_s=sum(use.client_cpu_s for use in known),
        memory_before=known[0].memory_before,
        memory_after=known[-1].memory_after,
        other_cpu_s=None if None in others else sum(each or 0.0 for each in others),
    )
