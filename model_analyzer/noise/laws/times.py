# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Laws of times and loads: what follows from the order of events, from the definitions of numbers,
from the number of requests in flight, and from their arrivals.

Tolerances for loads come from 1,800 real measurements of 60 models, with 1 to 16 requests in
flight.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from types import MappingProxyType

from model_analyzer.domain.arrivals import is_random, traffic_of
from model_analyzer.domain.measurements import Doubt
from model_analyzer.domain.metrics import METRICS, PERCENTILES
from model_analyzer.domain.models import is_decoupled
from model_analyzer.domain.numbers import number_text
from model_analyzer.domain.traffic import Arrivals
from model_analyzer.noise.laws.case import ANSWERED, DUE, IMPOSSIBLE, SENT, Case

# Requests in flight by Little's law, as a share of the load. Real ones were between 0.90 and 1.01,
# and up to 1.22 on a busy machine. A client that copies large tensors between two requests has
# fewer in flight.
_LEAST, _MOST = 0.75, 1.25
# What contradicts itself so much is not one of several measurements that disagree.
_GROSS = 2.0

# An open load is answered within this share; random arrivals deviate by so many standard errors.
_NEAR, _DEVIATIONS = 0.05, 4.0


def littles_law(case: Case) -> Doubt | None:
    """Requests in flight = throughput / batch size x average latency, at a constant concurrency.

    J. D. C. Little, 1961. From 0.75 to 1.25 times the concurrency, and the edge of the measurement.
    There are fewer if the client is busy between two requests; that is a doubt, too: a throughput
    that is not that of this load. A decoupled model may answer before it is ready for the next
    request, so it has no lower limit. Gross above twice the concurrency.
    """
    work, values = case.work, case.model.values
    latency, throughput = values.get("perf_latency_avg"), values.get("perf_throughput")
    load = work.load
    if latency is None or throughput is None:
        return None
    in_flight = throughput * latency / (1000.0 * load.batch_size)
    share = in_flight / load.value
    if _LEAST <= share <= _MOST or work.genai_perf or not _is_one_period(case):
        return None
    edge = case.edge
    if share < _LEAST - edge and not is_decoupled(work.variant.config):
        meaning = f"on average only {number_text(in_flight)} of {load.value} requests in flight"
        hint = (
            "the client may be slow between requests (give smaller inputs, or a machine of its"
            " own), it may round time up (leave request-count out of perf_analyzer_flags), or some"
            " requests never end (look at the model's queue policy and priorities)"
        )
    elif share > _MOST + edge:
        meaning = f"{number_text(in_flight)} requests in flight, but there were {load.value}"
        hint = case.again
    else:
        return None
    return Doubt(
        law="requests in flight",
        text=f"{case.name}: {number_text(throughput)} infer/sec with an average latency of"
        f" {number_text(latency)} ms mean {meaning}",
        hint=hint,
        gross=share > _GROSS + edge,
    )


def _is_one_period(case: Case) -> bool:
    """Whether throughput and latency are those of the same requests: a mean of several measurements
    is not their quotient.
    """
    return case.runs == 1 or case.measurement.is_round


def open_loads_are_answered(case: Case) -> Doubt | None:
    """answered >= due - requests in flight, and answered <= due, per second.

    Requests that a server has not answered at the end are in flight, each for at most twice the p99
    latency (which counts from the intended times): so at least 0.95 - 2 x p99 / duration of those
    that were due are answered, and at most 1.05 times as many. Random arrivals whose number is not
    known deviate by four standard errors. An overloaded server has long latencies, and breaks no
    law. Gross if twice as many are answered.
    """
    load, values = case.work.load, case.model.values
    throughput = values.get("perf_throughput")
    if throughput is None:
        return None
    evidence, answered = case.model.evidence, throughput / load.batch_size
    traffic = traffic_of(case.work)
    due = evidence.get(DUE) or load.value or (traffic.mean_rate if traffic else 0.0)
    p99 = values.get("perf_latency_p99")
    requests = case.model.requests
    if not due or p99 is None or not requests:
        return None
    seconds = case.model.seconds or requests / answered if answered else math.inf
    slack = _NEAR + case.edge + _chance(case, requests)
    share = min(answered, evidence.get(ANSWERED, answered)) / due
    if share > 1 + slack:
        problem, hint = "more than there were", case.again
    elif share < 1 - slack - 2 * case.runs * p99 / (1000 * seconds):
        problem = f"although p99 latency is only {number_text(p99)} ms"
        hint = (
            "the client may be too slow to send them: use a lower rate, smaller inputs or more"
            " generators"
        )
    else:
        return None
    sent = f", {number_text(evidence[SENT])} were sent" if SENT in evidence else ""
    return Doubt(
        law="open loads are answered",
        text=f"{case.name}: {number_text(due)} requests/sec were due{sent} and"
        f" {number_text(share * due)} were answered, {problem}",
        hint=hint,
        gross=share > _GROSS,
    )


def _chance(case: Case, requests: int) -> float:
    """How far the number of random arrivals may be from its mean, as a share of it."""
    if DUE in case.model.evidence or not is_random(case.work):
        return 0.0
    traffic = traffic_of(case.work)
    is_gamma = traffic is not None and traffic.arrivals is Arrivals.GAMMA
    return _DEVIATIONS * (traffic.cv if traffic and is_gamma else 1.0) / math.sqrt(requests)


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
