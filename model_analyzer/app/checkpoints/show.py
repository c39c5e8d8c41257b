# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Lists the checkpoints of a directory, shows the content of one, its trials or single
measurements, and ranks its variants again, for the goals of the run or for others.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from model_analyzer.app.delivery.files import write_variants
from model_analyzer.app.selection import (
    chosen_subjects,
    completed_records,
    conditions_tables,
    default_rankings,
    goals_of,
    priced,
    ranked,
    wishes_of_runs,
)
from model_analyzer.domain.goals import DEFAULT_OBJECTIVE, GoalOverride
from model_analyzer.domain.hardware import Machine, with_place
from model_analyzer.domain.metrics import METRICS, is_best_high
from model_analyzer.domain.models import thaw
from model_analyzer.domain.profiles import Conclusion
from model_analyzer.domain.settings import SearchMode
from model_analyzer.domain.slots import Shift
from model_analyzer.domain.words import counted, setting_text, shortened, with_error
from model_analyzer.errors import without_checkpoints, wrong
from model_analyzer.reports.build import Statement, state_answer
from model_analyzer.reports.flat_files import to_table
from model_analyzer.reports.formats import encode_rows
from model_analyzer.reports.importance import swept_table
from model_analyzer.reports.method import end_of_search, minute_text
from model_analyzer.reports.parameters import parameters_of
from model_analyzer.reports.tables import Table, answer_table, hardware_table, pairs_table
from model_analyzer.reports.write import ExportDirectory
from model_analyzer.results.answer import Answer, ModelAnswer, answer_of, by_model, top_with_default
from model_analyzer.results.columns import (
    NUMBERS,
    Row,
    RowFilter,
    Rows,
    best_of_variants,
    column_named,
    pooled_rows,
    sort_rows,
)
from model_analyzer.results.effects import effects
from model_analyzer.results.ranking import Ranking
from model_analyzer.state.checkpoint import Checkpoint, in_order
from model_analyzer.state.find import Overview, overviews
from model_analyzer.state.format.codec import MODE
from model_analyzer.state.format.layout import Layout

TitledTable = tuple[str, Table]

_REASON = "reason"

# Characters of the names of models in a list, where each checkpoint has one line.
_LONGEST = 50


def content_tables(checkpoint: Checkpoint, metric: str | None = None) -> Iterator[TitledTable]:
    """Everything in a checkpoint, each variant at its best value of the `metric`; by default, that
    is what the run wished for.
    """
    metric = metric or next(iter((*wishes_of_runs(checkpoint), DEFAULT_OBJECTIVE)))
    yield "Checkpoint", pairs_table(_identity(checkpoint))
    yield from _hardware(checkpoint)
    yield from _shared_hosts(checkpoint)
    rankings = default_rankings(checkpoint)
    yield from _variants(checkpoint, metric, rankings)
    for subject, table in conditions_tables(rankings):
        yield f"Conditions of {subject}", table
    for lane, conclusion in checkpoint.conclusions.items():
        title = f"Conclusion about {with_place(*lane)}"
        yield title, pairs_table(_conclusion(checkpoint, conclusion))
    if checkpoint.proofs:
        yield "Proofs", _proofs(checkpoint)
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
        "By": f"model-analyzer {header.tool}" if header.tool[:1].isdigit() else header.tool,
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
    outcomes = Counter(record.outcome.machine for record in checkpoint.records)
    machines = [machine for machine in outcomes if machine is not None]
    if machines:
        yield "Machines", _machines(machines, outcomes)
    if checkpoint.devices:
        rows = tuple((device.uuid, device.name, device.memory) for device in checkpoint.devices)
        yield "GPUs", Table(headers=("UUID", "Name", "Memory (MB)"), rows=rows)


def _machines(machines: Sequence[Machine], outcomes: Mapping[Machine | None, int]) -> Table:
    """Where outcomes were measured; columns that nothing is known about are left out."""
    rows = [
        {
            "Host": machine.host,
            "Hardware": machine.kind,
            "Driver": machine.driver,
            "Processor": machine.processor,
            "Cores": machine.cores,
            "Niceness": machine.niceness,
            "OMP_NUM_THREADS": machine.threads,
            "Outcomes": outcomes[machine],
        }
        for machine in machines
    ]
    headers = [name for name in rows[0] if any(row[name] not in ("", None) for row in rows)]
    return Table(
        headers=tuple(headers), rows=tuple(tuple(row[name] for name in headers) for row in rows)
    )


def _shared_hosts(checkpoint: Checkpoint) -> Iterator[TitledTable]:
    """What changes on a slot if all slots of its host measure."""
    if checkpoint.shared_hosts:
        rows = tuple(
            (
                shared.host,
                shared.slots,
                shared.model,
                _shift(shared.throughput),
                _shift(shared.latency_p99),
            )
            for shared in checkpoint.shared_hosts.values()
        )
        headers = ("Host", "Slots", "Tested with", "Throughput (%)", "p99 Latency (%)")
        yield "Slots that share a host, compared with one alone", Table(headers=headers, rows=rows)


