# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""`checkpoint list` and `checkpoint show`."""

from __future__ import annotations

import json
from ast import literal_eval
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from model_analyzer.cli.checkpoint.options import (
    checkpoint_argument,
    directory_options,
    json_option,
    metric,
    order_option,
)
from model_analyzer.cli.echo import echo
from model_analyzer.errors import CheckpointError

if TYPE_CHECKING:
    from model_analyzer.domain.conclusions import Conclusion
    from model_analyzer.state.checkpoint import Checkpoint
    from model_analyzer.state.overview import Overview

_DEFAULT_METRIC = "perf_throughput"
_LONGEST_SETTING = 10_000
_STATES = ("intact", "in the journal only", "incomplete", "damaged")


@click.command("list")
@directory_options
@click.option("--metric", "shown", metavar="METRIC", help="Metric whose best value is shown.")
@click.option(
    "--sort-by",
    default="index",
    metavar="METRIC|time|index|state",
    show_default=True,
    help="Column to sort by. A metric sorts by its best value.",
)
@order_option("best first for metrics, otherwise lowest first.")
@click.option(
    "--limit", type=click.IntRange(1), metavar="N", help="Maximum number of checkpoints to show."
)
@json_option
def list_(
    directory: Path,
    prefix: str,
    shown: str | None,
    sort_by: str,
    order: str | None,
    limit: int | None,
    as_json: bool,
) -> None:
    """List the checkpoints of a directory.

    \b
    Example:
      model-analyzer checkpoint list --sort-by perf_latency_p99 --limit 3
    """
    from model_analyzer.cli.checkpoint.output import print_table
    from model_analyzer.domain.metrics import METRICS, is_best_high
    from model_analyzer.reports.tables import Table
    from model_analyzer.state.checkpoint import in_order
    from model_analyzer.state.format.layout import Layout
    from model_analyzer.state.overview import overviews

    if sort_by not in ("time", "index", "state"):
        sort_by = metric(sort_by, "--sort-by")
    tag = metric(shown, "--metric") if shown else sort_by if sort_by in METRICS else _DEFAULT_METRIC
    tags = tuple({tag: None, **({sort_by: None} if sort_by in METRICS else {})})
    items: Sequence[Overview] = list(overviews(Layout(directory, prefix), tags))
    if not items:
        raise CheckpointError(f"{directory}: no checkpoints found: give -s DIRECTORY")
    is_descending = order == "desc" if order else is_best_high(sort_by)
    items = in_order(items, lambda item: _sort_value(item, sort_by), is_descending=is_descending)[
        :limit
    ]
    if as_json:
        echo(json.dumps([_document(item) for item in items], indent=1))
        return
    header = METRICS[tag].header
    headers = ("Index", "UUID", "Time", "Models", "Variants", "Measured", "Failed")
    rows = tuple(
        (
            item.header.index,
            item.header.uuid[:8] or None,
            _time(item.header.time),
            ",".join(item.models),
            item.variants,
            item.measurements,
            item.failures,
            item.best[tag],
            item.state,
        )
        for item in items
    )
    table = Table(headers=(*headers, f"Best {header}", "State"), rows=rows)
    print_table(f"Checkpoints in {directory}", table)


def _sort_value(item: Overview, sort_by: str) -> Any:
    """What an overview is sorted by; None where it does not have that."""
    match sort_by:
        case "time":
            return item.header.time or None
        case "index":
            return item.header.index
        case "state":
            return next(
                place for place, state in enumerate(_STATES) if item.state.startswith(state)
            )
    return item.best[sort_by]


def _document(item: Overview) -> Mapping[str, Any]:
    return {
        "index": item.header.index,
        "file": item.file or None,
        "uuid": item.header.uuid,
        "parent": item.header.parent,
        "time": item.header.time,
        "models": list(item.models),
        "variants": item.variants,
        "measurements": item.measurements,
        "failures": item.failures,
        "best": dict(item.best),
        "state": item.state,
    }


def _time(text: str) -> str:
    return text.replace("T", " ").replace("+00:00", "Z")


