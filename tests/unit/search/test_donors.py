# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Donors: what models that were measured before say about one that was not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from math import log2

import numpy as np
import pytest

from model_analyzer.domain.measurements import Measurement
from model_analyzer.domain.profiles import TrialRecord
from model_analyzer.domain.settings import SearchMode
from model_analyzer.domain.trials import Failure, LoadKind, ServerSetup, Trial
from model_analyzer.search.adaptive.donors import donors_among, foretell, interval
from model_analyzer.search.plan import EarlierRuns
from tests.unit.search.surfaces import (
    Respond,
    batch_limit,
    failure,
    instances,
    latency_within,
    limits,
    load,
    measurement,
    model,
    search,
    sequence,
    subject,
)

SMALL = limits(mode=SearchMode.ADAPTIVE, concurrency=(1, 64), batch=(1, 64), instances=(1, 4))


def peak(trial: Trial) -> Measurement:
    """The best is 3 instances with batches of 8, under 16 requests or more."""
    distance = abs(log2(batch_limit(trial)) - 3) + 2 * abs(instances(trial) - 3)
    throughput = 1000.0 / (1 + distance) * min(load(trial) / 16, 1)
    return measurement(throughput, latency=1000 * load(trial) / throughput)


def faster(trial: Trial) -> Measurement:
    values = peak(trial).models[0].values
    return measurement(5 * values["perf_throughput"], latency=values["perf_latency_avg"] / 5)


def asked(
    respond: Respond, name: str = "m", known: Sequence[TrialRecord] = (), first: int = 8
) -> list[Trial]:
    target = replace(subject(model(name)), earlier=EarlierRuns(records=known))
    return sequence(search(target, SMALL), respond, first)


@cache
def records(respond: Respond, name: str = "old") -> list[TrialRecord]:
    return [TrialRecord(trial, respond(trial)) for trial in asked(respond, name, first=12)]


def first_good(trials: Sequence[Trial]) -> int:
    """The number of the first trial with nine tenths of the best throughput."""
    values = [peak(trial).models[0].values["perf_throughput"] for trial in trials]
    return next((number for number, value in enumerate(values, 1) if value >= 900), len(values))


def test_a_donor_on_faster_hardware_leads_to_the_best_at_once() -> None:
    known = records(faster)

    trials = asked(peak, known=known)

    assert first_good(trials) == 2 < first_good(asked(peak))
    assert trials == asked(peak, known=known)  # a resumed run asks the same


def test_a_donor_that_is_wrong_costs_two_trials_at_most() -> None:
    def opposite(trial: Trial) -> Measurement:
        return measurement(1e4 / peak(trial).models[0].values["perf_throughput"])

    assert first_good(asked(peak, known=records(opposite))) <= first_good(asked(peak)) + 2


def test_a_donor_that_expects_no_gain_does_not_end_the_search() -> None:
    limited = subject(model("m"), constraints=[latency_within(1e-3)])  # nothing meets it
    target = replace(limited, earlier=EarlierRuns(records=records(peak)))

    assert len(sequence(search(target, SMALL), peak, 4)) == 4


def test_what_a_donor_could_not_load_is_not_proposed() -> None:
    def small(trial: Trial) -> Measurement | Failure:
        return failure() if instances(trial) >= 3 else peak(trial)

    _, proposed, *_ = asked(small, known=records(small), first=3)

    assert instances(proposed) == 2


@pytest.mark.parametrize(
    ("kind", "stations", "count"),
    [(LoadKind.CONCURRENCY, 1, 1), (LoadKind.REQUEST_RATE, 1, 0), (LoadKind.CONCURRENCY, 2, 0)],
)
def test_a_donor_has_as_many_models_and_the_same_kind_of_load(
    kind: LoadKind, stations: int, count: int
) -> None:
    known = records(peak)

    assert len([*donors_among(known, stations, kind)]) == count
    assert not [*donors_among(known[:3], stations, kind)]


def test_the_own_runs_are_those_of_the_same_files_on_the_same_server() -> None:
    own, other = records(peak, "m"), records(peak, "old")
    bases = frozenset(subject(model("m")).bases)
    earlier = EarlierRuns(records=[*own, *other], bases=bases)

    assert [*earlier.beside(ServerSetup())] == other
    assert [*earlier.beside(ServerSetup(version="2.51.0"))] == [*own, *other]


def test_the_same_model_on_the_same_hardware_is_known_best() -> None:
    donors = [*donors_among(records(peak), 1, LoadKind.CONCURRENCY)]
    trials = asked(peak, "old", first=1)

    def width(name: str, hardware: str) -> float:
        low, _, high = interval(foretell(donors, name, hardware, trials)["perf_throughput"])
        assert low < peak(trials[0]).models[0].values["perf_throughput"] < high
        return float(np.log(high / low))

    assert width("old", "no GPU") < width("old", "A100") == width("new", "no GPU")
