# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Shows the content of a checkpoint."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from model_analyzer.app.selection.circumstances import circumstances_tables
from model_analyzer.domain.conclusions import Conclusion
from model_analyzer.domain.goals import DEFAULT_OBJECTIVE
from model_analyzer.domain.metrics import METRICS
from model_analyzer.domain.models import thaw
from model_analyzer.domain.settings import SearchMode
from model_analyzer.domain.words import setting_text
from model_analyzer.reports.flat_text import to_table
from model_analyzer.reports.method import end_of_search
from model_analyzer.reports.tables import Table, pairs_table
from model_analyzer.results.flat_rows import NUMBERS, best_of_variants, rows_of
from model_analyzer.state.checkpoint import Checkpoint
from model_analyzer.state.format.codec import MODE
from model_analyzer.state.overview import Overview

TitledTable = tuple[str, Table]


def content_tables(
    checkpoint: Checkpoint, metric: str = DEFAULT_OBJECTIVE
) -> Iterator[TitledTable]:
    """Everything in a checkpoint, each variant at its best value of the `metric`."""
    yield "Checkpoint", pairs_table(_identity(checkpoint))
    yield from _hardware(checkpoint)
    yield from _variants(checkpoint, metric)
    for subject, table in circumstances_tables(checkpoint):
        yield f"Circumstances of {subject}", table
    for subject, conclusion in checkpoint.conclusions.items():
        yield f"Conclusion about {subject}", pairs_table(_conclusion(checkpoint, conclusion))
    for subject, search in checkpoint.searches.items():
        yield f"Search of {subject}", pairs_table(_settings(search))
    if checkpoint.metadata:
        metadata = {key: json.dumps(thaw(value)) for key, value in checkpoint.metadata.items()}
        yield "Metadata", pairs_table(metadata)


def _identity(checkpoint: Checkpoint) -> Mapping[str, str]:
    header, overview = checkpoint.header, Overview.of(checkpoint, ())
    pairs = {
        "File": str(checkpoint.path or ""),
        "UUID": header.uuid,
        "Goes on from": header.parent,
        "Index": "" if header.index is None else str(header.index),
        "Written": header.time_text,
        "By": f"model-analyzer {header.tool}" if header.tool else "",
        "Models": ", ".join(overview.models),
        "Variants": str(overview.variants),
        "Measurements": str(overview.measurements),
        "Failures": str(overview.failures),
        "State": overview.state,
    }
    return {name: text for name, text in pairs.items() if text}


def _hardware(checkpoint: Checkpoint) -> Iterator[TitledTable]:
    header = checkpoint.header
    if header.host:
        yield "Host", pairs_table(header.host)
    if header.devices:
        rows = tuple((device.uuid, device.name, device.memory) for device in header.devices)
        yield "GPUs", Table(headers=("UUID", "Name", "Memory (MB)"), rows=rows)


def _variants(checkpoint: Checkpoint, metric: str) -> Iterator[TitledTable]:
    rows = best_of_variants(rows_of(checkpoint.records.items()), metric)
    parameters = dict.fromkeys(name for row in rows for name in row if name.startswith("config."))
    metrics = dict.fromkeys((metric, "perf_throughput", "perf_latency_p99"))
    columns = [
        ("Model", "model"),
        ("Variant", "variant"),
        ("Calls", "composing"),
        *((name.removeprefix("config."), name) for name in parameters),
        *((name.replace("_", " ").title(), name) for name in NUMBERS),
        *((METRICS[name].header, name) for name in metrics),
        ("Measured", "measurements"),
        ("Failed", "failures"),
    ]
    if rows:
        yield f"Variants, each at its best {METRICS[metric].header}", to_table(rows, columns)


def _conclusion(checkpoint: Checkpoint, conclusion: Conclusion) -> Mapping[str, str]:
    record = checkpoint.records.of_trial(conclusion.recommended)
    best = "unknown here" if record is None else str(record.trial)
    name = "Recommended" if conclusion.feasible else "Closest to the constraints"
    return {name: best, **dict(end_of_search(conclusion))}


def _settings(search: Mapping[str, Any]) -> Mapping[str, str]:
    """The settings of a search, without those of other modes."""
    others = {mode.value for mode in SearchMode} - {search.get(MODE)}
    return {
        key: setting_text(value)
        for key, value in search.items()
        if key not in ("entry", "subject", "goals", "bases") and key.partition(".")[0] not in others
    }
