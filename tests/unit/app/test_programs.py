# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Programs that are missing: told before anything else, or installed if the user allows it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from model_analyzer.app.bench.programs import provide_programs
from model_analyzer.errors import ConfigError, RuntimeNotFound
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