def _shift(shift: Shift | None) -> str | None:
    return None if shift is None else with_error(shift.percent, shift.error, sign="+")


def _variants(
    checkpoint: Checkpoint, metric: str, rankings: Sequence[Ranking]
) -> Iterator[TitledTable]:
    """The variants that can be compared, and in a table of their own those that cannot."""
    reasons = {
        record.trial.key: part.reason
        for ranking in rankings
        for part in ranking.left_out
        for record in part.records
    }
    rows = pooled_rows(completed_records(checkpoint))
    header = METRICS[metric].header
    current = best_of_variants((row for row in rows if row["trial"] not in reasons), metric)
    if current:
        columns = _columns(current, metric)
        yield f"Variants, each at its best {header}", to_table(current, columns)
    by_reason: dict[str, list[Row]] = {}
    for row in rows:
        if (reason := reasons.get(str(row["trial"]))) is not None:
            by_reason.setdefault(reason, []).append(row)
    left_out = [
        row | {_REASON: reason}
        for reason, members in by_reason.items()
        for row in best_of_variants(members, metric)
    ]
    if left_out:
        columns = [*_columns(left_out, metric), ("Left out because", _REASON)]
        yield (
            f"Left out of rankings: variants that are not comparable, each at its best {header}",
            to_table(left_out, columns),
        )


def _columns(rows: Sequence[Row], metric: str) -> list[tuple[str, str]]:
    """The columns of variants, each with its header."""
    metrics = dict.fromkeys((metric, "perf_throughput", "perf_latency_p99"))
    has_kinds = len({row["hardware"] for row in rows}) > 1
    return [
        *([("Hardware", "hardware")] if has_kinds else []),
        ("Model", "model"),
        ("Variant", "variant"),
        ("Calls", "composing"),
        *parameters_of(rows),
        *((name.replace("_", " ").title(), name) for name in NUMBERS),
        *((METRICS[name].header, name) for name in metrics),
        ("Measured", "measurements"),
        ("Failed", "failures"),
        *([("Doubts", "doubts")] if any("doubts" in row for row in rows) else []),
    ]


def _conclusion(checkpoint: Checkpoint, conclusion: Conclusion) -> Mapping[str, str]:
    record = checkpoint.records.of_trial(conclusion.recommended)
    best = "unknown here" if record is None else str(record.trial)
    name = "Recommended" if conclusion.feasible else "Closest to the constraints"
    return {name: best, **dict(end_of_search(conclusion))}


def _proofs(checkpoint: Checkpoint) -> Table:
    """The verdicts on configurations."""
    rows = (
        (
            *(proof.variant, proof.load or "any", proof.kind.value, proof.verdict.value),
            *(proof.sentence, f"{minute_text(proof.at)} UTC"),
        )
        for proof in checkpoint.proofs.values()
    )
    headers = ("Variant", "Load", "Proof of", "Verdict", "Result", "When")
    return Table(headers=headers, rows=tuple(rows))


def _settings(search: Mapping[str, Any]) -> Mapping[str, str]:
    """The settings of a search, without the limits of other modes."""
    others = {mode.facts.limits for mode in SearchMode}
    others -= {mode.facts.limits for mode in SearchMode if mode.value == search.get(MODE)}
    return {
        key: setting_text(value)
        for key, value in search.items()
        if key not in ("entry", "subject", "goals", "bases") and key.partition(".")[0] not in others
    }


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
            shortened(",".join(overview.models), _LONGEST),
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


_MEASUREMENTS = ("Measurements", "measurements")
_REPETITION = ("Repetition", "repetition")
_METRICS = ("perf_throughput", "perf_latency_p99", "gpu_used_memory", "cpu_used_ram")


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """Which trials, in which order: those that pass all filters, and of these at most `limit`.
    Without a column to sort by, the order is that of measuring. Several measurements of a trial are
    pooled, unless they are `single`.
    """

    filters: Sequence[RowFilter] = ()
    sort_by: str | None = None
    order: str | None = None
    limit: int | None = None
    single: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Trials:
    """What a query chooses, one row for each model of a trial or of a measurement. The `wishes` of
    the runs are the first metrics.
    """

    query: Query
    rows: Sequence[Row]
    wishes: Sequence[str] = ()

    def table(self) -> Table:
        """The rows for people: some metrics, and the columns of the query."""
        sort_by, filters = self.query.sort_by, self.query.filters
        queried = [*([sort_by] if sort_by else []), *(each.column for each in filters)]
        shown = (*self.wishes, *_METRICS, *queried)
        metrics = dict.fromkeys(name for name in shown if name in METRICS)
        columns = [
            ("Model", "model"),
            ("Variant", "variant"),
            ("Calls", "composing"),
            *parameters_of(self.rows),
            *places_of(self.rows),
            *((name.replace("_", " ").title(), name) for name in NUMBERS),
            *((METRICS[name].header, name) for name in metrics),
            *self._counts(),
        ]
        return to_table(self.rows, columns)

    def _counts(self) -> Sequence[tuple[str, str]]:
        """The column of measurements, where a trial has several."""
        header, name = _REPETITION if self.query.single else _MEASUREMENTS
        rare = 0 if self.query.single else 1
        return [(header, name)] if any(row[name] != rare for row in self.rows) else []

    @property
    def title(self) -> str:
        """What the rows are, with their number."""
        count = len({row["trial"] for row in self.rows})  # several models: several rows
        if self.query.single:
            return f"{counted(count, 'single measurement')}, not pooled"
        is_pooled = any(row["measurements"] != 1 for row in self.rows)
        return counted(count, "trial") + (", measurements pooled" if is_pooled else "")

    def encoded(self, form: str) -> bytes:
        """The rows for programs, as csv, json or parquet."""
        return encode_rows(self.rows, form, self.wishes)


