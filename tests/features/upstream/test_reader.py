# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Checkpoints of upstream are read without loss, and what is none is refused in one line."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from model_analyzer.domain.hardware import Device
from model_analyzer.domain.measurements import Measurement
from model_analyzer.domain.trials import Load, LoadKind
from model_analyzer.errors import CheckpointError
from model_analyzer.features.upstream.reader import UpstreamCheckpoint, read_upstream
from model_analyzer.features.upstream.writer import write_upstream
from model_analyzer.state.contents import is_upstream
from model_analyzer.state.records import unverified_key
from tests.features.upstream.samples import (
    ALL,
    GPU,
    content,
    first_measurement,
    first_model,
    first_pair,
    raw,
    read,
    read_changed,
    record_at,
    results,
    with_gpus,
)
from tests.sizes import small_and_full


def trials(checkpoint: UpstreamCheckpoint) -> list[str]:
    """Every trial in words, with all that its variants call."""
    return [
        "; ".join(f"{work.variant.full_name} {work.load}" for work in record.trial.workloads)
        for record in checkpoint.profile.records
    ]


def first_outcome(checkpoint: UpstreamCheckpoint) -> Measurement:
    return checkpoint.profile.measured[0].measurement


def records(document: dict[str, Any]) -> list[Any]:
    """The records of the first model of the first measurement."""
    entry: list[Any] = first_measurement(document)["_model_config_measurements"][0]["_non_gpu_data"]
    return entry


def arguments(document: dict[str, Any]) -> dict[str, Any]:
    entry: dict[str, Any] = first_model(document)["_perf_config"]["_args"]
    return entry


# -- telling the format ----------------------------------------------------------------------------


@pytest.mark.parametrize("name", ALL)
def test_the_first_bytes_identify_a_checkpoint_of_upstream(name: str) -> None:
    assert is_upstream(raw(name)[:100])


@pytest.mark.parametrize(
    "other", [b"", b"{}", b'{"entry":"header"', b'["ResultManager.results"]', b"\x00\xff" * 50]
)
def test_others_are_distinguished_from_it(other: bytes) -> None:
    assert not is_upstream(other)


# -- the shapes ------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ALL)
def test_every_measurement_is_read(name: str) -> None:
    keys = [
        key
        for document in results(content(name)).values()
        for pair in document.values()
        for key in pair[1]
    ]

    checkpoint = read(name)

    assert len(checkpoint.profile.measured) == len(keys)
    assert all(record.trial.is_unverified for record in checkpoint.profile.records)
    assert len({record.trial.key for record in checkpoint.profile.records}) == len(keys)


def test_a_plain_model() -> None:
    checkpoint = read("plain")

    assert trials(checkpoint) == [
        f"add_sub_config_{name} concurrency={concurrency}"
        for name in ("default", 0, 1, 2, 3)
        for concurrency in (1, 2)
    ]
    first = checkpoint.profile.measured[0]
    (work,) = first.trial.workloads
    assert work.variant.config["dynamic_batching"] == {}
    assert work.variant.config["input"][0]["dims"] == (16,)
    assert work.variant.instances(gpus=0) == ((1, "CPU"),)
    assert work.flags == {"measurement-interval": "1000", "stability-percentage": "999"}
    assert first.trial.setup.protocol == "grpc"
    assert first.measurement.value("perf_throughput") == 2473.33
    assert first.measurement.value("perf_latency_p99") == 0.947
    assert first.measurement.host == {"cpu_used_ram": 6.0, "cpu_available_ram": 24534.0}
    assert "cpu_used_ram" not in first.measurement.models[0].values
    assert (checkpoint.seed, checkpoint.remarks, checkpoint.others) == (None, (), {})


def test_listed_parameters_and_client_batches() -> None:
    checkpoint = read("manual")

    assert trials(checkpoint)[-2:] == [
        f"add_sub_config_0 client batch size=2, concurrency={concurrency}" for concurrency in (1, 4)
    ]
    batching = record_at(checkpoint, -1).trial.workloads[0].variant.config["dynamic_batching"]
    assert batching == {"preferred_batch_size": (2, 4), "max_queue_delay_microseconds": 100}


