# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Trials: what can be measured at all, and which two are the same measurement."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from model_analyzer.domain.models import ModelVariant
from model_analyzer.domain.trials import Load, LoadKind, ServerSetup, Trial
from tests.unit.builders import trial, variant

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
