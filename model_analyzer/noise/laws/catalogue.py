# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""All laws, and what follows for a measurement that breaks one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from types import MappingProxyType
from typing import Any

from model_analyzer.domain.measurements import Doubt, Measurement, Outcome
from model_analyzer.domain.trials import Failure, FailureReason, LoadKind, Trial
from model_analyzer.noise.laws.case import Case, Law
from model_analyzer.noise.laws.server import (
    errors_agree,
    instances_suffice,
    parts_fit,
    tokens_are_responses,
    was_executed,
)
from model_analyzer.noise.laws.times import (
    answers_follow_requests,
    averages_fit,
    durations_fit,
    latencies_rise,
    littles_law,
    open_loads_are_answered,
)

# By what they need: a checkpoint may have a million measurements, and most have little of it.
_FOR_ALL: Sequence[Law] = (latencies_rise, averages_fit, durations_fit, parts_fit)
_FOR_LOADS: Mapping[LoadKind, Law] = MappingProxyType(
    {
        LoadKind.CONCURRENCY: littles_law,
        LoadKind.REQUEST_RATE: open_loads_are_answered,
        LoadKind.REQUEST_INTERVALS: open_loads_are_answered,
    }
)
_FOR_EVIDENCE: Sequence[Law] = (answers_follow_requests, tokens_are_responses)
_FOR_STATISTICS: Sequence[Law] = (instances_suffice, was_executed, errors_agree)

# By kind of load, and whether there is evidence and whether there are statistics.
_LAWS: Mapping[tuple[LoadKind, bool, bool], Sequence[Law]] = MappingProxyType(
    {
        (kind, evidence, statistics): (
            *_FOR_ALL,
            for_load,
            *(_FOR_EVIDENCE if evidence else ()),
            *(_FOR_STATISTICS if statistics else ()),
        )
        for kind, for_load in _FOR_LOADS.items()
        for evidence in (False, True)
        for statistics in (False, True)
    }
)


def doubts_of(trial: Trial, measurement: Measurement, runs: int = 1) -> tuple[Doubt, ...]:
    """A doubt for each law that a model of the measurement, made of so many `runs`, breaks."""
    doubts = []
    has_statistics = bool(measurement.statistics)
    for work, model in zip(trial.workloads, measurement.models, strict=True):
        case = Case(trial, measurement, work, model, runs)
        for law in _LAWS[work.load.kind, bool(model.evidence), has_statistics]:
            doubt = law(case)
            if doubt is not None:
                doubts.append(doubt)
    return tuple(doubts)


def with_doubts(trial: Trial, pooled: Measurement, runs: int) -> Measurement:
    """So many `runs` that were pooled, with the doubts about all together and about single ones."""
    return replace(pooled, doubts=_PooledDoubts(trial, pooled, runs))


class _PooledDoubts(Sequence[Doubt]):
    """They are found when they are read: a ranking has many trials, and few are shown."""

    def __init__(self, trial: Trial, pooled: Measurement, runs: int) -> None:
        self._trial, self._pooled, self._runs = trial, pooled, runs

    @cached_property
    def _found(self) -> Sequence[Doubt]:
        own = doubts_of(self._trial, self._pooled, self._runs)
        laws = {doubt.law for doubt in own}
        return (*own, *[doubt for doubt in self._pooled.doubts if doubt.law not in laws])

    def __getitem__(self, place: Any) -> Any:
        return self._found[place]

    def __len__(self) -> int:
        return len(self._found)


def judged(trial: Trial, outcome: Outcome) -> Outcome:
    """The outcome with its doubts; a failure if one of them is gross."""
    if isinstance(outcome, Failure):
        return outcome
    doubts = doubts_of(trial, outcome)
    if not doubts:
        return outcome
    gross = next((doubt for doubt in doubts if doubt.gross), None)
    if gross is None:
        return replace(outcome, doubts=doubts)
    return Failure(
        reason=FailureReason.IMPOSSIBLE_VALUES,
        message=gross.text,
        hint=gross.hint,
        commands=outcome.commands,
        started=outcome.started,
        duration_s=outcome.duration_s,
        machine=outcome.machine,
    )
