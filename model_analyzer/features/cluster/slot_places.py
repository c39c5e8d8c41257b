# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Decides where slots go: on which nodes of a cluster, and what each reserves there. Pure.

A slot has a host to itself, unless the user allows more with `--slots-per-host`. It reserves all
CPUs and GPUs of the node, or as many as the user wants. Where any node offers the resource
`model_analyzer_slot`, only nodes that offer it have slots: one for each unit.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from model_analyzer.domain.models import empty
from model_analyzer.domain.settings import ExecutorSettings
from model_analyzer.domain.words import counted, first_few

SLOT_RESOURCE = "model_analyzer_slot"
CPU, GPU = "CPU", "GPU"

_HEAD = "node:__internal_head__"
_NODE_LABEL = "ray.io/node-id"
_MOST_REASONS = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterNode:
    """A node of the cluster. `resources` are all that it has, in use or not."""

    id: str
    host: str
    resources: Mapping[str, float]
    labels: Mapping[str, str] = field(default_factory=empty)
    is_alive: bool = True

    def units(self, resource: str) -> int:
        """The whole units of a resource."""
        return int(self.resources.get(resource, 0))

    @property
    def is_head(self) -> bool:
        return _HEAD in self.resources


@dataclass(frozen=True, slots=True, kw_only=True)
class SlotPlace:
    """A slot on a node, and the resources that it reserves: its bundle of a placement group."""

    node: ClusterNode
    bundle: Mapping[str, float]

    @property
    def selector(self) -> Mapping[str, str]:
        """The label that ties the bundle to the node."""
        return {_NODE_LABEL: self.node.id}


def strategy(places: Sequence[SlotPlace]) -> str:
    """The strategy of a placement group of these slots."""
    nodes = {place.node.id for place in places}
    return "STRICT_SPREAD" if len(nodes) == len(places) else "SPREAD"


@dataclass(frozen=True, slots=True, kw_only=True)
class Placement:
    """Where slots go. `without` are the nodes that get none, each with the reason; `sharing` those
    of them whose host has slots already. `problem` says why there are too few slots, or is "".
    """

    places: tuple[SlotPlace, ...]
    without: tuple[tuple[ClusterNode, str], ...]
    sharing: tuple[ClusterNode, ...]
    problem: str

    @property
    def remark(self) -> str:
        """A line about nodes that get no slot only because they share a host; "" without any."""
        if not self.sharing:
            return ""
        count = len(self.sharing)
        hosts = first_few(list(dict.fromkeys(node.host for node in self.sharing)), _MOST_REASONS)
        get, they = ("gets", "it shares its host") if count == 1 else ("get", "they share hosts")
        return (
            f"{counted(count, 'node')} {get} no slot: {they} with others ({hosts});"
            " --slots-per-host allows more"
        )


def plan_slots(nodes: Sequence[ClusterNode], settings: ExecutorSettings) -> Placement:
    """Where slots go: one on each host before the second on any, and on the head's host last."""
    rooms = _filled(nodes, settings)
    count = sum(room.slots for room in rooms)
    problem = ""
    if count < (settings.slots or 1):
        most = replace(settings, per_host=max(settings.per_host, settings.slots or 1))
        helps = sum(room.slots for room in _filled(nodes, most)) > count
        problem = _lacking(count, rooms, settings, per_host_helps=helps)
    taken: Counter[str] = Counter()
    for room in rooms:
        taken[room.node.host] += room.slots
    sharing = [
        room
        for room in rooms
        if not room.slots and room.most and taken[room.node.host] >= settings.per_host
    ]
    return Placement(
        places=tuple(place for room in rooms for place in room.places()),
        without=tuple(
            (room.node, _why_none(room, settings, is_sharing=room in sharing))
            for room in rooms
            if not room.slots
        ),
        sharing=tuple(room.node for room in sharing),
        problem=problem,
    )


def numbered(hosts: Iterable[str], sign: str) -> Sequence[str]:
    """The hosts, with a number behind the `sign` from the second of the same name on."""
    counts: Counter[str] = Counter()
    names = []
    for host in hosts:
        counts[host] += 1
        names.append(host if counts[host] == 1 else f"{host}{sign}{counts[host]}")
    return names


