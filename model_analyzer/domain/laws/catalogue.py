# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""All laws, and what follows for a measurement that breaks one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from model_analyzer.domain.doubts import Doubt
from model_analyzer.domain.laws.case import Case, Law
from model_analyzer.domain.laws.counts import errors_agree, was_executed
from model_analyzer.domain.laws.loads import littles_law, open_loads_are_answered
from model_analyzer.domain.laws.server import instances_suffice, parts_fit
from model_analyzer.domain.laws.times import (
    answers_follow_requests,
    averages_fit,
    durations_fit,
    latencies_rise,
)
from model_analyzer.domain.laws.tokens import tokens_are_responses
from model_analyzer.domain.measurements import Measurement, Outcome
from model_analyzer.domain.trials import Failure, FailureReason, Trial

LAWS: Sequence[Law] = (
    latencies_rise,
    averages_fit,
    answers_follow_requests,
    durations_fit,
    littles_law,
    open_loads_are_answered,
    parts_fit,
    instances_suffice,
    tokens_are_responses,
    was_executed,
    errors_agree,
)


def doubts_of(trial: Trial, measurement: Measurement, runs: int = 1) -> tuple[Doubt, ...]:
    """A doubt for each law that a model of the measurement, made of so many `runs`, breaks."""
    return tuple(
        [
            doubt
            for work, model in zip(trial.workloads, measurement.models, strict=True)
            for case in [Case(trial, measurement, work, model, runs)]
            for law in LAWS
            if (doubt := law(case)) is not None
        ]
    )


def with_doubts(trial: Trial, pooled: Measurement, runs: int) -> Measurement:
    """So many `runs` that were pooled, with the doubts about all together and about single ones."""
    own = doubts_of(trial, pooled, runs)
    laws = {doubt.law for doubt in own}
    others = [doubt for doubt in pooled.doubts if doubt.law not in laws]
    return replace(pooled, doubts=(*own, *others)) if own else pooled


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
