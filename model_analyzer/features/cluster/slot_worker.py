# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""What runs in a slot, in a process of its own: prepare, run trials, end. It knows nothing of Ray.

The driver sends an order, which builds the runner on the node: the same runner as without a
cluster. The slot measures only while it holds the lock of its host, and ends with its node.
"""

from __future__ import annotations

import logging
import os
import select
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from model_analyzer.domain.hardware import Machine
from model_analyzer.domain.measurements import Outcome
from model_analyzer.domain.models import ModelFacts
from model_analyzer.domain.protocols import Runner
from model_analyzer.domain.trials import Trial
from model_analyzer.errors import ClusterError, ConfigError, ModelAnalyzerError, RuntimeNotFound
from model_analyzer.features.cluster.child_environment import child_environment
from model_analyzer.features.cluster.host_lock import HostLock
from model_analyzer.runner.gpus import VISIBLE_DEVICES
from model_analyzer.state.node import SlotJournal

log = logging.getLogger(__name__)

EXIT_STATUS = 1
_CHECK_MS = 500  # where the kernel does not report the death


@dataclass(frozen=True, slots=True, kw_only=True)
class SlotFacts:
    """A slot that is ready: where it is, and what it measures with. `server` and `perf_analyzer`
    are versions; `facts` are the models as they are on its node.
    """

    machine: Machine
    process: int
    server: str
    perf_analyzer: str
    facts: Mapping[str, ModelFacts]

    @property
    def host(self) -> str:
        return self.machine.host


@dataclass(frozen=True, slots=True, kw_only=True)
class BuiltRunner:
    """A runner on its node, and the journal that stores outcomes there before the driver gets
    them.
    """

    runner: Runner
    journal: SlotJournal
    facts: SlotFacts


# Builds the runner with this environment for its programs; the stack ends what it starts.
Build = Callable[[Mapping[str, str], ExitStack], BuiltRunner]


@dataclass(frozen=True, slots=True, kw_only=True)
class SlotOrder:
    """What the driver sends to each slot.

    `run` identifies the driver: its slots share a host. `environment` are the variables of the
    user. `directory` is that of the user: relative paths start there.
    """

    run: str
    environment: Mapping[str, str]
    directory: Path
    build: Build


@dataclass(frozen=True, slots=True)
class SlotAnswer:
    """The outcome of a trial. `remark` is for the user, or ""."""

    outcome: Outcome
    remark: str = ""


class SlotWorker:
    """Measures trials, one at a time. `gpus` are those that Ray assigned, None for all.

    What the user needs to know is raised as a ClusterError that names the host. Locks are in
    `lock_directory`, None for that of the user.
    """

    def __init__(
        self, gpus: Sequence[str] | None = None, *, lock_directory: Path | None = None
    ) -> None:
        self._gpus = gpus
        self._lock_directory = lock_directory
        self._host = os.uname().nodename
        self._built: BuiltRunner | None = None
        self._stack = ExitStack()
        self._watch = ParentWatch()
        self._watch.__enter__()

    def prepare(self, order: SlotOrder) -> SlotFacts:
        """Takes the host and builds the runner; ends what was prepared before."""
        self.end()
        with self._naming_host(), ExitStack() as stack:
            own = () if self._lock_directory is None else (self._lock_directory,)
            stack.enter_context(HostLock(order.run, directories=own))
            if order.directory.is_dir():  # otherwise relative paths name nothing on this node
                os.chdir(order.directory)
            environment = child_environment(order.environment, os.environ, self._gpus)
            built = order.build(environment, stack)
            self._stack = stack.pop_all()
        self._built = built
        return built.facts

    def run(self, trial: Trial, node: str = "") -> SlotAnswer:
        """Measures a trial on the GPUs of this slot. With a `node`, the outcome is in the journal
        of this node before the driver gets it.
        """
        assert self._built is not None, "prepare comes first"
        journal = self._built.journal
        with self._naming_host():
            if node:
                journal.begin(node)
            outcome = self._built.runner.run(self._with_own_gpus(trial))
            problem = journal.keep(trial, outcome) if node else ""
            return SlotAnswer(outcome, problem and f"{self._host}: {problem}")

    def ask(self, question: Callable[[], None], patience_s: float) -> None:
        """Does something in the process of this slot, which goes on without it after some time."""
        thread = threading.Thread(target=question, daemon=True)
        thread.start()
        thread.join(patience_s)

    def end(self) -> None:
        """Ends the server and frees the host; calling it twice is fine."""
        self._built = None
        self._stack.close()

    def _with_own_gpus(self, trial: Trial) -> Trial:
        """The trial without the user's choice of GPUs, if Ray has assigned some."""
        if self._gpus is None or VISIBLE_DEVICES not in trial.setup.environment:
            return trial
        variables = dict(trial.setup.environment)
        del variables[VISIBLE_DEVICES]
        return replace(trial, setup=replace(trial.setup, environment=variables))

    @contextmanager
    def _naming_host(self) -> Iterator[None]:
        try:
            yield
        except ClusterError:
            raise
        except ConfigError as error:
            problems = "; ".join(map(str, error.problems))
            raise ClusterError(f"{self._host}: {problems}") from error
        except RuntimeNotFound as error:
            raise ClusterError(f"no runtime on node {self._host}: {error}") from error
        except ModelAnalyzerError as error:
            raise ClusterError(f"{self._host}: {error}") from error