def test_several_models_at_once() -> None:
    checkpoint = read("several_models")

    assert trials(checkpoint)[-1] == (
        "add_sub_config_0 concurrency=2; scale_config_0 concurrency=2"
    )
    measured = checkpoint.profile.measured[-1]
    assert measured.trial.models == "add_sub,scale"
    throughputs = [model.values["perf_throughput"] for model in measured.measurement.models]
    assert measured.measurement.value("perf_throughput") == sum(throughputs)


def test_an_ensemble_with_its_composing_models() -> None:
    checkpoint = read("ensemble")

    assert trials(checkpoint)[-1] == (
        "ensemble_chain_config_1: scale_config_0, add_sub_config_1 concurrency=2"
    )
    variant = record_at(checkpoint, -1).trial.workloads[0].variant
    assert variant.is_ensemble
    assert variant.composing[1].instances(gpus=0) == ((2, "CPU"),)


def test_composing_models_of_a_bls_model_may_be_only_in_the_key() -> None:
    checkpoint = read("bls")

    assert trials(checkpoint)[3:6] == [
        f"bls_chain_config_0: scale_config_0, add_sub_config_{number} concurrency=2"
        for number in (0, 1, 3)
    ]
    parts = [record.trial.workloads[0].variant.composing for record in checkpoint.profile.records]
    assert [part[1].config["max_batch_size"] for part in parts[3:6]] == [1, 1, 2]
    assert "bls-composing-models" not in record_at(checkpoint, 0).trial.workloads[0].flags
    assert any("bls_chain_config_0 has several variants" in remark for remark in checkpoint.remarks)


def test_the_run_configuration_may_lack_the_composing_models() -> None:
    def forget(document: dict[str, Any]) -> None:
        for run, _ in results(document)["bls_chain"].values():
            run["_model_run_configs"][0]["_composing_config_variants"] = []

    assert trials(read_changed("bls", forget)) == trials(read("bls"))


def test_a_variant_without_a_configuration_keeps_its_name() -> None:
    def forget(document: dict[str, Any]) -> None:
        del document["ModelManager.model_variant_name_manager"]["_model_config_dicts"][
            "add_sub_config_3"
        ]

    checkpoint = read_changed("bls", forget)

    assert trials(checkpoint)[5].startswith("bls_chain_config_0: scale_config_0, add_sub_config_3")
    assert "the configuration of add_sub_config_3 is missing" in checkpoint.remarks


def test_every_combination_of_composing_models_is_read() -> None:
    checkpoint = read("bls_combinations")

    variants = [record.trial.workloads[0].variant for record in checkpoint.profile.records]
    assert len(variants) == 19
    assert len({variant.name for variant in variants}) == 4
    assert len({variant.telling_name for variant in variants}) == 8
    assert list(dict.fromkeys(variant.telling_name for variant in variants))[:2] == [
        "bls_chain_config_default",
        "bls_chain_config_0: scale_config_0, add_sub_config_0",
    ]


def test_the_same_with_two_addresses_of_the_metrics_was_measured_twice() -> None:
    records = read("two_addresses").profile.records
    assert [record.trial.repetition for record in records] == [0, 0, 1, 1] * 2
    assert len({record.trial.key for record in records}) == 8
    assert len({record.trial.first.key for record in records}) == 4
    assert len({unverified_key(record.trial) for record in records}) == 8


def test_input_files_count_by_their_names() -> None:
    def feed(document: dict[str, Any]) -> None:
        (pair,) = [pair for variants in results(document).values() for pair in variants.values()][
            :1
        ]
        key, measurement = next(iter(pair[1].items()))
        for name in ("a.json", "b.json", "zero"):
            pair[1][
                key.replace(" --measurement-mode", f" --input-data={name} --measurement-mode")
            ] = measurement

    records = read_changed("plain", feed).profile.records

    fed = [record.trial for record in records if "input-data" in record.trial.workloads[0].flags]
    assert [trial.repetition for trial in fed] == [0, 0, 0]
    assert len({trial.workloads[0].client_setup for trial in fed}) == 3
    assert [bool(trial.workloads[0].inputs) for trial in fed] == [True, True, False]


