# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Stages 4 and 5 with several remote servers: each is a slot, with a perf_analyzer here."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, ExitStack, nullcontext
from dataclasses import dataclass, replace

from model_analyzer.app.bench.bench import Bench, make_runner
from model_analyzer.app.bench.devices import Devices, Job, served_gpus
from model_analyzer.app.bench.searched_subjects import (
    facts_from_server,
    log_kinds,
    on_each_kind,
    searched_subjects,
)
from model_analyzer.app.bench.workplace import (
    Serving,
    Workplace,
    check_version,
    machine_of,
    triton_server,
)
from model_analyzer.app.conceal import Conceal
from model_analyzer.domain.hardware import Machine
from model_analyzer.domain.models import ModelFacts, fingerprint, thaw
from model_analyzer.domain.protocols import Runner
from model_analyzer.domain.slots import Slot
from model_analyzer.domain.words import counted
from model_analyzer.errors import ClusterError, RepositoryError, ServerError
from model_analyzer.runner.executors.several_slots import (
    ClusterExecutor,
    IsLeaving,
    RemoteSlot,
    SlotLostError,
    SlotThreads,
)
from model_analyzer.runner.file_trees import create_output
from model_analyzer.runner.gpus import ObservedGpus
from model_analyzer.runner.process import ReadyGuard
from model_analyzer.runner.repository import OutputRepository, other_models
from model_analyzer.runner.server.endpoints import each_server, remote_endpoints
from model_analyzer.runner.server.remote import RemoteLauncher
from model_analyzer.runner.server.triton import TritonServer

log = logging.getLogger(__name__)

_LONGEST_SHOWN = 80  # characters


@dataclass(frozen=True, slots=True)
class RemoteServers:
    """The servers of all slots, as far as the end of a run is concerned with them."""

    threads: SlotThreads
    count: int

    @property
    def description(self) -> str:
        return counted(self.count, "remote server")

    def begin_stop(self) -> None:
        """Slots end with their connections."""

    def stop(self) -> None:
        self.threads.end()


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerFacts:
    """A server as it answers: its version, its GPUs, its machine, and the models to search."""

    version: str
    gpus: ObservedGpus
    machine: Machine
    models: Mapping[str, ModelFacts]


def set_up_servers(
    job: Job,
    devices: Devices,
    place: Workplace,
    stack: ExitStack,
    *,
    conceal: Conceal,
    show: Callable[[str], None],
    interruptible: Callable[[], AbstractContextManager[object]],
) -> Bench:
    """The bench on several remote servers; the `stack` ends their connections.

    Raises ServerError if one does not answer, and ClusterError if they cannot be compared.
    """
    settings = job.settings
    slots = [
        _ServerSlot(
            replace(job, settings=replace(settings, server=server)), devices, place, conceal, show
        )
        for server in each_server(settings.server)
    ]
    threads = stack.enter_context(
        SlotThreads({slot.name: (slot.build, slot.is_reachable) for slot in slots})
    )
    log.info("Connecting to %s", ", ".join(slot.name for slot in slots))
    threads.begin()
    facts = {slot.name: slot.served for slot in slots if slot.served is not None}
    found = difference(facts)
    if found:
        raise ClusterError(f"the servers cannot be compared: {found}")
    first = facts[slots[0].name]
    subjects = place.subjects
    if place.repository is None:
        subjects = searched_subjects(settings, first.models, job.places)
    machines = {name: each.machine for name, each in facts.items()}
    log_kinds(machines)
    subjects = tuple(
        on_each_kind(
            subjects,
            devices.setups,
            first.version,
            machines.values(),
            without_gpus=False,  # a server may have GPUs that it does not report
        )
    )
    if place.genai_perf is None:
        subjects = tuple(subject.without_genai_perf() for subject in subjects)
    return Bench(
        serving=Serving(
            server=RemoteServers(threads, len(slots)),
            version=first.version,
            gpus=first.gpus,
            machines=tuple(machines.values()),
            facts=first.models,
            subjects=subjects,
        ),
        executor=ClusterExecutor(
            threads,
            [Slot(name=name, host=name, kind=machine.kind) for name, machine in machines.items()],
            interruptible=interruptible,
        ),
        output=OutputRepository(settings.repository.output, None),
        subjects=subjects,
    )


