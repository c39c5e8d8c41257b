# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""What `best` prints for the eyes of production: `--format prometheus-rules` and `grafana`.

Alert rules for Prometheus say that production does not do what was measured. They are about what
every Triton server counts. Latency percentiles are not among it, so a rule cannot watch a limit of
p99. The dashboard shows each replica beside what was measured, in Grafana's "dashboard JSON model";
the version of its schema is that of Grafana 10.4, and newer ones read it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from model_analyzer.domain.words import number_text
from model_analyzer.features.monitoring.facts.service import (
    MeasuredService,
    ModelQueries,
    services_of,
)
from model_analyzer.reports.build import ReportOrigin
from model_analyzer.reports.kubernetes import head_remarks, object_name
from model_analyzer.reports.templating import Commented, yaml_documents
from model_analyzer.results.answer import Answer
from model_analyzer.results.ranking import FAILED, NEARLY_ALL

_SCHEMA = 39
# Grafana's variable for a window that has enough scrapes.
_PANEL_WINDOW = "$__rate_interval"
_SOURCE = {"type": "prometheus", "uid": "${datasource}"}

# Grafana's grid has 24 columns.
_WIDTH, _HEIGHT, _COLUMNS = 12, 8, 24
_TEXT_HEIGHT = 4


def dashboard(name: str, remarks: Sequence[str], services: Sequence[MeasuredService]) -> str:
    """A dashboard with this name (of a Kubernetes object), as JSON."""
    panels = [_text("\n".join(f"* {remark}" for remark in remarks))]
    for service in services:
        panels += _panels(service)
    document = {
        "uid": name[:40],
        "title": f"Triton: {', '.join(service.model for service in services)}",
        "tags": ["triton", "model-analyzer"],
        "schemaVersion": _SCHEMA,
        "refresh": "30s",
        "time": {"from": "now-6h", "to": "now"},
        "templating": {
            "list": [{"name": "datasource", "type": "datasource", "query": "prometheus"}]
        },
        "panels": [*_placed(panels)],
    }
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def _panels(service: MeasuredService) -> Iterator[dict[str, Any]]:
    asked = ModelQueries(service.model, _PANEL_WINDOW)
    rate, time, batch = service.requests_per_s, service.server_ms, service.mean_batch
    for title, expression, unit, measured in (
        ("requests by replica", asked.requests_per_s, "reqps", rate),
        ("mean time in the server", asked.server_ms, "ms", time),
        ("mean time in the queue", asked.queue_ms, "ms", None),
        ("mean batch", asked.mean_batch, "none", batch),
        ("failed requests", asked.failed_share, "percentunit", None),
    ):
        yield {
            "type": "timeseries",
            "title": f"{service.model}: {title}",
            "description": _description(service, measured),
            "datasource": _SOURCE,
            "targets": [{"refId": "A", "expr": expression, "legendFormat": "{{instance}}"}],
            "fieldConfig": {"defaults": {"unit": unit, **_line(measured)}, "overrides": []},
        }


def _description(service: MeasuredService, measured: float | None) -> str:
    if measured is None:
        return ""
    return f"The line is what was measured {service.load}: {number_text(measured)}."


def _line(measured: float | None) -> Mapping[str, Any]:
    """A line across a panel at the measured value."""
    if measured is None:
        return {}
    steps = [{"color": "green", "value": None}, {"color": "orange", "value": measured}]
    return {
        "custom": {"thresholdsStyle": {"mode": "line"}},
        "thresholds": {"mode": "absolute", "steps": steps},
    }


def _text(content: str) -> dict[str, Any]:
    return {
        "type": "text",
        "title": "Recommendation",
        "options": {"mode": "markdown", "content": content},
    }


def _placed(panels: Sequence[dict[str, Any]]) -> Iterator[Mapping[str, Any]]:
    """Panels with their numbers and places: the text in a row of its own, the others in pairs."""
    first, *others = panels
    yield {"id": 1, **first, "gridPos": {"x": 0, "y": 0, "w": _COLUMNS, "h": _TEXT_HEIGHT}}
    for index, panel in enumerate(others):
        row, column = divmod(index, _COLUMNS // _WIDTH)
        place = {"x": column * _WIDTH, "y": _TEXT_HEIGHT + row * _HEIGHT}
        yield {"id": index + 2, **panel, "gridPos": {**place, "w": _WIDTH, "h": _HEIGHT}}


# Long enough for a few scrapes, each 15 to 60 seconds after the last.
_WINDOW = "5m"
# What lasts so long is no moment of a deployment or of a restart.
_LASTING = "5m"

# A request takes the longest under the measured load, so even half of that more is not noise.
_SLOWER = 1.5


def alert_rules(remarks: Sequence[str], services: Sequence[MeasuredService]) -> str:
    """A file of rules with a group for each model, below remarks as comments."""
    unknown = [line for service in services for line in _unknown(service)]
    groups = [
        {"name": f"triton-{service.model}", "rules": [*_rules(service)]} for service in services
    ]
    return yaml_documents([*remarks, *unknown], [{"groups": groups}])


def _unknown(service: MeasuredService) -> Iterator[str]:
    """Why a rule is not there."""
    if service.requests_per_s is None:
        yield f"no rule for the rate of {service.model}: its throughput was not measured"
    if service.server_ms is None:
        yield f"no rule for the time of {service.model}: the server did not tell it"


def _rules(service: MeasuredService) -> Iterator[Mapping[str, Any]]:
    asked, model = ModelQueries(service.model, _WINDOW), _literal(service.model)
    yield _rule(
        "TritonModelMissing",
        asked.is_missing,
        "critical",
        f"No server has {model}.",
        "no server that Prometheus reads has the model",
    )
    yield _rule(
        "TritonModelFailing",
        f"{asked.failed_share} > {FAILED:g}",
        "critical",
        "{{ $value | humanizePercentage }} of the requests to " + model + " fail.",
        f"more than {100 * FAILED:g} % of the requests",
    )
    if service.requests_per_s is not None:
        measured = number_text(service.requests_per_s)
        yield _rule(
            "TritonModelNearCapacity",
            f"{asked.requests_per_s} > {NEARLY_ALL * service.requests_per_s:.6g}",
            "warning",
            "A replica of " + model + " answers {{ $value | humanize }} requests/s;"
            f" it was measured up to {measured}.",
            f"{100 * NEARLY_ALL:.0f} % of {measured} requests/s, measured {service.load}",
        )
    if service.server_ms is not None:
        measured = number_text(service.server_ms)
        yield _rule(
            "TritonModelSlow",
            f"{asked.server_ms} > {_SLOWER * service.server_ms:.6g}",
            "warning",
            "Requests to " + model + " spend {{ $value | humanize }} ms in the server;"
            f" measured were {measured} ms.",
            f"{_SLOWER:g} times the {measured} ms measured {service.load}",
        )


def _literal(text: str) -> str:
    """A text for a template of Prometheus, which takes none of it for an action."""
    return text.replace("{{", '{{ "{{" }}')


def _rule(
    name: str, expression: str, severity: str, summary: str, reason: str
) -> Mapping[str, Any]:
    return {
        "alert": name,
        "expr": Commented(expression, reason),
        "for": _LASTING,
        "labels": {"severity": severity},
        "annotations": {"summary": summary},
    }


def document(form: str, answer: Answer, origin: ReportOrigin) -> str:
    """Alert rules, or a dashboard, for the recommendation of an answer that has one."""
    remarks, services = [*head_remarks(answer, origin)], services_of(answer)
    if form == "grafana":
        return dashboard(object_name(answer.ranking.model), remarks, services)
    return alert_rules(remarks, services)
