# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Alert rules for Prometheus: production does not do what was measured.

They are about what every Triton server counts. Latency percentiles are not among it, so a rule
cannot watch a limit of p99.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from model_analyzer.domain.numbers import number_text
from model_analyzer.features.monitoring.facts.service import MeasuredService
from model_analyzer.features.monitoring.queries import ModelQueries
from model_analyzer.reports.templating import Commented, yaml_documents
from model_analyzer.results.knee import FAILED, NEARLY_ALL

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
