# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""A checkpoint as an experiment tracker shows it: each measured trial is a run. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from model_analyzer.app.delivery.files import masked_configurations
from model_analyzer.domain.metrics import METRICS
from model_analyzer.domain.model_names import group_members
from model_analyzer.domain.parameters import PARAMETER
from model_analyzer.reports.build import state_answer
from model_analyzer.results.answer import Answer
from model_analyzer.results.columns import Cell
from model_analyzer.results.flat_rows import Row, pooled_rows
from model_analyzer.state.checkpoint import Checkpoint

# The columns that say what was tried; of the others, those that are no metric are tags.
_TRIED = (
    "model", "variant", "composing", "load", "concurrency", "request_rate", "arrivals",
    "batch_size", "hardware",
)  # fmt: skip

# The tag of a recommended run only.
ANSWER = "answer"


@dataclass(frozen=True, slots=True, kw_only=True)
class TrackedRun:
    """One model in a trial: all its measurements, pooled, or its failure. The `identity` stays the
    same when more is measured. It was `started` at a time in seconds since the epoch, if
    known, and measured for so many `seconds`. `files` are texts by name, of what is recommended.
    """

    identity: str
    name: str
    parameters: Mapping[str, str]
    metrics: Mapping[str, float]
    tags: Mapping[str, str]
    started: float | None
    seconds: float
    has_failed: bool = False
    files: Mapping[str, str] = field(default_factory=dict)


def tracked_runs(checkpoint: Checkpoint, answers: Sequence[Answer]) -> Iterator[TrackedRun]:
    """The runs of the models that the `answers` are about, which recommend some of them."""
    recommended = {
        answer.best.best.trial.first.key: answer for answer in answers if answer.best is not None
    }
    models = {frozenset(group_members(answer.ranking.model)) for answer in answers}
    records = (
        (key, record)
        for key, record in checkpoint.records.items()
        if frozenset(group_members(record.trial.models)) in models
    )
    places = Counter[str]()
    for row in pooled_rows(records):
        trial = str(row["trial"])
        yield _run(row, places[trial], recommended.get(trial))
        places[trial] += 1


def _run(row: Row, place: int, answer: Answer | None) -> TrackedRun:
    known = {name: cell for name, cell in row.items() if cell is not None and cell != ""}
    parameters = {
        name: str(cell)
        for name, cell in known.items()
        if name in _TRIED or name.startswith(PARAMETER)
    }
    metrics = {
        name: float(cell)
        for name, cell in known.items()
        if name in METRICS and isinstance(cell, int | float)
    }
    tags = {
        name: str(cell)
        for name, cell in known.items()
        if name not in parameters and name not in metrics
    }
    files = {}
    tags["recommended"] = "no" if answer is None else "yes"
    if answer is not None and answer.best is not None:
        tags[ANSWER] = state_answer(answer, complete=True).sentence
        files["config.pbtxt"] = masked_configurations(answer.best)
    load = known.get("concurrency", known.get("request_rate", ""))
    return TrackedRun(
        identity=f"{row['trial']}-{place}" if place else str(row["trial"]),
        name=f"{row['variant']} {row['load']} {load}".strip(),
        parameters=parameters,
        metrics=metrics,
        tags=tags,
        started=_epoch(row.get("started")),
        seconds=float(row["duration_s"] or 0),
        has_failed="failure" in row,
        files=files,
    )


def _epoch(at: Cell) -> float | None:
    return datetime.fromisoformat(at).timestamp() if isinstance(at, str) else None
