# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The answer to "how many replicas": in sentences and tables, for the terminal and Markdown, and
for programs (see capacity.schema.json).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

from model_analyzer.domain.costs import HourlyCost, cheapest, cost_per_million, in_cents, money
from model_analyzer.domain.foreign_json import parse_json
from model_analyzer.domain.goals import Constraint
from model_analyzer.domain.measurements import NoticeKind
from model_analyzer.domain.metrics import canonical, metric_of
from model_analyzer.domain.words import counted, limit_text, number_text
from model_analyzer.features.capacity.facts.autoscaling import Autoscaler, DayCost, DayPlan
from model_analyzer.features.capacity.facts.capacity import (
    Gap,
    Missing,
    ModelCapacity,
    ReplicaCapacity,
)
from model_analyzer.features.capacity.facts.points import Carried, Keeps, Lack, Point
from model_analyzer.features.capacity.facts.sizing import Count, Demand, RateOutlook, Sizing
from model_analyzer.reports.document import bounds
from model_analyzer.reports.markdown import escaped, markdown_table
from model_analyzer.reports.remarks import failure_advice
from model_analyzer.reports.tables import Table
from model_analyzer.results.columns import Cell


@dataclass(frozen=True, slots=True, kw_only=True)
class CapacityReport:
    """The capacity of a model, and the answer for a demand: `sizing` and `scaler` are None if it is
    unknown. `day` is the plan for a trace, None without one; `cost` is that of the replicas in an
    hour, `day_cost` what they and those of an autoscaler cost over the trace, None without prices.
    """

    capacity: ModelCapacity
    demand: Demand
    sizing: Sizing | None
    scaler: Autoscaler | None
    day: DayPlan | None
    cost: HourlyCost | None
    day_cost: DayCost | None

    @property
    def per_million(self) -> Decimal | None:
        """What a million requests cost: those of the trace, or else at the rate; None if that is
        unknown.
        """
        if self.cost is None or self.cost.amount is None:
            return None
        rate = self.demand.rate if self.day is None else self.day.requests / (3600 * self.day.hours)
        return cost_per_million(self.cost.amount, rate)


def answer_lines(report: CapacityReport) -> Iterator[str]:
    """The answer, what it is based on, and what is missing."""
    capacity, sizing = report.capacity, report.sizing
    if sizing is None and capacity.replica.too_slow is not None:
        yield _too_slow_text(report, *capacity.replica.too_slow)
    elif sizing is None:
        yield (
            f"The measurements do not tell how many replicas of {capacity.model} serve"
            f" {_demand_text(report)}."
        )
    else:
        yield _promise(report, sizing)
        yield from _spare(report, sizing)
        yield from _cost_text(report)
    if report.day is not None:
        yield _day_text(report, report.day)
    replica = capacity.replica
    if replica.carried is not None:
        yield _carried_text(replica, replica.carried)
    yield from _bounds(replica)


def _too_slow_text(report: CapacityReport, constraint: Constraint, value: float) -> str:
    metric = metric_of(constraint.tag)
    return (
        f"No number of replicas of {report.capacity.model} serves {_demand_text(report)}:"
        f" {metric.name} of {report.capacity.replica.variant.name} was {number_text(value)}"
        f" {metric.unit} at best, even with one request in flight."
    )


def remark_lines(report: CapacityReport) -> Iterator[str]:
    """Caveats, and the measurements that are missing."""
    capacity = report.capacity
    if not capacity.constraints:
        yield (
            "No latency is constrained, so a replica counts as sufficient until it does not keep"
            " up: add, for example, --constraint 'perf_latency_p99<50'"
        )
    for each in capacity.ignored:
        yield f"{each}: ignored, since --rate is what the replicas must serve together"
    for missing in capacity.missing:
        yield missing_text(missing)
    replica = capacity.replica
    if replica.failed:
        yield failure_advice(replica.variant.name, replica.failed)
    yield from _disturbed(replica)
    yield from (part.sentence for part in capacity.left_out)


