# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Where the measurements cannot carry a percentile at a rate, the missing one is named."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from model_analyzer.domain.measurements import Measurement
from model_analyzer.domain.profiles import TrialRecord
from model_analyzer.domain.trials import LoadKind
from model_analyzer.features.capacity.capacity_text import missing_text
from model_analyzer.features.capacity.facts.missing import Gap
from model_analyzer.features.capacity.facts.points import Lack
from tests.features.capacity.replicas import (
    DEFAULT,
    FAST,
    P99,
    USERS,
    capacity,
    closed_load,
    open_load,
)
from tests.unit.builders import at_most, failure, measurement, record

EVENLY = {"async": "true"}
BY_THREADS = {"request-distribution": "poisson"}
TOKENS = at_most(time_to_first_token_p99=200)
FAILED = record(
    FAST, failure(), kind=LoadKind.REQUEST_RATE, concurrency=100, flags=USERS
)  # fmt: skip
FROM_FILE = record(
    FAST,
    measurement(90, 20, requests=20_000),
    kind=LoadKind.REQUEST_INTERVALS,
    concurrency=0,
    flags={"request-intervals": "times"},
)


def as_round(measured: TrialRecord) -> TrialRecord:
    assert isinstance(measured.outcome, Measurement)
    (model,) = measured.outcome.models
    outcome = replace(measured.outcome, models=(replace(model, seconds=200.0),))
    return TrialRecord(trial=measured.trial, outcome=outcome)


# what was measured, what is constrained, why it is not enough, which rates are missing
GOLDEN = {
    "closed loops only": (
        [closed_load(1, 100), closed_load(8, 200)], P99, Lack.CLOSED, (100, 140, 170)
    ),
    "equal distances only": (
        [open_load(100, 20, flags=EVENLY)], P99, Lack.CONSTANT, (50, 70, 85)
    ),
    "sent late by few threads": (
        [open_load(100, 20, flags=BY_THREADS)], P99, Lack.LATE_CLIENT, (50, 70, 85)
    ),
    "sent by few threads, and corrected": (
        [open_load(100, 20, flags=BY_THREADS, perf_send_lag_p99=3)],
        P99, Gap.ALL_KEEP, (125, 150),
    ),
    "in rounds, where no thread waits": (
        [as_round(open_load(100, 20, flags=BY_THREADS))],
        P99, Gap.ALL_KEEP, (125, 150),
    ),
    "another batch size": (
        [open_load(100, 20, batch_size=4)], P99, Lack.OTHER_BATCH, (200, 280, 340)
    ),
    "too few requests": (
        [open_load(60, 20, requests=298), open_load(90, 70, requests=200)],
        P99, Lack.FEW_REQUESTS, (60, 90),
    ),
    "an unknown number of requests": (
        [open_load(60, 20, requests=None)], P99, Lack.FEW_REQUESTS, (60,)
    ),
    "a constrained metric is missing": ([open_load(60, 20)], TOKENS, Lack.NO_METRIC, (60,)),
    "only failures": ([FAILED], P99, Lack.FAILED, (40, 65)),
    "times from a file": ([FROM_FILE], P99, Lack.FILE, (45, 63, 76)),
    "every rate breaks": ([open_load(80, 60), open_load(100, 90)], P99, Gap.ALL_BREAK, (32, 52)),
    "every rate keeps": ([open_load(60, 12), open_load(80, 15)], P99, Gap.ALL_KEEP, (100, 120)),
    "far apart": ([open_load(40, 10), open_load(100, 90)], P99, Gap.WIDE, (80,)),
    "contradictory": (
        [open_load(40, 9), open_load(60, 80), open_load(70, 20), open_load(90, 120)],
        P99, Gap.CONTRADICTORY, (60, 70),
    ),
    "within noise": (
        [open_load(60, 49, requests=400), open_load(70, 80, requests=400)],
        P99, Gap.UNSURE, (39, 60),
    ),
}  # fmt: skip


@pytest.mark.parametrize(("records", "constraints", "reason", "rates"), GOLDEN.values(), ids=GOLDEN)
def test_the_missing_measurement_is_named(
    records: Sequence[TrialRecord],
    constraints: tuple[object, ...],
    reason: Lack | Gap,
    rates: tuple[int, ...],
) -> None:
    known = capacity(*records, constraints=constraints)  # type: ignore[arg-type]

    (missing,) = known.missing
    assert (missing.reason, missing.rates) == (reason, rates)
    assert missing.variant == FAST
    assert missing.is_needed == (known.replica.carried is None)
    text = missing_text(missing)
    assert f"{FAST.name} under Poisson arrivals at {rates[0]}" in text
    assert reason.value in text


@pytest.mark.parametrize(
    ("records", "is_told"),
    [([closed_load(1, 0.4)], True), ([open_load(1, 90)], True), ([open_load(2, 90)], False)],
)
def test_a_rate_below_one_cannot_be_measured(records: Sequence[TrialRecord], is_told: bool) -> None:
    (missing,) = capacity(*records).missing

    assert (missing.reason is Gap.BELOW_ONE) == is_told == (not missing.rates)
    assert ("No measurement tells more" in missing_text(missing)) == is_told


def test_nothing_is_missing_where_neighbouring_rates_keep_and_break() -> None:
    known = capacity(open_load(80, 30), open_load(100, 90))

    assert known.missing == ()
    assert known.replica.carried is not None


def test_nothing_is_missing_where_a_single_request_is_too_slow() -> None:
    slow = [closed_load(1, 10, p99=90), closed_load(8, 12, p99=700)]
    known = capacity(*slow)
    assert (known.missing, known.replica.too_slow) == ((), (P99[0], 90))

    faster = closed_load(1, 10, p99=20, of=DEFAULT)
    for records in (
        [closed_load(1, 10, p99=52)],  # by noise
        [closed_load(8, 12, p99=700)],
        [closed_load(1, 10, p99=90), closed_load(8, 200, p99=20)],  # it waits for a batch
        [*slow, faster],
    ):
        known = capacity(*records)
        assert (len(known.missing), known.replica.too_slow) == (1, None)


def test_no_higher_rate_is_missing_where_the_server_never_answered_more() -> None:
    known = capacity(closed_load(8, 105), open_load(80, 20), open_load(100, 45))

    assert known.missing == ()
