# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""When the requests of an open load should have been sent. Pure.

A client that falls behind sends late, and a latency from the moment of sending hides that wait:
users have it, too ("coordinated omission"). So the latencies of open loads count from the intended
times.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from model_analyzer.domain.arrivals import is_open
from model_analyzer.domain.histograms import Histogram
from model_analyzer.domain.measurements import Notice, NoticeKind, Values
from model_analyzer.domain.metrics import PERCENTILES
from model_analyzer.domain.trials import Workload, workload_words
from model_analyzer.noise.lag import SEND_LAG, SENT_LATENCY, advice_on_lag, is_late
from model_analyzer.runner.load.profile_export import Export
from model_analyzer.runner.load.schedule import Times

_DECIMALS = 6
_NS_PER_US = 1000
_US_PER_S = 1_000_000
_NS_PER_MS = 1e6
# Before the first request: perf_analyzer loses answers that come before it has begun to collect
# them, which takes it longer, the longer the file is.
LEAD_S = 0.05
# After the last request: longer than any measurement lasts, so perf_analyzer does not begin again.
_NEVER_US = 24 * 3600 * _US_PER_S


# Why it is usually not known when requests were sent.
NOT_EXPORTED = (
    "perf_analyzer exported no times of its requests, which takes too long with large tensors"
)


@dataclass(frozen=True)
class IntendedTimes:
    """An export whose requests are `sent` at their intended times, and how much later each one was
    really sent (ms), in the same order; and when requests were `due`, answered or not.
    """

    export: Export
    lags: npt.NDArray[np.float64]
    due: Times

    @cached_property
    def latencies(self) -> npt.NDArray[np.float64]:
        """How long each request took from its intended time on (ms)."""
        return (self.export.requests.ended - self.export.requests.sent) / _NS_PER_MS

    @property
    def sent_latencies(self) -> npt.NDArray[np.float64]:
        """How long each request took from the moment of sending on (ms)."""
        return self.latencies - self.lags

    def ended_within(self, begin: int, end: int) -> IntendedTimes:
        """The part of it that ended within a period (ns)."""
        requests = self.export.requests
        ended = requests.ended_within(begin, end)
        export = replace(self.export, requests=requests.take(ended))
        return replace(self, export=export, lags=self.lags[ended])


def intervals_text(due: Times) -> str:
    """The file of perf_analyzer for requests that are due at these times: microseconds between two
    requests. The first ones are later by `LEAD_S`. It begins again at the end of the file: after
    the last request, it waits.
    """
    # rounded times, not rounded intervals: errors must not add up
    times = np.round(due / _NS_PER_US).astype(np.int64)
    gaps = np.diff(times, prepend=0)
    gaps[0] += round(LEAD_S * _US_PER_S)
    return "\n".join(map(str, [*gaps.tolist(), _NEVER_US])) + "\n"


def intended(export: Export, due: Times) -> IntendedTimes:
    """The requests with the times at which they were due, as they are sent in this order.

    The earliest one, compared with its time, was sent on time. Requests beyond `due` are left out.
    """
    order = np.argsort(export.requests.sent, kind="stable")[: len(due)]
    requests = export.requests.take(order)
    origin = int(requests.sent[0])
    offsets = requests.sent - origin - due[: len(requests)]
    lags = offsets - offsets.min()
    order = np.argsort(requests.ended, kind="stable")
    return IntendedTimes(
        replace(export, requests=replace(requests, sent=requests.sent - lags).take(order)),
        lags[order] / _NS_PER_MS,
        due + (origin + int(offsets.min())),
    )


def values_of_sending(moved: IntendedTimes) -> Values:
    """What the client did: how late it sent, and the latency from the moment of sending (ms)."""
    return {
        SEND_LAG: round(float(np.percentile(moved.lags, 99)), _DECIMALS),
        SENT_LATENCY: round(float(np.percentile(moved.sent_latencies, 99)), _DECIMALS),
    }


def histograms_of_sending(moved: IntendedTimes) -> Mapping[str, Histogram]:
    """The histograms of the same two, with which rounds are pooled."""
    return {
        PERCENTILES[SEND_LAG][0]: Histogram.of(moved.lags.tolist()),
        PERCENTILES[SENT_LATENCY][0]: Histogram.of(moved.sent_latencies.tolist()),
    }


def remarks_on_sending(
    work: Workload,
    values: Values,
    *,
    in_rounds: bool = True,
    unknown: str = NOT_EXPORTED,
) -> Iterator[Notice]:
    """A notice if the client of an open load sent so late that its lag is a part of the latencies;
    or, if it is not known when requests were due or sent, with the reason.
    """
    if is_late(values):
        advice = advice_on_lag(work, in_rounds=in_rounds)
        yield Notice(
            kind=NoticeKind.CLIENT_LAGGED,
            text=f"{workload_words(work)}: one request in a hundred was sent more"
            f" than {values[SEND_LAG]:,.1f} ms late, and its latency contains that: {advice}",
        )
    elif is_open(work) and SEND_LAG not in values:
        yield Notice(
            kind=NoticeKind.LAG_UNKNOWN,
            text=f"{workload_words(work)}: {unknown}; so latencies count from the"
            " moment of sending, and it is not known whether requests were sent late",
        )