def _disturbed(replica: ReplicaCapacity) -> Iterator[str]:
    """A notice if other programs disturbed the measurements: then latencies are too long."""
    runs = (run for point in replica.points for run in point.runs)
    notices = (notice for run in runs for notice in run.notices)
    texts = [notice.text for notice in notices if notice.kind is NoticeKind.BUSY_MACHINE]
    if texts:
        yield f"{counted(len(texts), 'measurement')} of a busy machine, for example {texts[0]}"


def missing_text(missing: Missing) -> str:
    """What to measure, and why."""
    if missing.reason is Gap.BELOW_ONE:
        return f"No measurement tells more about {missing.variant.name}: {missing.reason.value}"
    listed = _listed(missing.rates)
    rates = f"{listed} requests/s" if listed else "the rate that you expect for one replica"
    batch = f", {missing.batch_size} inferences each" if missing.batch_size > 1 else ""
    use = "Missing" if missing.is_needed else "More exact with"
    condition = ", if this machine has the metric" if missing.reason is Lack.NO_METRIC else ""
    return (
        f"{use}: {missing.variant.name} under Poisson arrivals at {rates}{batch}"
        f" ({missing.reason.value}); --measure takes it{condition}"
    )


def _listed(rates: Sequence[int]) -> str:
    *first, last = map(str, rates) if rates else ("",)
    return f"{', '.join(first)} and {last}" if first else last


def _demand_text(report: CapacityReport) -> str:
    demand, capacity = report.demand, report.capacity
    size = capacity.replica.batch_size
    requests = f"{demand.rate:g} requests/s" + (f" of {size} inferences" if size > 1 else "")
    limits = " and ".join(map(_limit_text, capacity.constraints))
    headroom = f"{100 * demand.headroom:g} % headroom" if demand.headroom else ""
    return " with ".join(filter(None, (requests, " and ".join(filter(None, (limits, headroom))))))


def _promise(report: CapacityReport, sizing: Sizing) -> str:
    name = report.capacity.replica.variant.name
    nodes = "" if sizing.nodes is None else f", on {counted(sizing.nodes, 'node')}"
    serve = "serves" if sizing.replicas.number == 1 else "serve"
    promise = (
        f"{counted(sizing.replicas.number, 'replica')} of {name} {serve}"
        f" {_demand_text(report)}{_range(sizing.replicas)}{nodes}"
    )
    return f"{promise}." if sizing.is_certain else f"Not certain: {promise}{_doubt(sizing)}."


def _doubt(sizing: Sizing) -> str:
    """What to do if it is not certain that the replicas serve the rate."""
    more = (
        "" if sizing.enough is None else f", or take {sizing.enough}, which surely serve the rate"
    )
    return f"; --measure takes further measurements{more}"


def _range(count: Count) -> str:
    """The 95 % interval of a number of replicas; "" if it has one value. At least one is needed."""
    fewest, most = count.fewest, count.most
    if most == 1:
        return ""
    if fewest is not None and most is not None:
        return "" if fewest == most else f" ({fewest} to {most})"
    if fewest is not None:
        return f" (at least {fewest}, perhaps more)"
    return " (uncertain)" if most is None else f" (at most {most}, perhaps fewer)"


def _spare(report: CapacityReport, sizing: Sizing) -> Iterator[str]:
    number = sizing.replicas.number + 1
    if sizing.nodes is None:
        yield f"With {number}, one may fail."
    else:
        yield f"With {number} replicas, one may fail; with {sizing.nodes + 1} nodes, one node."


def _carried_text(replica: ReplicaCapacity, carried: Carried) -> str:
    rate = f"One replica carries {number_text(carried.rate)} requests/s{_interval(carried)}"
    if carried.broken is None:
        return f"{rate}: the highest measured rate; no higher one was measured."
    first = carried.first
    what = "it does not keep up" if first is None else f"{_name(first)} exceeds its limit first"
    return (
        f"{rate}. Above, {what} (measured: kept at {carried.kept:,g}, broken at"
        f" {carried.broken:,g})."
    )


def _cost_text(report: CapacityReport) -> Iterator[str]:
    """What the replicas cost in an hour, and for a million requests."""
    prices, cost = report.capacity.prices, report.cost
    if prices is None or cost is None:
        return
    if cost.amount is None:
        yield f"Their cost is unknown: {cost.basis}."
        return
    yield (
        f"They cost {money(cost.amount, prices.currency)} an hour ({cost.basis}; prices of"
        f" {prices.date}){_million_text(report, prices.currency)}."
    )


