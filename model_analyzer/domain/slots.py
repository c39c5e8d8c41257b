# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Slots: the places where trials are measured, one at a time; lanes, the searches on them; and what
slots that share a host cost each other.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from model_analyzer.domain.hardware import WITHOUT_GPU
from model_analyzer.domain.measurements import Outcome
from model_analyzer.domain.trials import Trial
from model_analyzer.domain.words import counted, with_error


@dataclass(frozen=True, slots=True, kw_only=True)
class Slot:
    """A server with a load generator. `loaded` is the `Trial.content` of its latest trial.

    Slots on one `host` share its CPUs, and fail together. `kind` is that of its hardware, in words
    (see `kind_text`): it measures only trials of this kind. `node` is the name for its outcomes in
    checkpoints, "" if there is no cluster.
    """

    name: str = ""
    host: str = ""
    kind: str = WITHOUT_GPU
    node: str = ""
    loaded: str = ""


@dataclass(frozen=True, slots=True)
class Lost:
    """A trial has no outcome, because its slot was lost. `reason` is for people."""

    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Finished:
    """The result of a trial that was started on `slot`."""

    trial: Trial
    slot: Slot
    result: Outcome | Lost


@dataclass(frozen=True, slots=True, kw_only=True)
class Overdue:
    """A measurement takes much longer than the seconds that were expected (None: it lasts until
    windows are stable): it has run `for_s`, and is given up after `limit_s` (None if that is not
    known here).
    """

    for_s: float
    expected_s: float | None
    limit_s: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Unfinished:
    """A trial that was started on `slot` has no result yet, and is `overdue`."""

    trial: Trial
    slot: Slot
    overdue: Overdue


# The key of a question that was asked in vain. A search may have learnt from outcomes to answer it,
# so a replay asks it again.
NOTHING_NOW = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A trial that a search was asked for, by its `key`, or NOTHING_NOW.

    `after` has the keys of the trials whose outcomes the search got since the previous question, in
    order. With these, a search asks for the same trials again.
    """

    key: str
    after: tuple[str, ...]


class Lane(NamedTuple):
    """The search for a subject (the name of a model, or of a group of models) on one kind of
    hardware (see `kind_text`).
    """

    subject: str
    kind: str = WITHOUT_GPU


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
