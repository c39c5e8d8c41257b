# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""What a round measured, from the times of all its requests. Pure.

The first requests of a load are left out. A closed load sends as many as its concurrency at once to
an idle server: while these are answered, latencies are too low. In a short round that is a
large part: with 64 requests in flight at 140 requests per second, a third of 1.4 seconds.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from model_analyzer.domain.histograms import MOST_REQUESTS, Histogram, JointHistogram, RequestTimes
from model_analyzer.domain.measurements import ModelMeasurement, Values
from model_analyzer.noise.first_look import is_cold
from model_analyzer.noise.laws import ANSWERED, DUE, IMPOSSIBLE, RESPONSES, SENT, TOKENS
from model_analyzer.runner.load.profile_export import Export, Request
from model_analyzer.runner.load.schedule import IntendedTimes, Times

_Floats = npt.NDArray[np.float64]

_PERCENTILES = (50, 90, 95, 99)
_NS_PER_MS, _NS_PER_S = 1e6, 1e9

# The windows of a round: at most so many, with at least so many requests in each.
_MOST_WINDOWS, _IN_WINDOW = 8, 5

# Requests end together if the time between them is below this share of the mean one.
_TOGETHER = 0.25

# A server that answers this share of the requests that are due keeps up with them.
_KEPT_UP = 0.95

# Latencies are compared with their 90th percentile in so many blocks of neighbours, of at least so
# many.
_CLUSTERED_AT = 0.9
_BLOCKS, _IN_BLOCK = 8, 5

# Decimals of milliseconds and seconds: nanoseconds, as far as programs know them.
_DECIMALS = 6


@dataclass(frozen=True, slots=True)
class Offered:
    """Random arrivals: requests are `due` at these times (ns, as those of an export), at a mean
    `rate` per second. If they are a `whole` load, none follow, and all of them are measured.
    """

    due: Times
    rate: float
    whole: bool = False


def sampled(
    export: Export,
    *,
    in_flight: int,
    batch_size: int,
    with_tokens: bool,
    offered: Offered | None = None,
) -> ModelMeasurement | None:
    """What was measured of the requests that ended within perf_analyzer's windows, after the first
    `in_flight`; None with fewer than two.

    With random arrivals that were `offered`, the throughput is that at their mean rate.
    """
    begin = export.bounds[0]
    # a time since 1970 has more digits than a float
    times = np.stack([export.inside.sent - begin, export.inside.ended - begin], 1).astype(float)
    # count from the end of a request to the end of another one: a window that begins and ends
    # anywhere has a part of a batch more or less
    skipped = max(in_flight, 1)
    if is_cold(len(times), in_flight):  # hardly anything would be left
        skipped = 1
    if len(times) <= skipped:
        return None
    batches = _ends_of_batches(times[:, 1])
    if in_flight:
        # the rest of a batch would count without the time that it took; requests of an open load
        # may arrive together, and all of them count
        skipped = next((end + 1 for end in batches[:-1] if end >= skipped - 1), skipped)
    first, last = float(times[skipped - 1, 1]), float(times[-1, 1])
    times = times[skipped:]
    latencies = (times[:, 1] - times[:, 0]) / _NS_PER_MS
    seconds = (last - first) / _NS_PER_S
    if seconds <= 0:
        return None
    edges = _edges(first, times[batches[batches >= skipped] - skipped, 1], len(times))
    rates = _rates([first, last], times[:, 1])
    windows = _rates([first, *edges], times[:, 1])
    if offered is not None and offered.whole:
        arriving_s = (offered.due[-1] - offered.due[0]) / _NS_PER_S
        rates = offered.rate * np.minimum([arriving_s / seconds], 1)
    elif offered is not None:
        due = (offered.due - begin).astype(float)
        if rates[0] >= _KEPT_UP * _rates([first, last], due + latencies.min() * _NS_PER_MS)[0]:
            due = due + float(np.median(latencies)) * _NS_PER_MS
            rates = _at_mean_rate(rates, [first, last], due, offered.rate)
            windows = _at_mean_rate(windows, [first, *edges], due, offered.rate)
            # what a window leaves unanswered is answered in the next: deviations cancel each other
            mean = windows.mean()
            windows = mean + (windows - mean) / math.sqrt(len(windows))
        rates = np.minimum(rates, offered.rate)
    values = {
        "perf_throughput": round(float(rates[0]) * batch_size, _DECIMALS),
        **latency_values(latencies),
    }
    families: dict[str, Sequence[float]] = {"perf_latency": latencies.tolist()}
    joint = None
    if with_tokens:
        # after the first end, up to the last one
        period = begin + int(first) + 1, begin + int(last) + 1
        joint = joint_times(export, *period)
        values |= token_metrics(export, *period) or {}
        families |= token_times(export, *period)
    return ModelMeasurement(
        requests=len(times),
        seconds=round(seconds, _DECIMALS),
        values=values,
        windows=tuple(float(f"{rate:.5g}") for rate in (windows * batch_size).tolist()),
        histograms={
            family: Histogram.of(samples, _clustering(np.array(samples)))
            for family, samples in families.items()
            if samples
        },
        joint=joint,
    )


