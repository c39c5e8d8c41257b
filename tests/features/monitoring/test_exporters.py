# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""`profile --prometheus-port` and `--otlp`: figures of a run while it measures."""

from __future__ import annotations

import socket
import sys
import urllib.request
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

import pytest
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from prometheus_client.parser import text_string_to_metric_families

from tests.cli.conftest import Setting

Series = dict[tuple[str, frozenset[tuple[str, str]]], float]


@pytest.fixture
def port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


class Collector(ThreadingHTTPServer):
    """A collector of OpenTelemetry, which reads the port of Prometheus, too."""

    def __init__(self, port: int) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.metrics, self.traces = b"", b""
        self.url = f"http://127.0.0.1:{self.server_address[1]}"
        self.read = f"http://127.0.0.1:{port}/metrics"
        self.page = ""


class Handler(BaseHTTPRequestHandler):
    server: Collector

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if self.path == "/v1/traces":
            self.server.traces += body  # of a long run, spans come in several batches
        else:
            self.server.metrics = body
        with urllib.request.urlopen(self.server.read, timeout=10) as answer:
            self.server.page = answer.read().decode()
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def collector(port: int) -> Iterator[Collector]:
    with Collector(port) as server:
        Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
        yield server
        server.shutdown()


def of_prometheus(page: str) -> Series:
    return {
        (sample.name, frozenset(sample.labels.items())): sample.value
        for family in text_string_to_metric_families(page)
        for sample in family.samples
    }


def attributes(of: Any) -> dict[str, Any]:
    kinds = ("string_value", "int_value", "double_value")
    return {
        each.key: next(getattr(each.value, kind) for kind in kinds if each.value.HasField(kind))
        for each in of
        if any(each.value.HasField(kind) for kind in kinds)
    }


def of_collector(body: bytes) -> Series:
    (resource,) = ExportMetricsServiceRequest.FromString(body).resource_metrics
    (scope,) = resource.scope_metrics
    return {
        (metric.name.replace(".", "_"), frozenset(attributes(point.attributes).items())): (
            point.as_double or float(point.as_int)
        )
        for metric in scope.metrics
        for point in metric.gauge.data_points
    }


def test_both_tell_the_same_of_a_run(setting: Setting, collector: Collector, port: int) -> None:
    setting.succeeds("--prometheus-port", str(port), "--otlp", collector.url)

    series = of_prometheus(collector.page)
    assert series == of_collector(collector.metrics)
    by_name: dict[str, dict[str, float]] = {}
    for (name, labels), value in series.items():
        shown = ",".join(each for _, each in sorted(labels))
        by_name.setdefault(name.removeprefix("model_analyzer_"), {})[shown] = value
    assert by_name["phase"] == {",ended": 1}
    assert by_name["trials"] == {"m,measured": 10}
    assert by_name["trials_expected"] == {"m": 10}
    assert "left_seconds" not in by_name
    assert by_name["best"]["no GPU,perf_throughput_infer_per_s,m"] > 0
    batches = ExportTraceServiceRequest.FromString(collector.traces).resource_spans
    names = [attributes(batch.resource.attributes)["service.name"] for batch in batches]
    assert set(names) == {"model-analyzer"}
    *spans, run = (span for batch in batches for span in batch.scope_spans[0].spans)
    assert (run.name, len(spans)) == ("run", 10)
    assert {span.parent_span_id for span in spans} == {run.span_id}
    assert all(span.end_time_unix_nano > span.start_time_unix_nano for span in spans)
    told = attributes(spans[0].attributes)
    assert told["variant"].startswith("m_config_")
    assert told["perf_throughput_infer_per_s"] > 0


def test_what_cannot_be_exported_is_one_warning(setting: Setting, port: int) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", port))
        taken.listen()
        taken_port = str(taken.getsockname()[1])
        # it accepts, and never answers
        flags = ("--prometheus-port", taken_port, "--otlp", f"127.0.0.1:{taken_port}")
        status, output = setting.profile(*flags)

    assert status == 0, output
    assert output.count("--prometheus-port: no figures are served: ") == 1
    assert output.count(f"--otlp: 127.0.0.1:{taken_port} does not get all figures: ") == 1
    assert "Traceback" not in output


def test_the_library_of_opentelemetry_is_an_extra(setting: Setting, monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "model_analyzer.features.monitoring.open_telemetry", None)

    output = setting.fails(2, "--otlp", "localhost:4318")

    assert "--otlp: needs a library: " in output
    assert "(pip install 'opentelemetry-exporter-otlp-proto-http>=1.30' " in output
