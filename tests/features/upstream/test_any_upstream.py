# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Whatever upstream measured, every measurement of it is there, and can be told from the others."""

from __future__ import annotations

import json
from copy import deepcopy
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from model_analyzer.domain.profiles import Profile
from model_analyzer.features.upstream.perf_flags import key_text
from model_analyzer.features.upstream.reader import read_upstream
from model_analyzer.features.upstream.writer import write_upstream
from model_analyzer.state.checkpoint import Checkpoint
from model_analyzer.state.format.codec import Encoder, encode
from model_analyzer.state.format.header import Header
from model_analyzer.state.records import Records
from tests.features.upstream.samples import content, results

_ADDRESSES = st.sampled_from(["http://localhost:8002/metrics", "http://other:9002/metrics"])

# Of one measurement: variant, load, flags of the user or raised, what it calls. There are few of
# each, so that many measurements differ in little.
_MEASUREMENTS = st.lists(
    st.fixed_dictionaries(
        {
            "variant": st.sampled_from(["default", "0"]),
            "load": st.tuples(
                st.sampled_from(["concurrency-range", "request-rate-range"]), st.integers(1, 2)
            ),
            "flags": st.fixed_dictionaries(
                {"metrics-url": _ADDRESSES, "metrics-interval": st.sampled_from([500, 1000])},
                optional={
                    "measurement-interval": st.sampled_from(["5000", "6000", "8000"]),
                    "stability-percentage": st.sampled_from(["10", "50"]),
                    "input-data": st.sampled_from(["zero", "a.json", "b.json"]),
                    "latency-report-file": st.sampled_from(["a.csv", "b.csv"]),
                },
            ),
            "count": st.sampled_from([None, "50", 100, 150]),
            "calls": st.tuples(
                st.sampled_from(["default", "0"]), st.sampled_from(["default", "3"])
            ),
        }
    ),
    min_size=1,
    max_size=12,
)


def checkpoint_of(measurements: list[dict[str, Any]]) -> dict[str, Any]:
    """A checkpoint of upstream with these measurements, as far as their keys differ."""
    made = content("bls")
    ((model, variants),) = results(made).items()
    run, measured = variants["bls_chain_config_0"]
    template = next(iter(measured.values()))
    stored: dict[str, Any] = {}
    for sample in measurements:
        name = f"{model}_config_{sample['variant']}"
        flag, load = sample["load"]
        calls = f"scale_config_{sample['calls'][0]},add_sub_config_{sample['calls'][1]}"
        flags = {
            "model-name": model, "batch-size": 1, "protocol": "grpc",
            "latency-report-file": f"{model}-results.csv", "verbose-csv": "--verbose-csv",
            flag: load, "measurement-mode": "count_windows", **sample["flags"],
        }  # fmt: skip
        key = f"{name} {key_text(flags)} {calls}"
        measurement = deepcopy(template)
        measurement["_model_config_measurements"][0]["_model_specific_pa_params"] = {
            "batch-size": 1,
            "concurrency-range": load if flag == "concurrency-range" else None,
            "request-rate-range": load if flag == "request-rate-range" else None,
            "request-intervals": None,
        }
        if name not in stored:
            first = deepcopy(run)
            entry = first["_model_run_configs"][0]
            entry["_model_config_variant"]["variant_name"] = name
            entry["_perf_config"]["_args"]["measurement-request-count"] = sample["count"]
            stored[name] = [first, {}]
        stored[name][1].setdefault(key, measurement)
    made["ResultManager.results"]["_results"] = {model: stored}
    return made


def in_our_format(profile: Profile) -> Checkpoint:
    """The records as they are read again from a checkpoint of ours."""
    records, encoder = Records(), Encoder()
    for record in profile.records:
        for entry in encoder.record(record.trial.key, record):
            records.take(entry, encode(entry))
    return Checkpoint.from_bytes(Checkpoint(header=Header(), records=records).to_bytes())


@given(_MEASUREMENTS)
def test_no_measurement_is_lost(measurements: list[dict[str, Any]]) -> None:
    made = checkpoint_of(measurements)
    number = sum(len(pair[1]) for of in results(made).values() for pair in of.values())

    profile = read_upstream(json.dumps(made).encode(), "0.ckpt").profile

    assert len(profile.records) == number
    places = {(record.trial.key, record.trial.variants) for record in profile.records}
    assert len(places) == number
    assert list(in_our_format(profile).records) == list(profile.records)
    assert write_upstream(profile, seed=None).outdated == 0
