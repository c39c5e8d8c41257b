# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The beginning of a run: all checks, the cheapest first, and the start of its server."""

from __future__ import annotations

import logging
from contextlib import ExitStack
from dataclasses import dataclass, replace

from model_analyzer.app.bench.devices import Devices, Job, provide_programs
from model_analyzer.app.bench.searched_subjects import fetched_for_user
from model_analyzer.app.bench.workplace import (
    AnyServer,
    Workplace,
    make_server,
    preflight,
    prepare,
    with_possible_formats,
)
from model_analyzer.domain.settings import ExecutorKind

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Beginning:
    """A run whose server starts; `server` is None if it measures on several slots."""

    job: Job
    devices: Devices
    place: Workplace
    server: AnyServer | None


def begin(job: Job, stack: ExitStack) -> Beginning:
    """Checks everything and starts the server, without waiting for it; the `stack` ends it."""
    if job.settings.repository.url is not None:
        with ExitStack() as before:  # what is known before a download, which may take long
            preflight(job, before).raise_any()
    job = fetched_for_user(job, stack)
    settings = job.settings
    checked = preflight(job, stack)
    for warning in checked.warnings:
        log.warning("%s", warning)
    checked.raise_any()
    settings = with_possible_formats(settings)
    job = replace(job, settings=settings)
    if settings.server.installs_runtime:
        provide_programs(settings, job.environment)
    devices = checked.devices
    place = prepare(job, checked, stack)
    server = None
    if settings.executor.kind is not ExecutorKind.RAY and settings.server.count == 1:
        server = make_server(job, devices, place, stack)
        server.begin(devices.setups[settings.models[0].name])
    return Beginning(job=job, devices=devices, place=place, server=server)
