# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Chooses the GPUs of a run: present, visible to CUDA programs, and requested. Pure."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from model_analyzer.domain.hardware import Device
from model_analyzer.errors import ConfigError, Problem, wrong

log = logging.getLogger(__name__)

VISIBLE_DEVICES = "CUDA_VISIBLE_DEVICES"

_ALL = ("all",)


@dataclass(frozen=True, slots=True)
class Gpu:
    """A GPU of the machine. `slices` are its MIG devices, the only way to use it in MIG mode; None
    if it is not in MIG mode.
    """

    device: Device
    slices: tuple[Device, ...] | None = None

    @property
    def usable(self) -> tuple[Device, ...]:
        """The devices that CUDA programs can use."""
        return (self.device,) if self.slices is None else self.slices


def named_gpus(requested: Sequence[str]) -> Sequence[str]:
    """The GPUs that are requested by UUID or index; none if all are."""
    return () if tuple(requested) == _ALL else requested


def choose_gpus(
    present: Sequence[Gpu], requested: Sequence[str], variable: str | None
) -> tuple[Device, ...]:
    """The requested GPUs among the visible ones. It logs lines that upstream's users look for.

    `requested` are UUIDs or indices, or only `all`. `variable` is CUDA_VISIBLE_DEVICES, if set.
    Raises ConfigError for a GPU that does not exist or is not visible.
    """
    if not requested:
        log.info("No GPUs requested")
    chosen = select(visible(present, variable), requested)
    for index, device in chosen.items():
        log.info("Using GPU %d %s with UUID %s", index, device.name, device.uuid)
    return tuple(chosen.values())


def cuda_environment(chosen: Sequence[Device], requested: Sequence[str]) -> Mapping[str, str]:
    """The variable that limits CUDA programs to the chosen GPUs; empty if there are no GPUs."""
    if not chosen and requested:
        return {}
    return {VISIBLE_DEVICES: ",".join(device.uuid for device in chosen)}


def visible(present: Sequence[Gpu], variable: str | None) -> tuple[Device, ...]:
    """The devices of the GPUs `present` that CUDA programs see, in their order.

    Like CUDA, it reads `variable` up to the first word that names no device.
    """
    if variable is None:
        return tuple(device for gpu in present for device in gpu.usable)
    devices: dict[str, Device] = {}
    for word in variable.split(","):
        named = _named(word.strip(), present)
        if not named:
            break
        devices |= {device.uuid: device for device in named}
    return tuple(devices.values())


def _named(word: str, present: Sequence[Gpu]) -> tuple[Device, ...]:
    """The usable devices with this index, UUID or unique UUID prefix."""
    if word.isdecimal():
        return present[int(word)].usable if int(word) < len(present) else ()
    matches = [gpu.usable for gpu in present if gpu.device.uuid.startswith(word)]
    slices = [part for gpu in present for part in gpu.slices or ()]
    matches += [(part,) for part in slices if part.uuid.startswith(word)]
    return matches[0] if word and len(matches) == 1 else ()


def select(devices: Sequence[Device], requested: Sequence[str]) -> Mapping[int, Device]:
    """The requested devices by their index in `devices`, the ones that CUDA programs see.

    A CUDA program uses whole GPUs or one MIG device. So `all` means every whole GPU, or the first
    MIG device if there are only MIG devices. Raises ConfigError.
    """
    if tuple(requested) == _ALL:
        whole = {index: device for index, device in enumerate(devices) if not device.is_mig}
        return whole or dict(enumerate(devices[:1]))
    chosen: dict[int, Device] = {}
    problems = []
    for word in requested:
        index = _index(word, devices)
        if index is None:
            problems.append(
                Problem(where="gpus", message=f"there is no GPU {word} here", hint=_listed(devices))
            )
        else:
            chosen[index] = devices[index]
    if problems:
        raise ConfigError(*problems)
    if len(chosen) > 1 and any(device.is_mig for device in chosen.values()):
        raise wrong(
            "gpus",
            "a server can use one MIG device, or several GPUs without MIG",
            f"name only one of {', '.join(device.uuid for device in chosen.values())}",
        )
    return chosen


def _index(word: str, devices: Sequence[Device]) -> int | None:
    if word.isdecimal():
        return int(word) if int(word) < len(devices) else None
    return next((index for index, device in enumerate(devices) if device.uuid == word), None)


def _listed(devices: Sequence[Device]) -> str:
    if not devices:
        return "CUDA programs see none: remove the option"
    texts = (f"{index}: {device.name} {device.uuid}" for index, device in enumerate(devices))
    return "available: " + ", ".join(texts)