@click.command()
@checkpoint_argument
@directory_options
@click.option(
    "--metric",
    "shown",
    default=_DEFAULT_METRIC,
    metavar="METRIC",
    show_default=True,
    help="Metric to rank variants by.",
)
def show(which: str, directory: Path, prefix: str, shown: str) -> None:
    """Show the content of a checkpoint.

    \b
    Example:
      model-analyzer checkpoint show 3
    """
    from model_analyzer.app.selection.circumstances import circumstances_tables
    from model_analyzer.cli.checkpoint.output import found, pairs_table, print_table
    from model_analyzer.domain.metrics import METRICS
    from model_analyzer.domain.models import thaw
    from model_analyzer.reports.flat_text import to_table
    from model_analyzer.reports.tables import Table
    from model_analyzer.results.flat_rows import best_of_variants, rows_of

    tag = metric(shown, "--metric")
    checkpoint = found(which, directory, prefix)
    rows = best_of_variants(rows_of(checkpoint.records.items()), tag)
    print_table("Checkpoint", pairs_table(_identity(checkpoint)))
    if checkpoint.header.host:
        print_table("Host", pairs_table(checkpoint.header.host))
    if checkpoint.header.devices:
        devices = checkpoint.header.devices
        print_table(
            "GPUs",
            Table(
                headers=("UUID", "Name", "Memory (MB)"),
                rows=tuple((device.uuid, device.name, device.memory) for device in devices),
            ),
        )
    parameters = dict.fromkeys(name for row in rows for name in row if name.startswith("config."))
    loads = ("concurrency", "request_rate", "batch_size")
    metrics = dict.fromkeys((tag, "perf_throughput", "perf_latency_p99"))
    columns = [
        ("Model", "model"),
        ("Variant", "variant"),
        ("Calls", "composing"),
        *((name.removeprefix("config."), name) for name in parameters),
        *((name.replace("_", " ").title(), name) for name in loads),
        *((METRICS[name].header, name) for name in metrics),
        ("Measured", "measurements"),
        ("Failed", "failures"),
    ]
    if rows:
        print_table(f"Variants, each at its best {METRICS[tag].header}", to_table(rows, columns))
    for subject, table in circumstances_tables(checkpoint):
        print_table(f"Circumstances of {subject}", table)
    for subject, conclusion in checkpoint.conclusions.items():
        print_table(f"Conclusion about {subject}", pairs_table(_concluded(checkpoint, conclusion)))
    for subject, search in checkpoint.searches.items():
        print_table(f"Search of {subject}", pairs_table(_settings(search)))
    if checkpoint.metadata:
        metadata = {key: json.dumps(thaw(item)) for key, item in checkpoint.metadata.items()}
        print_table("Metadata", pairs_table(metadata))


def _settings(search: Mapping[str, Any]) -> Mapping[str, Any]:
    """What trials were chosen by, without what other modes are told."""
    from model_analyzer.domain.settings import SearchMode
    from model_analyzer.state.format.codec import MODE

    others = {mode.value for mode in SearchMode} - {search.get(MODE)}
    return {
        key: _in_words(item)
        for key, item in search.items()
        if key not in ("entry", "subject", "goals", "bases") and key.partition(".")[0] not in others
    }


def _in_words(setting: object) -> str:
    """A setting as it is kept, as text of Python, in words and JSON."""
    text = str(setting)
    try:
        value = literal_eval(text) if len(text) <= _LONGEST_SETTING else text
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return text  # it was no text of Python
    match value:
        case None:
            return "not set"
        case True | False:
            return "yes" if value else "no"
        case () | []:
            return "none"
        case tuple() | list() if all(isinstance(item, (str, int, float)) for item in value):
            return ", ".join(map(str, value))
        case tuple() | list() | dict():
            return json.dumps(value, default=str)
    return text


def _concluded(checkpoint: Checkpoint, conclusion: Conclusion) -> Mapping[str, str]:
    from model_analyzer.reports.method import end_of_search

    record = checkpoint.records.of_trial(conclusion.recommended)
    best = "unknown here" if record is None else str(record.trial)
    what = "Recommended" if conclusion.feasible else "Closest to the constraints"
    return {what: best, **dict(end_of_search(conclusion))}


def _identity(checkpoint: Checkpoint) -> Mapping[str, str]:
    from model_analyzer.state.overview import Overview

    header, overview = checkpoint.header, Overview.of(checkpoint, ())
    pairs = {
        "File": str(checkpoint.path or ""),
        "UUID": header.uuid,
        "Goes on from": header.parent,
        "Index": "" if header.index is None else str(header.index),
        "Written": _time(header.time),
        "By": f"model-analyzer {header.tool}" if header.tool else "",
        "Models": ", ".join(overview.models),
        "Variants": str(overview.variants),
        "Measurements": str(overview.measurements),
        "Failures": str(overview.failures),
        "State": overview.state,
    }
    return {name: text for name, text in pairs.items() if text}
