# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Stages 4 and 5 on a cluster: its slots instead of a server on this machine."""

from __future__ import annotations

import logging
import uuid
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

from model_analyzer.app.bench.bench import Bench
from model_analyzer.app.bench.devices import Devices
from model_analyzer.app.bench.job import Job
from model_analyzer.app.bench.searched_subjects import log_kinds, on_each_kind, searched_subjects
from model_analyzer.app.bench.serving import Serving
from model_analyzer.app.bench.workplace import Workplace
from model_analyzer.domain.models import ModelFacts
from model_analyzer.domain.secrets import masked_url
from model_analyzer.domain.settings import ExecutorSettings
from model_analyzer.domain.slots import Slot
from model_analyzer.domain.words import counted
from model_analyzer.errors import ClusterError
from model_analyzer.features.cluster.child_environment import niceness_remark
from model_analyzer.features.cluster.ray_cluster import RayCluster
from model_analyzer.features.cluster.ray_slots import (
    NodeDiedError,
    cluster_nodes,
    connected,
    reserved,
)
from model_analyzer.features.cluster.slot_bench import slot_order
from model_analyzer.features.cluster.slot_places import SlotPlace, plan_slots
from model_analyzer.features.cluster.slot_worker import SlotFacts, disagreement, processors_remark
from model_analyzer.runner.executors.several_slots import ClusterExecutor
from model_analyzer.runner.monitors.gpu import Nvml, ObservedGpus
from model_analyzer.runner.repository import OutputRepository
from model_analyzer.state.format.layout import Layout
from model_analyzer.state.node import Sharing

if TYPE_CHECKING:
    from model_analyzer.features.cluster.ray_slots import PlacementGroup

log = logging.getLogger(__name__)

# Other jobs of the cluster may hold the resources of a slot for so long.
_RESERVE_S = 60.0
# Slots look for the checkpoint directory within this time, or count as not sharing it.
_SHARE_S = 10.0


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
    places, group = _reserve(settings.executor, stack)
    order = slot_order(job, uuid.uuid4().hex)
    cluster = stack.enter_context(RayCluster(group, places, order))
    log.info("Starting %s: %s", counted(len(places), "slot"), ", ".join(cluster.names))
    if job.fetched is not None:
        url = masked_url(job.fetched.url)
        log.info("Each node fetches %s, unless it has the same files already", url)
    slots = cluster.begin()
    _check(slots)
    check_files(place.facts, slots)
    if not settings.checkpoint.disabled:
        layout = Layout(Path.cwd() / settings.checkpoint.directory, settings.checkpoint.prefix)
        cluster.store_on(sharing_nodes(cluster.slots, layout, cluster.ask))
    first, *_ = slots.values()
    gpus = ObservedGpus(first.machine.devices, Nvml().read)
    machines = tuple(facts.machine for facts in slots.values())
    subjects = tuple(
        on_each_kind(
            searched_subjects(settings, first.facts, job.places),
            devices.setups,
            first.server,
            machines,
            without_gpus=True,
        )
    )
    return Bench(
        serving=Serving(
            server=cluster,
            version=first.server,
            gpus=gpus,
            machines=machines,
            facts=first.facts,
            subjects=subjects,
        ),
        executor=ClusterExecutor(cluster, cluster.slots, interruptible=interruptible),
        output=OutputRepository(settings.repository.output, place.repository),
        subjects=subjects,
        shared=cluster.shared,
    )


def _reserve(
    settings: ExecutorSettings, stack: ExitStack
) -> tuple[Sequence[SlotPlace], PlacementGroup]:
    """The places of the slots, and the group that reserves their resources."""
    while True:
        placement = plan_slots(cluster_nodes(), settings)
        if placement.problem:
            raise ClusterError(placement.problem)
        if placement.remark:
            log.info("%s", placement.remark)
        try:
            group = stack.enter_context(reserved(placement.places, _RESERVE_S))
        except NodeDiedError as error:
            log.warning("%s: choosing nodes again", error)
        else:
            return placement.places, group


def sharing_nodes(
    slots: Sequence[Slot],
    layout: Layout,
    ask: Callable[[Mapping[str, Callable[[], None]], float], None],
) -> Mapping[str, str]:
    """The nodes that share the checkpoint directory, by the name of the slot; logs which. `ask`
    has slots answer questions, within a number of seconds.
    """
    shared: Collection[str] = ()
    try:
        with Sharing(layout, [slot.name for slot in slots]) as sharing:
            ask(sharing.questions, _SHARE_S)
            shared = sharing.shared
    except OSError as error:
        log.warning("%s: cannot be written to: %s", layout.directory, error.strerror)
    others = [slot.node for slot in slots if slot.name not in shared]
    log.info(
        "The checkpoint directory is shared by %d of %s%s",
        len(shared),
        counted(len(slots), "node"),
        f" (not by {', '.join(others)})" if others else "",
    )
    return {slot.name: slot.node for slot in slots if slot.name in shared}


def _check(slots: Mapping[str, SlotFacts]) -> None:
    """Logs the kinds of hardware, warns of slots that are slow, and raises ClusterError if outcomes
    of slots cannot be compared.
    """
    difference = disagreement([*slots.values()])
    if difference:
        raise ClusterError(f"slots cannot be compared: {difference}")
    log_kinds({name: facts.machine for name, facts in slots.items()})
    remarks = [
        *(niceness_remark(facts.host, facts.machine.niceness or 0) for facts in slots.values()),
        processors_remark([facts.machine for facts in slots.values()]),
    ]
    for remark in filter(None, dict.fromkeys(remarks)):
        log.warning("%s", remark)


def check_files(driver: Mapping[str, ModelFacts], slots: Mapping[str, SlotFacts]) -> None:
    """Raises ClusterError if a node has other files of a model than the driver."""
    ours = _files(driver)
    for name, facts in slots.items():
        theirs = _files(facts.facts)
        different = [model for model in ours if ours[model] != theirs.get(model)]
        if different:
            raise ClusterError(
                f"{name}: its files of the model {different[0]} are not those of the driver: give"
                " all nodes the same files, or a URL as --model-repository"
            )


def _files(facts: Mapping[str, ModelFacts]) -> Mapping[str, str]:
    """The fingerprints of the files of all models, composing ones included, by name."""
    return {part.name: part.files for model in facts.values() for part in model.with_parts()}
