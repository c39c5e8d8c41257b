# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Laws of times: what follows from the order of events, and from the definitions of numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from model_analyzer.domain.measurements import Doubt
from model_analyzer.domain.metrics import METRICS, PERCENTILES
from model_analyzer.domain.numbers import number_text
from model_analyzer.noise.laws.case import IMPOSSIBLE, Case

# perf_analyzer's table has whole microseconds, and quantiles of histograms have three digits.
_ROUNDING = 1.01

# More requests than this share must not be impossible: a clock that is set for a moment moves few.
_MANY = 0.01


def _ladder(family: str) -> Sequence[str]:
    """The metrics of a family of latencies, which rise in this order."""
    percentiles = sorted(tag for tag in PERCENTILES if PERCENTILES[tag][0] == family)
    every = (f"{family}_min", *percentiles, f"{family}_max")
    return tuple(tag for tag in every if tag in METRICS)


_LATENCY = "perf_latency"
_FAMILIES: Mapping[str, Sequence[str]] = MappingProxyType(
    {family: _ladder(family) for family in (_LATENCY, "time_to_first_token", "inter_token_latency")}
)


def latencies_rise(case: Case) -> Doubt | None:
    """0 < min <= p50 <= p90 <= p95 <= p99 <= max, of latencies, times to the first token and times
    between tokens; within 1 %, since they are rounded. By definition.

    Gross if a latency is not positive: no answer ends before its request began. Tokens may come at
    the same time.
    """
    values = case.model.values
    doubt = _rising(case, _LATENCY)
    if doubt is None and "time_to_first_token_avg" in values:
        doubt = _rising(case, "time_to_first_token") or _rising(case, "inter_token_latency")
    return doubt


def _rising(case: Case, family: str) -> Doubt | None:
    value = case.model.values.get
    if family == _LATENCY:  # usually they rise, and there may be a million
        p50, p90, p95, p99 = map(value, _FAMILIES[family])
        if p50 and p90 and p95 and p99 and 0.0 < p50 <= p90 <= p95 <= p99:
            return None
    below, lower = 0.0, ""
    for tag in _FAMILIES[family]:
        latency = value(tag)
        if latency is None:
            continue
        if latency < 0 or (latency == 0 and family == _LATENCY):
            return Doubt(
                law="latencies rise",
                text=f"{case.name}: {METRICS[tag].name} is {latency:g} ms, so answers ended before"
                " their requests began",
                hint=case.again,
                gross=True,
            )
        if below > latency * _ROUNDING:
            return Doubt(
                law="latencies rise",
                text=f"{case.name}: {METRICS[tag].name} is {number_text(latency)} ms, less than"
                f" {METRICS[lower].name}, {number_text(below)} ms",
                hint=case.again,
            )
        below, lower = latency, tag
    return None


def averages_fit(case: Case) -> Doubt | None:
    """The average latency is at least (1 - share) x percentile, for each percentile: so many of all
    requests took at least that long (Markov's inequality). Within 1 %, since they are rounded; the
    percentiles of a few requests lie between two of them, so within the edge as well.
    """
    value = case.model.values.get
    average = value("perf_latency_avg")
    if average is None:
        return None
    for tag, share in (("perf_latency_p50", 0.5), ("perf_latency_p99", 0.01)):
        latency = value(tag)
        if latency is not None and average < share * latency:
            break
    else:
        return None
    if average * _ROUNDING * (1 + case.edge) >= share * latency:
        return None
    return Doubt(
        law="averages fit",
        text=f"{case.name}: the average latency is {number_text(average)} ms, too little for a"
        f" {METRICS[tag].name} of {number_text(latency)} ms",
        hint=case.again,
    )


def answers_follow_requests(case: Case) -> Doubt | None:
    """No exported answer comes before its request was sent. Such requests do not count. Gross if
    they are more than 1 % of all requests: then the other times are not to be trusted either.
    """
    share = case.model.evidence.get(IMPOSSIBLE, 0.0)
    if not share:
        return None
    return Doubt(
        law="answers follow requests",
        text=f"{case.name}: by the times that perf_analyzer exported, {100 * share:.2g} % of the"
        " requests were answered before they were sent",
        hint="see if the clock of the client's machine was set meanwhile, and measure it again",
        gross=share > _MANY,
    )


def durations_fit(case: Case) -> Doubt | None:
    """p99 latency <= duration of the trial without loading. A client cannot wait for longer than it
    measures. Gross, since a duration is measured by one clock, and latencies by another.
    """
    measurement = case.measurement
    if not measurement.duration_s or not case.model.seconds:
        return None
    p99 = case.model.values.get("perf_latency_p99")
    if p99 is None:
        return None
    seconds = measurement.duration_s - measurement.loading_s
    if p99 <= 1000 * seconds:
        return None
    return Doubt(
        law="durations fit",
        text=f"{case.name}: p99 latency is {number_text(p99)} ms, but measuring took only"
        f" {number_text(seconds)} s",
        hint="see if the clock of the client's machine was set meanwhile, and measure it again",
        gross=True,
    )