class _ServerSlot:
    """One of the servers. `job` has the settings of this server alone. `served` is what it answered
    first, or None.
    """

    def __init__(
        self,
        job: Job,
        devices: Devices,
        place: Workplace,
        conceal: Conceal,
        show: Callable[[str], None],
    ) -> None:
        server = job.settings.server
        self._address = remote_endpoints(server).for_protocol(server.protocol)
        self.name = self._address.as_written
        self.served: ServerFacts | None = None
        self._job = job
        self._devices = devices
        self._place = place
        self._conceal = conceal
        self._show = show
        # the variants of the run are in the user's directory
        variants = place.work / "variants" / self.name.rpartition("/")[2]
        create_output(variants, override=False)
        self._output = OutputRepository(variants, None)

    def build(self, is_leaving: IsLeaving, stack: ExitStack) -> Runner:
        """Connects to the server, in the thread of the slot. See `Build`."""
        launcher = RemoteLauncher(self._job.settings.server, is_leaving=is_leaving)
        server = triton_server(launcher, self._job, self._devices, self._place, stack)
        served = self._asked(server)
        if self.served is not None:
            changed = change(self.served, served)
            if changed:
                raise ClusterError(f"the server has changed: {changed}")
        self.served = served
        runner = make_runner(
            self._job,
            replace(self._place, guards=stack.enter_context(ReadyGuard())),  # one for each thread
            Serving(
                server=server,
                version=served.version,
                gpus=served.gpus,
                machines=(served.machine,),
                facts=served.models,
                subjects=(),
            ),
            server,
            self._output,
            conceal=self._conceal,
            show=self._show,
            interruptible=nullcontext,
        )
        return RemoteSlot(runner, server)

    def is_reachable(self) -> bool:
        return self._address.accepts

    def _asked(self, server: TritonServer) -> ServerFacts:
        try:
            return self._facts(server)
        except (ServerError, RepositoryError) as error:
            if self.served is not None:
                raise SlotLostError(str(error)) from error
            if isinstance(error, RepositoryError):
                raise RepositoryError(f"{self.name}: {error.message}", error.hint) from error
            raise ServerError(f"{self.name}: {error}") from error

    def _facts(self, server: TritonServer) -> ServerFacts:
        settings, setups = self._job.settings, self._devices.setups
        first = setups[settings.models[0].name]
        version = server.version(first)
        gpus = self._devices.gpus or served_gpus(settings, server.metrics_url, first.access)
        models = self._place.facts
        if self._place.repository is None:
            models = facts_from_server(settings, server, setups)
        check_version(self._job, version, models)
        others = other_models(server.client(first), models.values())
        if others and self.served is None:
            log.warning("%s has other models loaded: %s", self.name, ", ".join(others))
        return ServerFacts(
            version=version,
            gpus=gpus,
            machine=machine_of(self._job, self._place, gpus),
            models=models,
        )


def difference(servers: Mapping[str, ServerFacts]) -> str:
    """The first difference between servers whose measurements could not be compared, with their
    names; "" if there is none. Different GPUs are none: these are kinds of hardware, which are
    ranked apart.
    """
    names = dict.fromkeys(name for each in servers.values() for name in each.models)
    compared: dict[str, dict[str, str]] = {
        "versions of Triton differ": {name: each.version for name, each in servers.items()},
    }
    for model in names:
        facts = {name: each.models.get(model) for name, each in servers.items()}
        compared |= _of_model(model, facts)
    for what, values in compared.items():
        found: dict[str, list[str]] = {}
        for name, value in values.items():
            found.setdefault(value, []).append(name)
        if len(found) > 1:
            parts = (f"{value} on {', '.join(names)}" for value, names in found.items())
            return f"{what}: {'; '.join(parts)}"
    return ""


def change(then: ServerFacts, now: ServerFacts) -> str:
    """How a server has changed in what it measures; "" if it has not."""
    if then.machine.kind != now.machine.kind:
        return f"its GPUs were {then.machine.kind}, and are {now.machine.kind}"
    return difference({"it was": then, "it is": now})


def _shown(value: object) -> str:
    """A field of a configuration: as JSON, or as its fingerprint if that is long."""
    text = json.dumps(thaw(value))
    return text if len(text) <= _LONGEST_SHOWN else f"fingerprint {fingerprint([text])[:12]}"


def _of_model(model: str, facts: Mapping[str, ModelFacts | None]) -> dict[str, dict[str, str]]:
    """What is compared of a model: its configuration by field, then all of it."""
    fields = dict.fromkeys(field for fact in facts.values() if fact for field in fact.config)
    return {
        **{
            f"{field} of {model} differs": {
                name: _shown(fact.config[field]) if fact and field in fact.config else "none"
                for name, fact in facts.items()
            }
            for field in fields
        },
        f"the model {model} differs": {
            name: fact.identity[:12] if fact else "none" for name, fact in facts.items()
        },
    }
