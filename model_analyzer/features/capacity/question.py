# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""How many replicas serve a rate, or the trace of a load, from the measurements of one server."""

from __future__ import annotations

import csv
import logging
import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path

from model_analyzer.app.selection import chosen_subjects, goals_of, priced, ranked, run_of
from model_analyzer.config.kinds import Integer, Number
from model_analyzer.config.nodes import Node
from model_analyzer.config.sources import read_text
from model_analyzer.domain.costs import Fleet, fleet_for
from model_analyzer.domain.goals import GoalOverride
from model_analyzer.domain.hardware import with_place
from model_analyzer.domain.profiles import Profile
from model_analyzer.domain.settings import ReportSettings
from model_analyzer.domain.words import MOST_DEMAND, counted, shortened
from model_analyzer.errors import ConfigError, UnusableCheckpoint, wrong
from model_analyzer.features.capacity.capacity_text import CapacityReport
from model_analyzer.features.capacity.facts.autoscaling import (
    LoadTrace,
    autoscaler_of,
    day_cost,
    day_plan,
)
from model_analyzer.features.capacity.facts.capacity import ModelCapacity, capacity_of
from model_analyzer.features.capacity.facts.sizing import Demand, Sizing, sizing_of
from model_analyzer.results.ranking import Ranking
from model_analyzer.state.checkpoint import Checkpoint

log = logging.getLogger(__name__)

_PERCENT = re.compile(r"\s*([0-9]{1,4}(?:\.[0-9]*)?)\s*%\s*")
_DEMAND = Number(0, MOST_DEMAND, above=True)

_CLOCK = re.compile(r"(\d{1,2}):(\d{2})(?::(\d{2}))?")
_MOST_ROWS, _MOST_DAYS, _LONGEST = 100_000, 100, 60
# Names of a column with requests per minute, hour or day, and of one with requests per second.
_OF_LONGER = re.compile(
    r".*(?:[rq]p[mhd](?![a-z])|(?:per|/)[ _-]*[mhd]|minutely|hourly|daily"
    r"|(?<![a-z])(?:min|minute|hour|day)s?[^a-z]*$)",
    re.IGNORECASE,
)
_OF_RATES = re.compile(
    r".*(?:rate|[rq]ps|/ *s|per[ _-]?s|requests|throughput|load|demand)", re.IGNORECASE
)


