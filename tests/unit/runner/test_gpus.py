# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Which GPUs a run uses; from samples of GPUs, and from a server's metrics, to values."""

from __future__ import annotations

import logging

import pytest

from model_analyzer.domain.hardware import Device
from model_analyzer.errors import ConfigError
from model_analyzer.runner.gpus import (
    Gpu,
    choose_gpus,
    cuda_environment,
    over_time,
    parse_gpu_metrics,
    select,
    unknown_metrics,
    visible,
)


def device(uuid: str, name: str = "H200") -> Device:
    return Device(uuid=uuid, name=name, memory=1000.0)


A, B, C = device("GPU-aaaa-1"), device("GPU-aabb-2"), device("GPU-cccc-3", "A100")
M, N = device("MIG-mmmm-1", "H200 MIG 1g.18gb"), device("MIG-nnnn-2", "H200 MIG 2g.35gb")
THREE = (Gpu(A), Gpu(B), Gpu(C))
CUT = Gpu(device("GPU-dddd-4"), slices=(M, N))


@pytest.mark.parametrize(
    ("variable", "seen"),
    [
        (None, (A, B, C)),
        ("", ()),
        ("2", (C,)),
        ("2,0", (C, A)),
        (" 1 , 2 ", (B, C)),
        ("GPU-cccc-3,1", (C, B)),
        ("GPU-cc", (C,)),
        ("1,1", (B,)),
        ("0,7,1", (A,)),  # CUDA reads up to the first word that it does not know
        ("-1", ()),
        ("NoDevFiles", ()),
        ("GPU-aa,2", ()),  # the beginning of two
    ],
)
def test_what_cuda_programs_see(variable: str | None, seen: tuple[Device, ...]) -> None:
    assert visible(THREE, variable) == seen


@pytest.mark.parametrize(
    ("variable", "seen"),
    [
        (None, (A, M, N)),
        ("1", (M, N)),
        ("GPU-dddd-4", (M, N)),
        ("MIG-nnnn-2", (N,)),
        ("MIG-nn,0", (N, A)),
    ],
)
def test_a_gpu_in_mig_mode_is_seen_as_its_slices(
    variable: str | None, seen: tuple[Device, ...]
) -> None:
    assert visible((Gpu(A), CUT), variable) == seen


def test_a_gpu_in_mig_mode_without_slices_is_of_no_use() -> None:
    assert visible((Gpu(A, slices=()), Gpu(B)), None) == (B,)


@pytest.mark.parametrize(
    ("requested", "chosen"),
    [
        (("all",), {0: A, 1: B, 2: C}),
        ((), {}),
        (("0",), {0: A}),
        (("2", "1"), {2: C, 1: B}),
        (("GPU-cccc-3",), {2: C}),
        (("GPU-cccc-3", "0"), {2: C, 0: A}),
        (("1", "GPU-aabb-2", "1"), {1: B}),
    ],
)
def test_all_or_some_are_chosen(requested: tuple[str, ...], chosen: dict[int, Device]) -> None:
    assert select((A, B, C), requested) == chosen


def test_indices_count_what_cuda_programs_see() -> None:
    assert select(visible(THREE, "2,1"), ["0"]) == {0: C}


def test_whole_gpus_go_before_mig_devices() -> None:
    assert select((A, M, N, B), ["all"]) == {0: A, 3: B}


def test_cuda_programs_use_the_first_of_several_mig_devices() -> None:
    assert select((M, N), ["all"]) == {0: M}
    assert select((M, N), ["1"]) == {1: N}


@pytest.mark.parametrize("requested", [("0", "1"), ("MIG-mmmm-1", "GPU-aaaa-1")])
def test_mig_devices_cannot_be_used_together(requested: tuple[str, ...]) -> None:
    with pytest.raises(ConfigError, match="one MIG device.*name only one of MIG-mmmm-1"):
        select((M, N, A), requested)


def test_unknown_gpus_are_all_named_with_those_that_are_there() -> None:
    with pytest.raises(ConfigError) as raised:
        select((A, C), ["GPU-zz", "1", "2"])
    there = "(available: 0: H200 GPU-aaaa-1, 1: A100 GPU-cccc-3)"
    assert str(raised.value).splitlines() == [
        f"gpus: there is no GPU GPU-zz here {there}",
        f"gpus: there is no GPU 2 here {there}",
    ]


def test_a_gpu_asked_of_a_machine_without_any() -> None:
    with pytest.raises(ConfigError, match="no GPU 0 here .*remove the option"):
        select((), ["0"])
    assert select((), ["all"]) == {}


@pytest.mark.parametrize(
    ("chosen", "requested", "variables"),
    [
        ((C, A), ("all",), {"CUDA_VISIBLE_DEVICES": "GPU-cccc-3,GPU-aaaa-1"}),
        ((M,), ("MIG-mmmm-1",), {"CUDA_VISIBLE_DEVICES": "MIG-mmmm-1"}),
        ((), (), {"CUDA_VISIBLE_DEVICES": ""}),
        ((), ("all",), {}),
    ],
)
def test_cuda_programs_get_just_the_chosen(
    chosen: tuple[Device, ...], requested: tuple[str, ...], variables: dict[str, str]
) -> None:
    assert cuda_environment(chosen, requested) == variables


def test_scripts_find_the_gpus_in_the_log(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO):
        assert choose_gpus(THREE, ["all"], "2,0") == (C, A)
        assert choose_gpus(THREE, [], None) == ()
    assert caplog.messages == [
        "Using GPU 0 A100 with UUID GPU-cccc-3",
        "Using GPU 1 H200 with UUID GPU-aaaa-1",
        "No GPUs requested",
    ]


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
    samples = [{"a": {"gpu_used_memory": 1.0}, "b": {}}, {}, {"b": {"gpu_used_memory": 5.0}}]
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
