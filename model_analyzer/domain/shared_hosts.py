# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""How much slots on one host slow each other down: the same trial on all at once, and on one alone.

Bounds and method: docs/guides/cluster.md has the reasons.
"""

from __future__ import annotations

from dataclasses import dataclass

from model_analyzer.domain.numbers import with_error
from model_analyzer.domain.words import counted

# Percent. A larger slow-down is a warning.
MOST_LESS_THROUGHPUT = 5.0
MOST_MORE_LATENCY = 10.0


@dataclass(frozen=True, slots=True)
class Shift:
    """A change in percent, ± half of its 95 % interval, in points of percent."""

    percent: float
    error: float

    @property
    def is_noise(self) -> bool:
        return abs(self.percent) <= self.error

    def __str__(self) -> str:
        return f"{with_error(abs(self.percent), self.error)} %"


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedHost:
    """A host with several `slots`, and what changes on a slot if all of them measure: throughput,
    and p99 latency (None if it was not measured).

    It was tested with the trial that has the key `trial`, of the `model`, `started` in seconds
    since the epoch.
    """

    host: str
    slots: int
    model: str
    trial: str
    throughput: Shift
    latency_p99: Shift | None
    started: float = 0.0

    def covers(self, host: str, slots: int, trial: str) -> bool:
        """Whether a test of these slots with this trial would be the same."""
        return (self.host, self.slots, self.trial) == (host, slots, trial)

    @property
    def is_slower(self) -> bool:
        """Whether a slot is slower than one alone, beyond the noise."""
        return self._exceeds(0.0, 0.0)

    @property
    def is_too_slow(self) -> bool:
        """Whether it is slower by more than the bounds, beyond the noise."""
        return self._exceeds(MOST_LESS_THROUGHPUT, MOST_MORE_LATENCY)

    @property
    def sentence(self) -> str:
        """The result in words, without a full stop."""
        throughput = f"{self.throughput} {_word(self.throughput, 'more', 'less')} throughput"
        if self.throughput.is_noise:
            throughput = f"no change of throughput (± {self.throughput.error:.1f} %)"
        texts = [throughput]
        latency = self.latency_p99
        if latency is not None:
            texts.append(
                f"no change of p99 latency (± {latency.error:.1f} %)"
                if latency.is_noise
                else f"p99 latency {latency} {_word(latency, 'higher', 'lower')}"
            )
        return (
            f"{counted(self.slots, 'slot')} on {self.host}, compared with one alone:"
            f" {', '.join(texts)}"
        )

    def _exceeds(self, throughput: float, latency: float) -> bool:
        shift = self.throughput
        loses = not shift.is_noise and -shift.percent > throughput
        waits = self.latency_p99
        return loses or (waits is not None and not waits.is_noise and waits.percent > latency)


def _word(shift: Shift, more: str, less: str) -> str:
    return more if shift.percent > 0 else less
