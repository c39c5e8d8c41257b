# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Stages 4 and 5 on a cluster: its slots instead of a server on this machine; and the stages on a
node of a cluster: the bench of a slot, built from data that travels there.

Whatever it writes goes to a temporary directory of the node. The driver has the user's output
directory, checkpoints and reports.
"""

from __future__ import annotations

import logging
import os
import re
import uuid
from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, nullcontext, suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from model_analyzer.app.bench.bench import Bench, make_runner
from model_analyzer.app.bench.devices import Devices, Job, provide_programs
from model_analyzer.app.bench.searched_subjects import (
    fetched,
    log_kinds,
    on_each_kind,
    searched_subjects,
)
from model_analyzer.app.bench.workplace import (
    Serving,
    Workplace,
    claim_output,
    make_server,
    preflight,
    prepare,
    serve,
)
from model_analyzer.app.conceal import concealing
from model_analyzer.config.places import Places
from model_analyzer.domain.measurements import Outcome
from model_analyzer.domain.models import ModelFacts
from model_analyzer.domain.secrets import masked_url
from model_analyzer.domain.settings import ExecutorSettings, ProfileSettings, RepositorySettings
from model_analyzer.domain.slots import Slot
from model_analyzer.domain.trials import Trial
from model_analyzer.domain.words import counted
from model_analyzer.errors import ClusterError
from model_analyzer.features.cluster.child_environment import niceness_remark, user_environment
from model_analyzer.features.cluster.ray_slots import (
    NodeDiedError,
    answer,
    cluster_nodes,
    connected,
    is_answering,
    kill_slot,
    require_ray,
    reserved,
    start_slot,
)
from model_analyzer.features.cluster.slot_places import SlotPlace, numbered, plan_slots
from model_analyzer.features.cluster.slot_worker import (
    BuiltRunner,
    SlotFacts,
    SlotOrder,
    change,
    disagreement,
    processors_remark,
)
from model_analyzer.runner.executors.several_slots import ClusterExecutor, SlotLostError
from model_analyzer.runner.gpus import Nvml, ObservedGpus
from model_analyzer.runner.repository import OutputRepository
from model_analyzer.runner.repository_copy import Snapshot
from model_analyzer.runner.timings import Timings
from model_analyzer.runner.workspace import Workspace
from model_analyzer.state.format.layout import Layout
from model_analyzer.state.node import NodeJournal, Sharing, SlotJournal

if TYPE_CHECKING:
    from model_analyzer.features.cluster.ray_slots import PlacementGroup


def slot_order(job: Job, run: str) -> SlotOrder:
    """What each slot of the driver `run` gets; the environment of the job is the driver's."""
    settings, copy = job.settings, job.fetched
    path = settings.repository.path
    source = copy.url if copy is not None else path and Path.cwd() / path
    repository = replace(settings.repository, source=source)
    checkpoint = replace(settings.checkpoint, directory=Path.cwd() / settings.checkpoint.directory)
    return SlotOrder(
        run=run,
        environment=user_environment(job.environment),
        directory=Path.cwd(),
        build=SlotBench(
            settings=replace(settings, repository=repository, checkpoint=checkpoint),
            timings=job.timings,
            snapshot=copy.snapshot if copy is not None else None,
        ),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class SlotBench:
    """Builds the runner of a slot on its node. A model repository with a URL is fetched there, as
    it was for the driver (`snapshot`).
    """

    settings: ProfileSettings
    timings: Timings
    snapshot: Snapshot | None = None

    def __call__(self, environment: Mapping[str, str], stack: ExitStack) -> BuiltRunner:
        settings = writing_to(stack.enter_context(Workspace()), self.settings)
        provide_programs(settings, environment)
        _check_visible(settings.repository)
        job = Job(settings=settings, places=Places(), environment=environment, timings=self.timings)
        job = fetched(job, stack, self.snapshot)
        settings = job.settings
        checked = preflight(job, stack)
        checked.raise_any()
        place = prepare(job, checked, stack)
        server = make_server(job, checked.devices, place, stack)
        serving = serve(job, checked.devices, place, server)
        claim_output(settings, stack)
        # the variants with their models are in the driver's directory
        output = OutputRepository(settings.repository.output, None)
        runner = make_runner(
            job,
            place,
            serving,
            server,
            output,
            conceal=concealing(settings),
            show=lambda _: None,
            interruptible=nullcontext,
        )
        open_journal = partial(
            NodeJournal, settings.checkpoint.directory, prefix=settings.checkpoint.prefix
        )
        return BuiltRunner(
            runner=runner,
            journal=stack.enter_context(SlotJournal(open_journal)),
            facts=SlotFacts(
                machine=serving.machines[0],
                process=os.getpid(),
                server=serving.version,
                perf_analyzer=place.perf_analyzer.version,
                facts=serving.facts,
            ),
        )


def _check_visible(repository: RepositorySettings) -> None:
    """Raises ClusterError if the path, which the driver sees, is not on this node."""
    path = repository.path
    if path is not None and not os.path.exists(path):
        raise ClusterError(
            f"model repository {path} is not visible on node {os.uname().nodename}: put it on a"
            " shared disk, or give a URL, which each node fetches"
        )


def writing_to(directory: Path, settings: ProfileSettings) -> ProfileSettings:
    """The settings with all outputs in the directory, or left out."""
    return replace(
        settings,
        repository=replace(settings.repository, output=directory / "variants"),
        server=replace(settings.server, log=None),
        load_generator=replace(settings.load_generator, keep_output=False, output=None),
        export=replace(settings.export, path=directory / "results"),
    )


log = logging.getLogger(__name__)

# Slots end their servers in this time, or they are killed.
_END_S = 20.0
# A node that works answers within this time, although it may have to start a process first.
_REACH_S = 15.0
_NO_NAME = re.compile(r"[^A-Za-z0-9._-]")


class RayCluster:
    """The slots at `places`, whose resources the `group` reserves. A context manager: leaving it
    ends the slots. For a run, they are its server (see `EndingServer`), too.
    """

    def __init__(
        self, group: PlacementGroup, places: Sequence[SlotPlace], order: SlotOrder
    ) -> None:
        self._ray = require_ray()
        self._group = group
        self._places = places
        self._order = order
        self._index = {name: index for index, name in enumerate(slot_names(places))}
        self._facts: dict[str, SlotFacts] = {}  # as each slot was at first
        self._nodes: Mapping[str, str] = {}
        self._actors: dict[str, Any] = {}
        self._latest: dict[str, Hashable] = {}  # by slot: the ticket of its last order

    def __enter__(self) -> RayCluster:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    @property
    def description(self) -> str:
        return f"{counted(len(self._places), 'slot')} of a Ray cluster"

    @property
    def names(self) -> Sequence[str]:
        """The names of the slots."""
        return list(self._index)

    @property
    def slots(self) -> Sequence[Slot]:
        """The slots, once they have begun."""
        nodes = node_names(self._places)
        return [
            Slot(
                name=name,
                host=self._places[index].node.id,
                kind=self._facts[name].machine.kind,
                node=nodes[index],
            )
            for name, index in self._index.items()
        ]

    @property
    def shared(self) -> Mapping[str, Sequence[str]]:
        """The names of slots that share a machine, by its host name. Several nodes may be on one
        machine.
        """
        names: dict[str, list[str]] = {}
        for name, index in self._index.items():
            names.setdefault(self._places[index].node.host, []).append(name)
        return {host: slots for host, slots in names.items() if len(slots) > 1}

    def begin(self) -> Mapping[str, SlotFacts]:
        """Starts all slots; returns their facts, by name. Raises ClusterError if one fails."""
        tickets = {name: self._prepare(name) for name in self._index}
        for name, ticket in tickets.items():
            try:
                self._facts[name] = answer(ticket)
            except self._ray.exceptions.RayError as error:
                raise ClusterError(f"{name}: the slot does not start: {_reason(error)}") from error
        return dict(self._facts)

    def ask(self, questions: Mapping[str, Callable[[], None]], timeout_s: float) -> None:
        """Has each of these slots do something, until all have ended or this time has passed."""
        tickets = [
            self._actors[slot].ask.remote(question, timeout_s)
            for slot, question in questions.items()
        ]
        self._ray.wait(tickets, num_returns=len(tickets), timeout=timeout_s)

    def store_on(self, nodes: Mapping[str, str]) -> None:
        """From now on, each of these slots stores its outcomes in the journal of its node, except
        those of tests.
        """
        self._nodes = nodes

    def begin_stop(self) -> None:
        """Slots end with their servers."""

    def stop(self) -> None:
        """Ends all slots and their servers: those in the middle of something at once."""
        actors, self._actors = self._actors, {}
        endings = [actor.end.remote() for slot, actor in actors.items() if self._is_idle(slot)]
        if endings:
            self._ray.wait(endings, num_returns=len(endings), timeout=_END_S)
        for actor in actors.values():
            kill_slot(actor)

    # -- see `Cluster` -----------------------------------------------------------------------

    def run(self, slot: str, trial: Trial, *, is_test: bool = False) -> Hashable:
        node = "" if is_test else self._nodes.get(slot, "")
        self._latest[slot] = self._actors[slot].run.remote(trial, node)
        return self._latest[slot]

    def restart(self, slot: str) -> Hashable:
        with suppress(self._ray.exceptions.RayError):  # it may be dead
            kill_slot(self._actors[slot])
        return self._prepare(slot)

    def first_ready(self, tickets: Sequence[Hashable], timeout_s: float) -> Hashable | None:
        ready, _ = self._ray.wait(list(tickets), num_returns=1, timeout=timeout_s)
        return ready[0] if ready else None

    def answer(self, ticket: Hashable) -> Outcome | None:
        try:
            result = answer(ticket)
        except self._ray.exceptions.RayTaskError:
            raise  # a defect in the slot: no slot would do better
        except self._ray.exceptions.RayError as error:
            raise SlotLostError(_reason(error)) from error
        if isinstance(result, SlotFacts):
            slot = next(name for name, latest in self._latest.items() if latest == ticket)
            changed = change(self._facts[slot], result)
            if changed:
                raise ClusterError(f"it has changed: {changed}")
            return None
        if result.remark:
            log.warning("%s; its outcomes are stored by this process only", result.remark)
        outcome: Outcome = result.outcome
        return outcome

    def is_reachable(self, slot: str) -> bool:
        return is_answering(self._places[self._index[slot]].node.id, _REACH_S)

    def _prepare(self, slot: str) -> Hashable:
        self._actors[slot] = start_slot(self._group, self._places, self._index[slot])
        self._latest[slot] = self._actors[slot].prepare.remote(self._order)
        return self._latest[slot]

    def _is_idle(self, slot: str) -> bool:
        ready, _ = self._ray.wait([self._latest[slot]], timeout=0)
        return bool(ready)


def slot_names(places: Sequence[SlotPlace]) -> Sequence[str]:
    """Names of slots: those of their hosts, with a number from the second slot of a host on."""
    return numbered((place.node.host for place in places), " #")


def node_names(places: Sequence[SlotPlace]) -> Sequence[str]:
    """The same as names of nodes in checkpoints, where they are parts of file names."""
    return numbered((_NO_NAME.sub("_", place.node.host) for place in places), "#")


def _reason(error: Exception) -> str:
    """The first line of an error of Ray: the others are advice for its developers."""
    return next(filter(None, map(str.strip, str(error).splitlines())), type(error).__name__)


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
