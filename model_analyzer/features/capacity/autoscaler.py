# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The autoscaler of a deployment, for Kubernetes' HPA, KEDA or a Helm chart.

A comment beside each number explains how it follows from the measurements.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

from model_analyzer.domain.words import counted, number_text
from model_analyzer.features.capacity.capacity_text import (
    CapacityReport,
    answer_lines,
    remark_lines,
)
from model_analyzer.features.capacity.facts.autoscaling import (
    ADDED_AT_ONCE,
    METRIC_WINDOW_S,
    SYNC_S,
    TOLERANCE,
    Autoscaler,
)
from model_analyzer.features.capacity.facts.sizing import Sizing
from model_analyzer.features.monitoring.facts.service import SUCCESSES, label_of
from model_analyzer.reports.kubernetes import object_name
from model_analyzer.reports.templating import Commented, yaml_documents

# Triton counts requests here; the Prometheus adapter has to provide their rate under a name.
_METRIC = "triton_requests_per_second"
_WINDOW = f"{METRIC_WINDOW_S}s"

FORMS = ("helm", "hpa", "keda")


def autoscaler_manifest(report: CapacityReport, form: str) -> str | None:
    """The manifest for `form`; None if the measurements do not carry one."""
    scaler, sizing = report.scaler, report.sizing
    if scaler is None or sizing is None:
        return None
    documents = {
        "helm": lambda: _values(report, scaler, sizing),
        "hpa": lambda: _hpa(report, scaler),
        "keda": lambda: _keda(report, scaler),
    }
    return yaml_documents(_remarks(report, form), [documents[form]()])


def _remarks(report: CapacityReport, form: str) -> Iterator[str]:
    yield from answer_lines(report)
    yield from remark_lines(report)
    if form == "keda":
        return
    # the server has a series for each model, version and GPU; models that an ensemble calls, too
    model = label_of(report.capacity.model).replace("'", "''")
    yield (
        f"metric {_METRIC}: change the name if yours differs. A rule of the Prometheus adapter for"
        f" it: seriesQuery '{SUCCESSES}{{pod!=\"\",{model}}}', metricsQuery"
        f" 'sum(rate(<<.Series>>{{<<.LabelMatchers>>,{model}}}[{_WINDOW}])) by (<<.GroupBy>>)'"
    )


def _hpa(report: CapacityReport, scaler: Autoscaler) -> Mapping[str, Any]:
    name = object_name(report.capacity.model)
    return {
        "apiVersion": "autoscaling/v2",
        "kind": "HorizontalPodAutoscaler",
        "metadata": _meta(name),
        "spec": {
            "scaleTargetRef": {
                "apiVersion": "apps/v1",
                "kind": "Deployment",
                "name": Commented(name, "as in best --format kubernetes; change it if needed"),
            },
            "minReplicas": _fewest(scaler),
            "maxReplicas": _most(report, scaler),
            "metrics": [_metric(report, scaler)],
            "behavior": _behaviour(scaler),
        },
    }


def _keda(report: CapacityReport, scaler: Autoscaler) -> Mapping[str, Any]:
    name = object_name(report.capacity.model)
    return {
        "apiVersion": "keda.sh/v1alpha1",
        "kind": "ScaledObject",
        "metadata": _meta(name),
        "spec": {
            "scaleTargetRef": {
                "name": Commented(name, "as in best --format kubernetes; change it if needed")
            },
            "pollingInterval": SYNC_S,
            "minReplicaCount": _fewest(scaler),
            "maxReplicaCount": _most(report, scaler),
            "advanced": {"horizontalPodAutoscalerConfig": {"behavior": _behaviour(scaler)}},
            "triggers": [
                {
                    "type": "prometheus",
                    "metricType": "AverageValue",
                    "metadata": {
                        "serverAddress": Commented(
                            "http://prometheus-server.monitoring.svc:9090", "your Prometheus"
                        ),
                        "query": Commented(
                            f"sum(rate({SUCCESSES}"
                            f"{{{label_of(report.capacity.model)}}}[{_WINDOW}]))",
                            "requests/s of all replicas; add the labels of your deployment",
                        ),
                        "threshold": Commented(
                            f"{math.floor(1000 * scaler.target) / 1000}", _why(report)
                        ),
                    },
                }
            ],
        },
    }


def _values(report: CapacityReport, scaler: Autoscaler, sizing: Sizing) -> Mapping[str, Any]:
    """Values for a chart that passes `autoscaling` on to an HPA, as those for Triton do."""
    return {
        "replicaCount": Commented(
            sizing.replicas.number,
            f"{report.demand.rate:g} requests/s with {100 * report.demand.headroom:g} % headroom",
        ),
        "autoscaling": {
            "enabled": True,
            "minReplicas": _fewest(scaler),
            "maxReplicas": _most(report, scaler),
            "metrics": [_metric(report, scaler)],
            "behavior": _behaviour(scaler),
        },
    }


def _meta(name: str) -> Mapping[str, Any]:
    return {"name": name, "labels": {"app": name}}


def _metric(report: CapacityReport, scaler: Autoscaler) -> Mapping[str, Any]:
    value = Commented(f"{math.floor(1000 * scaler.target)}m", _why(report))
    return {
        "type": "Pods",
        "pods": {
            "metric": {"name": _METRIC},
            "target": {"type": "AverageValue", "averageValue": value},
        },
    }


def _why(report: CapacityReport) -> str:
    carried, headroom = report.capacity.replica.carried, report.demand.headroom
    assert carried is not None, "there is an autoscaler"
    least = "" if headroom >= TOLERANCE else ", the tolerance of the controller"
    margin = f"{100 * max(headroom, TOLERANCE):g} % headroom{least}"
    return f"a replica carries {number_text(carried.rate)} requests/s; {margin}"


def _fewest(scaler: Autoscaler) -> Commented:
    return Commented(scaler.fewest, "one may fail at the lowest load")


def _most(report: CapacityReport, scaler: Autoscaler) -> Commented:
    return Commented(scaler.most, f"for {1.2 * report.demand.rate:g} requests/s, and one may fail")


def _behaviour(scaler: Autoscaler) -> Mapping[str, Any]:
    loading = (
        f"the server loads the model in {scaler.startup_s:.0f} s; raise it if pulling the image"
        " and starting the server take much longer"
        if scaler.startup_s
        else "the loading time is unknown"
    )
    period = Commented(scaler.up_period_s, loading)
    return {
        "scaleUp": {
            "stabilizationWindowSeconds": 0,
            "selectPolicy": "Max",
            "policies": [
                {"type": "Percent", "value": 100, "periodSeconds": period},
                {"type": "Pods", "value": ADDED_AT_ONCE, "periodSeconds": period},
            ],
        },
        "scaleDown": {
            "stabilizationWindowSeconds": Commented(
                scaler.down_window_s,
                f"a replica that is removed too early is missing for"
                f" {counted(scaler.up_period_s, 'second')}",
            )
        },
    }
