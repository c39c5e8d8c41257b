# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The answer to "how many replicas" for programs (see capacity.schema.json)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from model_analyzer.domain.foreign_json import parse_json
from model_analyzer.domain.goals import Constraint
from model_analyzer.domain.metrics import canonical
from model_analyzer.domain.prices import in_cents
from model_analyzer.features.capacity.capacity_text import (
    CapacityReport,
    answer_lines,
    cheapest_of,
    remark_lines,
)
from model_analyzer.features.capacity.facts.capacity import ReplicaCapacity
from model_analyzer.features.capacity.facts.day import DayCost, DayPlan
from model_analyzer.features.capacity.facts.missing import Missing
from model_analyzer.features.capacity.facts.points import Point
from model_analyzer.features.capacity.facts.replica import Carried, Keeps
from model_analyzer.features.capacity.facts.sizing import RateOutlook, Sizing
from model_analyzer.reports.document import bounds

# The version of the layout; increased when readers of the last version would misread this one.
CAPACITY_VERSION = 1

_HOLD = {Keeps.YES: True, Keeps.NO: False, Keeps.UNSURE: None}


def capacity_schema() -> dict[str, Any]:
    """The JSON Schema (draft 2020-12) of the document."""
    schema: dict[str, Any] = parse_json(
        Path(__file__).with_name("capacity.schema.json").read_text(encoding="utf-8")
    )
    return schema


def capacity_document(reports: Sequence[CapacityReport]) -> dict[str, Any]:
    """The answers, one for each kind of hardware, with unrounded numbers."""
    demand, best = reports[0].demand, cheapest_of(reports)
    return {
        "version": CAPACITY_VERSION,
        "model": reports[0].capacity.model,
        "demand": {
            "requests_per_s": demand.rate,
            "headroom_percent": round(100 * demand.headroom, 6),
            "constraints": [bounds(each) for each in reports[0].capacity.constraints],
        },
        "cheapest": None if best is None else best.capacity.kind,
        "hardware": [_on_kind(report) for report in reports],
    }


def _on_kind(report: CapacityReport) -> dict[str, Any]:
    capacity, sizing = report.capacity, report.sizing
    return {
        "kind": capacity.kind,
        "sentence": " ".join(answer_lines(report)),
        "remarks": list(remark_lines(report)),
        "batch_size": capacity.replica.batch_size,
        "answer": None if sizing is None else _answer(sizing),
        "cost": _cost(report),
        "over_time": None if report.day is None else _day(report.day, report.day_cost),
        "replica": _replica(capacity.replica, capacity.constraints),
        "other_variants": [_replica(each, capacity.constraints) for each in capacity.others],
        "missing": [_missing(each) for each in capacity.missing],
    }


def _answer(sizing: Sizing) -> dict[str, Any]:
    count = sizing.replicas
    return {
        "replicas": count.number,
        "fewest": count.fewest,
        "most": count.most,
        "is_certain": sizing.is_certain,
        "replicas_with_one_spare": count.number + 1,
        "nodes": sizing.nodes,
        "at_other_rates": [_outlook(each) for each in sizing.outlooks],
    }


def _outlook(outlook: RateOutlook) -> dict[str, Any]:
    return {
        "requests_per_s": outlook.rate,
        "replicas_needed": outlook.replicas,
        "each_replica_gets": outlook.each,
        "constraints_hold": outlook.holds,
        "metrics": {canonical(each.tag): value for each, value in outlook.values},
    }


def _cost(report: CapacityReport) -> dict[str, Any] | None:
    """What the replicas cost in an hour; amounts are exact, as text."""
    prices, cost = report.capacity.prices, report.cost
    if prices is None or cost is None:
        return None
    amount, per_million = cost.amount, report.per_million
    return {
        "currency": prices.currency,
        "date": prices.date,
        "per_hour": None if amount is None else str(in_cents(amount)),
        "per_million_requests": None if per_million is None else float(per_million),
        "basis": cost.basis,
    }


def _day(day: DayPlan, cost: DayCost | None) -> dict[str, Any]:
    return {
        "hours": day.hours,
        "requests": day.requests,
        "fixed_cost": None if cost is None else str(in_cents(cost.fixed)),
        "autoscaled_cost": None if cost is None else str(in_cents(cost.autoscaled)),
        "fixed_replicas": day.fixed,
        "fixed_replica_hours": day.fixed_hours,
        "autoscaled_replica_hours": day.autoscaled_hours,
        "too_few_s": day.short_s,
        "periods": [
            {
                "from": period.label,
                "requests_per_s": period.rate,
                "replicas_needed": period.needed,
                "autoscaled_replicas": period.autoscaled,
            }
            for period in day.periods
        ],
    }


def _replica(replica: ReplicaCapacity, constraints: Sequence[Constraint]) -> dict[str, Any]:
    knee = replica.knee
    return {
        "variant": replica.variant.name,
        "carries": None if replica.carried is None else _carried(replica.carried),
        "knee": None
        if knee is None
        else {"requests_per_s": knee.rate, "concurrency": knee.concurrency},
        "most_answered_per_s": replica.most,
        "loading_s": replica.loading_s,
        "joules_per_inference": replica.joules,
        "measured": [_point(point, replica, constraints) for point in replica.points],
    }


def _carried(carried: Carried) -> dict[str, Any]:
    return {
        "requests_per_s": carried.rate,
        "low": carried.low,
        "high": carried.high,
        "kept_at": carried.kept,
        "broken_at": carried.broken,
        "breaks_first": None if carried.first is None else bounds(carried.first),
    }


def _point(
    point: Point, replica: ReplicaCapacity, constraints: Sequence[Constraint]
) -> dict[str, Any]:
    tags = [canonical(each.tag) for each in constraints]
    return {
        "requests_per_s": point.rate,
        "answered_per_s": point.answered,
        "requests": point.requests,
        "constraints_hold": _HOLD[replica.keeps[point.rate]],
        "metrics": {tag: point.value(tag) for tag in tags},
    }


def _missing(missing: Missing) -> dict[str, Any]:
    return {
        "variant": missing.variant.name,
        "batch_size": missing.batch_size,
        "arrivals": "poisson",
        "requests_per_s": list(missing.rates),
        "reason": missing.reason.name.lower(),
        "explanation": missing.reason.value,
        "is_needed": missing.is_needed,
    }
