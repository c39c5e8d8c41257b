# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Slots as Ray actors: connecting, the nodes, reserving their resources, starting the actors.

The only file that imports Ray, which is imported when the first function is called. An actor
belongs to the driver, and Ray never starts it again: the driver decides where a lost trial goes.
"""

from __future__ import annotations

import os
import signal
import socket
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from model_analyzer.errors import ClusterError, ModelAnalyzerError
from model_analyzer.extras import check_extra, install_command
from model_analyzer.features.cluster.node_comparison import Clock
from model_analyzer.features.cluster.slot_places import GPU, ClusterNode, SlotPlace, strategy
from model_analyzer.features.cluster.slot_worker import SlotWorker

if TYPE_CHECKING:
    from ray.actor import ActorHandle
    from ray.util.placement_group import PlacementGroup as PlacementGroup

_CONNECT_S = 5.0
_MISMATCH = "Version mismatch"

# While resources are not free, nodes are looked at so often.
_LOOK_S = 1.0

# The clock of a node is that of the quickest answer.
_CLOCK_QUESTIONS = 3

# The handlers of these signals are replaced by Ray.
_REPLACED = (signal.SIGTERM,)

# Otherwise Ray kills the guard when a worker ends, and processes of Python models stay for ever.
_SPARES_GUARDS = {"env_vars": {"RAY_kill_child_processes_on_worker_exit": "false"}}


@contextmanager
def connected(address: str) -> Iterator[None]:
    """A block with a connection to the cluster at the address, HOST:PORT or `auto`. Raises
    ClusterError without one.
    """
    ray = require_ray()
    _check_address(address)
    handlers = {number: signal.getsignal(number) for number in _REPLACED}
    try:
        ray.init(address=address, log_to_driver=False, logging_level="error")
    except ConnectionError as error:
        raise _nothing_at(address) from error
    except (RuntimeError, ValueError) as error:  # versions of Ray or Python differ, or no address
        text = " ".join(str(error).split())
        hint = "; use equal versions of Ray and Python on all machines"
        raise ClusterError(f"{address}: {text}{hint if _MISMATCH in text else ''}") from error
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
    try:
        yield
    finally:
        ray.shutdown()


def _check_address(address: str) -> None:
    """Ray itself tries a wrong address for minutes."""
    if address.startswith("ray://"):
        raise ClusterError(
            f"{address}: a driver must run inside the cluster: start it on a node, or submit it"
            " with ray job submit"
        )
    host, _, port = address.rpartition(":")
    if not (host and port.isdecimal()):
        return  # `auto`, or what Ray does not accept either
    try:
        socket.create_connection((host.strip("[]"), int(port)), timeout=_CONNECT_S).close()
    except (OSError, OverflowError) as error:
        raise _nothing_at(address) from error
    if os.environ.get("RAY_USE_TLS", "0") in ("", "0"):  # otherwise this needs Ray's certificates
        _check_protocol(address)


def _check_protocol(address: str) -> None:
    """Something listens at the address, but it may be the dashboard, or another program."""
    import grpc

    with grpc.insecure_channel(address) as channel:
        try:
            grpc.channel_ready_future(channel).result(_CONNECT_S)
        except grpc.FutureTimeoutError as error:
            raise _nothing_at(address) from error


def _nothing_at(address: str) -> ClusterError:
    return ClusterError(
        f"no Ray cluster at {address}: start one with ray start --head, or check --ray-address"
    )


def cluster_nodes() -> tuple[ClusterNode, ...]:
    """The nodes of the cluster, dead ones included."""
    return tuple(
        ClusterNode(
            id=node["NodeID"],
            host=node["NodeManagerHostname"],
            resources=node["Resources"],
            labels=node["Labels"],
            is_alive=node["Alive"],
        )
        for node in require_ray().nodes()
    )


Question = Callable[[], Any]


@dataclass(frozen=True, slots=True)
class NoAnswer:
    """A node did not answer; why not."""

    reason: str


def ask_nodes(questions: Mapping[str, Question], timeout_s: float) -> Mapping[str, Any | NoAnswer]:
    """The answers of nodes to their questions, by the id of the node. All are asked at once. What
    takes longer is ended.
    """
    ray = require_ray()
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

    tickets = {
        node: ray.remote(_asked)
        .options(
            num_cpus=0,
            max_retries=0,
            runtime_env=_SPARES_GUARDS,
            scheduling_strategy=NodeAffinitySchedulingStrategy(node_id=node, soft=False),
        )
        .remote(question)
        for node, question in questions.items()
    }
    ready, _ = ray.wait([*tickets.values()], num_returns=len(tickets), timeout=timeout_s)
    answers: dict[str, Any | NoAnswer] = {}
    for node, ticket in tickets.items():
        if ticket not in ready:
            ray.cancel(ticket, force=True)
            answers[node] = NoAnswer(f"no answer within {timeout_s:g} s")
            continue
        try:
            answers[node] = answer(ticket)
        except ray.exceptions.RayTaskError as error:
            answers[node] = NoAnswer(_lines(error)[-1])
        except (ray.exceptions.RayError, ModelAnalyzerError) as error:
            answers[node] = NoAnswer(_lines(error)[0])
    return answers


def is_answering(node: str, timeout_s: float) -> bool:
    """Whether the node with this id runs something for us within this time."""
    return not isinstance(ask_nodes({node: time.time}, timeout_s)[node], NoAnswer)


def _lines(error: Exception) -> Sequence[str]:
    """The lines of an error: at least one."""
    lines = [line.strip() for line in str(error).splitlines()]
    return [line for line in lines if line] or [type(error).__name__]


def _asked(question: Question) -> Any:
    return question()


def clocks_of(nodes: Sequence[str], timeout_s: float) -> Mapping[str, Clock | NoAnswer]:
    """The clock of each of these nodes, by id, compared with ours. The first question also starts
    the process that answers: it must answer within this time.
    """
    clocks: dict[str, Clock | NoAnswer] = {}
    for node, first in ask_nodes(dict.fromkeys(nodes, time.time), timeout_s).items():
        if isinstance(first, NoAnswer):
            clocks[node] = first
            continue
        found = []
        for _ in range(_CLOCK_QUESTIONS):
            asked = time.time()
            told = ask_nodes({node: time.time}, timeout_s)[node]
            half = (time.time() - asked) / 2
            if not isinstance(told, NoAnswer):
                offset_ms = 1000 * (told - asked - half)
                found.append(Clock(offset_ms=offset_ms, half_round_trip_ms=1000 * half))
        clocks[node] = min(
            found, key=lambda clock: clock.half_round_trip_ms, default=NoAnswer("stopped answering")
        )
    return clocks


class NodeDiedError(Exception):
    """A node has died. The text says which one."""


@contextmanager
def reserved(places: Sequence[SlotPlace], timeout_s: float) -> Iterator[PlacementGroup]:
    """A block in which the resources of these slots are ours.

    Raises ClusterError if they are not free in time, and NodeDiedError if one of their nodes is
    dead. Ray notices that some seconds late; until then, it waits for the node.
    """
    require_ray()
    from ray.util.placement_group import placement_group, remove_placement_group

    group = placement_group(
        [dict(place.bundle) for place in places],
        strategy=strategy(places),
        bundle_label_selector=[dict(place.selector) for place in places],
    )
    try:
        deadline = time.monotonic() + timeout_s
        while not group.wait(_LOOK_S):
            _check_alive(places)
            if time.monotonic() > deadline:
                hosts = ", ".join(dict.fromkeys(place.node.host for place in places))
                raise ClusterError(
                    f"resources of {hosts} are still in use after {timeout_s:g} s: wait for other"
                    " jobs of the cluster (ray status shows them), or ask for less with --slots"
                )
        yield group
    finally:
        remove_placement_group(group)


def _check_alive(places: Sequence[SlotPlace]) -> None:
    alive = {node.id for node in cluster_nodes() if node.is_alive}
    for place in places:
        if place.node.id not in alive:
            raise NodeDiedError(f"node {place.node.id[:12]} of {place.node.host} has died")


def start_slot(group: PlacementGroup, places: Sequence[SlotPlace], index: int) -> ActorHandle[Any]:
    """Starts the slot at `places[index]`: an actor with the methods of `SlotWorker`."""
    ray = require_ray()
    from ray.util.scheduling_strategies import PlacementGroupSchedulingStrategy

    bundle = dict(places[index].bundle)
    actor: ActorHandle[Any] = (
        ray.remote(_GpuWorker if GPU in bundle else _CpuWorker)
        .options(
            num_cpus=0,
            num_gpus=bundle.get(GPU, 0),
            scheduling_strategy=PlacementGroupSchedulingStrategy(
                placement_group=group, placement_group_bundle_index=index
            ),
            max_restarts=0,
            max_task_retries=0,
            runtime_env=_SPARES_GUARDS,
        )
        .remote()
    )
    return actor


def answer(reference: Any) -> Any:
    """The answer of a slot, or what it raised. Raises a RayError if the slot is lost."""
    ray = require_ray()
    try:
        return ray.get(reference)
    except ray.exceptions.RayTaskError as error:
        if isinstance(error.cause, ModelAnalyzerError):
            raise error.cause from None  # otherwise its text is a traceback
        raise


def kill_slot(actor: ActorHandle[Any]) -> None:
    """Ends a slot at once, also in the middle of a trial."""
    require_ray().kill(actor, no_restart=True)


class _CpuWorker(SlotWorker):
    """A slot without GPUs: Ray does not hide those of the node."""

    def __init__(self) -> None:
        super().__init__(gpus=())


class _GpuWorker(SlotWorker):
    """A slot with the GPUs that Ray assigned."""

    def __init__(self) -> None:
        super().__init__(gpus=require_ray().get_runtime_context().get_accelerator_ids()[GPU])


def require_ray() -> Any:
    """The package. Raises ClusterError if it is not installed."""
    # also without `log_to_driver`, Ray prints errors of the cluster on the standard output
    os.environ.setdefault("RAY_DEDUP_LOGS_SKIP_REGEX", ".")
    try:
        check_extra("ray")
        import ray
    except ImportError as error:
        raise ClusterError(
            f"executor ray needs Ray: {error} ({install_command('ray')}, or --executor local)"
        ) from error
    return ray
