# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Programs that are missing: told before anything else, or installed if the user allows it; which
remote servers can be compared, and what is said about the others.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from model_analyzer.app.bench.devices import provide_programs
from model_analyzer.app.bench.remote_slots import ServerFacts, change, difference
from model_analyzer.domain.hardware import Device, Machine
from model_analyzer.domain.models import ModelFacts
from model_analyzer.errors import ConfigError, RuntimeNotFound
from model_analyzer.runner.gpus import ObservedGpus
from tests.unit.builders import settings
from tests.unit.scripts import BROKEN, GOOD_PERF_ANALYZER, GOOD_SERVER, make_runtime, program


def install(environment: Mapping[str, str]) -> None:
    """What an installation leaves, with the library of the server."""
    runtime = make_runtime(environment)
    runtime.libraries.mkdir()
    (runtime.libraries / "libtritonserver-1.so").touch()


def refused(environment: Mapping[str, str]) -> None:
    raise AssertionError("nothing may be installed")


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    return {"PATH": f"{tmp_path / 'bin'}:/usr/bin:/bin", "XDG_CACHE_HOME": str(tmp_path / "cache")}


@pytest.fixture
def provide(environment: dict[str, str]) -> Callable[..., int]:
    """Provides the programs for these options; the number of installations."""

    def call(text: str, install: Callable[[Mapping[str, str]], None] = install) -> int:
        calls = []

        def counted(environment: Mapping[str, str]) -> None:
            calls.append(environment)
            install(environment)

        provide_programs(settings(text), environment, counted)
        return len(calls)

    return call


def test_without_the_option_nothing_is_installed(provide) -> None:
    with pytest.raises(RuntimeNotFound) as raised:
        provide("", refused)

    assert str(raised.value) == (
        "no perf_analyzer on the PATH, and no runtime is installed; run `model-analyzer runtime"
        " install`, or give --runtime-install"
    )


@pytest.mark.parametrize("mode", ["local", "c_api", "docker", "remote"])
def test_what_is_missing_is_installed_once(provide, mode: str) -> None:
    text = f"runtime_install: true\ntriton_launch_mode: {mode}"

    assert provide(text) == 1
    assert provide(text, refused) == 0


def test_programs_on_the_path_are_used_instead(provide, tmp_path: Path) -> None:
    program(tmp_path / "bin" / "tritonserver", GOOD_SERVER)
    program(tmp_path / "bin" / "perf_analyzer", GOOD_PERF_ANALYZER)

    assert provide("runtime_install: true", refused) == 0


def test_a_server_alone_is_not_enough(provide, tmp_path: Path) -> None:
    program(tmp_path / "bin" / "perf_analyzer", GOOD_PERF_ANALYZER)

    assert provide("runtime_install: true") == 1


def test_a_path_of_the_user_is_never_replaced(provide, tmp_path: Path) -> None:
    path = program(tmp_path / "mine" / "perf_analyzer", BROKEN)

    with pytest.raises(RuntimeNotFound, match="libb64"):
        provide(f"runtime_install: true\nperf_analyzer_path: {path}", refused)
    with pytest.raises(ConfigError, match="does not exist"):
        provide("runtime_install: true\nperf_analyzer_path: /no/such", refused)


def test_an_installation_that_does_not_help_is_told(provide) -> None:
    with pytest.raises(RuntimeNotFound, match="no runtime is installed"):
        provide("runtime_install: true", lambda _: None)


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
