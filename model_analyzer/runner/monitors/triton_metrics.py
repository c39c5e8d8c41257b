# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""GPU metrics of a remote server, from its Prometheus metrics."""

from __future__ import annotations

import logging
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any
from urllib.parse import urlsplit

from model_analyzer.domain.hardware import Device, name_by_memory
from model_analyzer.domain.measurements import Values
from model_analyzer.runner.client.connect import headers, https_context
from model_analyzer.runner.client.interface import ServerCallError
from model_analyzer.runner.gpus import Gpu

log = logging.getLogger(__name__)

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
