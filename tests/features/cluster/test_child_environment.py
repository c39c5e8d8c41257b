# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Servers and load generators get the variables of the user, and those of Ray do not reach them."""

from __future__ import annotations

import json

import pytest

from model_analyzer.domain.hardware import Device
from model_analyzer.features.cluster.child_environment import (
    child_environment,
    niceness_remark,
    user_environment,
)
from model_analyzer.runner.gpus import Gpu, cuda_environment, visible

# what Ray 2.60 sets in a worker
WORKER = {
    "RAY_RAYLET_PID": "7087",
    "RAY_JOB_ID": "01000000",
    "PYTHONBREAKPOINT": "ray.util.rpdb.set_trace",
    "SPT_NOENV": "1",
    "OMP_NUM_THREADS": "1",
}


def job(**variables: str) -> dict[str, str]:
    """What `ray job submit` tells a driver."""
    config = {"runtime_env": {"env_vars": variables}, "metadata": {}}
    return {"RAY_JOB_CONFIG_JSON_ENV_VAR": json.dumps(config), **variables}


@pytest.mark.parametrize("threads", ["1", "16"])
def test_variables_of_the_user_are_kept(threads: str) -> None:
    own = {"PATH": "/bin", "OMP_NUM_THREADS": threads, "TF_FLAG": "1", "PYTHONBREAKPOINT": "0"}

    assert user_environment(own) == own
    assert user_environment({**own, "RAY_ADDRESS": "auto"}) == own


def test_variables_that_ray_set_in_a_submitted_job_are_left_out() -> None:
    assert user_environment({"PATH": "/bin", **WORKER, **job()}) == {"PATH": "/bin"}


def test_variables_that_the_user_gave_to_a_submitted_job_are_kept() -> None:
    given = {"OMP_NUM_THREADS": "4", "RAY_MODELS": "x"}

    assert user_environment({"PATH": "/bin", **WORKER, **job(**given)}) == {"PATH": "/bin", **given}


@pytest.mark.parametrize("text", ["", "[]", "{", '{"runtime_env": {}}', '{"runtime_env": 1}'])
def test_a_job_without_variables_is_understood(text: str) -> None:
    driver = {"PATH": "/bin", "OMP_NUM_THREADS": "1", "RAY_JOB_CONFIG_JSON_ENV_VAR": text}

    assert user_environment(driver) == {"PATH": "/bin"}


def test_children_get_what_the_user_set_and_nothing_of_ray() -> None:
    user = {"PATH": "/bin", "HF_HOME": "/models/hf"}

    assert child_environment(user, {**WORKER, "PATH": "/ray/bin", "X": "1"}, None) == user
    assert child_environment({**user, "OMP_NUM_THREADS": "4"}, WORKER, None) == {
        **user,
        "OMP_NUM_THREADS": "4",
    }


def test_what_belongs_to_the_machine_is_that_of_the_node() -> None:
    user = {"HOME": "/home/me", "HOSTNAME": "laptop", "TMPDIR": "/scratch/me"}

    assert child_environment(user, {"HOME": "/home/ray", "USER": "ray"}, None) == {
        "HOME": "/home/ray",
        "USER": "ray",
    }


@pytest.mark.parametrize(
    ("gpus", "shown", "expected"),
    [
        (("1", "0"), None, "1,0"),
        (("MIG-1234",), "MIG-1234,MIG-5678", "MIG-1234"),
        ((), "0,1", ""),
        (None, "GPU-abcd", "GPU-abcd"),
        (None, None, None),
    ],
)
def test_a_slot_sees_its_own_gpus_and_never_those_of_the_driver(
    gpus: tuple[str, ...] | None, shown: str | None, expected: str | None
) -> None:
    user = {"CUDA_VISIBLE_DEVICES": "GPU-of-the-driver"}
    node = {} if shown is None else {"CUDA_VISIBLE_DEVICES": shown}

    environment = child_environment(user, node, gpus)

    assert environment.get("CUDA_VISIBLE_DEVICES") == expected


def test_programs_get_the_uuids_of_the_gpus_that_ray_assigned() -> None:
    present = [Gpu(Device(uuid=f"GPU-{n}", name="H100", memory=1.0)) for n in range(4)]

    environment = child_environment({}, {}, ("2", "3"))
    devices = visible(present, environment["CUDA_VISIBLE_DEVICES"])

    assert cuda_environment(devices, ("all",)) == {"CUDA_VISIBLE_DEVICES": "GPU-2,GPU-3"}


def test_a_niceness_that_slows_programs_down_is_reported() -> None:
    assert niceness_remark("gpu-1", 0) == niceness_remark("gpu-1", -5) == ""
    assert niceness_remark("gpu-1", 15) == (
        "gpu-1: programs run at nice 15, so measurements may differ from production; start Ray"
        " there with RAY_worker_niceness=0 ray start …"
    )
