# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The GPUs of a run: the driver's word counts, and the server's where there is no driver."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from contextlib import ExitStack
from typing import Any

from model_analyzer.domain.settings import LaunchMode, ProfileSettings
from model_analyzer.runner.gpus import VISIBLE_DEVICES, choose_gpus
from model_analyzer.runner.monitors.gpu import Nvml, ObservedGpus
from model_analyzer.runner.monitors.triton_metrics import TritonMetrics

log = logging.getLogger(__name__)


def local_gpus(
    settings: ProfileSettings, environment: Mapping[str, str], stack: ExitStack
) -> ObservedGpus | None:
    """The GPUs of this machine that the run uses; None if only the server can tell."""
    requested = settings.monitors.gpus
    nvml = Nvml()
    if settings.monitors.ignore_gpus:
        log.info("GPUs are not looked for: cannot verify that GPU devices match checkpoint")
        return ObservedGpus((), nvml.read)
    if settings.server.launch is LaunchMode.REMOTE and requested:
        return None
    stack.enter_context(nvml)
    if not nvml.gpus and requested and settings.server.launch is not LaunchMode.C_API:
        return None
    devices = choose_gpus(nvml.gpus, requested, environment.get(VISIBLE_DEVICES))
    return _told(ObservedGpus(devices, nvml.read))


def served_gpus(
    settings: ProfileSettings, metrics_url: str, flags: Mapping[str, Any]
) -> ObservedGpus:
    """The GPUs that a running server reports, as far as they were asked for. perf_analyzer's
    `flags` say how to get at it.
    """
    metrics = TritonMetrics(metrics_url, flags)
    devices = choose_gpus(metrics.gpus(), settings.monitors.gpus, None)
    return _told(ObservedGpus(devices, metrics.read))


def _told(gpus: ObservedGpus) -> ObservedGpus:
    """The same GPUs, once the user knows what cannot be measured of them."""
    unknown = gpus.unknown()
    if unknown:
        log.warning("GPU metrics that cannot be had here: %s", unknown)
    return gpus