def test_request_rates_with_repeated_flags() -> None:
    checkpoint = read("request_rate")

    loads = [record.trial.workloads[0].load for record in checkpoint.profile.records]
    assert loads == [Load(kind=LoadKind.REQUEST_RATE, value=value) for value in (20, 40)]
    flags = record_at(checkpoint, 0).trial.workloads[0].flags
    assert flags["shape"] == ("INPUT0:16", "INPUT1:16")
    assert flags["input-data"] == "zero"
    assert flags["measurement-mode"] == "time_windows"


def test_request_intervals() -> None:
    (record,) = read("request_intervals").profile.records

    (work,) = record.trial.workloads
    assert work.load == Load(kind=LoadKind.REQUEST_INTERVALS, value=0)
    assert work.flags["request-intervals"] == "intervals.txt"


def test_the_seed_of_optuna() -> None:
    assert read("optuna").seed == content("optuna")["OptunaRunConfigGenerator.seed"]


def test_older_files_lack_some_parts() -> None:
    def make_older(document: dict[str, Any]) -> None:
        for variants in results(document).values():
            for run, measurements in variants.values():
                del run["_genai_perf_config"]
                for measurement in measurements.values():
                    del measurement["_model_config_measurements"][0]["_model_specific_pa_params"][
                        "request-intervals"
                    ]

    assert read_changed("plain", make_older) == read("plain")


# -- GPUs, metrics ---------------------------------------------------------------------------------


def test_gpus_come_with_their_memory_and_values() -> None:
    profile = read_changed("plain", with_gpus).profile

    assert profile.devices == (
        Device(uuid="GPU-b", name="big", memory=2000.0),
        Device(uuid=GPU, name="small", memory=1000.5),
    )
    assert profile.server_only == {GPU: {"gpu_used_memory": 3.5}}
    measured = profile.measured[0]
    assert measured.trial.setup.devices == ("big", "small")
    assert measured.measurement.gpus[GPU] == {"gpu_used_memory": 100.5, "gpu_utilization": 50.0}
    assert measured.measurement.value("gpu_used_memory") == 300.5


def test_an_unknown_metric_is_kept() -> None:
    def add(document: dict[str, Any]) -> None:
        records(document).append(["perf_magic", {"_value": 7, "_timestamp": 0}])

    checkpoint = read_changed("plain", add)

    assert first_outcome(checkpoint).models[0].values["perf_magic"] == 7
    assert any("perf_magic" in remark for remark in checkpoint.remarks)


def test_upstream_stores_times_of_tokens_in_microseconds() -> None:
    def speak(document: dict[str, Any]) -> None:
        records(document).append(["time_to_first_token_avg", {"_value": 12345.6, "_timestamp": 0}])
        records(document).append(["output_token_throughput", {"_value": 250.5, "_timestamp": 0}])
        first_pair(document)[0]["_genai_perf_config"]["_args"]["tokenizer"] = "small"

    checkpoint = read_changed("plain", speak)

    assert first_outcome(checkpoint).value("time_to_first_token_avg") == 12.3456
    assert first_outcome(checkpoint).value("output_token_throughput") == 250.5
    first, second = (record.trial.workloads[0] for record in tuple(checkpoint.profile.records)[:2])
    assert (first.times_tokens, first.genai_perf) == (True, {"tokenizer": "small"})
    assert (second.times_tokens, second.genai_perf) == (False, {})


# -- flags, variables ------------------------------------------------------------------------------


def test_a_later_run_with_other_flags_is_reported_by_its_key() -> None:
    def run_again(document: dict[str, Any]) -> None:
        measurements = first_pair(document)[1]
        key, measurement = next(iter(measurements.items()))
        other = key.replace("--verbose-csv", "--verbose-csv --async")
        other = other.replace(
            " --measurement-mode=count_windows",
            " --percentile=95 --shape=A:1 --shape=B:2 --measurement-mode=time_windows",
        )
        measurements[other] = measurement

    checkpoint = read_changed("plain", run_again)

    work = record_at(checkpoint, 2).trial.workloads[0]
    assert work.variant.name == "add_sub_config_default"
    assert work.flags == {
        "measurement-interval": "1000",
        "stability-percentage": "999",
        "percentile": "95",
        "shape": ("A:1", "B:2"),
        "async": "True",
        "measurement-mode": "time_windows",
    }
    assert checkpoint.remarks == ()


