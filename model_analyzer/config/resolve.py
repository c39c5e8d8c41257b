# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Defaults, then YAML, then the command line: one frozen settings object comes out.

Everything that is wrong is collected and raised together.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, Generic, TypeGuard, TypeVar

from model_analyzer.config.kinds import Integer, Integers
from model_analyzer.config.model_options import ModelEntry
from model_analyzer.config.nodes import Entry, Node, Problems
from model_analyzer.config.options import OPTIONS, options_of
from model_analyzer.config.rules import PROFILE_RULES, REPORT_RULES, Rule
from model_analyzer.config.table import PROFILE, REPORT, Given, read
from model_analyzer.domain.goals import Constraint, ModelGoal, Objective
from model_analyzer.domain.settings import (
    CheckpointSettings,
    ExportSettings,
    LoadGeneratorSettings,
    ModelSettings,
    MonitorSettings,
    ProfileSettings,
    ReportSettings,
    RepositorySettings,
    SearchSettings,
    ServerSettings,
)
from model_analyzer.domain.trials import LoadKind

T = TypeVar("T")

# perf_analyzer flags that model-analyzer decides itself: a user's value is left out, with a word.
_OWNED_FLAGS = (
    "model-name", "url", "protocol", "service-kind", "triton-server-directory",
    "model-repository", "latency-report-file", "verbose-csv",
)  # fmt: skip

# perf_analyzer flags that define the load: the same as listing it under `parameters`.
_LOAD_FLAGS = {
    "concurrency-range": LoadKind.CONCURRENCY,
    "request-rate-range": LoadKind.REQUEST_RATE,
}


@dataclass(frozen=True, slots=True)
class Resolved(Generic[T]):
    """The settings of a command, with remarks that the user should see."""

    settings: T
    remarks: tuple[str, ...] = ()


def resolve_profile(
    command_line: Sequence[Entry], yaml: Node | None, cwd: Path
) -> Resolved[ProfileSettings]:
    """The settings of `profile`. Relative paths are meant from `cwd`."""
    problems = Problems()
    values = _values(PROFILE, command_line, yaml, cwd, PROFILE_RULES, problems)
    remarks: list[str] = []
    models = []
    for entry in values.get("profile_models") or ():
        with problems.collect():
            models.append(_model(entry, values, remarks))
    problems.raise_any()
    sections = _sections(PROFILE, values)
    settings = ProfileSettings(
        models=tuple(models),
        repository=RepositorySettings(**sections["repository"]),
        server=ServerSettings(**sections["server"]),
        load_generator=LoadGeneratorSettings(**sections["load_generator"]),
        monitors=MonitorSettings(**sections["monitors"]),
        search=SearchSettings(**sections["search"]),
        checkpoint=CheckpointSettings(**sections["checkpoint"]),
        export=ExportSettings(**sections["export"]),
    )
    return Resolved(settings, tuple(remarks))


def resolve_report(
    command_line: Sequence[Entry], yaml: Node | None, cwd: Path
) -> Resolved[ReportSettings]:
    """The settings of `report`. The goals of `profile_models` in the same file are used."""
    problems = Problems()
    values = _values(REPORT, command_line, yaml, cwd, REPORT_RULES, problems)
    problems.raise_any()
    models: Sequence[ModelEntry] = values.get("profile_models") or ()
    settings = ReportSettings(
        variants=values["report_model_configs"],
        goals={model.name: _goal(model.given, values) for model in models},
        default_goal=_goal(Given(), values),
        checkpoint_directory=values["checkpoint_directory"],
        export_path=values["export_path"],
    )
    return Resolved(settings)


def _values(
    command: str,
    command_line: Sequence[Entry],
    yaml: Node | None,
    cwd: Path,
    rules: Sequence[Rule],
    problems: Problems,
) -> Mapping[str, Any]:
    """The value of every option of `command`, and of those that only the YAML file has.

    One YAML file may serve all commands, so options of the others are read too.
    """
    in_file = Given()
    if yaml is not None:
        with problems.collect():
            if not yaml.is_mapping:
                raise yaml.problem(f"expected a mapping of options, found {yaml.describe()}")
            in_file = read(yaml.entries, OPTIONS, problems)
    on_line = read(command_line, options_of(command), problems)
    if "profile_models" in on_line.values and "profile_models" in in_file.values:
        with problems.collect():
            raise Node(None, on_line.where["profile_models"]).problem(
                f"models are named here and at {in_file.where['profile_models']}",
                "name them in one place",
            )
    given = Given({**in_file.values, **on_line.values}, {**in_file.where, **on_line.where})
    defaults = {option.key: option.default for option in options_of(command)}
    values = {
        key: cwd / os.path.normpath(value) if isinstance(value, Path) else value
        for key, value in {**defaults, **given.values}.items()
    }
    for rule in rules:
        problems.add(rule(given, values))
    return {**values, "perf_analyzer_flags_where": given.where.get("perf_analyzer_flags", "")}


