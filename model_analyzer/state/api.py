# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The Python API of checkpoints: open, save, download, convert and list them."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from model_analyzer.domain.goals import DEFAULT_OBJECTIVE
from model_analyzer.domain.metrics import ALIASES, METRICS, is_best_high
from model_analyzer.domain.models import PARAMETER, ModelVariant, Setting, differing_parameters
from model_analyzer.domain.trials import Trial
from model_analyzer.noise.pooling import pooled_trials
from model_analyzer.state import checkpoint as value
from model_analyzer.state.contents import read_listed
from model_analyzer.state.find import find, pick, sort_value
from model_analyzer.state.format.layout import Layout
from model_analyzer.state.stores import Checkpointer, download, open_store, save_checkpoint

if TYPE_CHECKING:
    import pandas


class Checkpoint(value.Checkpoint):
    """A checkpoint that can be opened, saved, downloaded and converted to a table."""

    __slots__ = ()

    @classmethod
    def of(cls, checkpoint: value.Checkpoint) -> Checkpoint:
        """The checkpoint as an instance of this class."""
        return cls(**{field.name: getattr(checkpoint, field.name) for field in fields(checkpoint)})

    @classmethod
    def from_bytes(cls, data: bytes, where: str = "the bytes") -> Checkpoint:
        """Reads the result of `to_bytes`, or the content of a checkpoint file.

        Raises CheckpointError if it is damaged; `where` names it in the message.
        """
        return cls.of(value.Checkpoint.from_bytes(data, where))

    @classmethod
    def open(cls, path: str | Path, which: str | int = "latest", *, prefix: str = "") -> Checkpoint:
        """Reads a checkpoint file, or a checkpoint of a directory.

        `which` selects the latter: "latest" (everything in the directory), "best" (the highest
        throughput), a number, or a uuid or its beginning. `prefix` is the `--checkpoint-prefix` of
        the run. Raises CheckpointError if there is no such checkpoint, or if it is damaged.
        """
        path = Path(path)
        if os.path.isdir(path):
            return cls.of(find(str(which), path, prefix))
        return cls.of(value.read_file(path))

    @classmethod
    def download(
        cls,
        store: str | Path | Checkpointer,
        directory: str | Path,
        which: str | int = "latest",
        *,
        prefix: str = "",
    ) -> Path:
        """Copies a checkpoint from a store (or its URL) into a directory; returns the copy's path.

        `which` is a number, a uuid or its beginning, "latest" (the newest intact one) or "best".
        Raises CheckpointError if there is none, if it is damaged, or if its name is taken.
        """
        source = open_store(str(store), prefix) if isinstance(store, (str, Path)) else store
        path, _ = download(source, pick(str(which), source), Path(directory), prefix)
        return path

    def save(self, directory: str | Path | None = None, *, force: bool = False) -> Path:
        """Writes the next numbered checkpoint of `directory`, by default of the one it came from.

        Returns its path. If the newest checkpoint there has the same content, nothing is written
        unless `force` is set; returns the path of that one. Raises CheckpointError if another run
        writes there, or if writing fails.
        """
        return save_checkpoint(self, None if directory is None else Path(directory), force=force)

    def to_pandas(self) -> pandas.DataFrame:
        """A table with a row for each model of each trial, in the order of measuring.

        Several measurements of a trial, such as rounds, are pooled; `measurements` has single
        ones. Columns: `measurement` (its number), `model`, `variant`, `instances` (of all groups),
        `max_batch_size`, `load`, `load_kind`, `batch_size`, `hardware` (the kind of GPUs), `host`
        ("" if unknown), `config.…` for each field in which the variants of a model differ, and each
        measured metric by tag, in the units of the catalogue. Raises ImportError if pandas is not
        installed.
        """
        return _frame(self)


def list_checkpoints(
    directory: str | Path,
    prefix: str = "",
    *,
    sort_by: str = "index",
    order: Literal["asc", "desc"] | None = None,
    limit: int | None = None,
) -> list[Checkpoint]:
    """Every numbered checkpoint in a directory, oldest first; damaged ones have a `damage`.

    `sort_by` is "index", "time" or a metric, of which the best value counts, with the measurements
    of each trial pooled; checkpoints without the value come last. Without an `order`, metrics are
    sorted best first, everything else lowest first. At most `limit` are returned. Raises ValueError
    for invalid arguments.
    """
    if sort_by not in (*value.SORTS, *METRICS, *ALIASES):
        raise ValueError(
            f"sort_by: unknown metric {sort_by!r}: give 'index', 'time' or a metric, such as"
            f" {DEFAULT_OBJECTIVE!r}"
        )
    if order not in (None, "asc", "desc"):
        raise ValueError(f"order: expected 'asc' or 'desc', found {order!r}")
    if limit is not None and (not isinstance(limit, int) or limit < 1):
        raise ValueError(f"limit: expected a whole number from 1 on, found {limit!r}")
    layout = Layout(Path(directory), prefix)
    paths = map(layout.checkpoint, layout.indices())
    checkpoints = [Checkpoint.of(value.assemble([(path, read_listed(path))])) for path in paths]
    is_descending = order == "desc" if order else is_best_high(sort_by)
    return value.in_order(
        checkpoints,
        lambda checkpoint: sort_value(checkpoint, sort_by),
        is_descending=is_descending,
    )[:limit]


def _frame(checkpoint: value.Checkpoint) -> pandas.DataFrame:
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


def _rows(checkpoint: value.Checkpoint) -> Iterator[dict[str, Any]]:
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