def _ends_of_batches(ends: _Floats) -> npt.NDArray[np.intp]:
    """The places of the requests that the next one follows after some time, and of the last one:
    the answers of a batch come one shortly after another.
    """
    apart = np.diff(ends) >= _TOGETHER * (ends[-1] - ends[0]) / (len(ends) - 1)
    return np.append(np.flatnonzero(apart), len(ends) - 1)


def latency_values(latencies: _Floats) -> Values:
    """The mean and the percentiles of latencies (ms)."""
    percentiles = np.percentile(latencies, _PERCENTILES)
    values = {f"perf_latency_p{p}": v for p, v in zip(_PERCENTILES, percentiles, strict=True)}
    values["perf_latency_avg"] = latencies.mean()
    return {tag: round(float(value), _DECIMALS) for tag, value in values.items()}


def _edges(first: float, ends: _Floats, requests: int) -> _Floats:
    """Where windows end: parts of about the same length, each up to the end of a batch of answers.
    A short part belongs to the one behind it.
    """
    count = min(max(requests // _IN_WINDOW, 2), _MOST_WINDOWS)
    places, length = np.linspace(first, ends[-1], count + 1, retstep=True)
    until = np.searchsorted(ends, places[1:], side="right")
    edges = [first]
    for edge in np.unique(ends[until[until > 0] - 1]):
        if edge - edges[-1] >= length / 2:
            edges.append(edge)
    # the last one ends with the last request
    return np.array([*edges[1:-1], ends[-1]])


def _rates(edges: Sequence[float], times: _Floats) -> _Floats:
    """How many of the times per second lie between successive edges (ns), with the later edge."""
    counts = np.diff(np.searchsorted(times, edges, side="right"))
    return counts / (np.diff(edges) / _NS_PER_S)


def _at_mean_rate(answered: _Floats, edges: Sequence[float], due: _Floats, rate: float) -> _Floats:
    """The rates of answers between these edges if requests had arrived at their mean rate.

    By chance, more or fewer are due in a short time, and a server that keeps up answers so many
    more or fewer (a control variate). `due` are the times when an answer would come with the usual
    latency.
    """
    return np.maximum(rate + answered - _rates(edges, due), 0.0)


def _clustering(latencies: _Floats) -> float:
    """How many latencies in the order of their ends tell as much as an independent one: the
    variance between blocks, compared with that of independent latencies.
    """
    size = len(latencies) // _BLOCKS
    if size < _IN_BLOCK:
        return 1.0
    is_low = latencies[: size * _BLOCKS] <= np.quantile(latencies, _CLUSTERED_AT)
    share = float(is_low.mean())
    if not 0 < share < 1:
        return 1.0
    shares = is_low.reshape(_BLOCKS, size).mean(axis=1)
    variance = float(shares.var(ddof=1)) * size / (share * (1 - share))
    return round(max(variance, 1.0), 2)


FIRST, BETWEEN = "time_to_first_token", "inter_token_latency"

_TOKEN_PERCENTILES = (25, 50, 75, 90, 95, 99)


def token_times(export: Export, begin: int, end: int) -> Mapping[str, Sequence[float]]:
    """The times to the first token and between tokens (ms) that ended within a period (ns).

    A model with a single response for each request has no times between tokens.
    """
    return {
        FIRST: [
            (request.came[0] - request.sent) / _NS_PER_MS
            for request in export.requests
            if request.came and begin <= request.came[0] < end
        ],
        BETWEEN: [
            (later - earlier) / tokens / _NS_PER_MS
            for request in export.requests
            for earlier, later, tokens in zip(
                request.came, request.came[1:], request.tokens[1:], strict=False
            )
            if begin <= later < end
        ],
    }


def joint_times(export: Export, begin: int, end: int) -> JointHistogram:
    """The times of the requests that ended within a period (ns), together. Of many, it keeps a
    random part: neighbours are alike, and every tenth request may be the last one of a batch.
    """
    ended = export.requests.ended_within(begin, end)
    if len(ended) > MOST_REQUESTS:
        kept = np.random.default_rng(0).choice(len(ended), MOST_REQUESTS, replace=False)
        ended = ended[kept]
    return JointHistogram.of(map(_times, export.requests.take(ended)))


def _times(request: Request) -> RequestTimes:
    """Without a token, a user waits for the first one until the request ends."""
    further = sum(request.tokens[1:])
    between = (request.came[-1] - request.came[0]) / further / _NS_PER_MS if further else None
    return RequestTimes(
        latency=(request.ended - request.sent) / _NS_PER_MS,
        first_token=((*request.came, request.ended)[0] - request.sent) / _NS_PER_MS,
        between_tokens=between,
    )


def token_metrics(export: Export, begin: int, end: int) -> Values | None:
    """The token metrics of a period (ns), with the tokens per second; None if it has no token."""
    tokens = sum(
        count
        for request in export.requests
        for came, count in zip(request.came, request.tokens, strict=True)
        if begin <= came < end
    )
    if not tokens:
        return None
    values = {"output_token_throughput": tokens / ((end - begin) / _NS_PER_S)}
    for tag, samples in token_times(export, begin, end).items():
        values |= _statistics(tag, samples)
    return values


def _statistics(tag: str, samples: Sequence[float]) -> Values:
    if not samples:
        return {}
    percentiles = np.percentile(samples, _TOKEN_PERCENTILES)
    return {
        f"{tag}_avg": float(np.mean(samples)),
        f"{tag}_min": min(samples),
        f"{tag}_max": max(samples),
        **{f"{tag}_p{p}": float(v) for p, v in zip(_TOKEN_PERCENTILES, percentiles, strict=True)},
    }


_DIGITS = 6


def evidence_of(export: Export) -> Values:
    """The share of impossible requests, if any; and of a model whose responses are tokens, both
    numbers for each request.
    """
    values: dict[str, float] = {}
    if export.impossible:
        values[IMPOSSIBLE] = export.impossible / (export.impossible + len(export.requests))
    if export.responses is not None:
        tokens = export.requests.token_counts[export.requests.ended_within(*export.reported)]
        if len(tokens):
            values |= {TOKENS: float(tokens.mean()), RESPONSES: export.responses}
    return values


def rates_of(export: Export, moved: IntendedTimes, *, is_whole: bool) -> Values:
    """How many requests per second of an open load were due, were sent and were answered: within
    perf_analyzer's windows, or of a whole load from the first to the last.
    """
    times = {
        DUE: moved.due,
        SENT: np.sort(export.requests.sent),
        ANSWERED: export.requests.ended,
    }
    if is_whole:
        return {name: value for name in times if (value := whole_rate([times[name]]))}
    begin, end = max(export.bounds[0], int(moved.due[0])), export.bounds[-1]
    if begin >= end:
        return {}
    seconds = (end - begin) / _NS_PER_S
    counts = {name: np.diff(np.searchsorted(own, [begin, end])) for name, own in times.items()}
    return {name: float(f"{count[0] / seconds:.{_DIGITS}g}") for name, count in counts.items()}


def whole_rate(parts: Sequence[Times]) -> float:
    """The rate of all these times (ns), from the first to the last; 0 if there is none."""
    times = np.concatenate(parts)
    span = (times.max() - times.min()) / _NS_PER_S if len(times) > 1 else 0.0
    return float(f"{(len(times) - 1) / span:.{_DIGITS}g}") if span else 0.0
