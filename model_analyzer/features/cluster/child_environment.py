# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The environment of the servers and load generators of a slot: the user's, not that of Ray. Pure.

Ray sets variables in the processes that it starts, above all OMP_NUM_THREADS=1, and a driver that
was submitted as a job is such a process. They would change what is measured. So the driver sends
its own variables as data, without those of Ray.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from model_analyzer.domain.foreign_json import parse_json
from model_analyzer.runner.gpus import VISIBLE_DEVICES
from model_analyzer.runner.host import THREADS

# What `ray job submit` tells the driver: the user's own variables are in its `runtime_env`.
_JOB = "RAY_JOB_CONFIG_JSON_ENV_VAR"

# Ray's variables without its prefix, by the beginning of their value.
_SET_BY_RAY = {"PYTHONBREAKPOINT": "ray.util.rpdb", "SPT_NOENV": "1"}

# They say where a process runs or who runs it, which may differ between driver and node.
_OF_THE_MACHINE = frozenset(
    {"HOME", "HOSTNAME", "LOGNAME", "OLDPWD", "PWD", "TMPDIR", "USER", "XDG_RUNTIME_DIR"}
)


def user_environment(driver: Mapping[str, str]) -> dict[str, str]:
    """The variables of the user: those of the driver, as they were before it connected to Ray."""
    wanted = _job_variables(driver)
    by_ray = {name for name, value in _SET_BY_RAY.items() if driver.get(name, "").startswith(value)}
    if _JOB in driver:
        by_ray |= {THREADS}
    return {
        name: value
        for name, value in driver.items()
        if name in wanted or not (name in by_ray or name.startswith("RAY_"))
    }


def child_environment(
    user: Mapping[str, str], node: Mapping[str, str], gpus: Sequence[str] | None
) -> dict[str, str]:
    """The variables of the servers and load generators on a node, from those of the user.

    `node` are the variables of the slot's own process there. `gpus` are the indices or UUIDs of
    the GPUs that Ray assigned to the slot; None if it may use all GPUs that the node shows. The
    bench turns them into UUIDs (`runner/gpus.py`).
    """
    environment = {
        name: value
        for name, value in user.items()
        if name not in _OF_THE_MACHINE and name != VISIBLE_DEVICES
    }
    environment |= {name: node[name] for name in sorted(_OF_THE_MACHINE) if name in node}
    if gpus is not None:
        environment[VISIBLE_DEVICES] = ",".join(gpus)
    elif VISIBLE_DEVICES in node:
        environment[VISIBLE_DEVICES] = node[VISIBLE_DEVICES]
    return environment


def niceness_remark(host: str, niceness: int) -> str:
    """A warning about processes that the kernel runs after others; "" if there is no need."""
    if niceness <= 0:
        return ""
    return (
        f"{host}: programs run at nice {niceness}, so measurements may differ from production;"
        " start Ray there with RAY_worker_niceness=0 ray start …"
    )


def _job_variables(driver: Mapping[str, str]) -> frozenset[str]:
    """The names of the variables that the user gave to a submitted job."""
    try:
        variables = parse_json(driver.get(_JOB, "{}"))["runtime_env"]["env_vars"]
    except (ValueError, KeyError, TypeError):
        return frozenset()
    return frozenset(variables) if isinstance(variables, dict) else frozenset()
