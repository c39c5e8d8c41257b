# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Figures of a run and spans of its measurements, sent to a collector of OpenTelemetry."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.metrics import CallbackOptions, Observation
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import PeriodicExportingMetricReader
from opentelemetry.sdk.resources import SERVICE_NAME, SERVICE_VERSION, Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.trace import set_span_in_context

from model_analyzer import __version__
from model_analyzer.domain.words import shortened
from model_analyzer.features.monitoring.facts.told_progress import FIGURES, Figure

log = logging.getLogger(__name__)

_NAME = "model-analyzer"

# A collector that does not answer may delay the end of a run by so long, twice.
_PATIENCE_S = 2.0
_EVERY_S = 5.0


class OpenTelemetry:
    """Sends what `figures` gives every few seconds, and a span for each measurement, below one for
    the run, to the `endpoint`: the URL of a collector, without the paths of its kinds.
    """

    def __init__(self, endpoint: str, figures: Callable[[], Sequence[Figure]]) -> None:
        library = logging.getLogger("opentelemetry")
        library.handlers, library.propagate = [_FirstError(endpoint)], False
        self._figures = figures
        place = (endpoint if "://" in endpoint else f"http://{endpoint}").rstrip("/")
        about = Resource.create({SERVICE_NAME: _NAME, SERVICE_VERSION: __version__})
        reader = PeriodicExportingMetricReader(
            OTLPMetricExporter(f"{place}/v1/metrics", timeout=_PATIENCE_S),
            export_interval_millis=1000 * _EVERY_S,
            export_timeout_millis=1000 * _PATIENCE_S,
        )
        self._metrics = MeterProvider([reader], resource=about, shutdown_on_exit=False)
        meter = self._metrics.get_meter(_NAME, __version__)
        for name, text in FIGURES.items():
            meter.create_observable_gauge(
                f"model_analyzer.{name}", [partial(self._observed, name)], description=text
            )
        self._traces = TracerProvider(resource=about, shutdown_on_exit=False)
        spans = OTLPSpanExporter(f"{place}/v1/traces", timeout=_PATIENCE_S)
        self._traces.add_span_processor(BatchSpanProcessor(spans))
        self._tracer = self._traces.get_tracer(_NAME, __version__)
        self._run = self._tracer.start_span("run")

    def _observed(self, name: str, _: CallbackOptions) -> Iterator[Observation]:
        for each, value, labels in self._figures():
            if each == name:
                yield Observation(value, labels)

    def take(self, event: Mapping[str, Any]) -> None:
        """A measurement of this run becomes a span."""
        if event["event"] in ("trial_finished", "trial_failed") and not event["known"]:
            began, ended = event["started"], event["started"] + event["duration_s"]
            self._tracer.start_span(
                "measurement",
                set_span_in_context(self._run),
                attributes=_attributes(event),
                start_time=round(began * 1e9),
            ).end(round(ended * 1e9))

    def close(self) -> None:
        self._run.end()
        self._traces.shutdown()
        self._metrics.shutdown(timeout_millis=1000 * _PATIENCE_S)


def _attributes(event: Mapping[str, Any]) -> Mapping[str, Any]:
    """What was measured, by the names of docs/progress.md; of several models, with theirs."""
    found = {**event, **event.get("metrics", {})}
    for work in event["workloads"]:
        prefix = f"{work['model']}." if len(event["workloads"]) > 1 else ""
        found |= {f"{prefix}{name}": value for name, value in work.items()}
    return {name: value for name, value in found.items() if isinstance(value, str | int | float)}


class _FirstError(logging.Handler):
    """Warns once, in a line of our own, instead of the library's for each attempt."""

    def __init__(self, endpoint: str) -> None:
        super().__init__(logging.ERROR)
        self._endpoint = endpoint

    def emit(self, record: logging.LogRecord) -> None:
        self.setLevel(logging.CRITICAL + 1)
        reason = shortened(record.getMessage(), 200)
        log.warning("--otlp: %s does not get all figures: %s", self._endpoint, reason)
