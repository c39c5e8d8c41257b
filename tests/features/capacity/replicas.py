# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Short ways to write measurements of one server, for tests of capacity."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from model_analyzer.domain.goals import Constraint, Goal
from model_analyzer.domain.models import ModelVariant
from model_analyzer.domain.profiles import Profile, TrialRecord
from model_analyzer.domain.trials import LoadKind
from model_analyzer.features.capacity.facts.capacity import ModelCapacity, capacity_of
from tests.unit.builders import at_most, goal, measurement, rank_one, record, variant

USERS: Mapping[str, Any] = {"request-distribution": "poisson", "async": "true"}

DEFAULT = variant("m_config_default", max_batch_size=8)
FAST = variant("m_config_1", max_batch_size=8, dynamic_batching={})

P99 = at_most(perf_latency_p99=50)


def open_load(
    rate: int,
    p99: float | None,
    *,
    of: ModelVariant = FAST,
    answered: float | None = None,
    requests: int | None = 20_000,
    batch_size: int = 1,
    flags: Mapping[str, Any] = USERS,
    loading_s: float = 0.0,
    **values: Any,
) -> TrialRecord:
    """A measurement under `rate` requests per second, by default of independent users."""
    throughput = (rate if answered is None else answered) * batch_size
    outcome = measurement(throughput, p99, requests=requests, **values)
    outcome = replace(outcome, loading_s=loading_s)
    return record(
        of, outcome, kind=LoadKind.REQUEST_RATE, concurrency=rate, batch_size=batch_size,
        flags=flags,
    )  # fmt: skip


def closed_load(
    concurrency: int, throughput: float, p99: float = 10, of: ModelVariant = FAST
) -> TrialRecord:
    return record(of, measurement(throughput, p99), concurrency=concurrency)


def repeated(records: Iterable[TrialRecord]) -> tuple[TrialRecord, ...]:
    """The records, with numbers of the repetitions of the same trial."""
    times: Counter[str] = Counter()
    numbered = []
    for each in records:
        key = each.trial.key
        numbered.append(each._replace(trial=replace(each.trial, repetition=times[key])))
        times[key] += 1
    return tuple(numbered)


def capacity(
    *records: TrialRecord,
    constraints: tuple[Constraint, ...] = P99,
    batch_size: int = 1,
    needed: float = 1000,
    variant: str | None = None,
    **profile: Any,
) -> ModelCapacity:
    """The capacity of model `m` by these measurements; those of the same trial repeat it."""
    known = Profile(records=repeated(records), **profile)
    by: Goal = goal(*constraints)
    return capacity_of(
        known, rank_one(known, "m", by), batch_size=batch_size, needed=needed, variant=variant
    )
