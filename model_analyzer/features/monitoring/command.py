# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""What `best` prints for the eyes of production: `--format prometheus-rules` and `grafana`."""

from __future__ import annotations

from model_analyzer.features.monitoring.alert_rules import alert_rules
from model_analyzer.features.monitoring.dashboard import dashboard
from model_analyzer.features.monitoring.facts.service import services_of
from model_analyzer.reports.build import ReportOrigin
from model_analyzer.reports.kubernetes import head_remarks, object_name
from model_analyzer.results.answer import Answer


def document(form: str, answer: Answer, origin: ReportOrigin) -> str:
    """Alert rules, or a dashboard, for the recommendation of an answer that has one."""
    remarks, services = [*head_remarks(answer, origin)], services_of(answer)
    if form == "grafana":
        return dashboard(object_name(answer.ranking.model), remarks, services)
    return alert_rules(remarks, services)