def test_each_of_several_models_finds_its_flags_in_the_key() -> None:
    def run_again(document: dict[str, Any]) -> None:
        measurements = first_pair(document)[1]
        key, measurement = next(iter(measurements.items()))
        first, second = key.split("scale_config_default")
        second = second.replace("interval=500", "interval=700")
        measurements[f"{first}scale_config_default{second}"] = measurement

    record = record_at(read_changed("several_models", run_again), 2)

    intervals = [work.flags["measurement-interval"] for work in record.trial.workloads]
    assert intervals == ["500", "500"]
    assert isinstance(record.outcome, Measurement)
    raised = [model.raised for model in record.outcome.models]
    assert raised == [{}, {"measurement-interval": "700"}]


def test_an_unclear_key_gives_a_remark() -> None:
    def rename(document: dict[str, Any]) -> None:
        measurements = first_pair(document)[1]
        measurements["some other key"] = measurements.pop(next(iter(measurements)))

    checkpoint = read_changed("plain", rename)

    assert len(checkpoint.profile.records) == 10
    assert any("are unclear" in remark for remark in checkpoint.remarks)


def test_addresses_and_variables_of_the_user_are_kept() -> None:
    def move(document: dict[str, Any]) -> None:
        for variants in results(document).values():
            for run, measurements in variants.values():
                run["_triton_env"] = {"LD_PRELOAD": "/lib/ops.so"}
                config = run["_model_run_configs"][0]["_perf_config"]
                config["_options"] |= {"-u": "server:9001", "-H": "X-Who: me"}
                config["_args"]["streaming"] = "False"
                for key in list(measurements):
                    new = key.replace(" --verbose", " -H X-Who: me --verbose")
                    measurements[new] = measurements.pop(key)

    checkpoint = read_changed("plain", move)

    trial = record_at(checkpoint, 0).trial
    assert trial.setup.environment == {"LD_PRELOAD": "/lib/ops.so"}
    assert trial.workloads[0].flags["url"] == "server:9001"
    assert trial.workloads[0].flags["http-header"] == "X-Who: me"
    assert "streaming" not in trial.workloads[0].flags
    assert checkpoint.remarks == ()


def test_in_launch_mode_c_api_models_have_the_names_of_variants() -> None:
    name = "add_sub_config_default"

    def embed(document: dict[str, Any]) -> None:
        (_, measurements), entry = first_pair(document), first_model(document)
        entry["_model_config_variant"]["model_config"]["name"] = name
        flags = entry["_perf_config"]
        flags["_options"] |= {"-m": name, "-u": None, "-i": None, "-f": f"{name}-results.csv"}
        flags["_args"] |= {
            "service-kind": "triton_c_api", "triton-server-directory": "/opt/tritonserver",
            "model-repository": "/out", "collect-metrics": None, "metrics-url": None,
            "metrics-interval": None,
        }  # fmt: skip
        for key in list(measurements):
            load = 1 if "range=1" in key else 2
            new = (
                f"{name} -m {name} -b 1 -f {name}-results.csv --verbose-csv"
                " --service-kind=triton_c_api --measurement-interval=1000"
                f" --concurrency-range={load} --stability-percentage=999"
                " --measurement-mode=count_windows --triton-server-directory=/opt/tritonserver"
                " --model-repository=/out"
            )
            measurements[new] = measurements.pop(key)

    checkpoint = read_changed("plain", embed)

    trial = record_at(checkpoint, 0).trial
    assert trial.setup.launch == "c_api"
    assert trial.workloads[0].variant.config["name"] == "add_sub"
    assert set(trial.workloads[0].flags) == {
        "measurement-interval", "stability-percentage", "triton-server-directory",
        "model-repository",
    }  # fmt: skip
    assert checkpoint.remarks == ()


