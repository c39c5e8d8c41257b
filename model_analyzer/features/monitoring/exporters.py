# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Figures of a run while it measures: served to Prometheus, sent to a collector of OpenTelemetry.

What goes wrong with that is a warning, and the run goes on.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from importlib import import_module
from typing import Any

from prometheus_client import CollectorRegistry, start_http_server
from prometheus_client.core import GaugeMetricFamily

from model_analyzer.app.progress.events import Event, Sink, document_of
from model_analyzer.domain.settings import DisplaySettings
from model_analyzer.errors import wrong
from model_analyzer.extras import check_extra, install_command
from model_analyzer.features.monitoring.facts.told_progress import FIGURES, Figure, ToldProgress

log = logging.getLogger(__name__)

# Whoever may read the figures is on this machine.
_LOOPBACK = "127.0.0.1"

# Its library need not be there.
_OPEN_TELEMETRY = "model_analyzer.features.monitoring.open_telemetry"


class ExportingSink:
    """What `sink` shows is exported, too, as the settings say. Raises ConfigError without the
    library for that.
    """

    def __init__(self, sink: Sink, settings: DisplaySettings) -> None:
        self._sink = sink
        self._told = ToldProgress()
        self._figures: Sequence[Figure] = ()
        self._sender: Any = None
        self._server: Any = None
        if settings.otlp is not None:
            try:
                check_extra("otlp")
                library = import_module(_OPEN_TELEMETRY)
            except ImportError as error:
                reason = f"needs a library: {error}"
                raise wrong("--otlp", reason, install_command("otlp")) from error
            self._sender = library.OpenTelemetry(settings.otlp, lambda: self._figures)
        if settings.prometheus_port is not None:
            try:
                self._server = _served(settings.prometheus_port, lambda: self._figures)
            except OSError as error:
                log.warning("--prometheus-port: no figures are served: %s", error)

    def show(self, event: Event) -> None:
        self._sink.show(event)
        document = document_of(event)
        self._told.take(document)
        self._figures = [*self._told.figures]  # a new list: other threads may read the last one
        if self._sender is not None:
            self._sender.take(document)

    def paused(self) -> AbstractContextManager[None]:
        return self._sink.paused()

    def close(self) -> None:
        self._sink.close()
        if self._sender is not None:
            self._sender.close()
        if self._server is not None:
            self._server.shutdown()
            self._server.server_close()
        self._sender = self._server = None


class _Families:
    """A collector of the library: called for each request."""

    def __init__(self, figures: Callable[[], Sequence[Figure]]) -> None:
        self._figures = figures

    def collect(self) -> Iterable[GaugeMetricFamily]:
        families: dict[str, GaugeMetricFamily] = {}
        for name, value, labels in self._figures():
            family = GaugeMetricFamily(f"model_analyzer_{name}", FIGURES[name], labels=[*labels])
            families.setdefault(name, family).add_metric([*labels.values()], value)
        return families.values()


def _served(port: int, figures: Callable[[], Sequence[Figure]]) -> Any:
    """A server in a thread. Raises OSError if the port is taken."""
    registry = CollectorRegistry()
    registry.register(_Families(figures))
    server, _ = start_http_server(port, _LOOPBACK, registry)
    return server
