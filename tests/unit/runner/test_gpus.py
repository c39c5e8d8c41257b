# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Which GPUs a run uses."""

from __future__ import annotations

import logging

import pytest

from model_analyzer.domain.hardware import Device
from model_analyzer.errors import ConfigError
from model_analyzer.runner.gpus import (
    Gpu,
    choose_gpus,
    cuda_environment,
    select,
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
