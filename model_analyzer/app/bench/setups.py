# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The server setup of each model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from model_analyzer.domain.environment import Veil
from model_analyzer.domain.hardware import Device, kind_of
from model_analyzer.domain.settings import LaunchMode, ModelSettings, ProfileSettings
from model_analyzer.domain.trials import ServerSetup
from model_analyzer.runner.client.tls import access_flags
from model_analyzer.state.own_key import own_key


def server_setups(
    settings: ProfileSettings, devices: Sequence[Device], for_cuda: Mapping[str, str]
) -> Mapping[str, ServerSetup]:
    """The server setup of each model; `for_cuda` overrides the user's environment variables."""
    mode = settings.server.launch
    shown = frozenset(settings.server.show_environment)
    return {
        model.name: ServerSetup(
            launch=mode.value,
            protocol=settings.server.spoken,
            devices=kind_of(devices),
            flags=server_flags(model, settings),
            environment={}
            if mode is LaunchMode.REMOTE
            else {
                name: value
                for name, value in model.server_environment.items()
                if name not in for_cuda
            },
            container=settings.docker.container(model.docker_arguments)
            if mode is LaunchMode.DOCKER
            else {},
            access=access_flags(model.perf_analyzer_flags),
            veil=Veil(key=own_key(), shown=shown),
        )
        for model in settings.models
    }


def server_flags(model: ModelSettings, settings: ProfileSettings) -> Mapping[str, Any]:
    """The flags of the model's server, which updates its metrics as often as the monitors read;
    none if the server is not ours.
    """
    if settings.server.launch not in (LaunchMode.LOCAL, LaunchMode.DOCKER):
        return {}
    interval_ms = max(1, round(settings.monitors.interval_s * 1000))
    return {"metrics-interval-ms": interval_ms, **model.server_flags}
