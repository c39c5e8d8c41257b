# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The answer to "how many replicas" in each format."""

from __future__ import annotations

import json

from model_analyzer.reports.autoscaler import FORMS, autoscaler_manifest
from model_analyzer.reports.capacity_document import capacity_document
from model_analyzer.reports.capacity_text import CapacityReport, to_markdown


def rendered(report: CapacityReport, form: str) -> str | None:
    """The answer as `md`, `json`, or a manifest (`FORMS`): "" where the measurements do not carry
    one. None for another form.
    """
    match form:
        case "md":
            return to_markdown(report)
        case "json":
            return json.dumps(capacity_document(report), indent=1) + "\n"
    return autoscaler_manifest(report, form) or "" if form in FORMS else None
