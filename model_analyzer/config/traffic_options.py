# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The option `load`: an open load, and how its requests arrive."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from math import fsum
from typing import Any

from model_analyzer.config.kinds import (
    Duration,
    FilePath,
    Integer,
    Integers,
    Kind,
    Number,
    OneOf,
    Text,
)
from model_analyzer.config.nodes import Node, Schema, any_of, array, closed, fields_of
from model_analyzer.domain.traffic import MOST_REQUESTS, Arrivals, Stage, Traffic
from model_analyzer.domain.trials import LoadKind
from model_analyzer.domain.words import MOST_RATE
from model_analyzer.reading.log_rows import LogUnit

# Bursts with a higher coefficient of variation are rarer than what a measurement can see.
_MOST_CV = 10
_LONGEST_S = 3600
# Stages with fewer requests on average would often have none.
_LEAST_REQUESTS = 10


class _Process(Enum):
    CONSTANT = Arrivals.CONSTANT.value
    POISSON = Arrivals.POISSON.value
    GAMMA = Arrivals.GAMMA.value


@dataclass(frozen=True, slots=True)
class GivenLoad:
    """The traffic, and its rates in requests per second: none if they are searched, or if the
    traffic has its own times.
    """

    traffic: Traffic
    rates: tuple[int, ...] = ()

    @property
    def kind(self) -> LoadKind:
        """What the loads of its trials have in common."""
        return LoadKind.REQUEST_INTERVALS if self.traffic.has_own_times else LoadKind.REQUEST_RATE

    @property
    def values(self) -> tuple[int, ...]:
        """The values of these loads; none if they are searched."""
        return (0,) if self.traffic.has_own_times else self.rates


# The keys of each form of the option, with the kinds of their values.
_AT_A_RATE: Mapping[str, Kind] = {
    "arrivals": OneOf(_Process),
    "rate": Integers(1, MOST_RATE),
    "cv": Number(0, _MOST_CV, above=True),
    "seed": Integer(0, 2**31 - 1),
}
_REPLAY: Mapping[str, Kind] = {
    "replay": FilePath(),
    "speed": Number(0, above=True),
    "column": Text(),
    "unit": OneOf(LogUnit),
    "input": Text(),
}
_ONLY_OF_REPLAY = _REPLAY.keys() - {"replay"}
_STAGE: Mapping[str, Kind] = {"rate": Number(0, MOST_RATE, above=True), "for": Duration()}


class OpenLoad:
    """An open load: arrivals at a rate, stages of rates, or the replay of a log."""

    metavar = "MAPPING"

    def parse(self, node: Node) -> GivenLoad:
        if not node.is_mapping:
            raise node.problem(
                f"expected a mapping with arrivals, stages or replay, found {node.describe()}"
            )
        if not node.entries:
            raise node.problem("load is empty", "give arrivals, stages or replay")
        keys = {entry.key for entry in node.entries}
        if "replay" in keys or keys <= _ONLY_OF_REPLAY:
            return _replay(node)
        if "stages" in keys:
            return _staged(node)
        return _at_a_rate(node)

    def schema(self) -> Schema:
        seed = {"seed": _AT_A_RATE["seed"].schema()}
        stage = closed(_schemas(_STAGE), required=[*_STAGE])
        return any_of(
            closed(_schemas(_AT_A_RATE), required=["arrivals"]),
            closed({"stages": array(stage, minItems=1), **seed}, required=["stages"]),
            closed(_schemas(_REPLAY), required=["replay"]),
        )


def _schemas(kinds: Mapping[str, Kind]) -> Mapping[str, Schema]:
    return {key: kind.schema() for key, kind in kinds.items()}


def _at_a_rate(node: Node) -> GivenLoad:
    values = _values(node, _AT_A_RATE, required=["arrivals"])
    arrivals = Arrivals(values["arrivals"].value)
    if "cv" in values and arrivals is not Arrivals.GAMMA:
        raise _node(node, "cv").problem(
            f"cv has no effect on {arrivals.value} arrivals", "use arrivals: gamma"
        )
    if "cv" not in values and arrivals is Arrivals.GAMMA:
        raise node.problem(
            "gamma arrivals need cv, the coefficient of variation of the times between requests",
            "1 is like poisson, 2 or 3 are bursts",
        )
    if "rate" in values and not values["rate"]:
        raise _node(node, "rate").problem(
            "rate is an empty list", "leave rate out to search the rates"
        )
    traffic = Traffic(arrivals=arrivals, cv=values.get("cv", 1.0), seed=values.get("seed", 0))
    return GivenLoad(traffic, tuple(values.get("rate", ())))


def _staged(node: Node) -> GivenLoad:
    seed = {"seed": _AT_A_RATE["seed"].parse}
    values = fields_of(node, {"stages": _stages, **seed}, required=["stages"])
    return GivenLoad(Traffic(arrivals=Arrivals.STAGES, **values))


def _stages(node: Node) -> tuple[Stage, ...]:
    if not node.is_list or not node.items:
        found = "an empty list" if node.is_list else node.describe()
        raise node.problem(f"expected a list of {{rate: 50, for: 30s}}, found {found}")
    stages = []
    for item in node.items:
        values = _values(item, _STAGE, required=[*_STAGE])
        stages.append(Stage(values["rate"], values["for"]))
    if fsum(stage.seconds for stage in stages) > _LONGEST_S:
        raise node.problem("the stages together last longer than an hour")
    requests = fsum(stage.rate * stage.seconds for stage in stages)
    if requests > MOST_REQUESTS:
        raise node.problem(f"the stages together have more than {MOST_REQUESTS:,} requests")
    if requests < _LEAST_REQUESTS:
        raise node.problem(f"the stages together have fewer than {_LEAST_REQUESTS} requests")
    return tuple(stages)


def _replay(node: Node) -> GivenLoad:
    values = dict(_values(node, _REPLAY, required=["replay"]))
    unit = values.pop("unit", None)
    log = str(values.pop("replay"))
    return GivenLoad(
        Traffic(
            arrivals=Arrivals.REPLAY,
            log=log,
            unit="" if unit is None else unit.value,
            **values,
        )
    )


def _values(node: Node, kinds: Mapping[str, Kind], required: Sequence[str]) -> Mapping[str, Any]:
    return fields_of(node, {key: kind.parse for key, kind in kinds.items()}, required=required)


def _node(node: Node, key: str) -> Node:
    return next(entry.node for entry in node.entries if entry.key == key)
