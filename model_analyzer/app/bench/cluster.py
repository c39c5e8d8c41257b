# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Stages 4 and 5 on a cluster: its slots instead of a server on this machine."""

from __future__ import annotations

import logging
import uuid
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass, replace

from model_analyzer.app.bench.bench import Bench
from model_analyzer.app.bench.devices import Devices
from model_analyzer.app.bench.job import Job
from model_analyzer.app.bench.serving import Serving
from model_analyzer.app.bench.slot import slot_order
from model_analyzer.app.bench.subjects import searched_subjects
from model_analyzer.app.bench.workplace import Workplace
from model_analyzer.domain.profiles import Device
from model_analyzer.domain.settings import ExecutorSettings
from model_analyzer.domain.words import counted
from model_analyzer.errors import ClusterError
from model_analyzer.runner.cluster.child_environment import niceness_remark
from model_analyzer.runner.cluster.executor import ClusterExecutor
from model_analyzer.runner.cluster.ray_cluster import RayCluster
from model_analyzer.runner.cluster.ray_slots import cluster_nodes, connected, reserved
from model_analyzer.runner.cluster.slot_places import SlotRequest, plan_slots
from model_analyzer.runner.cluster.slot_worker import SlotFacts, disagreement
from model_analyzer.runner.monitors.gpu import Nvml, ObservedGpus
from model_analyzer.runner.repository import OutputRepository

log = logging.getLogger(__name__)

# Other jobs of the cluster may hold the resources of a slot for so long.
_RESERVE_S = 60.0


@dataclass(frozen=True, slots=True)
class SlotServers:
    """The servers of all slots, as far as a run is concerned with them."""

    cluster: RayCluster
    count: int

    @property
    def description(self) -> str:
        return f"{counted(self.count, 'slot')} of a Ray cluster"

    def begin_stop(self) -> None:
        """Slots end with their servers."""

    def stop(self) -> None:
        self.cluster.end()


def set_up_slots(
    job: Job,
    devices: Devices,
    place: Workplace,
    stack: ExitStack,
    *,
    interruptible: Callable[[], AbstractContextManager[object]],
) -> Bench:
    """The bench on the slots of a cluster; the `stack` ends them.

    Raises ClusterError if there is no cluster, if no slot fits, or if slots do not agree.
    """
    settings = job.settings
    stack.enter_context(connected(settings.executor.address))
    placement = plan_slots(cluster_nodes(), slot_request(settings.executor))
    if placement.problem:
        raise ClusterError(placement.problem)
    if placement.remark:
        log.info("%s", placement.remark)
    places = placement.places
    group = stack.enter_context(reserved(places, _RESERVE_S))
    order = slot_order(job, uuid.uuid4().hex)
    cluster = stack.enter_context(RayCluster(group, places, order))
    log.info("Starting %s: %s", counted(len(places), "slot"), ", ".join(cluster.hosts))
    slots = cluster.begin()
    _check(slots)
    first, *_ = slots.values()
    gpus = ObservedGpus(first.devices, Nvml().read)
    subjects = tuple(
        replace(
            subject,
            setup=replace(
                devices.setups[subject.models[0].facts.name],
                version=first.server,
                devices=_kinds(first.devices),
            ),
        )
        for subject in searched_subjects(settings, first.facts, job.places)
    )
    if not first.devices:
        subjects = tuple(subject.without_gpus() for subject in subjects)
    return Bench(
        serving=Serving(
            server=SlotServers(cluster, len(places)),
            version=first.server,
            gpus=gpus,
            facts=first.facts,
            subjects=subjects,
        ),
        executor=ClusterExecutor(cluster, cluster.hosts, interruptible=interruptible),
        output=OutputRepository(settings.repository.output, place.repository),
        subjects=subjects,
    )


def slot_request(settings: ExecutorSettings) -> SlotRequest:
    """The slots that the options ask for."""
    return SlotRequest(
        slots=settings.slots,
        gpus=settings.gpus,
        cpus=settings.cpus,
        labels=dict(label.split("=", 1) for label in settings.labels),
        per_host=settings.per_host,
    )


def _check(slots: Mapping[str, SlotFacts]) -> None:
    """Warns of slots that are slow, and raises ClusterError if their outcomes differ in kind."""
    difference = disagreement([*slots.values()])
    if difference:
        raise ClusterError(f"slots cannot be compared: {difference}")
    kinds = {name: _kinds(facts.devices) for name, facts in slots.items()}
    if len(set(kinds.values())) > 1:
        texts = [f"{', '.join(kind) or 'no GPU'} on {name}" for name, kind in kinds.items()]
        raise ClusterError(
            f"slots have different GPUs, so their measurements cannot be compared:"
            f" {'; '.join(texts)}; choose nodes with --slot-label, or GPUs with --slot-gpus"
        )
    for remark in dict.fromkeys(
        niceness_remark(facts.host, facts.niceness) for facts in slots.values()
    ):
        if remark:
            log.warning("%s", remark)


def _kinds(devices: Sequence[Device]) -> tuple[str, ...]:
    """The kinds of GPUs, whichever ones they are: a trial on equal ones is the same trial."""
    return tuple(sorted(device.name for device in devices))
