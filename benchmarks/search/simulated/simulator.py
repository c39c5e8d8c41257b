# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The simulator: built with the C compiler of this machine when it is first needed, and called.

The library is kept in a directory by what it was made of, as are the curves that it gave.
"""

from __future__ import annotations

import ctypes
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from itertools import chain
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np

from benchmarks.search.machine import Floats, Setting
from benchmarks.search.simulated.server import MOST, Server, Stage

_SOURCE = Path(__file__).with_name("simulator.c")

# Without fused operations numbers are the same on all machines, as far as their libm agrees.
_FLAGS = ("-O3", "-std=c11", "-fno-math-errno", "-ffp-contract=off", "-shared", "-fPIC")

# Answers that are measured at a point, at least; and waves, where many are in flight.
_ANSWERS = 8_000
_WAVES = 10

# An open loop is measured in windows of so many seconds (as simulator.c has it), each of a server
# that was idle.
_WINDOW_S = 5
_MOST_WINDOWS = 40


class NoSimulatorError(Exception):
    """There is no C compiler, or it does not compile."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """What was measured at a point: answers per second, and their latencies (ms); and of each
    stage the mean batch and the time that one takes (ms).
    """

    throughput: float
    average_ms: float
    p99_ms: float
    steps: tuple[tuple[float, float], ...]

    @property
    def row(self) -> Sequence[float]:
        """All of it, one number after the other."""
        return (self.throughput, self.average_ms, self.p99_ms, *chain(*self.steps))


class Simulator:
    """Measures servers by simulation. `directory` is where it keeps what it can make again."""

    def __init__(self, directory: Path, environment: Mapping[str, str]) -> None:
        self._directory = directory
        self._environment = environment

    def measure(self, server: Server, settings: Sequence[Setting], load: float) -> Measured:
        """The server with these settings of its stages (`Server.effective`) under a load: requests
        in flight, or per second in an open loop. The same every time.

        Raises NoSimulatorError.
        """
        seed = crc32(repr((settings, load)).encode())
        windows, room = 1, max(_ANSWERS, _WAVES * int(load))
        if server.open_loop:
            windows = min(int(_ANSWERS / (load * _WINDOW_S)) + 1, _MOST_WINDOWS)
            # twice what can be expected
            room = int(2 * load * _WINDOW_S) + 64
        structure = _structure(server, settings)
        works = (_Work * len(settings))()
        samples, count, elapsed_ms = [], 0, 0.0
        for window in range(windows):
            latencies = np.empty(room)
            elapsed = ctypes.c_double()
            measured = self._library.simulate(
                ctypes.byref(structure), load, seed + window,
                latencies.ctypes.data_as(_Doubles), room, ctypes.byref(elapsed), works,
            )  # fmt: skip
            samples.append(latencies[:measured])
            count += measured
            elapsed_ms += elapsed.value
        latencies = np.concatenate(samples)
        return Measured(
            throughput=1000 * count / elapsed_ms,
            average_ms=float(latencies.mean()),
            p99_ms=float(np.quantile(latencies, 0.99)),
            steps=tuple(work.means for work in works),
        )

    def curves(
        self, server: Server, settings: Sequence[tuple[Setting, ...]], loads: Sequence[int]
    ) -> Floats:
        """The row of each of the settings under each load, made once.

        Raises NoSimulatorError.
        """
        parts = [
            _SOURCE.read_text(),
            server.text,
            settings,
            loads,
            _ANSWERS,
            _WAVES,
            _MOST_WINDOWS,
        ]
        path = self._directory / f"{_digest(repr(parts))}.npy"
        if path.exists():
            return np.asarray(np.load(path))
        table = np.asarray([self.curve(server, choice, loads) for choice in settings])
        with self._whole(path) as new:
            np.save(new, table)
        return table

    def curve(self, server: Server, settings: Sequence[Setting], loads: Sequence[int]) -> Floats:
        """As `curves`, for one choice of settings."""
        return np.asarray([self.measure(server, settings, load).row for load in loads])

    @cached_property
    def _library(self) -> ctypes.CDLL:
        path = self._directory / f"{_digest(_SOURCE.read_text() + repr(_FLAGS))}.so"
        if not path.exists():
            self._build(path)
        library = ctypes.CDLL(str(path))
        library.simulate.restype = ctypes.c_long
        library.simulate.argtypes = [
            ctypes.POINTER(_Server), ctypes.c_double, ctypes.c_uint64, _Doubles, ctypes.c_long,
            _Doubles, ctypes.POINTER(_Work),
        ]  # fmt: skip
        return library

    def _build(self, path: Path) -> None:
        compiler = self._compiler()
        with self._whole(path) as new:
            command = [*compiler, *_FLAGS, "-o", str(new), str(_SOURCE), "-lm"]
            done = subprocess.run(command, check=False, capture_output=True, text=True)
            if done.returncode != 0:
                why = (done.stderr.strip().splitlines() or [f"status {done.returncode}"])[-1]
                raise NoSimulatorError(f"{shlex.join(command)} failed: {why}")

    def _compiler(self) -> Sequence[str]:
        given = shlex.split(self._environment.get("CC", ""))
        candidates = [given] if given else [["cc"], ["gcc"], ["clang"]]
        for command in candidates:
            if shutil.which(command[0], path=self._environment.get("PATH", "")):
                return command
        names = ", ".join(command[0] for command in candidates)
        raise NoSimulatorError(
            f"a C compiler is needed to build the simulator, and {names} cannot be found:"
            " install one (on Debian and Ubuntu: gcc and libc6-dev), or name it in CC"
        )

    @contextmanager
    def _whole(self, path: Path) -> Iterator[Path]:
        """Where to write what is to be at `path`, which is there as a whole or not at all."""
        self._directory.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=self._directory) as made:
            new = Path(made) / path.name
            yield new
            new.replace(path)


# -- the structures of simulator.c -----------------------------------------------------------------

_Doubles = ctypes.POINTER(ctypes.c_double)


class _Stage(ctypes.Structure):
    _fields_ = (
        ("instances", ctypes.c_int),
        ("batch_limit", ctypes.c_int),
        ("delay_ms", ctypes.c_double),
        ("cores", ctypes.c_double),
        ("phase_ms", _Doubles * 3),
        ("occupancy", _Doubles),
    )


class _Work(ctypes.Structure):
    _fields_ = tuple((name, ctypes.c_double) for name in ("batches", "requests", "busy_ms"))

    @property
    def means(self) -> tuple[float, float]:
        """Requests and milliseconds of a batch; nearly none of a stage that did nothing."""
        batches = max(self.batches, 1.0)
        return max(self.requests / batches, 1.0), max(self.busy_ms / batches, 1e-9)


_WHOLE = ("stage_count", "open_loop", "front_workers")
_REAL = (
    "front_ms", "front_crowd", "front_crowd_power", "front_jitter", "network_ms", "cores",
    "core_thrash", "link_share", "interference", "device_thrash", "clock_drop", "clock_from",
    "clock_ms", "pause_every", "pause_ms", "jitter",
)  # fmt: skip


class _Server(ctypes.Structure):
    _fields_ = (
        ("stages", ctypes.POINTER(_Stage)),
        *((name, ctypes.c_int) for name in _WHOLE),
        *((name, ctypes.c_double) for name in _REAL),
    )


def _structure(server: Server, settings: Sequence[Setting]) -> _Server:
    stages = [
        _stage_structure(stage, setting)
        for stage, setting in zip(server.stages.values(), settings, strict=True)
    ]
    return _Server(
        stages=(_Stage * len(stages))(*stages),
        stage_count=len(stages),
        **{name: getattr(server, name) for name in chain(_WHOLE[1:], _REAL)},
    )


def _stage_structure(stage: Stage, setting: Setting) -> _Stage:
    if setting.batch_limit > MOST:
        raise ValueError(f"times are given for batches of up to {MOST}, not {setting.batch_limit}")
    slower = 1 + stage.slowdown * (setting.instances - 1)
    phases = [slower * phase for phase in (stage.launch_ms, stage.copy_ms, stage.compute_ms)]
    return _Stage(
        instances=setting.instances,
        batch_limit=setting.batch_limit,
        delay_ms=setting.delay_us / 1000,
        cores=stage.cores,
        phase_ms=(_Doubles * 3)(*map(_array, phases)),
        occupancy=_array(stage.occupancy),
    )


def _array(values: Floats) -> Any:
    """A copy that lives as long as the structure it is put into, as one of numpy would not."""
    return (ctypes.c_double * len(values))(*values.tolist())


def _digest(text: str) -> str:
    return sha256(text.encode()).hexdigest()[:16]
