# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""`--executor ray` where it cannot work: one line that says why, and no traceback."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from model_analyzer.errors import EXIT_OK, EXIT_RUN_FAILED, EXIT_USAGE


@pytest.fixture
def without_ray(setting, tmp_path: Path) -> None:
    """Ray cannot be imported: a package in its place says so, as a missing one would."""
    package = tmp_path / "stubs" / "ray"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("raise ImportError('no Ray here')\n")
    setting.environment["PYTHONPATH"] = str(package.parent)


@pytest.fixture
def unused_port() -> Iterator[int]:
    """A port at which nobody listens."""
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        yield bound.getsockname()[1]


def run(setting, *arguments: str, **changes: Any) -> tuple[int, str]:
    """The exit status, and the last line of all output."""
    process = setting.start("--executor", "ray", *arguments, **changes)
    output, _ = process.communicate(timeout=180)
    assert "Traceback" not in output
    return process.returncode, output.splitlines()[-1]


def test_without_ray_the_extra_is_named(setting, without_ray) -> None:
    status, line = run(setting)

    assert status == EXIT_RUN_FAILED
    assert line.endswith(
        "executor ray needs Ray: no Ray here (pip install 'ray>=2.50', or --executor local)"
    )


def test_a_local_run_does_not_need_ray(setting, without_ray) -> None:
    process = setting.start()
    output, _ = process.communicate(timeout=180)

    assert process.returncode == EXIT_OK, output


def test_without_a_cluster_at_the_address_it_is_named(setting, unused_port: int) -> None:
    pytest.importorskip("ray", reason="Ray is not installed")

    status, line = run(setting, "--ray-address", f"127.0.0.1:{unused_port}")

    assert status == EXIT_RUN_FAILED
    assert line.endswith(
        f"no Ray cluster at 127.0.0.1:{unused_port}: start one with ray start --head, or check"
        " --ray-address"
    )


def test_addresses_of_the_client_are_refused(setting) -> None:
    pytest.importorskip("ray", reason="Ray is not installed")

    status, line = run(setting, ray_address="ray://127.0.0.1:10001")

    assert status == EXIT_RUN_FAILED
    assert line.endswith(
        "ray://127.0.0.1:10001: a driver must run inside the cluster: start it on a node, or"
        " submit it with ray job submit"
    )


def test_a_launch_mode_that_slots_do_not_have_is_refused_at_once(setting, pretend) -> None:
    output = setting.fails(EXIT_USAGE, executor="ray", triton_launch_mode="c_api")

    assert "executor ray cannot be combined with triton_launch_mode c_api" in output
    assert "config.yaml:" in output
    assert pretend.server_calls == []


def test_the_form_of_a_label_is_not_masked_as_a_secret(setting) -> None:
    _, output = setting.profile(executor="ray", slot_label="H100")

    assert "expected LABEL=VALUE, found 'H100'" in output


@pytest.mark.parametrize("wrong", [{"slots": 0}, {"slot_gpus": 0.5}, {"slot_label": "H100"}])
def test_options_that_make_no_sense_are_refused(setting, wrong: dict[str, Any]) -> None:
    output = setting.fails(EXIT_USAGE, executor="ray", **wrong)

    assert "config.yaml:" in output
    assert "Traceback" not in output


def test_a_dry_run_needs_no_cluster(setting, without_ray) -> None:
    _, local = setting.profile("--dry-run", "--json")

    output = setting.succeeds("--dry-run", "--json", executor="ray", slots=2)

    assert json.loads(output)["subjects"] == json.loads(local)["subjects"]


def test_doctor_needs_no_cluster(setting, without_ray) -> None:
    output = setting.succeeds("--json", command="doctor", executor="ray", slots=2)

    assert json.loads(output)["works"]


def check(setting, **changes: Any) -> tuple[int, str]:
    """The exit status of `cluster check`, and its output."""
    process = setting.start(command="cluster check", **changes)
    output, _ = process.communicate(timeout=180)
    assert "Traceback" not in output
    return process.returncode, output


def test_a_check_without_ray_names_the_extra(setting, without_ray) -> None:
    status, output = check(setting)

    assert status == EXIT_RUN_FAILED
    assert output.endswith(
        "executor ray needs Ray: no Ray here (pip install 'ray>=2.50', or --executor local)\n"
    )


def test_a_check_without_a_cluster_names_the_address(setting, unused_port: int) -> None:
    pytest.importorskip("ray", reason="Ray is not installed")

    status, output = check(setting, ray_address=f"127.0.0.1:{unused_port}")

    assert status == EXIT_RUN_FAILED
    assert f"no Ray cluster at 127.0.0.1:{unused_port}" in output


def test_a_check_implies_the_executor_with_its_rules(setting) -> None:
    status, output = check(setting, triton_launch_mode="c_api", executor="local")

    assert status == EXIT_USAGE
    assert "executor ray cannot be combined with triton_launch_mode c_api" in output
