# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""How requests arrive, as a part of what is measured."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from model_analyzer.domain.arrivals import arrivals_of, traffic_of, waits_in_client
from model_analyzer.domain.differences import client_differences
from model_analyzer.domain.profiles import TrialRecord
from model_analyzer.domain.traffic import Arrivals, Stage, Traffic
from model_analyzer.domain.trials import Load, LoadKind, Trial, Workload
from model_analyzer.state.format.codec import DEFINITIONS, Encoder
from model_analyzer.state.format.decoder import Decoder
from tests.unit.builders import measurement, trial, variant

EACH = [
    Traffic(arrivals=Arrivals.CONSTANT),
    Traffic(arrivals=Arrivals.POISSON, seed=4),
    Traffic(arrivals=Arrivals.GAMMA, cv=2.5),
    Traffic(arrivals=Arrivals.STAGES, stages=(Stage(5.0, 2.0), Stage(50.0, 0.5))),
    Traffic(arrivals=Arrivals.REPLAY, speed=0.5, column="when", unit="ms", log="log.csv"),
    Traffic(arrivals=Arrivals.REPLAY, input="prompt", log="log.csv"),
]


def workload(traffic: Traffic | None, **more: object) -> Workload:
    (work,) = trial(kind=LoadKind.REQUEST_RATE, concurrency=50).workloads
    return replace(work, traffic=traffic, **more)  # type: ignore[arg-type]


def trial_of(traffic: Traffic | None) -> Trial:
    return replace(trial(), workloads=(workload(traffic),))


def test_other_arrivals_are_another_trial_under_other_conditions() -> None:
    works = [workload(traffic) for traffic in (None, *EACH)]
    assert len({work.client_setup for work in works}) == len(works)
    assert len({trial_of(traffic).key for traffic in (None, *EACH)}) == len(works)


def test_without_traffic_identities_are_those_of_earlier_versions() -> None:
    plain = trial(kind=LoadKind.REQUEST_RATE, concurrency=50)
    assert plain.key == trial_of(None).key


def test_the_difference_is_named() -> None:
    then, now = workload(EACH[1]), workload(EACH[2])
    texts = [(each.subject, each.then, each.now) for each in client_differences(then, now)]
    assert texts == [
        ("load of m: arrivals", "poisson", "gamma"),
        ("load of m: cv", "", "2.5"),
        ("load of m: seed", "4", "0"),
    ]


def test_a_changed_log_is_no_changed_input_data() -> None:
    (of_log,) = client_differences(
        workload(EACH[-1], inputs="data,log"), workload(EACH[-1], inputs="data,other")
    )
    (of_data,) = client_differences(
        workload(EACH[-1], inputs="data,log"), workload(EACH[-1], inputs="new,log")
    )
    (of_flag,) = client_differences(workload(None, inputs="data"), workload(None, inputs="new"))
    assert str(of_log) == "replayed log of m: was log, now other"
    assert str(of_data) == str(of_flag) == "input data of m: was data, now new"


def test_flags_of_perf_analyzer_say_how_requests_arrive_if_nothing_else_does() -> None:
    assert arrivals_of(workload(None)) is Arrivals.CONSTANT
    poisson = workload(None, flags={"request-distribution": "poisson"})
    assert traffic_of(poisson) == Traffic(arrivals=Arrivals.POISSON)
    given = workload(EACH[2])
    assert arrivals_of(given) is Arrivals.GAMMA
    (closed,) = trial().workloads
    assert arrivals_of(closed) is Arrivals.CLOSED


def test_requests_wait_in_the_client_only_if_perf_analyzer_waits_for_answers() -> None:
    at_a_rate, sent_async = workload(None), workload(None, flags={"async": "true"})
    assert waits_in_client(at_a_rate, in_rounds=False)
    assert not waits_in_client(at_a_rate, in_rounds=True)
    assert not waits_in_client(sent_async, in_rounds=False)
    assert not waits_in_client(workload(EACH[1]), in_rounds=False)
    (closed,) = trial().workloads
    assert not waits_in_client(closed, in_rounds=False)
    intervals = replace(at_a_rate, load=Load(kind=LoadKind.REQUEST_INTERVALS, value=0))
    assert waits_in_client(intervals, in_rounds=False)
    streams = variant(model_transaction_policy={"decoupled": True})
    assert not waits_in_client(workload(None, variant=streams), in_rounds=False)


@pytest.mark.parametrize("traffic", EACH, ids=str)
def test_a_checkpoint_keeps_it(traffic: Traffic) -> None:
    written = TrialRecord(trial=trial_of(traffic), outcome=measurement(50, 10))
    decoder, read = Decoder(), None
    for entry in Encoder().record(written.trial.key, written):
        plain = json.loads(json.dumps(entry, default=dict))
        if plain["entry"] in DEFINITIONS:
            decoder.define(plain)
        else:
            read = decoder.record(plain)
    assert read is not None
    (work,) = read.trial.workloads
    assert work.traffic == traffic
    assert work.traffic is not None
    assert work.traffic.log == traffic.log
    assert read.trial.key == written.trial.key
