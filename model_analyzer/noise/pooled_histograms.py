# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Histograms of several measurements together, and of a measurement that only has percentiles."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import accumulate, pairwise
from statistics import NormalDist

from model_analyzer.domain.histograms import BINS, Histogram, place_of

# Clustering is known where this share of the latencies is beyond; elsewhere, it changes with the
# root of the share.
_CLUSTERED_BEYOND = 0.1

_NORMAL = NormalDist()


def merged(histograms: Sequence[Histogram]) -> Histogram:
    """The histogram of all latencies together."""
    if len(histograms) == 1:
        return histograms[0]
    total = sum(histogram.total for histogram in histograms)
    clustering = sum(histogram.clustering * histogram.total for histogram in histograms)
    counts: Counter[int] = Counter()
    for histogram in histograms:
        counts.update(histogram.counts)
    return Histogram.counting(
        counts,
        clustering / total if total else 1.0,
        is_approximate=any(histogram.is_approximate for histogram in histograms),
    )


def approximate(percentiles: Mapping[float, float], count: int) -> Histogram | None:
    """The histogram of `count` latencies of which only some `percentiles` are known: the latency
    (ms) by share. None with fewer than two.

    Between them, the logarithm of the latency is interpolated over the quantiles of the normal
    distribution, so it is a mixture of parts of log-normal distributions.
    """
    known = sorted((_NORMAL.inv_cdf(share), value) for share, value in percentiles.items())
    if len(known) < 2 or count < 1 or known[0][1] <= 0:
        return None
    deviations = [deviation for deviation, _ in known]
    places = list(accumulate((place_of(value) for _, value in known), max))
    end = _NORMAL.inv_cdf(1 - 0.5 / count)
    first = places[0] - _slope(deviations, places, 0) * max(end + deviations[0], 0.0)
    last = places[-1] + _slope(deviations, places, -2) * max(end - deviations[-1], 0.0)
    edges = range(max(math.floor(first), 0) + 1, min(math.ceil(last), BINS))
    below = [round(count * _share(deviations, places, edge)) for edge in edges]
    counts = [high - low for low, high in pairwise([0, *below, count])]
    return Histogram.counting(
        {edges.start - 1 + index: number for index, number in enumerate(counts)},
        is_approximate=True,
    )


def clustering_at(clustering: float, beyond: float) -> float:
    """How many latencies tell as much as an independent one about the latency that this share (0 to
    0.5) is beyond, from the `clustering` at the 90th percentile. Of neighbours, only some are that
    slow.
    """
    return max(1 + (clustering - 1) * math.sqrt(beyond / _CLUSTERED_BEYOND), 1.0)


def _slope(deviations: Sequence[float], places: Sequence[float], index: int) -> float:
    """Bins for each standard deviation, between a known percentile and the next."""
    rise = places[index + 1] - places[index]
    return rise / (deviations[index + 1] - deviations[index])


def _share(deviations: Sequence[float], places: Sequence[float], place: float) -> float:
    """The share of the latencies up to this place."""
    index = min(max(bisect_right(places, place) - 1, 0), len(places) - 2)
    slope = _slope(deviations, places, index)
    if slope:
        return _NORMAL.cdf(deviations[index] + (place - places[index]) / slope)
    return float(place >= places[index])
