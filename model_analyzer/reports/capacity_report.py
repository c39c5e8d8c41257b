# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The answer to "how many replicas" in each format."""

from __future__ import annotations

import json
from collections.abc import Sequence

from model_analyzer.errors import wrong
from model_analyzer.reports.autoscaler import FORMS, autoscaler_manifest
from model_analyzer.reports.capacity_document import capacity_document
from model_analyzer.reports.capacity_text import CapacityReport, cheapest_of, to_markdown


def rendered(reports: Sequence[CapacityReport], form: str) -> str | None:
    """The answers, one for each kind of hardware, as `md`, `json`, or a manifest (`FORMS`) for the
    cheapest kind: "" where the measurements do not carry one. None for another form.
    """
    match form:
        case "md":
            return to_markdown(reports)
        case "json":
            return json.dumps(capacity_document(reports), indent=1) + "\n"
    if form not in FORMS:
        return None
    chosen = reports[0] if len(reports) == 1 else cheapest_of(reports)
    if chosen is None:
        raise wrong(
            "--circumstances",
            f"{len(reports)} kinds of hardware were measured: choose one, or give --prices for the"
            " cheapest",
        )
    return autoscaler_manifest(chosen, form) or ""
