# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Stage 4, serving: the running server, and the facts that only it knows."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial
from typing import Protocol

from model_analyzer.app.bench.devices import Devices, served_gpus
from model_analyzer.app.bench.job import Job
from model_analyzer.app.bench.models import facts_from_server
from model_analyzer.app.bench.programs import embedded_server, launcher
from model_analyzer.app.bench.searched_subjects import searched_subjects
from model_analyzer.app.bench.workplace import Workplace
from model_analyzer.domain.hardware import Machine, kind_of
from model_analyzer.domain.models import ModelFacts, is_decoupled
from model_analyzer.domain.settings import LaunchMode
from model_analyzer.domain.settings import Protocol as ClientProtocol
from model_analyzer.errors import ConfigError, Problem
from model_analyzer.runner.gpus import ObservedGpus
from model_analyzer.runner.host import this_machine
from model_analyzer.runner.repository import stage
from model_analyzer.runner.served_models import other_models
from model_analyzer.runner.server.c_api import EmbeddedServer
from model_analyzer.runner.server.endpoints import remote_endpoints
from model_analyzer.runner.server.life import Launcher, acts_when_unloaded
from model_analyzer.runner.server.triton import TritonServer
from model_analyzer.runner.versions import described, named, refusal
from model_analyzer.search.plan import Subject

log = logging.getLogger(__name__)

AnyServer = TritonServer | EmbeddedServer


class EndingServer(Protocol):
    """A server, or the servers of several slots, at the end of a run."""

    @property
    def description(self) -> str:
        """What serves, for people."""

    def begin_stop(self) -> None:
        """Asks the server to end, without waiting for it."""

    def stop(self) -> None:
        """Waits for the server to end."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Serving:
    """The server of the run, its GPUs, the machine of each slot, and the subjects to search."""

    server: EndingServer
    version: str
    gpus: ObservedGpus
    machines: tuple[Machine, ...]
    facts: Mapping[str, ModelFacts]
    subjects: tuple[Subject, ...]

    @property
    def description(self) -> str:
        return f"{named(self.version)} ({self.server.description})"


def make_server(job: Job, devices: Devices, place: Workplace, stack: ExitStack) -> AnyServer:
    """The server, not started yet; the `stack` ends it. Raises RuntimeNotFound."""
    settings, repository = job.settings, place.repository
    if settings.server.launch is LaunchMode.C_API:
        assert repository is not None, "only a remote server can use a repository of its own"
        return embedded_server(settings, place.environment, repository, place.work)
    path = repository.path if repository is not None else None
    if repository is not None and settings.server.launch is LaunchMode.LOCAL:
        path = stage(repository, place.facts.values(), place.work / "models")
    return triton_server(
        launcher(settings, devices, place.environment, path), job, devices, place, stack
    )


def triton_server(
    launcher: Launcher, job: Job, devices: Devices, place: Workplace, stack: ExitStack
) -> TritonServer:
    """The server that this launcher starts or reaches; the `stack` ends it."""
    settings = job.settings
    return stack.enter_context(
        TritonServer(
            launcher,
            settings.server,
            place.server_log,
            settles=settings.monitors.cpu or devices.shows_gpus,
            renews=devices.shows_gpus,
            acts=partial(_acts, place),
            timings=job.timings,
        )
    )


def _acts(place: Workplace, name: str) -> bool:
    """Whether a model may do something when it is unloaded."""
    parts = (part for facts in place.facts.values() for part in facts.with_parts())
    config = next((part.config for part in parts if part.name == name), None)
    if place.repository is None or config is None:
        return True
    return acts_when_unloaded(place.repository.path / name, config)


def serve(job: Job, devices: Devices, place: Workplace, server: AnyServer) -> Serving:
    """Starts the server and asks it for facts that the files and the driver did not provide."""
    settings = job.settings
    first = devices.setups[settings.models[0].name]
    version = server.version(first)
    gpus = devices.gpus
    facts, subjects = place.facts, place.subjects
    if isinstance(server, TritonServer):
        gpus = gpus or served_gpus(settings, server.metrics_url, first.access)
        if settings.server.launch is LaunchMode.REMOTE:
            if place.repository is None:
                facts = facts_from_server(settings, server, devices.setups)
                subjects = searched_subjects(settings, facts, job.places)
            not_profiled = other_models(server.client(first), facts.values())
            if not_profiled:
                log.warning("The server has other models loaded: %s", ", ".join(not_profiled))
    check_version(job, version, facts)
    assert gpus is not None, "without a running server, only the driver knows the GPUs"
    return Serving(
        server=server,
        version=version,
        gpus=gpus,
        machines=(machine_of(job, place, gpus),),
        facts=facts,
        subjects=tuple(_placed(subject, devices, version, gpus) for subject in subjects),
    )


def check_version(job: Job, version: str, facts: Mapping[str, ModelFacts]) -> None:
    """Says what a server of this version can do. Raises ConfigError if perf_analyzer cannot measure
    a model on it.
    """
    server = job.settings.server
    if server.is_openai:
        log.info("The server has OpenAI's API: only the load varies, and it has no statistics")
        return
    log.info("%s", described(version))
    is_grpc = server.protocol is ClientProtocol.GRPC and server.launch is not LaunchMode.C_API
    problems = []
    for name, fact in facts.items():
        refused = refusal(version, over_grpc=is_grpc, decoupled=is_decoupled(fact.config))
        if refused is not None:
            why, advice = refused
            problems.append(Problem(where=f"model {name}", message=why, hint=advice))
    if problems:
        raise ConfigError(*problems)


def machine_of(job: Job, place: Workplace, gpus: ObservedGpus) -> Machine:
    """The machine that serves with these GPUs. Of a remote one, only its address is known."""
    server = job.settings.server
    if server.launch is LaunchMode.REMOTE:
        address = remote_endpoints(server).for_protocol(server.protocol)
        return Machine(host=address.as_written, devices=gpus.devices)
    return this_machine(gpus.devices, gpus.driver, place.environment)


def _placed(subject: Subject, devices: Devices, version: str, gpus: ObservedGpus) -> Subject:
    """The subject with its server setup, which is the same for all models of a group."""
    setup = devices.setups[subject.models[0].facts.name]
    placed = replace(
        setup, version=version, devices=kind_of(gpus.devices), uncached=subject.uncached
    )
    return replace(subject, setup=placed)
