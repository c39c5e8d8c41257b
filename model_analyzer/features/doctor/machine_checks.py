# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The machine while it should be idle: load, memory, CPU frequencies, time of day; GPUs, with their
driver, MIG and other programs that use them; what limits this process and its children: control
groups (containers) and ulimits; and directories and shared memory: whether there is space, and
whether we may read and write.
"""

from __future__ import annotations

import ctypes
import os
import resource
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import psutil

from model_analyzer.domain.secrets import masked_url
from model_analyzer.domain.words import counted
from model_analyzer.errors import ConfigError, RepositoryError
from model_analyzer.features.doctor.findings import Finding, ok, problem, warning
from model_analyzer.runner.gpus import VISIBLE_DEVICES, Gpu, Nvml, nvml_answer, select, visible
from model_analyzer.runner.host import ControlGroup, Destination, kernel_text, read_group
from model_analyzer.runner.install import Platform
from model_analyzer.runner.repository import LAYOUT
from model_analyzer.runner.repository_copy import list_repository

_LOOK_S = 0.3
_BUSY_SHARE = 0.3
_LEAST_MEMORY_GIB = 1.0

_UNSYNCHRONISED = 5  # TIME_ERROR of adjtimex
_TIMEX_BYTES = 512  # more than its struct has on any platform

_GIB = 2**30
_LEAST_MEMORY = 2 * _GIB
_LEAST_TASKS = 500  # threads of a server, its models and a load generator
_BASIC_FILES = 256  # files that the server and the load generator always open


def judge_platform(here: Platform, *, has_program: bool) -> Finding:
    """`has_program`: whether a perf_analyzer starts, wherever it comes from."""
    unfit = here.unfit
    if unfit is None or has_program:
        return ok("platform", str(here))
    return problem("platform", f"no perf_analyzer starts here: {unfit[0]}", unfit[1])


@dataclass(frozen=True, slots=True, kw_only=True)
class MachineLoad:
    """The cores that we may use, the average load of the last minute, the share of the CPU time
    (0 to 1) in use now, and its users: program names with cores.
    """

    cores: int
    average: float
    share: float
    users: Sequence[tuple[str, float]]


def read_load() -> MachineLoad:
    """Observes the machine for a third of a second."""
    processes = [process for process in psutil.process_iter() if process.pid != os.getpid()]
    for process in processes:
        _percent(process)
    share = psutil.cpu_percent(interval=_LOOK_S) / 100
    used: Counter[str] = Counter()
    for process in processes:
        name, percent = _percent(process)
        used[name] += round(percent)
    return MachineLoad(
        cores=len(os.sched_getaffinity(0)),
        average=os.getloadavg()[0],
        share=share,
        users=[(name, percent / 100) for name, percent in used.most_common(3)],
    )


def _percent(process: psutil.Process) -> tuple[str, float]:
    """The name of a process and its CPU use in percent since the last call; ("", 0.0) if it has
    ended.
    """
    try:
        return process.name(), process.cpu_percent()
    except psutil.Error:
        return "", 0.0


def judge_load(load: MachineLoad) -> Finding:
    used = f"{100 * load.share:.0f} % of the CPU time used"
    state = f"{load.cores} cores, load {load.average:.1f}, {used}"
    if load.share <= _BUSY_SHARE and load.average <= 0.5 * load.cores:
        return ok("load", state)
    users = ", ".join(f"{name} ({cores:.1f} cores)" for name, cores in load.users if cores >= 0.1)
    if users:
        state = f"{state}, most of it by {users}"
    return warning("load", state, "stop other programs: measurements will be noisy")


def read_memory() -> float:
    """Memory that is available without swapping, in GiB."""
    return psutil.virtual_memory().available / _GIB


def judge_memory(available_gib: float) -> Finding:
    state = f"{available_gib:.1f} GiB available"
    if available_gib < _LEAST_MEMORY_GIB:
        return warning("memory", f"{state}: models may not load", "stop other programs")
    return ok("memory", state)


def read_governors(root: Path = Path("/")) -> frozenset[str]:
    """The frequency governors of the processors; none if they are not visible."""
    cpus = root / "sys/devices/system/cpu"
    governors = map(kernel_text, cpus.glob("cpu[0-9]*/cpufreq/scaling_governor"))
    return frozenset(filter(None, governors))


def judge_governors(governors: frozenset[str]) -> Finding:
    name = "CPU frequency"
    if not governors:
        return ok(name, "unknown (virtual machine or container)")
    state = f"governor {', '.join(sorted(governors))}"
    if governors == {"performance"}:
        return ok(name, state)
    return warning(
        name,
        f"{state}: the frequency follows the load, which changes latencies",
        "`cpupower frequency-set -g performance` (as root)",
    )


def read_synchronised() -> bool | None:
    """Whether NTP synchronizes the clock, according to the kernel; None if unknown."""
    try:
        state = ctypes.CDLL(None).adjtimex(ctypes.create_string_buffer(_TIMEX_BYTES))
    except (OSError, AttributeError):
        return None
    return None if state < 0 else state != _UNSYNCHRONISED


def judge_time_of_day(synchronised: bool | None) -> Finding:
    """A finding for runs that compare the time with other machines."""
    if synchronised is False:
        return warning(
            "clock",
            "not synchronized by NTP: certificates may be refused, and times in shared checkpoints"
            " may be out of order",
            "`timedatectl set-ntp true` (as root, on the host)",
        )
    return ok("clock", "synchronized by NTP" if synchronised else "synchronization is unknown")


def judge_group(group: ControlGroup, *, cores: int, memory: int) -> Iterator[Finding]:
    """`cores` and `memory` (bytes) are those of the machine."""
    if group.cores is not None and group.cores < cores:
        text = f"{group.cores:g} of {cores} cores"
        if group.throttled:
            text += f", reached {group.throttled} times so far"
        yield warning(
            "CPU limit",
            f"{text}: at the limit, the server and perf_analyzer are paused",
            "raise the limit of the container (`docker run --cpus`, resources.limits.cpu), or"
            " reserve whole cores (`--cpuset-cpus`)",
        )
    if group.memory is not None and group.memory < memory:
        free = group.memory - group.memory_used
        text = f"{group.memory / _GIB:.1f} GiB, of which {free / _GIB:.1f} GiB are free"
        if free < _LEAST_MEMORY:
            yield warning(
                "memory limit",
                f"{text}: processes that need more are killed",
                "raise the limit of the container (`docker run --memory`, resources.limits.memory)",
            )
        else:
            yield ok("memory limit", text)
    if group.tasks is not None and group.tasks - group.tasks_used < _LEAST_TASKS:
        yield warning(
            "process limit",
            f"only {group.tasks - group.tasks_used} more processes and threads are allowed",
            "raise the limit of the container (`docker run --pids-limit`)",
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Ulimits:
    """Limits of open files for each process (`files`; it can be raised to `most_files`) and of
    processes for this user; -1 means no limit.
    """

    files: int
    most_files: int
    processes: int


def read_ulimits() -> Ulimits:
    files, most_files = resource.getrlimit(resource.RLIMIT_NOFILE)
    return Ulimits(
        files=files,
        most_files=most_files,
        processes=resource.getrlimit(resource.RLIMIT_NPROC)[0],
    )


def judge_ulimits(limits: Ulimits, *, connections: int) -> Finding:
    """`connections` is the number that the load generator may open at once."""
    needed = connections + _BASIC_FILES
    if 0 <= limits.files < needed:
        can = limits.most_files < 0 or limits.most_files >= needed
        return warning(
            "ulimits",
            f"{limits.files} open files, but the search may open {connections} connections",
            f"`ulimit -n {needed}`" if can else f"as root, raise nofile to {needed} or more",
        )
    if 0 <= limits.processes < _LEAST_TASKS:
        return warning(
            "ulimits",
            f"only {limits.processes} processes and threads for this user",
            f"`ulimit -u {8 * _LEAST_TASKS}` (as root if it is refused)",
        )
    return ok("ulimits", f"{limits.files} open files")


def check_group() -> Iterator[Finding]:
    cores, memory = len(os.sched_getaffinity(0)), psutil.virtual_memory().total
    findings = list(judge_group(read_group(), cores=cores, memory=memory))
    yield from findings or [ok("container limits", "none on CPU time and memory")]


_MIB = 2**20
_LEAST_SHM_MIB = 64
_LEAST_DISK_MIB = 500
_LEAST_INODES = 1000
_FIX_REPOSITORY = "check --model-repository"


def judge_place(name: str, option: str, place: Destination, *, needed_mib: float = 0) -> Finding:
    """`needed_mib` is the least space that the run needs there; `option` sets the directory."""
    state = f"{place.path}, {_room(place.free_mib)} free"
    choose = f"or choose another directory with {option}"
    if place.reason:
        return problem(
            name,
            f"{place.path} cannot be written: {place.reason}",
            f"see `ls -ld {place.existing}`, {choose}",
        )
    if place.free_mib < needed_mib:
        return problem(
            name,
            f"{state}, but the models alone need {_room(needed_mib)}",
            f"free some space, {choose}",
        )
    if place.free_mib < _LEAST_DISK_MIB:
        return warning(name, state, f"free some space, {choose}")
    if place.inodes is not None and place.inodes < _LEAST_INODES:
        return warning(
            name,
            f"{state}, but only for {place.inodes} more files (inodes)",
            f"remove files there, {choose}",
        )
    return ok(name, state)


def size_mib(directories: Sequence[Path]) -> float:
    """The total size of the files in these directories, in MiB."""
    total = 0
    for directory in directories:
        for root, _, files in os.walk(directory):
            for name in files:
                try:
                    total += os.stat(os.path.join(root, name)).st_size
                except OSError:
                    continue  # the check of the repository reports unreadable files
    return total / _MIB


def check_store(url: str, environment: Mapping[str, str]) -> Finding:
    """Whether this machine can list the model repository that a URL names."""
    name = "model repository"
    try:
        listing = list_repository(url, environment)
    except (RepositoryError, ConfigError) as error:
        return problem(name, str(error), f"{_FIX_REPOSITORY}, and the credentials on this machine")
    return ok(name, f"{masked_url(url)}: {listing}")


def check_readable(name: str, path: Path, models: Sequence[str] | None) -> Finding:
    """Whether every file of these models (None: of all models) is readable."""
    try:
        inside = sorted(entry for entry in os.listdir(path) if not entry.startswith("."))
    except FileNotFoundError:
        return problem(name, f"{path} does not exist", _FIX_REPOSITORY)
    except OSError as error:
        return problem(name, f"{path} cannot be read: {error.strerror}", _FIX_REPOSITORY)
    if not any(os.path.isdir(path / entry) for entry in inside):
        return problem(name, f"{path} contains no model", f"{_FIX_REPOSITORY}; {LAYOUT}")
    unreadable = [
        file
        for model in (inside if models is None else models)
        for file in _unreadable(path / model)
    ]
    if unreadable:
        more = f" and {len(unreadable) - 1} more" if len(unreadable) > 1 else ""
        return problem(
            name,
            f"user {os.geteuid()} may not read {unreadable[0]}{more}",
            f"`chmod -R a+rX {path}` (as their owner)",
        )
    return ok(name, f"{path} is readable")


def _unreadable(path: Path) -> Iterator[Path]:
    for root, directories, files in os.walk(path):
        for name in (*directories, *files):
            entry = Path(root, name)
            needed = os.R_OK | os.X_OK if name in directories else os.R_OK
            if entry.exists() and not os.access(entry, needed):
                yield entry


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedMemory:
    """/dev/shm: its size and free space in MiB. `reason` says why it cannot be used, or is ""."""

    size_mib: float
    free_mib: float
    reason: str


def read_shared_memory(path: Path = Path("/dev/shm")) -> SharedMemory:
    try:
        system = os.statvfs(path)
    except OSError as error:
        return SharedMemory(size_mib=0, free_mib=0, reason=error.strerror or str(error))
    return SharedMemory(
        size_mib=system.f_blocks * system.f_frsize / _MIB,
        free_mib=system.f_bavail * system.f_frsize / _MIB,
        reason="" if os.access(path, os.W_OK | os.X_OK) else "not writable",
    )


def judge_shared_memory(memory: SharedMemory) -> Finding:
    name = "/dev/shm"
    if memory.reason == "not writable":
        return problem(name, memory.reason, "`chmod 1777 /dev/shm` (as root)")
    if memory.reason:
        return problem(
            name,
            f"cannot be used: {memory.reason}",
            "models of the Python backend need it: `mount -t tmpfs tmpfs /dev/shm` (as root)",
        )
    state = f"{_room(memory.size_mib)}, of which {_room(memory.free_mib)} are free"
    if memory.free_mib < _LEAST_SHM_MIB:
        return warning(
            name,
            f"{state}: each instance of a Python model needs 1 MiB plus its tensors",
            "remove old files there; in a container: `docker run --shm-size 1g`",
        )
    return ok(name, state)


def _room(mib: float) -> str:
    return f"{mib / 1024:.1f} GiB" if mib >= 1024 else f"{mib:.0f} MiB"


@dataclass(frozen=True, slots=True, kw_only=True)
class GpuState:
    """A GPU, and the number of `programs` that compute on it now; None if unknown."""

    gpu: Gpu
    programs: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Driver:
    """The NVIDIA driver according to NVML. If NVML is missing (`is_missing`), `on_host` says
    whether the kernel has the driver. `error` is the reason why NVML does not start, or "".
    """

    version: str = ""
    gpus: tuple[GpuState, ...] = ()
    is_missing: bool = False
    on_host: bool = False
    error: str = ""


def read_driver(root: Path = Path("/")) -> Driver:
    import pynvml  # only when used, as in the monitor

    try:
        pynvml.nvmlInit()
    except (pynvml.NVMLError_LibraryNotFound, pynvml.NVMLError_DriverNotLoaded):
        on_host = (root / "proc/driver/nvidia/version").exists()
        return Driver(is_missing=True, on_host=on_host)
    except pynvml.NVMLError as error:
        return Driver(error=str(error))
    try:
        with Nvml() as nvml:
            return Driver(
                version=str(nvml_answer(pynvml.nvmlSystemGetDriverVersion) or "of unknown version"),
                gpus=tuple(map(_state, nvml.gpus)),
            )
    finally:
        pynvml.nvmlShutdown()


def _state(gpu: Gpu) -> GpuState:
    import pynvml

    handle = nvml_answer(pynvml.nvmlDeviceGetHandleByUUID, gpu.device.uuid)
    programs = nvml_answer(pynvml.nvmlDeviceGetComputeRunningProcesses, handle)
    return GpuState(
        gpu=gpu,
        programs=None if programs is None else len(programs),
    )


def judge_driver(
    driver: Driver, *, requested: Sequence[str], variable: str | None
) -> Iterator[Finding]:
    """`requested` are the GPUs of the options; `variable` is CUDA_VISIBLE_DEVICES, if set."""
    if driver.error:
        yield warning(
            "GPU driver",
            f"does not answer: {driver.error}",
            "check the output of `nvidia-smi`; reboot after an update of the driver",
        )
    elif driver.on_host:
        yield warning(
            "GPU driver",
            "the kernel has an NVIDIA driver, but its libraries are missing",
            "start the container with `docker run --gpus all` (NVIDIA Container Toolkit)",
        )
    elif driver.gpus:
        yield ok("GPU driver", driver.version)
    for state in driver.gpus:
        yield _gpu(state)
    yield _chosen([state.gpu for state in driver.gpus], requested, variable)


def _gpu(state: GpuState) -> Finding:
    gpu = state.gpu
    name = "GPU"
    mig = "" if gpu.slices is None else f", MIG mode with {len(gpu.slices)} devices"
    text = f"{gpu.device.name}, {gpu.device.uuid}{mig}"
    if gpu.slices == ():
        return warning(
            name,
            f"{text}: programs cannot use it",
            "`nvidia-smi -mig 0` ends MIG mode (as root); or create a device:"
            " `nvidia-smi mig -lgip` lists the profiles, and `nvidia-smi mig -cgi 0 -C` creates a"
            " device with profile 0",
        )
    if state.programs:
        count = counted(state.programs, "program")
        return warning(
            name,
            f"{text}, in use by {count}: measurements will be noisy",
            "`nvidia-smi` lists the programs; stop them",
        )
    return ok(name, text)


def _chosen(present: Sequence[Gpu], requested: Sequence[str], variable: str | None) -> Finding:
    name = "GPUs of a run"
    try:
        chosen = select(visible(present, variable), requested)
    except ConfigError as error:
        (first, *_) = error.problems
        return problem(name, first.message, first.hint)
    if chosen:
        return ok(name, ", ".join(device.uuid for device in chosen.values()))
    if requested and any(gpu.usable for gpu in present) and variable is not None:
        return warning(
            name,
            f"none: {VISIBLE_DEVICES}={variable!r} hides all GPUs",
            f"`unset {VISIBLE_DEVICES}`, or name existing GPUs in it",
        )
    return ok(name, "none: the search uses instances of KIND_CPU")


def check_gpus(requested: Sequence[str], variable: str | None) -> Iterator[Finding]:
    yield from judge_driver(read_driver(), requested=requested, variable=variable)
