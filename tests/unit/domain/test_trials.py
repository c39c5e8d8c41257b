# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Trials: what can be measured at all, how requests arrive, and which two are one measurement."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from model_analyzer.domain.arrivals import arrivals_of, traffic_of, waits_in_client
from model_analyzer.domain.models import ModelVariant
from model_analyzer.domain.profiles import TrialRecord, client_differences
from model_analyzer.domain.traffic import Arrivals, Stage, Traffic
from model_analyzer.domain.trials import Load, LoadKind, ServerSetup, Trial, Workload
from model_analyzer.state.format.codec import DEFINITIONS, Encoder
from model_analyzer.state.format.decoder import Decoder
from tests.unit.builders import measurement, trial, variant

# ----------------------------------------------------------------------------------- legal trials


@pytest.mark.parametrize(
    ("config", "batch_size", "legal"),
    [
        ({}, 1, True),
        ({}, 2, False),
        ({"max_batch_size": 0}, 1, True),
        ({"max_batch_size": 8}, 8, True),
        ({"max_batch_size": 8}, 9, False),
        ({"max_batch_size": 8, "dynamic_batching": {}}, 8, True),
        ({"max_batch_size": 8, "dynamic_batching": {"preferred_batch_size": [4, 8]}}, 1, True),
        ({"max_batch_size": 8, "dynamic_batching": {"preferred_batch_size": [4, 16]}}, 1, False),
        ({"dynamic_batching": {"preferred_batch_size": [2]}}, 1, False),
    ],
)
def test_no_batch_may_exceed_what_the_variant_takes(
    config: dict[str, Any], batch_size: int, legal: bool
) -> None:
    assert trial(variant(**config), batch_size=batch_size).is_legal is legal


@pytest.mark.parametrize(("preferred", "legal"), [([4], True), ([8], False)])
def test_preferred_batches_of_composing_models_count_too(preferred: list[int], legal: bool) -> None:
    part = variant(
        "p_config_default",
        model="p",
        max_batch_size=4,
        dynamic_batching={"preferred_batch_size": preferred},
    )
    fine = variant("q_config_default", model="q")
    ensemble = variant("e_config_default", model="e", max_batch_size=4, composing=[fine, part])
    assert trial(ensemble).is_legal is legal


def test_a_trial_is_legal_if_all_its_workloads_are() -> None:
    good, bad = trial(), trial(batch_size=2)
    both = Trial(workloads=(*good.workloads, *bad.workloads), setup=ServerSetup())
    assert (good.is_legal, bad.is_legal, both.is_legal) == (True, False, False)


# ------------------------------------------------------------------------------- the same trial

SETUP = ServerSetup(
    version="2.51.0",
    devices=("GPU-a",),
    flags={"rate-limit": "execution_count", "http-restricted-api": ("metadata:key=secret",)},
    environment={"OMP_NUM_THREADS": "4", "HF_TOKEN": "abc"},
)


def base(**changes: Any) -> Trial:
    """A trial with something in all its parts, and `changes` to what `trial` takes."""
    given: dict[str, Any] = {
        "of": variant(max_batch_size=8),
        "concurrency": 4,
        "flags": {"percentile": "95", "shape": ("A:1", "B:2")},
        "inputs": "content",
        "setup": SETUP,
    }
    return trial(**{**given, **changes})


def with_setup(**changes: Any) -> Trial:
    return base(setup=replace(SETUP, **changes))


def with_server_flags(**flags: Any) -> Trial:
    named = {name.replace("_", "-"): value for name, value in flags.items()}
    return with_setup(flags={**SETUP.flags, **named})


def with_workload(**changes: Any) -> Trial:
    (work,) = base().workloads
    return Trial(workloads=(replace(work, **changes),), setup=SETUP)


def with_flags(**flags: Any) -> Trial:
    named = {name.replace("_", "-"): value for name, value in flags.items()}
    return base(flags={"percentile": "95", "shape": ("A:1", "B:2"), **named})


