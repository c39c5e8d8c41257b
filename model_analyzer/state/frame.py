# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Trials as a table for pandas."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from model_analyzer.domain.metrics import METRICS
from model_analyzer.domain.models import ModelVariant
from model_analyzer.domain.parameters import PARAMETER, Setting, differing_parameters
from model_analyzer.domain.trials import Trial
from model_analyzer.noise.repetitions import pooled_trials
from model_analyzer.state.checkpoint import Checkpoint

if TYPE_CHECKING:
    import pandas


def frame(checkpoint: Checkpoint) -> pandas.DataFrame:
    """A row for each model of each trial with its pooled measurements, and a column for each field
    in which the variants of a model differ (`config.…`) and for each measured metric.
    """
    try:
        import pandas  # imported when used: optional
    except ImportError as error:
        raise ImportError("to_pandas() needs pandas: pip install pandas") from error
    rows = [*_rows(checkpoint)]
    columns = [
        "measurement", "model", "variant", "instances", "max_batch_size", "load", "load_kind",
        "batch_size", "hardware", "host",
    ]  # fmt: skip
    fields = dict.fromkeys(name for row in rows for name in row if name.startswith(PARAMETER))
    tags = [tag for tag in METRICS if any(tag in row for row in rows)]
    return pandas.DataFrame(rows, columns=[*columns, *fields, *tags])


def _rows(checkpoint: Checkpoint) -> Iterator[dict[str, Any]]:
    items = pooled_trials([*checkpoint.measurements()])
    settings = _settings(item.trial for item in items)
    for number, item in enumerate(items):
        machine = item.measurement.machine
        for position, work in enumerate(item.trial.workloads):
            values = {tag: item.measurement.model_value(position, tag) for tag in METRICS}
            counts = work.variant.instances(gpus=item.trial.gpus)
            yield {
                "measurement": number,
                "model": work.variant.model,
                "variant": work.variant.name,
                "instances": sum(count for count, _ in counts),
                "max_batch_size": work.variant.max_batch_size,
                "load": work.load.value,
                "load_kind": work.load.kind.value,
                "batch_size": work.load.batch_size,
                "hardware": item.trial.setup.kind,
                "host": "" if machine is None else machine.host,
                **settings[work.variant.identity],
                **{tag: value for tag, value in values.items() if value is not None},
            }


def _settings(trials: Iterable[Trial]) -> Mapping[str, Mapping[str, Setting]]:
    """The fields in which the variants of each model differ, by the identity of the variant."""
    variants: dict[str, dict[str, ModelVariant]] = {}
    for work in (work for trial in trials for work in trial.workloads):
        variants.setdefault(work.variant.model, {})[work.variant.identity] = work.variant
    return {
        identity: fields
        for of_model in variants.values()
        for identity, fields in differing_parameters(of_model.values()).items()
    }