def _filled(nodes: Sequence[ClusterNode], settings: ExecutorSettings) -> Sequence[_Room]:
    """The nodes with their slots."""
    is_offered = any(node.is_alive and node.units(SLOT_RESOURCE) for node in nodes)
    rooms = [
        _Room(node, settings, is_offered=is_offered)
        for node in sorted(nodes, key=lambda node: (node.is_head, node.host, node.id))
    ]
    for room in _in_turns(rooms, settings):
        room.slots += 1
    return rooms


def _why_none(room: _Room, settings: ExecutorSettings, *, is_sharing: bool) -> str:
    if is_sharing:
        return f"shares its host, which takes {settings.per_host} (--slots-per-host)"
    return "is not needed (--slots)" if room.most else room.reason


class _Room:
    """How many slots a node could have (`most`), why not more (`reason`), and how many it gets."""

    def __init__(self, node: ClusterNode, settings: ExecutorSettings, *, is_offered: bool) -> None:
        self.node, self.slots = node, 0
        self._settings, self._is_offered = settings, is_offered
        limits = list(self._limits())
        self.most, self.reason = min(limits, key=lambda limit: limit[0])

    def places(self) -> Iterator[SlotPlace]:
        """The slots of this node, with equal shares of it."""
        for _ in range(self.slots):
            yield SlotPlace(node=self.node, bundle=self._bundle())

    def _limits(self) -> Iterator[tuple[int, str]]:
        """The most slots for several reasons, the most telling one first."""
        node, settings = self.node, self._settings
        if not node.is_alive:
            yield 0, "is not alive"
        for label in settings.labels:
            key, value = label.split("=", 1)
            own = node.labels.get(key)
            if own != value:
                yield 0, f"has no label {key}" if own is None else f"has {key}={own}"
        if self._is_offered:
            units = node.units(SLOT_RESOURCE)
            yield units, f"offers {units} {SLOT_RESOURCE}"
        cpus, gpus = node.units(CPU), node.units(GPU)
        if settings.cpus is not None or not self._is_offered:
            yield cpus // (settings.cpus or 1), f"has {counted(cpus, 'CPU')}"
        if settings.gpus:
            yield gpus // settings.gpus, f"has {counted(gpus, 'GPU')}"
        elif settings.gpus is None and gpus:
            yield gpus, f"has {counted(gpus, 'GPU')}"
        yield settings.per_host, f"takes {settings.per_host} (--slots-per-host)"

    def _bundle(self) -> Mapping[str, float]:
        settings = self._settings
        cpus = settings.cpus
        if cpus is None:
            cpus = 0 if self._is_offered else self.node.units(CPU) // self.slots
        gpus = self.node.units(GPU) // self.slots if settings.gpus is None else settings.gpus
        amounts = {SLOT_RESOURCE: int(self._is_offered), CPU: cpus, GPU: gpus}
        return {name: float(amount) for name, amount in amounts.items() if amount}


def _in_turns(rooms: Sequence[_Room], settings: ExecutorSettings) -> Iterator[_Room]:
    """The rooms that get a slot, in the order of getting it."""
    hosts: dict[str, list[_Room]] = {}
    for room in rooms:
        hosts.setdefault(room.node.host, []).append(room)
    left = settings.slots
    for _ in range(settings.per_host):
        for on_host in hosts.values():
            free = [room for room in on_host if room.slots < room.most]
            if free and left != 0:
                yield min(free, key=lambda room: room.slots)
                left = None if left is None else left - 1


def _lacking(
    count: int, rooms: Sequence[_Room], settings: ExecutorSettings, *, per_host_helps: bool
) -> str:
    """Why there are too few slots, in one line."""
    fits = f"only {count} of {settings.slots} slots fit" if count else "no slot fits"
    hosts: dict[str, str] = {}
    for room in rooms:
        hosts.setdefault(room.node.host, room.reason)
    there = [f"{host} {reason}" for host, reason in hosts.items()]
    known = first_few(there, _MOST_REASONS) or "there is no node"
    return (
        f"{fits}: a slot needs {_wanted(settings)}; {known};"
        f" change {'--slots-per-host, ' if per_host_helps else ''}--slots, --slot-gpus,"
        " --slot-cpus or --slot-label, or add nodes"
    )


def _wanted(settings: ExecutorSettings) -> str:
    """What a slot needs, in words."""
    cpus = "all CPUs" if settings.cpus is None else counted(settings.cpus, "CPU")
    gpus = "all GPUs" if settings.gpus is None else counted(settings.gpus, "GPU")
    return ", ".join((cpus, gpus, *settings.labels))
