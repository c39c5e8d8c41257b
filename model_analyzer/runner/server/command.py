# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The arguments and variables of tritonserver. Pure."""

from __future__ import annotations

import string
from collections.abc import Mapping
from pathlib import Path

from model_analyzer.domain.flags import TRITON_SERVER_OWNED
from model_analyzer.domain.trials import ServerSetup
from model_analyzer.runner.server.endpoints import Endpoints
from model_analyzer.runner.timings import DEFAULT


def server_command(
    user_flags: Mapping[str, object],
    endpoints: Endpoints,
    repository: Path,
    extra: Mapping[str, str],
) -> list[str]:
    """The arguments that serve `repository` at `endpoints`.

    The user's flags override `extra` and our defaults, but not the flags that a run needs: ports,
    repository, explicit model control.
    """
    flags_kept = {
        name: value for name, value in user_flags.items() if name not in TRITON_SERVER_OWNED
    }
    defaults: dict[str, str] = {
        **extra,
        "http-address": endpoints.http.bind,
        "grpc-address": endpoints.grpc.bind,
        "exit-timeout-secs": f"{DEFAULT.grace_s:.0f}",
    }
    if "strict-model-config" not in flags_kept:
        # a variant is already complete: completing it would take a second each time
        defaults["disable-auto-complete-config"] = "true"
    flags: dict[str, object] = {
        **defaults,
        **flags_kept,
        "model-repository": str(repository),
        "model-control-mode": "explicit",
        "http-port": str(endpoints.http.port),
        "grpc-port": str(endpoints.grpc.port),
        "metrics-port": str(endpoints.metrics.port),
    }
    return [word for name, value in flags.items() for word in _flag(name, value)]


def server_environment(base: Mapping[str, str], setup: ServerSetup) -> Mapping[str, str]:
    """`base` with the user's variables; `$NAME` in their values is expanded from `base`."""
    return {**base, **expanded(setup.environment, base)}


def expanded(variables: Mapping[str, str], base: Mapping[str, str]) -> dict[str, str]:
    """`variables` with each `$NAME` replaced by its value in `base`, if it has one."""
    return {name: string.Template(value).safe_substitute(base) for name, value in variables.items()}


def _flag(name: str, value: object) -> list[str]:
    """A server flag on the command line; a tuple gives one flag for each item."""
    if isinstance(value, tuple):
        return [f"--{name}={item}" for item in value]
    if name == "disable-auto-complete-config":
        return [f"--{name}"] if str(value).lower() in ("true", "1") else []
    return [f"--{name}={value}"]
