# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""A tested advice: the changed workload, and what the change did."""

from __future__ import annotations

from dataclasses import replace

import pytest

from model_analyzer.domain.models import VariantNames
from model_analyzer.domain.profiles import TrialRecord
from model_analyzer.domain.trials import Failure, LoadKind, Workload
from model_analyzer.results.explain.contention import more_instances
from model_analyzer.results.explain.finding import (
    AdvisedChange,
    Cause,
    Confirmation,
    Effect,
    FoundCause,
    changed,
)
from model_analyzer.results.explain.situation import Situation
from tests.unit.builders import failure, variant
from tests.unit.results.explain.observed import model, observed, situation

ONE = model()
BEFORE = observed(ONE, 8, 50, 20, queue=140)


def confirmation_of(after: TrialRecord | Failure) -> Confirmation:
    finding = FoundCause(
        cause=Cause.TOO_FEW_INSTANCES,
        under=situation(BEFORE),
        weight=0.9,
        evidence=(),
        advice="use more",
        change=more_instances(ONE, 4),
    )
    (work,) = BEFORE.trial.workloads
    result = after if isinstance(after, Failure) else situation(after)
    return Confirmation(finding=finding, work=work, before=finding.under, after=result)


@pytest.mark.parametrize(
    ("throughput", "queue", "effect"),
    [
        (190, 20, Effect.HELPS),
        (52, 141, Effect.NOTHING),
        (30, 200, Effect.HARMS),
        (190, 300, Effect.MIXED),
    ],
)
def test_an_effect_is_larger_than_noise(throughput: float, queue: float, effect: Effect) -> None:
    assert confirmation_of(observed(ONE, 8, throughput, 20, queue=queue)).effect is effect


def test_a_change_that_fails_is_told() -> None:
    assert confirmation_of(failure()).effect is Effect.FAILED


def work_of(record: TrialRecord) -> Workload:
    return record.trial.workloads[0]


def test_a_changed_variant_has_a_new_name_and_keeps_everything_else() -> None:
    of = model(max_batch_size=8, dynamic_batching={"max_queue_delay_microseconds": 100})
    names = VariantNames.known([of])

    work = changed(work_of(observed(of, 8, 50, 20)), more_instances(of, 4), names)

    assert work.variant.name == "m_config_0"
    assert work.variant.config["instance_group"] == ({"count": 4, "kind": "KIND_CPU"},)
    assert work.variant.config["dynamic_batching"] == {"max_queue_delay_microseconds": 100}
    assert work.load.value == 8


def test_a_change_of_a_part_gives_the_caller_another_name() -> None:
    part = model("slow")
    of = variant("m_config_default", composing=[part, model("fast")])

    work = changed(
        work_of(observed(of, 8, 50, 20)), more_instances(part, 2), VariantNames.known([of])
    )

    assert [each.name for each in work.variant.composing] == [
        "slow_config_0",
        "fast_config_default",
    ]
    assert work.variant.name == "m_config_0"


def test_a_client_that_does_not_wait_needs_no_threads() -> None:
    flags = {"sync": "true", "max-threads": "2", "percentile": "99"}
    work = work_of(observed(ONE, 200, 90, 20, kind=LoadKind.REQUEST_RATE, flags=flags))

    new = changed(
        work, AdvisedChange(model="m", flags={"async": "true"}), VariantNames.known([ONE])
    )

    assert new == replace(work, flags={"percentile": "99", "async": "true"})


def test_an_open_load_is_judged_by_latencies_that_are_known_well_enough() -> None:
    flags = {"request-distribution": "poisson"}

    def under(p99: float, requests: int) -> Situation:
        latencies = {"perf_latency_p50": 20.0, "perf_latency_p90": 60.0, "perf_latency_p99": p99}
        rate = observed(
            ONE, 40, 40, 20, kind=LoadKind.REQUEST_RATE, flags=flags, latencies=latencies,
            requests=requests, lag=0.5,
        )  # fmt: skip
        return situation(rate)

    def effect(requests: int) -> Effect:
        finding = replace(confirmation_of(failure()).finding, under=under(300, requests))
        return Confirmation(
            finding=finding, work=finding.under.work, before=finding.under,
            after=under(230, requests),
        ).effect  # fmt: skip

    assert effect(300) is Effect.UNSURE
    assert effect(300_000) is Effect.HELPS


def test_a_throughput_that_stays_is_no_effect_whatever_the_p99_of_few_requests_does() -> None:
    """42.2 -> 42.2/s was said to make it worse."""
    slower = {"perf_latency_p50": 160.0, "perf_latency_p90": 180.0, "perf_latency_p99": 230.0}
    calmer = {**slower, "perf_latency_p99": 205.0}
    before, after = (
        situation(observed(ONE, 8, 42.2, 20, queue=140, latencies=latencies, requests=200))
        for latencies in (calmer, slower)
    )
    finding = replace(confirmation_of(failure()).finding, under=before)
    tested = Confirmation(finding=finding, work=before.work, before=before, after=after)

    assert tested.effect is Effect.NOTHING
    assert tested.refutes