def _million_text(report: CapacityReport, currency: str) -> str:
    of_million = report.per_million
    if of_million is None:
        return ""  # a trace without requests
    where = "" if report.day is None else " of the trace"
    return f": {money(of_million, currency)} for a million requests{where}"


def _day_text(report: CapacityReport, day: DayPlan) -> str:
    hours = day.hours
    saved = 1 - day.autoscaled_hours / day.fixed_hours
    short = (
        f" For {_duration(day.short_s)}, they are too few, since replicas start after the load has"
        " grown."
        if day.short_s
        else ""
    )
    return (
        f"Over {hours:.1f} hours, {counted(day.fixed, 'replica')} take {day.fixed_hours:.0f}"
        f" replica-hours; an autoscaler takes {day.autoscaled_hours:.0f}"
        f" ({100 * saved:.0f} % less).{short}{_day_cost(report)}"
    )


def _day_cost(report: CapacityReport) -> str:
    """What both cost over the trace, on nodes of the same type."""
    prices, cost = report.capacity.prices, report.day_cost
    if prices is None or cost is None:
        return ""
    return (
        f" That is {money(cost.fixed, prices.currency)}, or"
        f" {money(cost.autoscaled, prices.currency)} with an autoscaler."
    )


def _duration(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 120 else f"{seconds / 60:.0f} min"


def _interval(carried: Carried) -> str:
    low, high = carried.low, carried.high
    if low is not None and high is not None:
        ends = number_text(low), number_text(high)
        return "" if ends[0] == ends[1] else f" ({' to '.join(ends)})"
    if low is not None:
        return f" (at least {number_text(low)})"
    if high is None or number_text(high) == number_text(carried.rate):
        return " (uncertain)"
    return f" (at most {number_text(high)})"


def _bounds(replica: ReplicaCapacity) -> Iterator[str]:
    if replica.knee is not None:
        yield (
            f"Knee: {number_text(replica.knee.rate)} requests/s, at concurrency"
            f" {replica.knee.concurrency}; beyond it, a further concurrent request adds less than"
            " half of what the first ones added."
        )
    if replica.most is not None:
        yield f"Highest measured throughput of one replica: {number_text(replica.most)} requests/s."


def _limit_text(constraint: Constraint) -> str:
    unit = metric_of(constraint.tag).unit
    ends = (("at most", constraint.maximum), ("at least", constraint.minimum))
    limits = " and ".join(
        f"{word} {limit_text(limit)} {unit}" for word, limit in ends if limit is not None
    )
    return f"{_name(constraint)} of {limits}"


def _name(constraint: Constraint) -> str:
    return metric_of(constraint.tag).name


def outlook_table(report: CapacityReport) -> Table | None:
    """What other rates need, and what they do to the planned replicas; None without an answer."""
    sizing = report.sizing
    if sizing is None:
        return None
    metrics = [metric_of(each.tag) for each in report.capacity.constraints]
    return Table(
        headers=(
            "Requests/s", "Change", "Replicas needed",
            f"Each of {sizing.replicas.number} gets", "Holds",
            *(metric.header for metric in metrics),
        ),
        rows=tuple(_outlook_row(each, report.demand) for each in sizing.outlooks),
    )  # fmt: skip


def _outlook_row(outlook: RateOutlook, demand: Demand) -> tuple[Cell, ...]:
    change = round(100 * (outlook.rate / demand.rate - 1))
    holds = {True: Keeps.YES, False: Keeps.NO, None: Keeps.UNSURE}[outlook.holds]
    return (
        number_text(outlook.rate),
        f"{change:+d} %" if change else "",
        outlook.replicas,
        number_text(outlook.each),
        holds.value,
        *(value for _, value in outlook.values),
    )


def day_table(day: DayPlan) -> Table:
    """The replicas over time: those that each period needs, and those of an autoscaler."""
    return Table(
        headers=("From", "Requests/s", "Replicas needed", "Autoscaled"),
        rows=tuple(
            (period.label, number_text(period.rate), period.needed, period.autoscaled)
            for period in day.periods
        ),
    )


def points_table(report: CapacityReport) -> Table:
    """The measurements of one replica that the answer is based on."""
    capacity = report.capacity
    metrics = [metric_of(each.tag) for each in capacity.constraints]
    return Table(
        headers=(
            "Requests/s", "Answered/s", *(metric.header for metric in metrics), "Requests", "Keeps"
        ),
        rows=tuple(
            (
                number_text(point.rate),
                None if point.answered is None else number_text(point.answered),
                *(point.value(metric.tag) for metric in metrics),
                point.requests,
                capacity.replica.keeps[point.rate].value,
            )
            for point in capacity.replica.points
        ),
    )  # fmt: skip


def titled_tables(report: CapacityReport) -> Iterator[tuple[str, Table]]:
    """The tables with their titles; without rows, a table is left out."""
    outlook = outlook_table(report)
    if outlook is not None:
        yield "At other rates", outlook
    if report.day is not None:
        yield "Over time", day_table(report.day)
    points = points_table(report)
    if points.rows:
        yield f"Measured: one replica of {report.capacity.replica.variant.name}", points


def to_markdown(reports: Sequence[CapacityReport]) -> str:
    """The answers with their tables; of several kinds of hardware, the comparison first."""
    lines = [f"## How many replicas: {escaped(reports[0].capacity.model)}", ""]
    if len(reports) > 1:
        lines += [escaped(cheapest_text(reports)), "", *markdown_table(kinds_table(reports)), ""]
    for report in reports:
        if len(reports) > 1:
            lines += [f"### {escaped(report.capacity.kind)}", ""]
        lines += [f"{escaped(line)}  " for line in answer_lines(report)]
        for remark in remark_lines(report):
            lines += ["", "> [!WARNING]", f"> {escaped(remark)}"]
        for title, table in titled_tables(report):
            lines += ["", f"**{escaped(title)}**", "", *markdown_table(table)]
        lines.append("")
    return "\n".join(lines)


def cheapest_of(reports: Sequence[CapacityReport]) -> CapacityReport | None:
    """The kind of hardware with the lowest known cost; None if none is known."""
    index = cheapest([None if each.cost is None else each.cost.amount for each in reports])
    return None if index is None else reports[index]


def cheapest_text(reports: Sequence[CapacityReport]) -> str:
    """Which of several kinds of hardware is the cheapest for the rate."""
    best, prices = cheapest_of(reports), reports[0].capacity.prices
    if prices is None:
        return f"{len(reports)} kinds of hardware; --prices tells which is the cheapest."
    if best is None or best.cost is None or best.cost.amount is None:
        return f"{len(reports)} kinds of hardware; none has a known cost, so none is the cheapest."
    unknown = sum(each.cost is None or each.cost.amount is None for each in reports)
    others = f"; the cost of {counted(unknown, 'other')} is unknown" if unknown else ""
    return (
        f"Cheapest: {best.capacity.kind}, at {money(best.cost.amount, prices.currency)} an"
        f" hour{others}."
    )


def kinds_table(reports: Sequence[CapacityReport]) -> Table:
    """Each kind of hardware: the configuration to deploy there, replicas, cost and energy."""
    best = cheapest_of(reports)
    return Table(
        headers=(
            "Hardware", "Configuration", "Requests/s of one", "Replicas",
            "Cost per hour", "Cost per million", "J per inference", "Cheapest",
        ),
        rows=tuple(_hardware_row(each, is_cheapest=each is best) for each in reports),
    )  # fmt: skip


def _hardware_row(report: CapacityReport, *, is_cheapest: bool) -> tuple[Cell, ...]:
    replica, sizing, cost = report.capacity.replica, report.sizing, report.cost
    amount = None if cost is None else cost.amount
    prices = report.capacity.prices
    per_hour = per_million = None
    if amount is not None and prices is not None:
        per_hour = money(amount, prices.currency)
        of_million = report.per_million
        per_million = None if of_million is None else money(of_million, prices.currency)
    return (
        report.capacity.kind,
        replica.variant.name,
        None if replica.carried is None else number_text(replica.carried.rate),
        None if sizing is None else f"{sizing.replicas.number}{_range(sizing.replicas)}",
        per_hour,
        per_million,
        replica.joules,
        "yes" if is_cheapest else "",
    )


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
