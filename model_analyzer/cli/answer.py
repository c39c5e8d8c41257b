# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The answer on the screen, once its files are written."""

from __future__ import annotations

import logging

from model_analyzer.app.delivery.answer import Delivery
from model_analyzer.cli.console import View, plain_table

log = logging.getLogger(__name__)


def show(delivery: Delivery, view: View) -> None:
    """Tables where every detail is wanted; then each answer, its remarks, and what was written."""
    if view.is_verbose:
        for title, table in delivery.tables:
            for line in plain_table(title, table) if table.rows else ():
                view.print(line)
    for summary, table in delivery.summaries:
        view.answer(summary, table)
        for remark in summary.remarks:
            log.warning("%s", remark)
    for remark in delivery.remarks:
        log.warning("%s", remark)
    if delivery.error_log:
        log.warning("Some trials failed: see %s", delivery.error_log)
    for path in delivery.paths:
        view.print(f"wrote {path}")
    for model, command in delivery.deployments:
        view.print(f"to deploy {model} on Kubernetes: {command}")