def parse_demand(
    rate: str | None, trace: LoadTrace | None, headroom: str, per_node: str | None
) -> Demand:
    """The demand of --rate, or the peak of --trace; with --headroom and --replicas-per-node. Raises
    ConfigError.
    """
    if rate is None and trace is None:
        raise wrong("--rate", "give the rate that the replicas must serve, or a --trace of it")
    if rate is not None and trace is not None:
        raise wrong("--rate", "not together with --trace, whose peak takes its place: remove one")
    match = _PERCENT.fullmatch(headroom)
    if match is None:
        raise wrong("--headroom", f"expected a percentage such as 20%, found {headroom!r}")
    return Demand(
        rate=_DEMAND.parse(Node(rate, "--rate")) if trace is None else trace.peak,
        headroom=float(match[1]) / 100,
        per_node=None
        if per_node is None
        else Integer(1).parse(Node(per_node, "--replicas-per-node")),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What is asked about a checkpoint.

    The `demand` is the peak of the `trace`, if there is one. `model` is None for the only model of
    the checkpoint, `variant` is None for the one that carries most. Requests have `batch_size`
    inferences; None means as many as those of the recommended measurement. The goals are those
    that are `asked` for, then those of the YAML file and of the run. `conditions` is the number
    of the group to use; None means that of the YAML file.
    """

    demand: Demand
    trace: LoadTrace | None = None
    model: str | None = None
    variant: str | None = None
    batch_size: int | None = None
    asked: GoalOverride
    conditions: int | None = None

    def known(self, profile: Profile, ranking: Ranking, batch_size: int) -> ModelCapacity:
        """What measurements tell: see `capacity_of`."""
        needed, variant = self.demand.with_headroom, self.variant
        return capacity_of(profile, ranking, batch_size=batch_size, needed=needed, variant=variant)


def capacity(
    checkpoint: Checkpoint,
    question: Question,
    settings: ReportSettings | None = None,
    config_file: Path | None = None,
) -> Sequence[CapacityReport]:
    """The answer for each kind of hardware; `settings` are those of the `config_file`. Raises
    ConfigError or UnusableCheckpoint.
    """
    prices = None if settings is None else settings.prices
    profile = priced(checkpoint.profile, prices, question.asked)
    (name,) = chosen_subjects(checkpoint, question.model, several=False)
    goals, _ = goals_of(checkpoint, [name], question.asked, settings)
    rankings = ranked(profile, name, goals[name], question.conditions, run_of(config_file))
    batch_size = question.batch_size or _usual_batch(rankings[0])
    known, problems = [], []
    for ranking in rankings:
        try:
            known.append(question.known(profile, ranking, batch_size))
        except ValueError as error:
            problems.append(f"{with_place(name, ranking.hardware)} {error}")
    if not known:
        raise UnusableCheckpoint(f"{checkpoint.path}: {problems[0]}")
    for problem in problems:
        log.warning("%s", problem)
    return [capacity_report(each, question.demand, question.trace) for each in known]


def capacity_report(
    capacity: ModelCapacity, demand: Demand, trace: LoadTrace | None = None
) -> CapacityReport:
    """The answer for a demand, and for the `trace` of which it is the peak."""
    replica = capacity.replica
    carried, scaler, day = replica.carried, None, None
    sizing = sizing_of(capacity, demand)
    fleet = None if sizing is None else _fleet(capacity, sizing)
    if carried is not None:
        lowest = None if trace is None else trace.lowest
        scaler = autoscaler_of(carried, demand, loading_s=replica.loading_s, lowest=lowest)
        day = None if trace is None else day_plan(trace, carried, demand, scaler)
    return CapacityReport(
        capacity=capacity,
        demand=demand,
        sizing=sizing,
        scaler=scaler,
        day=day,
        cost=None if sizing is None or fleet is None else fleet.cost(sizing.replicas.number),
        day_cost=None if day is None or fleet is None else day_cost(day, fleet),
    )


def _fleet(capacity: ModelCapacity, sizing: Sizing) -> Fleet | None:
    """How the replicas are rented; None without prices."""
    if capacity.prices is None:
        return None
    return fleet_for(
        capacity.prices,
        capacity.replica.resources,
        sizing.replicas.number,
        per_node=sizing.demand.per_node,
    )


def _usual_batch(ranking: Ranking) -> int:
    """The client batch size of the recommended measurement."""
    if not ranking.results:
        return 1
    return ranking.results[0].best.trial.workloads[0].load.batch_size


def read_trace(path: Path) -> LoadTrace:
    """The trace in a file. Raises ConfigError with the line of the first mistake."""
    return parse_trace(read_text(path), str(path))


def parse_trace(text: str, name: str) -> LoadTrace:
    """The trace in a text; `name` is the file in messages."""
    rows = [*_rows(text, name)]
    if len(rows) < 2:
        raise _wrong(name, 1, "a trace needs at least two rows of time and rate")
    first = rows[0][1]
    if rows[-1][1] - first > _MOST_DAYS * 86_400:
        raise _wrong(name, len(rows), f"a trace of more than {_MOST_DAYS} days")
    if not any(rate for *_, rate in rows):
        raise _wrong(name, 1, "the trace has no requests")
    return LoadTrace(
        times_s=tuple(time - first for _, time, _ in rows),
        rates=tuple(rate for *_, rate in rows),
        labels=tuple(label for label, *_ in rows),
    )


def _rows(text: str, name: str) -> Iterator[tuple[str, float, float]]:
    """Label, time in seconds and rate of each row, without comments and a first row of names."""
    last: float | None = None
    for line, cells in _lines(text, name):
        if len(cells) != 2:
            number = counted(len(cells), "cell")
            raise _wrong(name, line, f"expected a time and a rate, found {number}")
        time, rate = _seconds(cells[0]), _number(cells[1])
        if time is None:
            raise _wrong(name, line, f"{cells[0]!r} is not a time", "write 14:30, or seconds")
        if rate is None or not 0 <= rate <= MOST_DEMAND:
            raise _wrong(name, line, f"{cells[1]!r} is not a rate of requests per second")
        if last is not None and time <= last:
            raise _wrong(name, line, f"the time {cells[0]} is not after the last one")
        last = time
        yield cells[0], time, rate


def _lines(text: str, name: str) -> Iterator[tuple[int, Sequence[str]]]:
    """The cells of each row with its line, without empty rows, comments and the names of the
    columns, which may be in a comment.
    """
    reader = csv.reader(text.splitlines())
    is_first = True
    try:
        for row in reader:
            if reader.line_num > _MOST_ROWS:
                raise _wrong(name, reader.line_num, f"more than {_MOST_ROWS} rows")
            cells = [cell.strip() for cell in row]
            if not any(cells):
                continue
            is_comment, last = cells[0].startswith("#"), cells[-1]
            is_other = len(cells) == 2 and _OF_LONGER.match(last) is not None
            if is_comment and not (is_first and is_other):
                continue
            if not is_first or _number(last) is not None:
                yield reader.line_num, cells
            elif is_other or not _OF_RATES.match(last):
                raise _wrong(
                    name,
                    reader.line_num,
                    f"{shortened(last, _LONGEST)!r} is not known to be requests per second",
                    "write rows of time,rate; a log of requests is for the option load (replay)",
                )
            is_first = False
    except csv.Error as error:
        raise _wrong(name, reader.line_num, f"is not valid CSV: {error}") from error


def _seconds(text: str) -> float | None:
    """A time of day, a date with a time (ISO 8601), or a number of seconds."""
    clock = _CLOCK.fullmatch(text)
    if clock is not None:
        hours, minutes, seconds = (int(part or 0) for part in clock.groups())
        return 3600.0 * hours + 60 * minutes + seconds
    number = _number(text)
    if number is not None:
        return number
    try:
        moment = datetime.fromisoformat(text.removesuffix("Z"))
    except ValueError:
        return None
    # without a zone, all times are in the same one
    return (moment if moment.tzinfo else moment.replace(tzinfo=timezone.utc)).timestamp()


def _number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def _wrong(name: str, line: int, message: str, hint: str = "") -> ConfigError:
    return wrong(f"{name}:{line}:1", message, hint)
