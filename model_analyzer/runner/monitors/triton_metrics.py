# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""GPUs as a Triton server sees them, from its Prometheus metrics: for servers elsewhere."""

from __future__ import annotations

import http.client
import logging
import math
import urllib.request
from collections.abc import Mapping, Sequence
from typing import Any

from model_analyzer.domain.measurements import Values
from model_analyzer.domain.profiles import Device
from model_analyzer.runner.client.tls import headers, https_context
from model_analyzer.runner.gpus import Gpu

log = logging.getLogger(__name__)

_TIMEOUT_S = 5.0
_MOST_BYTES = 16 * 2**20

# metric of the server -> (tag, what one unit of the catalogue is in the server's unit)
_METRICS: Mapping[str, tuple[str, float]] = {
    "nv_gpu_memory_used_bytes": ("gpu_used_memory", 1e6),
    "nv_gpu_memory_total_bytes": ("gpu_total_memory", 1e6),
    "nv_gpu_utilization": ("gpu_utilization", 0.01),
    "nv_gpu_power_usage": ("gpu_power_usage", 1),
}


class TritonMetrics:
    """The metrics at `url`. A request that fails gives no values, and the next one may succeed.

    Over HTTPS, with the keys, certificates and headers of perf_analyzer's `flags`. Raises
    ConfigError if one of them cannot be used.
    """

    def __init__(self, url: str, flags: Mapping[str, Any]) -> None:
        self._request = urllib.request.Request(url)
        # the address of a server, which a proxy for the web has no business with
        handlers: list[urllib.request.BaseHandler] = [urllib.request.ProxyHandler({})]
        if url.startswith("https:"):
            handlers.append(urllib.request.HTTPSHandler(context=https_context(flags)))
            for name, value in headers(flags).items():
                self._request.add_unredirected_header(name, value)
        self._opener = urllib.request.build_opener(*handlers)

    def gpus(self) -> tuple[Gpu, ...]:
        """The GPUs that the server reports. It does not tell their names."""
        return tuple(
            Gpu(Device(uuid=uuid, name="GPU", memory=values.get("gpu_total_memory", 0.0)))
            for uuid, values in self._get().items()
        )

    def read(self, devices: Sequence[Device]) -> Mapping[str, Values]:
        """The newest values of those devices that the server reports."""
        values = self._get()
        return {device.uuid: values[device.uuid] for device in devices if device.uuid in values}

    def _get(self) -> Mapping[str, Values]:
        try:
            with self._opener.open(self._request, timeout=_TIMEOUT_S) as answer:
                text = answer.read(_MOST_BYTES).decode(errors="replace")
            return parse_gpu_metrics(text)
        except (OSError, http.client.HTTPException, ValueError) as error:
            log.debug("%s: no metrics: %s", self._request.full_url, error)
            return {}


def parse_gpu_metrics(text: str) -> Mapping[str, Values]:
    """The values of each GPU, by UUID, in the text of a metrics endpoint.

    Raises ValueError if the text is none.
    """
    from prometheus_client.parser import text_string_to_metric_families

    gpus: dict[str, dict[str, float]] = {}
    for family in text_string_to_metric_families(text):
        for sample in family.samples:
            uuid = sample.labels.get("gpu_uuid")
            if sample.name not in _METRICS or not uuid or not math.isfinite(sample.value):
                continue
            tag, unit = _METRICS[sample.name]
            gpus.setdefault(uuid, {})[tag] = sample.value / unit
    for values in gpus.values():
        if not values.get("gpu_total_memory"):
            # no GPU has none: the server has not looked yet
            values.pop("gpu_total_memory", None)
            values.pop("gpu_used_memory", None)
        elif "gpu_used_memory" in values:
            values["gpu_free_memory"] = values["gpu_total_memory"] - values["gpu_used_memory"]
    return gpus
