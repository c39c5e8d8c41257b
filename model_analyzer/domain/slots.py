# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Slots: the places where trials are measured, one at a time; and lanes, the searches on them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from model_analyzer.domain.hardware import WITHOUT_GPU
from model_analyzer.domain.measurements import Outcome
from model_analyzer.domain.trials import Trial


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
