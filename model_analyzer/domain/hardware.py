# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Hardware: GPUs, their kinds, and the machines on which trials are measured.

Measurements can be compared if the kind of hardware is the same. Which of several equal GPUs or
machines measured does not matter, so it is recorded, and is not part of a trial's identity.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from functools import cached_property

from model_analyzer.domain.models import fingerprint

WITHOUT_GPU = "no GPU"

MIG = "MIG"


@dataclass(frozen=True, slots=True, kw_only=True)
class Device:
    """A GPU, or a part of one (MIG), that CUDA programs can use; `memory` in MB (10^6 bytes).

    The driver's name of a MIG device has its profile: `NVIDIA A100-SXM4-40GB MIG 1g.5gb`.
    """

    uuid: str
    name: str
    memory: float

    @property
    def is_mig(self) -> bool:
        return self.uuid.startswith(f"{MIG}-")


NAMELESS = "GPU"


def name_by_memory(memory: float) -> str:
    """The name of a GPU of which only the memory (MB) is known, 0 if not even that."""
    return f"{NAMELESS} ({memory:.0f} MB)" if memory else NAMELESS


def kind_of(devices: Iterable[Device]) -> tuple[str, ...]:
    """The kind of hardware: the names of the GPUs, sorted; empty without GPUs."""
    return tuple(sorted(device.name for device in devices))


def kind_text(names: Iterable[str]) -> str:
    """The kind of hardware in words, for example `2 x NVIDIA L4`; `no GPU` without names."""
    counts = Counter(names)
    return ", ".join(f"{count} x {name}" for name, count in counts.items()) or WITHOUT_GPU


def place_text(kind: str) -> str:
    """On which kind of hardware (see `kind_text`): `on 2 x NVIDIA L4`, `without GPU`; "" if `kind`
    is "".
    """
    if kind == WITHOUT_GPU:
        return "without GPU"
    return kind and f"on {kind}"


def with_place(name: str, kind: str) -> str:
    """A name with its kind of hardware: `add on 2 x NVIDIA L4`; the name alone if `kind` is ""."""
    return f"{name} {place_text(kind)}" if kind else name


def kind_folder(kind: str) -> str:
    """A kind of hardware (see `kind_text`) as the name of a directory: `2-x-NVIDIA-L4`."""
    return re.sub(r"[^A-Za-z0-9._]+", "-", kind).strip("-.")


@dataclass(frozen=True, kw_only=True)
class Machine:
    """Where a trial was measured. Empty texts and None mean unknown.

    `host` is the name of the machine, or the address of a remote server. `devices` are the GPUs in
    use, `driver` is the version of their driver. `cores` are the CPU cores that programs may use,
    `niceness` is that of server and load generator, `threads` is their OMP_NUM_THREADS.
    """

    host: str = ""
    devices: tuple[Device, ...] = ()
    driver: str = ""
    processor: str = ""
    cores: int | None = None
    niceness: int | None = None
    threads: str = ""

    @property
    def kind(self) -> str:
        """Its kind, in words."""
        return kind_text(kind_of(self.devices))

    @property
    def processor_text(self) -> str:
        """The processor with its cores; "" if unknown."""
        return self.processor and f"{self.processor}, {self.cores} cores"

    @cached_property
    def identity(self) -> str:
        """Fingerprint of all of it."""
        return fingerprint(asdict(self))