@pytest.mark.parametrize(
    "same",
    [
        base(),
        base(of=variant("m_config_9", max_batch_size=8)),
        base(flags={"shape": ["A:1", "B:2"], "percentile": "95"}),
        with_flags(url="elsewhere:8001"),
        with_flags(metrics_url="http://elsewhere:8002/metrics"),
        with_flags(input_data="/another/path/to/the/same.json"),
        with_flags(latency_report_file="/tmp/latencies.csv"),
        with_flags(http_header="Authorization: Bearer abc"),
        with_flags(ssl_grpc_private_key_file="/keys/mine.pem"),
        with_flags(verbose="true"),
        with_server_flags(http_port="9000"),
        with_server_flags(log_verbose="1"),
        with_server_flags(log_file="/tmp/triton.log"),
        with_server_flags(backend_directory="/opt/elsewhere/backends"),
        with_server_flags(http_restricted_api=("metadata:key=another",)),
        with_setup(environment={"HF_TOKEN": "abc", "OMP_NUM_THREADS": "4"}),
        with_setup(environment={"OMP_NUM_THREADS": "4", "HF_TOKEN": "xyz"}),
        with_setup(container={"name": "n", "labels": ("a=b",), "volumes": ("/a:/b:ro",)}),
    ],
)
def test_addresses_paths_logs_secrets_and_order_do_not_change_the_key(same: Trial) -> None:
    assert same.key == base().key


DIFFERENT = [
    base(),
    base(of=variant(max_batch_size=4)),
    base(of=variant(max_batch_size=8, files="changed")),
    base(of=variant(max_batch_size=8, model="n")),
    base(of=variant(max_batch_size=8, composing=[variant("p_config_0", model="p")])),
    base(concurrency=8),
    base(batch_size=2),
    base(kind=LoadKind.REQUEST_RATE),
    base(inputs="other content"),
    with_workload(times_tokens=True),
    with_workload(times_tokens=True, genai_perf={"tokenizer": "small"}),
    base(flags={}),
    with_flags(percentile="99"),
    with_flags(shape=("B:2", "A:1")),
    with_flags(streaming="true"),
    with_flags(model_version="2"),
    with_server_flags(rate_limit="off"),
    with_server_flags(pinned_memory_pool_byte_size="0"),
    with_server_flags(backend_config=("python,shm-default-byte-size=1",)),
    with_setup(environment={"HF_TOKEN": "abc", "OMP_NUM_THREADS": "8"}),
    with_setup(environment={"OMP_NUM_THREADS": "4"}),
    with_setup(devices=()),
    with_setup(devices=("GPU-a", "GPU-b")),
    with_setup(protocol="http"),
    with_setup(version="2.52.0"),
    with_setup(launch="docker"),
    with_setup(container={"image": "triton:1"}),
    with_setup(container={"image": "triton:1", "mem_limit": "1g"}),
]


def test_everything_that_can_change_the_outcome_changes_the_key() -> None:
    keys = [each.key for each in DIFFERENT]
    assert [keys.index(key) for key in keys] == list(range(len(keys)))


def test_models_measured_together_are_another_trial_than_each_alone() -> None:
    first, second = base(), base(of=variant("n_config_0", model="n", max_batch_size=8))
    both = Trial(workloads=(*first.workloads, *second.workloads), setup=SETUP)
    swapped = Trial(workloads=(*second.workloads, *first.workloads), setup=SETUP)
    assert len({first.key, second.key, both.key, swapped.key}) == 4


def test_a_key_does_not_hold_a_secret() -> None:
    secret = with_setup(environment={"HF_TOKEN": "topsecret"})
    assert "topsecret" not in secret.key + secret.setup.identity


# ---------------------------------------------------------------------------------------- words


@pytest.mark.parametrize(
    ("load", "words"),
    [
        (Load(value=4), "concurrency=4"),
        (Load(value=4, batch_size=8), "client batch size=8, concurrency=4"),
        (Load(value=100, kind=LoadKind.REQUEST_RATE), "request-rate-range=100"),
        (Load(value=0, kind=LoadKind.REQUEST_INTERVALS), "client batch size=1"),
    ],
)
def test_a_load_in_words(load: Load, words: str) -> None:
    assert str(load) == words


def test_a_trial_names_its_models_and_variants() -> None:
    def named(model: str) -> ModelVariant:
        return variant(f"{model}_config_0", model=model)

    works = (*trial(named("a")).workloads, *trial(named("b"), concurrency=2).workloads)
    both = Trial(workloads=works, setup=ServerSetup())
    assert both.models == "a,b"
    assert both.variants == "a_config_0,b_config_0"
    assert str(both) == "a_config_0: concurrency=1; b_config_0: concurrency=2"


def test_a_repetition_is_another_trial() -> None:
    once = trial()
    again = replace(once, repetition=1)
    assert again.key != once.key
    assert replace(again, repetition=0).key == once.key


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
    assert arrivals_of(workload(EACH[2])) is Arrivals.GAMMA
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