def test_unknown_parts_are_kept() -> None:
    checkpoint = read_changed("plain", lambda document: document.update({"New.part": {"a": [1]}}))

    assert checkpoint.others == {"New.part": {"a": (1,)}}
    assert any("New.part" in remark for remark in checkpoint.remarks)


# -- what is none ----------------------------------------------------------------------------------


def refused(data: bytes) -> str:
    with pytest.raises(CheckpointError) as caught:
        read_upstream(data, "checkpoints/3.ckpt")
    message = str(caught.value)
    assert message.startswith("checkpoints/3.ckpt: not a checkpoint of Triton Model Analyzer")
    assert "\n" not in message
    return message


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "Expecting value"),
        (b"\xff\xfe{}", "decode"),
        (b"{}", "it has no MetricsManager.gpus|it has no ResultManager.results"),
        (b"[]", "not a JSON object"),
        (b"7", "not a JSON object"),
        (b'{"a": 1, "b": 2, "a": 3}', "the key 'a' occurs twice"),
        (b'{"a": NaN}', "it has no ResultManager.results"),
        (b'{"a": ' * 100 + b"1" + b"}" * 100, "nested too deeply"),
        (b"[" * 200_000, "nested too deeply"),
        (b'{"a": ' + b"9" * 5000 + b"}", "it has no|digits"),
    ],
)
def test_other_files_are_refused(data: bytes, message: str) -> None:
    assert re.search(message, refused(data))


@pytest.mark.parametrize("key", ["ResultManager.results", "_results", "add_sub"])
def test_a_file_without_measurements_that_can_be_read_is_refused(key: str) -> None:
    changed = content("plain")
    whole = changed["ResultManager.results"]
    inside = {"ResultManager.results": changed, "_results": whole, "add_sub": whole["_results"]}
    inside[key][key] = 7

    assert key in refused(json.dumps(changed).encode())


def test_a_torn_file_is_refused_wherever_it_ends() -> None:
    data = raw("request_rate")

    for length in range(0, len(data) - 1, 97):
        refused(data[:length])


def value(document: dict[str, Any]) -> dict[str, Any]:
    entry: dict[str, Any] = records(document)[0][1]
    return entry


def parameters(document: dict[str, Any]) -> dict[str, Any]:
    entry: dict[str, Any] = first_measurement(document)["_model_config_measurements"][0]
    entry = entry["_model_specific_pa_params"]
    return entry


def configuration(document: dict[str, Any]) -> dict[str, Any]:
    entry: dict[str, Any] = first_model(document)["_model_config_variant"]["model_config"]
    return entry


GONE = object()
NO_NUMBER = "perf_latency_avg of add_sub_config_default concurrency=1 is not a number"
INVALID = "the configuration of add_sub_config_default is not a model configuration: .*nmae"


