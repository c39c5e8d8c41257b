# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Which hardware: the answers on several kinds of it, side by side.

Where the measurements cannot carry a percentile at a rate, the missing one is named.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal

import jsonschema
import pytest

from model_analyzer.domain.costs import Prices, Resources
from model_analyzer.domain.measurements import Measurement
from model_analyzer.domain.profiles import TrialRecord
from model_analyzer.domain.trials import LoadKind
from model_analyzer.features.capacity.capacity_text import (
    CapacityReport,
    answer_lines,
    capacity_schema,
    cheapest_text,
    kinds_table,
    missing_text,
)
from model_analyzer.features.capacity.command import rendered
from model_analyzer.features.capacity.facts.capacity import Gap
from model_analyzer.features.capacity.facts.points import Lack
from model_analyzer.features.capacity.facts.sizing import Count, Demand
from model_analyzer.features.capacity.question import capacity_report
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

PRICES = Prices(
    currency="USD",
    date="2026-11-01",
    gpus={"NVIDIA L4": Decimal("0.80"), "NVIDIA H100": Decimal("4.00")},
)

# 88 and 440 requests/s
SMALL = (open_load(80, 20, energy_per_inference=0.5), open_load(100, 200))
BIG = (open_load(400, 20, energy_per_inference=0.25), open_load(500, 200))


def report(kind: str, *records: TrialRecord, prices: Prices | None = PRICES) -> CapacityReport:
    """For 500 requests/s with 20 % headroom, on one GPU of this kind."""
    known = capacity(*records)
    used = replace(known.replica, resources=Resources(gpus=(kind,)))
    on_kind = replace(known, kind=f"1 x {kind}", replica=used, prices=prices)
    return capacity_report(on_kind, Demand(rate=500))


def both(prices: Prices | None = PRICES) -> Sequence[CapacityReport]:
    return (report("NVIDIA L4", *SMALL, prices=prices), report("NVIDIA H100", *BIG, prices=prices))


def test_kinds_are_compared_in_a_table() -> None:
    table = kinds_table(both())

    rows = [dict(zip(table.headers, row, strict=True)) for row in table.rows]
    assert [row["Hardware"] for row in rows] == ["1 x NVIDIA L4", "1 x NVIDIA H100"]
    assert [row["Replicas"] for row in rows] == ["7", "2"]
    assert [row["Cost per hour"] for row in rows] == ["5.60 USD", "8.00 USD"]
    assert [row["J per inference"] for row in rows] == [0.5, 0.25]


def test_a_kind_without_a_price_is_not_the_cheapest() -> None:
    only_big = replace(PRICES, gpus={"NVIDIA H100": Decimal(4)})

    assert cheapest_text(both(only_big)) == (
        "Cheapest: 1 x NVIDIA H100, at 8.00 USD an hour; the cost of 1 other is unknown."
    )


def test_an_interval_that_rounds_to_one_number_is_not_shown() -> None:
    known = report("NVIDIA L4", open_load(1389, 20), open_load(1736, 30, answered=1393))

    sentences = [line for line in answer_lines(known) if line.startswith("One replica")]
    assert sentences == [
        "One replica carries 1,393 requests/s. Above, it does not keep up (measured: kept at 1,389,"
        " broken at 1,736)."
    ]


def test_a_single_replica_that_surely_suffices_has_no_interval() -> None:
    """Fewer than one cannot serve, even if a server may carry more."""
    known = report("NVIDIA L4", open_load(1000, 20))

    assert known.sizing is not None
    assert known.sizing.replicas == Count(number=1, fewest=None, most=1)
    assert "of at most 50 ms and 20 % headroom." in next(answer_lines(known))


def test_a_rate_that_may_be_too_high_is_uncertain() -> None:
    """Its interval has no lower end, and an upper one that rounds to the rate itself."""
    known = report("NVIDIA L4", open_load(1000, 49.9, answered=1000.1))

    sentences = [line for line in answer_lines(known) if line.startswith("One replica")]
    assert sentences == [
        "One replica carries 1,000 requests/s (uncertain): the highest measured rate; no higher one"
        " was measured."
    ]


def test_programs_get_all_kinds() -> None:
    unknown = report("NVIDIA T4", closed_load(2, 90))
    text = rendered((*both(), unknown), "json")

    assert text is not None
    document = json.loads(text)
    jsonschema.validate(document, capacity_schema())
    assert document["cheapest"] == "1 x NVIDIA L4"
    assert [each["kind"] for each in document["hardware"]] == [
        "1 x NVIDIA L4", "1 x NVIDIA H100", "1 x NVIDIA T4"
    ]  # fmt: skip
    assert [each["answer"] is None for each in document["hardware"]] == [False, False, True]


def test_a_comment_has_a_section_for_each_kind() -> None:
    text = rendered(both(), "md")

    assert text is not None
    assert text.index("Cheapest: 1 x NVIDIA L4") < text.index("### 1 x NVIDIA L4")
    assert text.index("7 replicas") < text.index("### 1 x NVIDIA H100")


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
