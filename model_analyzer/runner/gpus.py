# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Which GPUs a run uses: those that are here, may be seen, and were asked for. Pure."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from model_analyzer.domain.profiles import Device
from model_analyzer.errors import ConfigError, Problem

log = logging.getLogger(__name__)

VISIBLE_DEVICES = "CUDA_VISIBLE_DEVICES"

_ALL = ("all",)


@dataclass(frozen=True, slots=True)
class Gpu:
    """A GPU of the machine. One in MIG mode is used through its `slices` only; None: it is not."""

    device: Device
    slices: tuple[Device, ...] | None = None

    @property
    def usable(self) -> tuple[Device, ...]:
        """What CUDA programs can name."""
        return (self.device,) if self.slices is None else self.slices


def choose_gpus(
    present: Sequence[Gpu], requested: Sequence[str], variable: str | None
) -> tuple[Device, ...]:
    """The requested GPUs among those that `variable` (CUDA_VISIBLE_DEVICES, if set) leaves, with
    the log lines that scripts know.

    `requested` are UUIDs or indices, or `all` alone. Raises ConfigError for one that is not there.
    """
    if not requested:
        log.info("No GPUs requested")
    chosen = select(visible(present, variable), requested)
    for index, device in chosen.items():
        log.info("Using GPU %d %s with UUID %s", index, device.name, device.uuid)
    return tuple(chosen.values())


def cuda_environment(chosen: Sequence[Device], requested: Sequence[str]) -> Mapping[str, str]:
    """What makes CUDA programs use just these; nothing where there is no GPU to keep from them."""
    if not chosen and requested:
        return {}
    return {VISIBLE_DEVICES: ",".join(device.uuid for device in chosen)}


def visible(present: Sequence[Gpu], variable: str | None) -> tuple[Device, ...]:
    """What CUDA programs see of the GPUs `present`, in their order.

    As CUDA does, it reads `variable` up to the first word that names nothing.
    """
    if variable is None:
        return tuple(device for gpu in present for device in gpu.usable)
    seen: dict[str, Device] = {}
    for word in variable.split(","):
        named = _named(word.strip(), present)
        if not named:
            break
        seen |= {device.uuid: device for device in named}
    return tuple(seen.values())


def _named(word: str, present: Sequence[Gpu]) -> tuple[Device, ...]:
    """The usable devices that an index, a UUID or its beginning stands for."""
    if word.isdecimal():
        return present[int(word)].usable if int(word) < len(present) else ()
    found = [gpu.usable for gpu in present if gpu.device.uuid.startswith(word)]
    found += [(part,) for gpu in present for part in gpu.slices or () if part.uuid.startswith(word)]
    return found[0] if word and len(found) == 1 else ()


def select(seen: Sequence[Device], requested: Sequence[str]) -> Mapping[int, Device]:
    """The requested devices by their index among those that CUDA programs see.

    A CUDA program uses whole GPUs or one MIG device. So `all` is every whole GPU, or the first
    MIG device where there are no others.
    """
    if tuple(requested) == _ALL:
        whole = {index: device for index, device in enumerate(seen) if not device.is_mig}
        return whole or dict(enumerate(seen[:1]))
    chosen: dict[int, Device] = {}
    problems = []
    for word in requested:
        index = _index(word, seen)
        if index is None:
            problems.append(
                Problem(where="gpus", what=f"there is no GPU {word} here", hint=_listed(seen))
            )
        else:
            chosen[index] = seen[index]
    if problems:
        raise ConfigError(*problems)
    if len(chosen) > 1 and any(device.is_mig for device in chosen.values()):
        raise ConfigError(
            Problem(
                where="gpus",
                what="a server can use one MIG device, or several GPUs without MIG",
                hint=f"name only one of {', '.join(device.uuid for device in chosen.values())}",
            )
        )
    return chosen


def _index(word: str, seen: Sequence[Device]) -> int | None:
    if word.isdecimal():
        return int(word) if int(word) < len(seen) else None
    found = [index for index, device in enumerate(seen) if device.uuid == word]
    return found[0] if found else None


def _listed(seen: Sequence[Device]) -> str:
    if not seen:
        return "CUDA programs see none: remove the option"
    known = (f"{index}: {device.name} {device.uuid}" for index, device in enumerate(seen))
    return "there are " + ", ".join(known)