# what is spoilt, by how many measurements are lost, of two of the first of five variants
@pytest.mark.parametrize(
    ("inside", "key", "new", "message", "lost"),
    [
        (first_pair, 1, GONE, "not a pair of a run configuration and measurements", 2),
        (
            lambda all_: first_pair(all_)[0],
            "_model_run_configs",
            GONE,
            "has no _model_run_configs",
            2,
        ),
        (
            lambda all_: first_pair(all_)[0],
            "_triton_env",
            [1],
            "_triton_env of .* is not an object",
            2,
        ),
        (first_model, "_model_name", GONE, "has no _model_name", 2),
        (first_model, "_model_config_variant", GONE, "no _model_config_variant", 2),
        (first_model, "_perf_config", 5, "_perf_config of .* is not an object", 2),
        (
            lambda all_: first_model(all_)["_perf_config"],
            "_args",
            GONE,
            "_perf_config has no _args",
            2,
        ),
        (arguments, "shape", {"a": 1}, "shape of _args is not a text, a number or a list", 2),
        (configuration, "nmae", "m", INVALID, 2),
        (first_measurement, "_gpu_data", GONE, "has no _gpu_data", 1),
        (first_measurement, "_model_config_measurements", [], "has 0 models", 1),
        (parameters, "batch-size", GONE, "has no batch-size", 1),
        (parameters, "batch-size", "1", "batch-size .* is not an integer", 1),
        (parameters, "concurrency-range", True, "is not an integer", 1),
        (parameters, "concurrency-range", float("nan"), "is not an integer", 1),
        (records, 0, "perf_throughput", "has a record that is not a metric with a value", 0),
        (value, "_value", "fast", NO_NUMBER, 0),
        (value, "_value", None, NO_NUMBER, 0),
        (value, "_value", False, NO_NUMBER, 0),
        (value, "_value", float("nan"), NO_NUMBER, 0),
        (value, "_value", float("-inf"), NO_NUMBER, 0),
        (value, "_value", 10**400, "perf_latency_avg of .* is too large", 0),
        (lambda all_: all_["MetricsManager.gpus"], GPU, 1, f"{GPU} is not an object", 0),
        (lambda all_: all_["ResultManager.server_only_data"], GPU, 1, "server_only_data has", 0),
        (lambda all_: all_, "OptunaRunConfigGenerator.seed", 0.5, "is not an integer", 0),
        (lambda all_: all_, "MetricsManager.gpus", GONE, "it has no MetricsManager.gpus", 0),
        (lambda all_: all_, "ResultManager.server_only_data", [], "is not an object", 0),
        (
            lambda all_: all_["ModelManager.model_variant_name_manager"]["_model_config_dicts"],
            "add_sub_config_3",
            7,
            "add_sub_config_3 is not an object",
            0,
        ),
    ],
)
def test_a_bad_value_costs_as_little_as_possible(
    inside: Callable[[dict[str, Any]], Any], key: Any, new: Any, message: str, lost: int
) -> None:
    def spoil(document: dict[str, Any]) -> None:
        if new is GONE:
            del inside(document)[key]
        else:
            inside(document)[key] = new

    intact = trials(read("plain"))
    checkpoint = read_changed("plain", spoil)

    assert trials(checkpoint) == intact[lost:]
    ((what, reason),) = checkpoint.losses
    assert re.search(message, reason), reason
    assert "\n" not in what + reason
    if not lost:
        values = first_outcome(checkpoint).models[0].values
        assert ("perf_latency_avg" in values) == (inside not in (value, records))
        assert "perf_throughput" in values


def test_nothing_else_of_a_spoilt_measurement_is_lost_or_zero() -> None:
    checkpoint = read_changed(
        "plain", lambda document: value(document).update({"_value": float("nan")})
    )

    values = dict(first_outcome(checkpoint).models[0].values)
    assert values == {
        tag: number
        for tag, number in first_outcome(read("plain")).models[0].values.items()
        if tag != "perf_latency_avg"
    }


def places(value: Any, *path: Any) -> Iterator[tuple[Any, ...]]:
    """The path of every part of a JSON value."""
    yield path
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from places(inner, *path, key)
    if isinstance(value, list):
        for index, inner in enumerate(value):
            yield from places(inner, *path, index)


@pytest.mark.parametrize("junk", [None, True, 7, -0.5, "x", [], {}, [[]], {"x": 1}], ids=repr)
@small_and_full("step", 5, 1)
def test_any_value_of_a_part_is_read_or_refused(junk: Any, step: int) -> None:
    for path in [*places(content("request_intervals"))][::step]:
        changed: Any = {"": content("request_intervals")}
        inner = changed
        for key in ("", *path)[:-1]:
            inner = inner[key]
        inner[("", *path)[-1]] = junk
        try:
            checkpoint = read_upstream(json.dumps(changed[""]).encode(), "checkpoints/3.ckpt")
        except CheckpointError as error:
            assert "\n" not in str(error)  # noqa: PT017 - not all of them are refused
        else:
            write_upstream(checkpoint.profile, seed=checkpoint.seed)


def test_a_number_that_json_makes_infinite_is_no_value() -> None:
    data = raw("plain").replace(b'"_value": 2473.33', b'"_value": 1e999')

    checkpoint = read_upstream(data, "0.ckpt")

    assert "perf_throughput" not in first_outcome(checkpoint).models[0].values
    assert "perf_throughput of add_sub_config_default" in checkpoint.losses[0][1]
