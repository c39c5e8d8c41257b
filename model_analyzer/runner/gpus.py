# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The GPUs of a run: finds and samples them through NVML, reduces the samples of a trial to
metrics, and chooses those that are present, visible to CUDA programs, and requested.

GPU metrics of a remote server, from its Prometheus metrics.
"""

from __future__ import annotations

import logging
import math
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import islice
from types import TracebackType
from typing import Any
from urllib.parse import urlsplit

from model_analyzer.domain.costs import METERED_POWER
from model_analyzer.domain.hardware import Device, name_by_memory
from model_analyzer.domain.measurements import CounterReading, Observation, Values
from model_analyzer.domain.metrics import METRICS, Reduction, Source
from model_analyzer.errors import ConfigError, Problem, wrong
from model_analyzer.runner.client.connect import headers, https_context
from model_analyzer.runner.client.interface import ServerCallError
from model_analyzer.runner.monitors.usage import Sampler

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


# The values of each GPU, by UUID, at one moment.
Sample = Mapping[str, Values]

_MB = 1e6

# The seconds between two readings of an energy counter: GPUs update it every 0.1 s or so.
_METERING_S = 0.02


@dataclass(frozen=True, slots=True)
class ObservedGpus:
    """The GPUs of a run; `read` samples given GPUs, `meter` reads their energy counters (in joules,
    by UUID), if the source has them. `driver` is its version, "" if unknown.
    """

    devices: tuple[Device, ...]
    read: Callable[[Sequence[Device]], Sample]
    driver: str = ""
    meter: Callable[[Sequence[Device]], Mapping[str, float]] | None = None

    def monitor(self, interval_s: float, *, is_metered: bool = True) -> GpuMonitor:
        """A new monitor, which reads the energy counters unless it is not metered."""
        meter = self._meter if is_metered else dict
        return GpuMonitor(lambda: self.read(self.devices), interval_s, meter=meter)

    def unknown(self) -> str:
        """The metrics that are not available, in one line, or ""."""
        sample, counters = dict(self.read(self.devices)), self._meter()
        for device in self.devices:
            if self.meter is None or device.uuid in counters:
                sample[device.uuid] = {**sample.get(device.uuid, {}), METERED_POWER: 0.0}
        return unknown_metrics(self.devices, sample)

    def _meter(self) -> Mapping[str, float]:
        return {} if self.meter is None else self.meter(self.devices)


class GpuMonitor:
    """Samples GPUs while entered, every `interval_s` seconds, and reads their energy counters, more
    often. `clock` is in seconds since the epoch.
    """

    def __init__(
        self,
        read: Callable[[], Sample],
        interval_s: float,
        *,
        meter: Callable[[], Mapping[str, float]] = dict,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._read, self._meter, self._clock = read, meter, clock
        self._samples: list[Sample] = []
        self._counters: list[CounterReading] = []
        self._stack = ExitStack()
        self._interval_s = interval_s

    def __enter__(self) -> GpuMonitor:
        if self._meter():
            interval_s = min(self._interval_s, _METERING_S)
            self._stack.enter_context(Sampler(self.read_counters, interval_s))
        # the last one ends first: its last sample is taken before utilization falls
        self._stack.enter_context(Sampler(self.look, self._interval_s))
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stack.__exit__(kind, error, trace)

    def look(self) -> None:
        """Takes a sample."""
        self._samples.append(self._read())

    def read_counters(self) -> None:
        """Reads the energy counters."""
        before_s, counters = self._clock(), self._meter()
        self._counters.append(((before_s + self._clock()) / 2, counters))

    @property
    def observation(self) -> Observation:
        return Observation(gpus=over_time(self._samples), counters=tuple(self._counters))


def over_time(samples: Sequence[Sample]) -> Mapping[str, Values]:
    """The values of each GPU, from samples in order of time."""
    readings: dict[str, dict[str, list[float]]] = {}
    for sample in samples:
        for uuid, values in sample.items():
            tags = readings.setdefault(uuid, {})
            for tag, value in values.items():
                tags.setdefault(tag, []).append(value)
    return {
        uuid: {tag: round(_reduced(tag, numbers), 1) for tag, numbers in tags.items()}
        for uuid, tags in readings.items()
    }


def _reduced(tag: str, numbers: Sequence[float]) -> float:
    reduction = METRICS[tag].over_time
    if reduction is Reduction.MEAN and len(numbers) > 1:
        numbers = numbers[1:]  # the first sample is from before the load
    return reduction.apply(numbers)


def unknown_metrics(devices: Sequence[Device], sample: Sample) -> str:
    """The metrics that are missing in `sample`, by device, in one line; "" if it is complete."""
    missing: dict[tuple[str, ...], list[str]] = {}
    for device in devices:
        tags = tuple(
            tag
            for tag, metric in METRICS.items()
            if metric.source is Source.GPU and tag not in sample.get(device.uuid, {})
        )
        if tags:
            missing.setdefault(tags, []).append(device.uuid)
    return "; ".join(f"{', '.join(tags)} of {', '.join(uuids)}" for tags, uuids in missing.items())


class Nvml:
    """The GPUs of this machine according to the driver, while entered. `gpus` is in the order of
    nvidia-smi, and empty without a driver; `driver` is its version, "" if unknown.
    """

    def __init__(self) -> None:
        self.gpus: tuple[Gpu, ...] = ()
        self.driver = ""
        self._handles: dict[str, Any] = {}
        self._is_open = False

    def __enter__(self) -> Nvml:
        import pynvml  # only when used: most machines that run the tests have no driver

        log.info("Initializing GPUDevice handles")
        try:
            pynvml.nvmlInit()
        except (pynvml.NVMLError_LibraryNotFound, pynvml.NVMLError_DriverNotLoaded) as error:
            log.debug("No GPU: %s", error)
            return self
        except pynvml.NVMLError as error:
            log.warning("GPUs cannot be used: %s (see what nvidia-smi says)", error)
            return self
        self._is_open = True
        self.driver = str(nvml_answer(pynvml.nvmlSystemGetDriverVersion) or "")
        self.gpus = tuple(self._find())
        return self

    def __exit__(self, *_: object) -> None:
        import pynvml

        if self._is_open:
            pynvml.nvmlShutdown()

    def read(self, devices: Sequence[Device]) -> Sample:
        """The current values of each device; values that cannot be read are left out."""
        return {device.uuid: _values(self._handles[device.uuid]) for device in devices}

    def meter(self, devices: Sequence[Device]) -> Mapping[str, float]:
        """The energy that each device has used since the driver was loaded, in joules; devices
        without a counter are left out.
        """
        counters = {device.uuid: _joules(self._handles[device.uuid]) for device in devices}
        return {uuid: joules for uuid, joules in counters.items() if joules is not None}

    def _find(self) -> Iterator[Gpu]:
        import pynvml

        for index in range(pynvml.nvmlDeviceGetCount()):
            try:
                handle = pynvml.nvmlDeviceGetHandleByIndex(index)
                slices = _slices(handle)
                yield Gpu(
                    self._device(handle),
                    None if slices is None else tuple(map(self._device, slices)),
                )
            except pynvml.NVMLError as error:
                log.warning("GPU %d cannot be used: %s", index, error)

    def _device(self, handle: Any) -> Device:
        import pynvml

        device = Device(
            uuid=str(pynvml.nvmlDeviceGetUUID(handle)),
            name=str(pynvml.nvmlDeviceGetName(handle)),
            memory=_values(handle).get("gpu_total_memory", 0.0),
        )
        self._handles[device.uuid] = handle
        return device


def _slices(handle: Any) -> Sequence[Any] | None:
    """The MIG devices of a GPU, or None if it is not in MIG mode."""
    import pynvml

    modes = nvml_answer(pynvml.nvmlDeviceGetMigMode, handle)
    if modes is None or modes[0] != pynvml.NVML_DEVICE_MIG_ENABLE:
        return None
    handles = (
        nvml_answer(pynvml.nvmlDeviceGetMigDeviceHandleByIndex, handle, index)
        for index in range(pynvml.nvmlDeviceGetMaxMigDeviceCount(handle))
    )
    return [slice_handle for slice_handle in handles if slice_handle is not None]


def _values(handle: Any) -> Values:
    import pynvml

    values: dict[str, float] = {}
    # Version 2 leaves out memory that the driver has reserved, like nvidia-smi.
    memory = nvml_answer(
        pynvml.nvmlDeviceGetMemoryInfo, handle, pynvml.nvmlMemory_v2
    ) or nvml_answer(pynvml.nvmlDeviceGetMemoryInfo, handle)
    if memory is not None:
        values["gpu_used_memory"] = memory.used / _MB
        values["gpu_free_memory"] = memory.free / _MB
        values["gpu_total_memory"] = memory.total / _MB
    rates = nvml_answer(pynvml.nvmlDeviceGetUtilizationRates, handle)
    if rates is not None:
        values["gpu_utilization"] = float(rates.gpu)
    milliwatts = nvml_answer(pynvml.nvmlDeviceGetPowerUsage, handle)
    if milliwatts is not None:
        values["gpu_power_usage"] = milliwatts / 1000
    return values


def _joules(handle: Any) -> float | None:
    import pynvml

    millijoules = nvml_answer(pynvml.nvmlDeviceGetTotalEnergyConsumption, handle)
    return None if millijoules is None else millijoules / 1000


def nvml_answer(ask: Callable[..., Any], *arguments: Any) -> Any:
    """The answer of NVML, or None if this device or driver has none."""
    import pynvml

    try:
        return ask(*arguments)
    except pynvml.NVMLError:
        return None


_TIMEOUT_S = 5.0

# More GPUs than any server has: a page may list millions.
_MOST_GPUS = 256

# metric of the server -> (tag, the size of one catalogue unit in the server's unit)
_METRICS: Mapping[str, tuple[str, float]] = {
    "nv_gpu_memory_used_bytes": ("gpu_used_memory", 1e6),
    "nv_gpu_memory_total_bytes": ("gpu_total_memory", 1e6),
    "nv_gpu_utilization": ("gpu_utilization", 0.01),
    "nv_gpu_power_usage": ("gpu_power_usage", 1),
}


class TritonMetrics:
    """The metrics at `url`. A failed request gives no values; the next one may succeed.

    HTTPS uses the keys, certificates and headers in perf_analyzer's `flags`. Raises ConfigError if
    one of them is invalid.
    """

    def __init__(self, url: str, flags: Mapping[str, Any]) -> None:
        from model_analyzer.runner.client.http import HttpClient

        address = urlsplit(url)
        is_https = address.scheme == "https"
        self._url = url
        self._path = address.path or "/"
        # headers may contain passwords: they are only sent encrypted
        self._client = HttpClient(
            address.hostname or "",
            address.port or (443 if is_https else 80),
            tls=https_context(flags) if is_https else None,
            headers=headers(flags) if is_https else {},
        )

    def gpus(self) -> tuple[Gpu, ...]:
        """The GPUs that the server reports. It does not know their names, so their kind is their
        memory.
        """
        served = self._get()
        if len(served) > _MOST_GPUS:
            log.warning(
                "The server's metrics name more than %d GPUs: the others are left out", _MOST_GPUS
            )
        return tuple(
            Gpu(Device(uuid=uuid, name=name_by_memory(memory), memory=memory))
            for uuid, values in islice(served.items(), _MOST_GPUS)
            for memory in (values.get("gpu_total_memory", 0.0),)
        )

    def read(self, devices: Sequence[Device]) -> Mapping[str, Values]:
        """The newest values of these devices, as far as the server reports them."""
        values = self._get()
        return {device.uuid: values[device.uuid] for device in devices if device.uuid in values}

    def _get(self) -> Mapping[str, Values]:
        try:
            return parse_gpu_metrics(self._client.text(self._path, _TIMEOUT_S))
        except (ServerCallError, ValueError, LookupError, TypeError, OverflowError) as error:
            log.debug("%s: no metrics: %s", self._url, error)
            return {}


def parse_gpu_metrics(text: str) -> Mapping[str, Values]:
    """The values of each GPU, by UUID, from the text of a metrics endpoint; if there are
    too many, of one more than any server has.

    Raises ValueError if what it says about GPUs is no metrics text.
    """
    from prometheus_client.parser import text_string_to_metric_families

    gpus: dict[str, dict[str, float]] = {}
    for family in text_string_to_metric_families("".join(_lines_of_gpus(text))):
        for sample in family.samples:
            uuid = sample.labels.get("gpu_uuid")
            if sample.name not in _METRICS or not uuid or not math.isfinite(sample.value):
                continue
            tag, unit = _METRICS[sample.name]
            gpus.setdefault(uuid, {})[tag] = sample.value / unit
    for values in gpus.values():
        if not values.get("gpu_total_memory"):
            # a value of 0 means that the server has not measured yet
            values.pop("gpu_total_memory", None)
            values.pop("gpu_used_memory", None)
        elif "gpu_used_memory" in values:
            values["gpu_free_memory"] = values["gpu_total_memory"] - values["gpu_used_memory"]
    return gpus


def _lines_of_gpus(text: str) -> Iterator[str]:
    """The first lines of each metric of GPUs: the parser keeps all samples of a metric."""
    for metric in _METRICS:
        lines = re.finditer(rf"^{metric}\b.*\n?", text, re.MULTILINE)
        for line in islice(lines, _MOST_GPUS + 1):
            yield f"{line[0].rstrip()}\n"