def places_of(rows: Sequence[Row]) -> Sequence[tuple[str, str]]:
    """The columns of the hardware and of the host, where rows differ in them."""
    columns = (("Hardware", "hardware"), ("Host", "host"))
    return [pair for pair in columns if len({row.get(pair[1]) for row in rows}) > 1]


def parse_query(
    where: Sequence[str],
    sort_by: str | None,
    order: str | None,
    limit: int | None,
    *,
    single: bool = False,
) -> Query:
    """The query of these options. Raises ConfigError."""
    option = "--where"
    try:
        filters = [RowFilter.parse(text) for text in where]
        option = "--sort-by"
        column = column_named(sort_by) if sort_by else None
    except ValueError as error:
        raise wrong(option, str(error)) from error
    return Query(filters=filters, sort_by=column, order=order, limit=limit, single=single)


def choose_trials(checkpoint: Checkpoint, query: Query) -> Trials:
    """The trials or measurements of the checkpoint that the query chooses."""
    records = [*completed_records(checkpoint)]
    rows: Sequence[Row] = [
        row
        for row in (Rows(records, repetitions=True) if query.single else pooled_rows(records))
        if "failure" not in row and all(each.matches(row) for each in query.filters)
    ]
    is_descending = query.order == "desc"
    if query.sort_by is not None:
        is_descending = is_descending if query.order else is_best_high(query.sort_by)
        rows = sort_rows(rows, query.sort_by, descending=is_descending)
    elif is_descending:
        rows = rows[::-1]
    return Trials(query=query, rows=rows[: query.limit], wishes=wishes_of_runs(checkpoint))


@dataclass(frozen=True, slots=True, kw_only=True)
class BestVariants:
    """The answers of a checkpoint, remarks about their goals, how many variants count, and the
    directory for these, if they are to be written.
    """

    answers: Sequence[Answer]
    remarks: Sequence[str]
    count: int
    directory: ExportDirectory | None

    @property
    def models(self) -> Sequence[ModelAnswer]:
        """The answers of each model, one for each kind of hardware."""
        return by_model(self.answers)

    def hardware(self, model: ModelAnswer) -> Table:
        """The best of each kind of hardware."""
        return hardware_table(model.answers)

    def statement(self, answer: Answer) -> tuple[Statement, Table]:
        """The answer in words, with a table of its best variants and the default."""
        results = top_with_default(answer.ranking, self.count)
        return (
            state_answer(answer, complete=True),
            answer_table(results, answer.ranking.goal),
        )

    def swept(self, answer: Answer) -> Table | None:
        """The best result for each value that the user swept."""
        return swept_table(effects(answer.ranking))

    def write(self, answer: Answer) -> Sequence[Path]:
        """Writes the best variants with their measurements; the paths of the configurations."""
        if self.directory is None:
            return ()
        return write_variants(self.directory, answer, self.count)


def best_variants(
    checkpoint: Checkpoint,
    asked: GoalOverride,
    *,
    count: int,
    model: str | None = None,
    conditions: int | None = None,
    directory: Path | None = None,
    prices: Path | None = None,
) -> BestVariants:
    """The `count` best variants of each model, or of one, by the goals that are asked for or else
    those of the run; `prices` is a file with prices of hardware. Raises CheckpointError or
    ConfigError where there is nothing to rank, and OutputError where `directory` cannot be written
    to.
    """
    profile = priced(checkpoint.profile, prices, asked)
    names = chosen_subjects(checkpoint, model, several=True)
    goals, remarks = goals_of(checkpoint, names, asked)
    return BestVariants(
        answers=[
            answer_of(ranking)
            for name, goal in goals.items()
            for ranking in ranked(profile, name, goal, conditions)
        ],
        remarks=remarks,
        count=count,
        directory=None if directory is None else ExportDirectory(directory, "--output-dir"),
    )
