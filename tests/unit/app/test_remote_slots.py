# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Which remote servers can be compared, and what is said about the others."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from model_analyzer.app.bench.remote_slots import ServerFacts, change, difference
from model_analyzer.domain.hardware import Device, Machine
from model_analyzer.domain.models import ModelFacts
from model_analyzer.runner.monitors.gpu import ObservedGpus


def server(
    version: str = "2.51.0", gpus: dict[str, float] | None = None, **fields: Any
) -> ServerFacts:
    devices = tuple(
        Device(uuid=uuid, name=f"GPU ({memory:.0f} MB)", memory=memory)
        for uuid, memory in (gpus or {}).items()
    )
    config = {"name": "m", "max_batch_size": 8, **fields}
    return ServerFacts(
        version=version,
        gpus=ObservedGpus(devices, lambda _: {}),
        machine=Machine(devices=devices),
        models={"m": ModelFacts(name="m", config=config, files="f")},
    )


def test_equal_servers_can_be_compared_whichever_gpus_they_have() -> None:
    one, other = server(gpus={"GPU-a": 16000.0}), server(gpus={"GPU-b": 16000.0})
    assert difference({"a:1": one, "b:1": other}) == ""


def test_versions_are_named_with_their_servers() -> None:
    found = difference({"a:1": server(), "b:1": server("2.50.0"), "c:1": server()})
    assert found == "versions of Triton differ: 2.51.0 on a:1, c:1; 2.50.0 on b:1"


def test_servers_with_different_gpus_are_kinds_of_hardware() -> None:
    assert difference({"a:1": server(gpus={"GPU-a": 16000.0}), "b:1": server()}) == ""


def test_a_server_that_comes_back_with_other_gpus_has_changed() -> None:
    then, now = server(gpus={"GPU-a": 16000.0}), server(gpus={"GPU-b": 16000.0})
    assert change(then, now) == ""
    assert change(then, server()) == "its GPUs were 1 x GPU (16000 MB), and are no GPU"
    assert change(then, replace(then, version="2.50.0")).startswith("versions of Triton differ")


def test_the_field_of_a_model_that_differs_is_named() -> None:
    found = difference({"a:1": server(), "b:1": server(max_batch_size=4)})
    assert found == "max_batch_size of m differs: 8 on a:1; 4 on b:1"


def test_a_long_field_is_named_without_its_content() -> None:
    long = {"comment": "x" * 100}
    found = difference({"a:1": server(parameters=long), "b:1": server()})
    assert found.startswith("parameters of m differs: fingerprint ")
    assert found.endswith("; none on b:1")


def test_a_model_that_differs_in_its_versions_only_is_named() -> None:
    other = server()
    models = {"m": ModelFacts(name="m", config=other.models["m"].config, files="g")}
    other = replace(other, models=models)
    assert difference({"a:1": server(), "b:1": other}).startswith("the model m differs: ")
