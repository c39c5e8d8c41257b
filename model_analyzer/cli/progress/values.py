# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Metrics and times in a few characters."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from model_analyzer.app.progress.events import StillMeasuring
from model_analyzer.domain.measurements import Measurement
from model_analyzer.domain.metrics import METRICS
from model_analyzer.domain.numbers import number_text

# Beginnings of tags, and how they are said in short.
_SHORT = {
    "perf_throughput": "",
    "output_token_throughput": "",
    "perf_latency_": "",
    "time_to_first_token_": "TTFT ",
    "inter_token_latency_": "ITL ",
    "gpu_used_memory": "GPU memory",
    "gpu_utilization": "GPU",
    "gpu_power_usage": "GPU",
    "cpu_used_ram": "RAM",
}


def values_text(measurement: Measurement, tags: Sequence[str], *, separator: str = " · ") -> str:
    """The metrics with their units; of several models as one, as the metric says."""
    return separator.join(_values(measurement, tags)) or "no values"


def value_text(tag: str, value: float) -> str:
    """`1,382 infer/s`, `p99 48.4 ms`."""
    return f"{_label(tag)}{number_text(value)} {unit(tag)}"


def unit(tag: str) -> str:
    return METRICS[tag].unit.short


def duration(seconds: float) -> str:
    """To about a twentieth: an estimate does not know better."""
    step = 1 if seconds < 20 else 5 if seconds < 120 else 10 if seconds < 600 else 60
    minutes, rest = divmod(round(seconds / step) * step, 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours} h {minutes:02} min"
    if step == 60 or (minutes and not rest):
        return f"{minutes} min"
    return f"{minutes} min {rest:02} s" if minutes else f"{rest} s"


def expectation_text(event: StillMeasuring) -> str:
    """`expected 1 s, given up after 41 s`: the limit is left out if it is unknown."""
    if event.expected_s is None:
        return "until its windows are stable"
    limit = "" if event.limit_s is None else f", given up after {duration(event.limit_s)}"
    return f"expected {max(event.expected_s, 1):.0f} s{limit}"


def clock(seconds: float) -> str:
    """`1:05`, `2:01:05`."""
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def _values(measurement: Measurement, tags: Sequence[str]) -> Iterator[str]:
    for tag in tags:
        value = measurement.value(tag)
        if value is not None:
            yield value_text(tag, value)


def _label(tag: str) -> str:
    for beginning, short in _SHORT.items():
        if tag.startswith(beginning):
            rest = tag.removeprefix(beginning)
            text = f"{short}{rest}"
            return f"{text} " if text else ""
    return f"{METRICS[tag].name} "
