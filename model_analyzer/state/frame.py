# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Trials as a table for pandas."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from model_analyzer.domain.metrics import METRICS
from model_analyzer.domain.repetitions import pooled_trials
from model_analyzer.state.checkpoint import Checkpoint

if TYPE_CHECKING:
    import pandas


def frame(checkpoint: Checkpoint) -> pandas.DataFrame:
    """A row for each model of each trial with its pooled measurements, and a column for each
    measured metric.
    """
    try:
        import pandas  # imported when used: optional
    except ImportError as error:
        raise ImportError("to_pandas() needs pandas: pip install pandas") from error
    rows = [*_rows(checkpoint)]
    columns = [
        "measurement", "model", "variant", "load", "load_kind", "batch_size", "hardware", "host",
    ]  # fmt: skip
    tags = [tag for tag in METRICS if any(tag in row for row in rows)]
    return pandas.DataFrame(rows, columns=columns + tags)


def _rows(checkpoint: Checkpoint) -> Iterator[dict[str, Any]]:
    for number, item in enumerate(pooled_trials([*checkpoint.measurements()])):
        machine = item.measurement.machine
        for position, work in enumerate(item.trial.workloads):
            values = {tag: item.measurement.model_value(position, tag) for tag in METRICS}
            yield {
                "measurement": number,
                "model": work.variant.model,
                "variant": work.variant.name,
                "load": work.load.value,
                "load_kind": work.load.kind.value,
                "batch_size": work.load.batch_size,
                "hardware": item.trial.setup.kind,
                "host": "" if machine is None else machine.host,
                **{tag: value for tag, value in values.items() if value is not None},
            }