def _sections(command: str, values: Mapping[str, Any]) -> Mapping[str, Mapping[str, Any]]:
    """The values of options with a target, by section and field."""
    sections: dict[str, dict[str, Any]] = {}
    for option in options_of(command):
        if option.target:
            section, _, field = option.target.partition(".")
            sections.setdefault(section, {})[field] = values[option.key]
    return sections


def _model(entry: ModelEntry, values: Mapping[str, Any], remarks: list[str]) -> ModelSettings:
    """The settings of one model: what it does not set itself, it takes from the global options."""
    own = entry.given.values
    parameters = own.get("parameters") or Given()
    flags = dict(_own_or_global("perf_analyzer_flags", own, values))
    batch_sizes = parameters.values.get("batch_sizes") or values["batch_sizes"] or (1,)
    kind, loads = (
        LoadKind.CONCURRENCY,
        parameters.values.get("concurrency") or values["concurrency"],
    )

    for name in [name for name in _OWNED_FLAGS if name in flags]:
        remarks.append(f"{entry.name}: perf_analyzer flag {name!r} is decided by model-analyzer")
        del flags[name]
    where = entry.given.where.get("perf_analyzer_flags") or values["perf_analyzer_flags_where"]
    if len([name for name in (*_LOAD_FLAGS, "request-intervals") if name in flags]) > 1:
        raise Node(None, where).problem("several flags define the load", "leave one of them")
    if "batch-size" in flags:
        batch_sizes = (Integer(1).parse(Node(flags.pop("batch-size"), where)),)
    for name, load_kind in _LOAD_FLAGS.items():
        if name in flags:
            kind, loads = load_kind, Integers(1).parse(Node(flags.pop(name), where))
    if "request-intervals" in flags:
        kind, loads = LoadKind.REQUEST_INTERVALS, (0,)
    if not loads and values["run_config_search_disable"]:
        loads = (1,)

    return ModelSettings(
        name=entry.name,
        cpu_only=own.get("cpu_only", False),
        goal=_goal(entry.given, values),
        batch_sizes=tuple(batch_sizes),
        load_kind=kind,
        loads=tuple(loads),
        parameters=own.get("model_config_parameters", MappingProxyType({})),
        perf_analyzer_flags=MappingProxyType(flags),
        server_flags=MappingProxyType(dict(_own_or_global("triton_server_flags", own, values))),
        server_environment=MappingProxyType(
            dict(_own_or_global("triton_server_environment", own, values))
        ),
    )


def _own_or_global(
    key: str, own: Mapping[str, Any], values: Mapping[str, Any]
) -> Mapping[str, Any]:
    chosen: Mapping[str, Any] = own[key] if key in own else values[key]
    return chosen


def _goal(given: Given, values: Mapping[str, Any]) -> ModelGoal:
    own = given.values
    objectives = (
        own.get("objectives") or values["objectives"] or (Objective(tag="perf_throughput"),)
    )
    constraints = own["constraints"] if "constraints" in own else values["constraints"]
    return ModelGoal(
        objectives=objectives,
        constraints=_with_shorthands(constraints, values),
        weighting=own.get("weighting", 1.0),
    )


def _with_shorthands(
    constraints: Sequence[Constraint], values: Mapping[str, Any]
) -> tuple[Constraint, ...]:
    """`latency_budget` and `min_throughput` added; of several bounds on a metric the tightest
    counts.
    """
    bounds = list(constraints)
    if values["latency_budget"] is not None:
        bounds.append(Constraint(tag="perf_latency_p99", maximum=values["latency_budget"]))
    if values["min_throughput"] is not None:
        bounds.append(Constraint(tag="perf_throughput", minimum=values["min_throughput"]))
    tightest: dict[str, Constraint] = {}
    for bound in bounds:
        known = tightest.get(bound.tag, bound)
        tightest[bound.tag] = Constraint(
            tag=bound.tag,
            minimum=max(filter(_is_set, (known.minimum, bound.minimum)), default=None),
            maximum=min(filter(_is_set, (known.maximum, bound.maximum)), default=None),
        )
    return tuple(tightest.values())


def _is_set(limit: float | None) -> TypeGuard[float]:
    return limit is not None