def disagreement(slots: Sequence[SlotFacts]) -> str:
    """The first difference between slots whose measurements could not be compared, with the hosts;
    "" if there is none. Different GPUs are none: these are kinds of hardware, which are ranked
    apart. Without GPUs, the processor is the hardware, but it is not part of the kind.
    """
    for name, values in _compared(slots).items():
        hosts: dict[object, list[str]] = {}
        for slot, value in zip(slots, values, strict=True):
            if value:
                hosts.setdefault(value, []).append(slot.host)
        if len(hosts) > 1:
            return f"{name}: " + "; ".join(
                f"{value} on {', '.join(dict.fromkeys(names))}" for value, names in hosts.items()
            )
    return ""


def change(then: SlotFacts, now: SlotFacts) -> str:
    """How a slot that has started again differs in what it measures; "" if it does not."""
    if then.machine.kind != now.machine.kind:
        return f"its GPUs were {then.machine.kind}, and are {now.machine.kind}"
    return disagreement([then, now])


def _compared(slots: Sequence[SlotFacts]) -> Mapping[str, Sequence[str]]:
    """By name, a value of each slot; "" for one that is not compared."""
    models = dict.fromkeys(name for slot in slots for name in slot.facts)
    return {
        "versions of tritonserver differ": [slot.server for slot in slots],
        "versions of perf_analyzer differ": [slot.perf_analyzer for slot in slots],
        "processors of slots without GPUs differ (choose nodes with --slot-label)": [
            "" if slot.machine.devices else slot.machine.processor_text for slot in slots
        ],
        **{
            f"the model {name} differs": [
                f"{slot.facts[name].identity[:12]}" if name in slot.facts else "none"
                for slot in slots
            ]
            for name in models
        },
    }


def processors_remark(machines: Sequence[Machine]) -> str:
    """A warning about equal GPUs on machines with different processors; "" without any."""
    processors: dict[str, dict[str, None]] = {}
    for machine in machines:
        if machine.devices and machine.processor:
            processors.setdefault(machine.kind, {})[machine.processor_text] = None
    parts = [f"{kind}: {'; '.join(texts)}" for kind, texts in processors.items() if len(texts) > 1]
    return (
        parts
        and (
            f"machines with the same GPUs have different processors ({', '.join(parts)}):"
            " measurements are ranked together, although these may matter"
        )
    ) or ""


def end_at_once() -> None:
    """Ends this process without any clean-up. The guards of its servers see it and clean up."""
    os._exit(EXIT_STATUS)


class ParentWatch:
    """A context manager with a thread, which calls `end` when the parent has died.

    A slot runs in a process of its node's raylet. When the raylet is killed, Ray reports the slot
    as dead, but the process and its server go on. Another slot would then measure beside them.
    """

    def __init__(self, end: Callable[[], None] = end_at_once) -> None:
        self._end = end
        self._parent = os.getppid()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self) -> ParentWatch:
        self._left, self._leave = os.pipe()
        try:
            self._death: int | None = os.pidfd_open(self._parent)
        except OSError:
            self._death = None  # it has just died, or this kernel cannot do it
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._leave)
        self._thread.join()
        os.close(self._left)
        if self._death is not None:
            os.close(self._death)

    def _watch(self) -> None:
        poll = select.poll()
        poll.register(self._left, select.POLLHUP)
        if self._death is not None:
            poll.register(self._death, select.POLLIN)
        # after the death, the kernel gives the process another parent
        while os.getppid() == self._parent:
            ready = poll.poll(_CHECK_MS if self._death is None else None)
            if any(descriptor == self._left for descriptor, _ in ready):
                return
        log.error("Process %d, the parent of this slot, has died: ending", self._parent)
        self._end()
