# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""A dashboard for Grafana: each replica beside what was measured.

The format is Grafana's "dashboard JSON model"; the version of its schema is that of Grafana 10.4,
and newer ones read it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from model_analyzer.domain.numbers import number_text
from model_analyzer.features.monitoring.facts.service import MeasuredService
from model_analyzer.features.monitoring.queries import ModelQueries

_SCHEMA = 39
# Grafana's variable for a window that has enough scrapes.
_WINDOW = "$__rate_interval"
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
    asked = ModelQueries(service.model, _WINDOW)
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
