# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Everything measured so far, as a value: the input of results and reports."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from model_analyzer.domain.conclusions import Conclusion
from model_analyzer.domain.efficiency import Efficiency
from model_analyzer.domain.goals import Goal
from model_analyzer.domain.goodput import request_limits, within_limits
from model_analyzer.domain.hardware import Device
from model_analyzer.domain.measurements import Measurement, Outcome, Values
from model_analyzer.domain.models import ModelVariant, empty
from model_analyzer.domain.prices import Prices
from model_analyzer.domain.proofs import Proof
from model_analyzer.domain.slots import Lane, SharedHost
from model_analyzer.domain.trials import Failure, Trial


# There is one for each measurement, and a tuple is made in a third of the time.
class TrialRecord(NamedTuple):
    """A trial with its outcome, as it was recorded; in a cluster, it was measured on `node`."""

    trial: Trial
    outcome: Outcome
    node: str = ""


class MeasuredTrial(NamedTuple):
    """A trial with a measurement; if it was repeated, that is the mean of `repetitions`."""

    trial: Trial
    measurement: Measurement
    repetitions: tuple[Measurement, ...] = ()

    @property
    def runs(self) -> tuple[Measurement, ...]:
        """All its measurements: at least one."""
        return self.repetitions or (self.measurement,)


class FailedTrial(NamedTuple):
    """A trial without a measurement."""

    trial: Trial
    failure: Failure


def measured_trials(records: Iterable[TrialRecord]) -> tuple[MeasuredTrial, ...]:
    """Those of the records that have a measurement, in their order."""
    return tuple(
        MeasuredTrial(trial=record.trial, measurement=record.outcome)
        for record in records
        if isinstance(record.outcome, Measurement)
    )


def failed_trials(records: Iterable[TrialRecord]) -> tuple[FailedTrial, ...]:
    """Those of the records that have no measurement, in their order."""
    return tuple(
        FailedTrial(trial=record.trial, failure=record.outcome)
        for record in records
        if isinstance(record.outcome, Failure)
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """Records in the order of measuring, and where they were measured.

    `host` describes machine, server and tools, as text by name. `cores` is the number of CPU cores
    of the machine, None if unknown. `server_only` holds the values of each GPU (by UUID) for a
    server without models. `conclusions` holds the last conclusion of each search, `unfinished` the
    searches that will draw one but have not ended. `bases` holds, by name of the model or of the
    group of models, the `ModelFacts.identity` of its models in the last run; `refused`, by the same
    name, which variants its search left out, in words. `is_growing` means
    that a run was still measuring. `shared_hosts` has the tests of hosts with several slots, by
    host, `proofs` what was proven. `prices` are those of the hardware, None if the user gave none.
    """

    records: Collection[TrialRecord] = ()
    devices: tuple[Device, ...] = ()
    host: Mapping[str, str] = field(default_factory=empty)
    cores: int | None = None
    server_only: Mapping[str, Values] = field(default_factory=empty)
    conclusions: Mapping[Lane, Conclusion] = field(default_factory=empty)
    bases: Mapping[str, tuple[str, ...]] = field(default_factory=empty)
    refused: Mapping[str, tuple[str, ...]] = field(default_factory=empty)
    unfinished: frozenset[Lane] = frozenset()
    is_growing: bool = False
    shared_hosts: Mapping[str, SharedHost] = field(default_factory=empty)
    proofs: tuple[Proof, ...] = ()
    prices: Prices | None = None

    @property
    def efficiency(self) -> Efficiency:
        """What completes the measurements with costs and idle energy."""
        return Efficiency(
            self.prices,
            cores=self.cores,
            server_only=self.server_only,
        )

    def completion(self, goal: Goal) -> Callable[[Trial, Outcome], Outcome]:
        """A function that completes the outcome of a trial, if it is a measurement, with all
        metrics that follow from measured ones: goodput by the constraints of the `goal`, costs and
        idle energy.
        """
        efficiency, limits = self.efficiency, [*map(request_limits, goal.models)]

        def completed(trial: Trial, outcome: Outcome) -> Outcome:
            if isinstance(outcome, Failure):
                return outcome
            return efficiency.completed(trial, within_limits(outcome, limits))

        return completed

    @property
    def variants(self) -> tuple[ModelVariant, ...]:
        """Every top-level variant that was tried, in order of first trial.

        Two names may stand for the same content.
        """
        variants = {
            (work.variant.identity, work.variant.name): work.variant
            for record in self.records
            for work in record.trial.workloads
        }
        return tuple(variants.values())

    @property
    def measured(self) -> tuple[MeasuredTrial, ...]:
        return measured_trials(self.records)

    @property
    def failed(self) -> tuple[FailedTrial, ...]:
        return failed_trials(self.records)
