# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The perf_analyzers that send the load of a model: several for a rate that is too high for a
single process. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice

import numpy as np
import numpy.typing as npt

from model_analyzer.domain.flags import Flag
from model_analyzer.domain.measurements import Values
from model_analyzer.domain.traffic import Arrivals, Traffic
from model_analyzer.domain.trials import Workload
from model_analyzer.domain.windows import Window
from model_analyzer.runner.load.ended import Ended
from model_analyzer.runner.load.profile_export import Export, Requests
from model_analyzer.runner.load.schedule import IntendedTimes, Times

# perf_analyzer's flag for the ids of its sequences, START or START:END; it reads 31-bit numbers.
_SEQUENCE_IDS = "sequence-id-range"
_ID_RANGE = re.compile(r"(\d{1,10})(?::(\d{1,10}))?")
_MOST_ID = 2**31 - 1

# Positions in a sequence.
Indices = npt.NDArray[np.intp]

# So many requests are worth a process, on average.
_LEAST_SHARE = 10


@dataclass(frozen=True, slots=True)
class Generator:
    """A perf_analyzer that sends requests of a workload, and measures them in a `window`. `exports`
    tells whether it writes the times of all responses, `due` when requests are due, where
    perf_analyzer does not choose the times. If its load is `whole`, it measures all these requests
    until they are answered. `inputs` is a file, in parts, with the inputs of these requests in
    their order, which replaces the user's; None if any request may have any input.
    """

    work: Workload
    window: Window
    exports: bool
    due: Times | None = None
    whole: bool = False
    inputs: Iterable[bytes] | None = None


def shares(due: Times, traffic: Traffic) -> Sequence[Indices]:
    """Which requests each generator of an open load sends, by their positions in the times at which
    they are due; together all of them.

    Generators do not start at the same moment. A random share of Poisson arrivals is Poisson again,
    so their sum is, too, whenever each of them starts. Constant arrivals are dealt in turn. There
    are fewer generators than asked for where each would have hardly any request: one that has none
    left waits for nothing.
    """
    count = min(traffic.generators, max(len(due) // _LEAST_SHARE, 1))
    if traffic.arrivals is Arrivals.CONSTANT:
        owners = np.arange(len(due)) % count
    else:
        random = np.random.default_rng([traffic.seed, len(due)])
        owners = random.integers(count, size=len(due))
    return [np.flatnonzero(owners == owner) for owner in range(count)]


def with_own_ids(generators: Sequence[Generator]) -> Sequence[Generator]:
    """The generators, with flags by which no two of them send sequences with the same ids: a server
    would take these for one sequence. Those of the user's range are shared, if there is one.
    """
    count = len(generators)
    if count == 1:
        return generators
    return [
        replace(each, work=replace(each.work, flags=_with_own_ids(each.work.flags, index, count)))
        for index, each in enumerate(generators)
    ]


def _with_own_ids(flags: Mapping[str, Flag], index: int, count: int) -> Mapping[str, Flag]:
    given = _ID_RANGE.fullmatch(str(flags.get(_SEQUENCE_IDS, "1")))
    if given is None:
        return flags  # perf_analyzer says what is wrong with it
    begin, end = int(given[1]), int(given[2] or _MOST_ID)
    bounds = (begin + (end - begin) * place // count for place in (index, index + 1))
    return {**flags, _SEQUENCE_IDS: ":".join(map(str, bounds))}


def by_workload(
    groups: Sequence[Sequence[Generator]], ended: Iterable[Ended]
) -> Sequence[Sequence[Ended]]:
    """The runs of all generators, in the groups of their workloads."""
    runs = iter(ended)
    return [[*islice(runs, len(group))] for group in groups]


def joined_exports(exports: Sequence[Export], *, is_whole: bool) -> Export:
    """The requests of all generators, in the order of their ends. Only the time counts in which all
    of them sent; or, with `is_whole`, all the time.
    """
    if len(exports) == 1:
        return exports[0]
    begins = [export.bounds[0] for export in exports]
    ends = [export.bounds[-1] for export in exports]
    bounds = [min(begins), max(ends)] if is_whole else [max(begins), min(ends)]
    requests = Requests.joined([export.requests for export in exports])
    return Export(
        requests.take(np.argsort(requests.ended, kind="stable")),
        bounds,
        impossible=sum(export.impossible for export in exports),
    )


def joined_times(parts: Sequence[IntendedTimes], *, is_whole: bool) -> IntendedTimes:
    """The requests of all generators at their intended times."""
    if len(parts) == 1:
        return parts[0]
    ended = np.concatenate([part.export.requests.ended for part in parts])
    order = np.argsort(ended, kind="stable")
    export = joined_exports([part.export for part in parts], is_whole=is_whole)
    return IntendedTimes(
        export,
        np.concatenate([part.lags for part in parts])[order],
        np.sort(np.concatenate([part.due for part in parts])),
    )


def joined_tables(runs: Sequence[Ended]) -> Values:
    """The metrics in the tables of all generators: throughputs add up, and means are weighted by
    requests. The percentiles of the whole are not known, but the largest is an upper bound.
    """
    tables = [(run.table or {}, run.report.requests or 1) for run in runs]
    if len(tables) == 1:
        return tables[0][0]
    values = {}
    for tag in tables[0][0]:
        known = [(table[tag], count) for table, count in tables if tag in table]
        if tag == "perf_throughput":
            values[tag] = sum(value for value, _ in known)
        elif tag.rpartition("_")[2] in ("p50", "p90", "p95", "p99"):
            values[tag] = max(value for value, _ in known)
        else:
            total = sum(count for _, count in known)
            values[tag] = sum(value * count for value, count in known) / total
    return values
