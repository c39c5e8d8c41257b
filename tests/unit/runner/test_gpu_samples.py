# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""From samples of GPUs, and from a server's metrics, to values."""

from __future__ import annotations

import pytest

from model_analyzer.domain.hardware import Device
from model_analyzer.runner.monitors.gpu import over_time, unknown_metrics
from model_analyzer.runner.monitors.triton_metrics import parse_gpu_metrics

TEXT = """# HELP nv_gpu_utilization GPU utilization rate [0.0 - 1.0)
# TYPE nv_gpu_utilization gauge
nv_gpu_utilization{gpu_uuid="GPU-a"} 0.25
nv_gpu_utilization{gpu_uuid="GPU-b"} 1
# TYPE nv_gpu_memory_total_bytes gauge
nv_gpu_memory_total_bytes{gpu_uuid="GPU-a"} 16000000000.000000
nv_gpu_memory_total_bytes{gpu_uuid="GPU-b"} 8000000000.000000
# TYPE nv_gpu_memory_used_bytes gauge
nv_gpu_memory_used_bytes{gpu_uuid="GPU-a"} 1500000000.000000
nv_gpu_memory_used_bytes{gpu_uuid="GPU-b"} 500000.000000
# TYPE nv_gpu_power_usage gauge
nv_gpu_power_usage{gpu_uuid="GPU-a"} 50.5
# TYPE nv_inference_count counter
nv_inference_count{model="m",version="1"} 12
# TYPE nv_cpu_utilization gauge
nv_cpu_utilization 0.5
"""


def test_memory_counts_at_its_peak_and_free_memory_at_its_tightest() -> None:
    samples = [
        {"a": {"gpu_used_memory": used, "gpu_free_memory": 10 - used}} for used in (1.0, 4.0, 2.0)
    ]
    assert over_time(samples) == {"a": {"gpu_used_memory": 4.0, "gpu_free_memory": 6.0}}


def test_means_leave_out_the_moment_before_the_load() -> None:
    samples = [
        {"a": {"gpu_utilization": used, "gpu_power_usage": 10 * used}} for used in (0.0, 80.0, 90.0)
    ]
    assert over_time(samples) == {"a": {"gpu_utilization": 85.0, "gpu_power_usage": 850.0}}


def test_a_single_sample_counts() -> None:
    assert over_time([{"a": {"gpu_utilization": 7.25}}]) == {"a": {"gpu_utilization": 7.2}}


def test_each_gpu_has_values_of_its_own_and_gaps_do_not_matter() -> None:
    samples = [
        {"a": {"gpu_used_memory": 1.0}, "b": {}},
        {},
        {"b": {"gpu_used_memory": 5.0}},
    ]
    assert over_time(samples) == {"a": {"gpu_used_memory": 1.0}, "b": {"gpu_used_memory": 5.0}}
    assert over_time([]) == {}


def test_what_a_gpu_does_not_tell_is_named_in_one_line() -> None:
    memory = {"gpu_used_memory": 1.0, "gpu_free_memory": 1.0, "gpu_total_memory": 2.0}
    devices = [Device(uuid=uuid, name="x", memory=2.0) for uuid in ("MIG-1", "MIG-2", "GPU-3")]
    complete = {
        **memory, "gpu_utilization": 1.0, "gpu_power_usage": 1.0, "gpu_metered_power": 1.0
    }  # fmt: skip
    sample = {"MIG-1": memory, "MIG-2": memory, "GPU-3": complete}
    assert unknown_metrics(devices[:2], sample) == (
        "gpu_utilization, gpu_power_usage, gpu_metered_power of MIG-1, MIG-2"
    )
    assert unknown_metrics(devices[2:], sample) == ""
    sample["GPU-3"] = {"gpu_power_usage": 1.0, "gpu_metered_power": 1.0, **memory}
    assert unknown_metrics(devices[1:], sample) == (
        "gpu_utilization, gpu_power_usage, gpu_metered_power of MIG-2; gpu_utilization of GPU-3"
    )


def test_metrics_of_a_server_are_converted_and_free_memory_is_that_of_the_same_gpu() -> None:
    assert parse_gpu_metrics(TEXT) == {
        "GPU-a": {
            "gpu_utilization": 25.0,
            "gpu_total_memory": 16000.0,
            "gpu_used_memory": 1500.0,
            "gpu_free_memory": 14500.0,
            "gpu_power_usage": 50.5,
        },
        "GPU-b": {
            "gpu_utilization": 100.0,
            "gpu_total_memory": 8000.0,
            "gpu_used_memory": 0.5,
            "gpu_free_memory": 7999.5,
        },
    }


def test_a_server_that_has_not_looked_yet_tells_no_memory() -> None:
    text = TEXT.replace("16000000000.000000", "0").replace("1500000000.000000", "0")
    assert parse_gpu_metrics(text)["GPU-a"] == {"gpu_utilization": 25.0, "gpu_power_usage": 50.5}


@pytest.mark.parametrize("value", ["NaN", "+Inf"])
def test_a_value_that_is_not_a_number_is_left_out(value: str) -> None:
    text = f'nv_gpu_power_usage{{gpu_uuid="GPU-a"}} {value}\n'
    assert parse_gpu_metrics(text) == {}


def test_a_server_without_gpus_has_none() -> None:
    assert parse_gpu_metrics("# TYPE nv_cpu_utilization gauge\nnv_cpu_utilization 0.5\n") == {}


def test_what_is_not_metrics_is_refused() -> None:
    assert parse_gpu_metrics("<html>404</html>") == {}
    with pytest.raises(ValueError, match=r"\w"):
        parse_gpu_metrics('nv_gpu_power_usage{gpu_uuid="GPU-a"} many')


def test_a_page_with_very_many_gpus_is_cut() -> None:
    lines = (
        f'{metric}{{gpu_uuid="GPU-{number}"}} {number + 1}e9\n'
        for metric in ("nv_gpu_memory_used_bytes", "nv_gpu_memory_total_bytes")
        for number in range(100_000)
    )
    served = parse_gpu_metrics("".join(lines))
    assert [*served] == [f"GPU-{number}" for number in range(257)]
    assert all(values["gpu_free_memory"] == 0 for values in served.values())
