# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""What runs in a slot, in a process of its own: prepare, run trials, end. It knows nothing of Ray.

The driver sends an order, which builds the runner on the node: the same runner as without a
cluster. The slot measures only while it holds the lock of its host, and ends with its node. One run
at a time measures on a host; the slots of this run share it.

The kernel keeps the lock (flock) and releases it when the last slot of the run ends, however it
ends. The first slot writes the run into the lock file while it holds the lock alone; then all hold
it together. flock does not change from alone to together in one step, so whoever has the lock reads
again whose it is.

The place of the file does not depend on variables such as TMPDIR, which may differ between two runs
of a user. Its name has the boot of the machine, in case machines share the directory. Anybody can
take the name of a directory in /tmp: then the file is in the user's home.
"""

from __future__ import annotations

import fcntl
import logging
import os
import pwd
import select
import stat
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from enum import Enum
from pathlib import Path

from model_analyzer.domain.hardware import Machine
from model_analyzer.domain.measurements import Outcome
from model_analyzer.domain.models import ModelFacts
from model_analyzer.domain.protocols import Runner
from model_analyzer.domain.trials import Trial
from model_analyzer.errors import ClusterError, ConfigError, ModelAnalyzerError, RuntimeNotFound
from model_analyzer.features.cluster.child_environment import child_environment
from model_analyzer.runner.gpus import VISIBLE_DEVICES
from model_analyzer.runner.workspace import boot_id
from model_analyzer.state.node import SlotJournal
from model_analyzer.writing import open_own

# The slots of a killed driver end within seconds: its next run waits for them.
WAIT_S = 8.0

_PAUSE_S = 0.05
_MOST_HOLDER = 200


class _Held(Enum):
    """Who has the lock."""

    BY_US = "us"
    BY_ANOTHER_RUN = "another run"
    UNKNOWN = "a process that is taking it"


def _usual_directories() -> Iterator[Path]:
    user = os.getuid()
    yield Path("/tmp", f"model-analyzer-user-{user}")
    try:
        yield Path(pwd.getpwuid(user).pw_dir, ".cache", "model-analyzer")
    except KeyError:
        pass  # in a container, a user may have neither name nor home


def _is_own(directory: Path) -> bool:
    """Whether it is a directory of this user; it is created if nothing has its name."""
    try:
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        status = os.lstat(directory)
    except OSError:
        return False
    return stat.S_ISDIR(status.st_mode) and status.st_uid == os.getuid()


class HostLock:
    """A context manager: within it, only slots of this `run` measure on this host.

    The lock file is in the first of the `directories` that belongs to this user. Raises
    ClusterError if another run still measures after `wait_s` seconds.
    """

    def __init__(
        self, run: str, *, directories: Sequence[Path] = (), wait_s: float = WAIT_S
    ) -> None:
        self._run = run
        self._directories = directories or [*_usual_directories()]
        self._wait_s = wait_s
        self._file = -1

    def __enter__(self) -> HostLock:
        deadline = time.monotonic() + self._wait_s
        self._open()
        try:
            while (held := self._try()) is not _Held.BY_US:
                fcntl.flock(self._file, fcntl.LOCK_UN)  # two that wait must not hinder each other
                if time.monotonic() > deadline:
                    raise self._taken(held)
                select.select([], [], [], _PAUSE_S)
                if not self._is_in_place():
                    os.close(self._file)
                    self._open()
        except BaseException:
            self.release()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.release()

    def release(self) -> None:
        """Releases the lock; calling it twice is fine. The file stays."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1

    def _open(self) -> None:
        own = next(filter(_is_own, self._directories), None)
        if own is None:
            first = self._directories[0]
            raise ClusterError(f"{first}: is not a directory of this user: remove it")
        path = own / f"measuring-{boot_id()}"
        try:
            self._file = open_own(path, os.O_RDWR)
        except OSError as error:
            raise ClusterError(
                f"{path}: cannot be opened: {error.strerror}; it keeps two runs from measuring on"
                " one host"
            ) from error

    def _try(self) -> _Held:
        if self._lock(fcntl.LOCK_EX):
            os.ftruncate(self._file, 0)
            os.pwrite(self._file, f"{self._run} process {os.getpid()}".encode(), 0)
        is_locked = self._lock(fcntl.LOCK_SH)
        run = self._holder().partition(" ")[0]
        if run not in ("", self._run):
            return _Held.BY_ANOTHER_RUN
        return _Held.BY_US if is_locked and run and self._is_in_place() else _Held.UNKNOWN

    def _lock(self, kind: int) -> bool:
        try:
            fcntl.flock(self._file, kind | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        except OSError as error:
            raise ClusterError(f"its lock file cannot be locked: {error.strerror}") from error
        return True

    def _holder(self) -> str:
        return os.pread(self._file, _MOST_HOLDER, 0).decode(errors="replace")

    def _is_in_place(self) -> bool:
        """Whether nobody has removed the file."""
        return os.fstat(self._file).st_nlink > 0

    def _taken(self, held: _Held) -> ClusterError:
        _, _, process = self._holder().partition(" ")
        who = f"{held.value}, {process}" if process else held.value
        return ClusterError(
            f"{os.uname().nodename}: in use by {who}; wait for it, or leave this host out with"
            " --slot-label"
        )


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
