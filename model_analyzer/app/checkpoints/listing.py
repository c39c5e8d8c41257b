# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Lists the checkpoints of a directory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from model_analyzer.domain.goals import DEFAULT_OBJECTIVE
from model_analyzer.domain.metrics import METRICS, is_best_high
from model_analyzer.errors import without_checkpoints
from model_analyzer.reports.tables import Table
from model_analyzer.state.checkpoint import in_order
from model_analyzer.state.format.layout import Layout
from model_analyzer.state.overview import Overview, overviews


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckpointListing:
    """Checkpoints, each with its best value of the `metric`."""

    metric: str
    overviews: Sequence[Overview]

    def table(self) -> Table:
        """One row for each checkpoint."""
        headers = ("Index", "UUID", "Time", "Models", "Variants", "Measured", "Failed")
        best = f"Best {METRICS[self.metric].header}"
        return Table(headers=(*headers, best, "State"), rows=tuple(map(self._row, self.overviews)))

    def _row(self, overview: Overview) -> tuple[str | int | float | None, ...]:
        return (
            None if overview.header.index is None else str(overview.header.index),  # a name
            overview.header.uuid[:8] or None,
            overview.header.time_text,
            ",".join(overview.models),
            overview.variants,
            overview.measurements,
            overview.failures,
            overview.best[self.metric],
            overview.state,
        )

    def documents(self) -> Sequence[Mapping[str, Any]]:
        """The same for programs."""
        return [
            {
                "index": overview.header.index,
                "file": overview.file or None,
                "uuid": overview.header.uuid,
                "parent": overview.header.parent,
                "time": overview.header.time,
                "models": list(overview.models),
                "variants": overview.variants,
                "measurements": overview.measurements,
                "failures": overview.failures,
                "best": dict(overview.best),
                "state": overview.state,
            }
            for overview in self.overviews
        ]


def list_checkpoints(
    directory: Path,
    prefix: str = "",
    *,
    metric: str | None = None,
    sort_by: str = "index",
    order: str | None = None,
    limit: int | None = None,
) -> CheckpointListing:
    """The checkpoints of a directory, sorted by a metric, "time", "index" or "state".

    Metrics sort the best first, everything else the lowest, unless an `order` is given. Raises
    CheckpointError where there is no checkpoint.
    """
    sorts_by_metric = sort_by in METRICS
    metric = metric or (sort_by if sorts_by_metric else DEFAULT_OBJECTIVE)
    metrics = dict.fromkeys([metric, sort_by] if sorts_by_metric else [metric])
    items = list(overviews(Layout(directory, prefix), tuple(metrics)))
    if not items:
        raise without_checkpoints(directory)
    is_descending = order == "desc" if order else is_best_high(sort_by)
    items = in_order(items, lambda item: _sort_value(item, sort_by), is_descending=is_descending)
    return CheckpointListing(metric=metric, overviews=items[:limit])


def _sort_value(overview: Overview, sort_by: str) -> Any:
    """None where the checkpoint has no such value."""
    match sort_by:
        case "time":
            return overview.header.time or None
        case "index":
            return overview.header.index
        case "state":
            return overview.severity
    return overview.best[sort_by]
