# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Laws of loads: what follows from the number of requests in flight, and from their arrivals.

Tolerances come from 1,800 real measurements of 60 models, with 1 to 16 requests in flight.
"""

from __future__ import annotations

import math

from model_analyzer.domain.arrivals import is_random, traffic_of
from model_analyzer.domain.measurements import Doubt
from model_analyzer.domain.models import is_decoupled
from model_analyzer.domain.numbers import number_text
from model_analyzer.domain.traffic import Arrivals
from model_analyzer.noise.laws.case import ANSWERED, DUE, SENT, Case

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
