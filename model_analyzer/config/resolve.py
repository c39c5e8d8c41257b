# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Merges defaults, YAML, the environment and the command line into one frozen settings object.

All problems are collected and raised together.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from enum import Enum
from pathlib import Path
from types import MappingProxyType
from typing import Any, Generic, TypeVar

from model_analyzer.config.goal_kinds import shorthand_bounds, tightest
from model_analyzer.config.kinds import Integer, Integers
from model_analyzer.config.model_options import ModelEntry, ReportedVariant
from model_analyzer.config.nodes import Entry, Node, Problems
from model_analyzer.config.options import OPTIONS, options_of
from model_analyzer.config.places import Places
from model_analyzer.config.rules import (
    CONCURRENCIES,
    REQUEST_RATES,
    RULES,
    check_models,
    is_request_rate_searched,
    missing_for_profile,
    remarks_about,
    with_bounds_in_order,
    with_endpoint,
)
from model_analyzer.config.sources import check_filled
from model_analyzer.config.table import FILE, PROFILE, REPORT, Given, read
from model_analyzer.config.traffic_options import GivenLoad
from model_analyzer.domain.flags import (
    PERF_ANALYZER_CARE,
    PERF_ANALYZER_NO_FILES,
    PERF_ANALYZER_OWNED,
)
from model_analyzer.domain.goals import Constraint, Goal, GoalOverride, ModelGoal
from model_analyzer.domain.metrics import Source
from model_analyzer.domain.models import thaw
from model_analyzer.domain.secrets import Veil, masked_url, masked_values
from model_analyzer.domain.settings import (
    AdaptiveSettings,
    CheckpointSettings,
    ComposingSettings,
    DisplaySettings,
    DockerSettings,
    ExecutorSettings,
    ExportSettings,
    LaunchMode,
    LoadGeneratorSettings,
    MeasurementMode,
    ModelSettings,
    ModelType,
    MonitorSettings,
    OptunaSettings,
    ProfileSettings,
    ProofSettings,
    QuickSettings,
    ReportSettings,
    RepositorySettings,
    ResponseCache,
    SearchSettings,
    ServerSettings,
)
from model_analyzer.domain.traffic import Traffic
from model_analyzer.domain.trials import LoadKind
from model_analyzer.errors import Problem

T = TypeVar("T")

# perf_analyzer flags that define the load, as `parameters` does.
_LOAD_FLAGS = {
    "concurrency-range": LoadKind.CONCURRENCY,
    "request-rate-range": LoadKind.REQUEST_RATE,
}

_INTERVALS = "request-intervals"

# Why a perf_analyzer flag has no effect, where another reason counts than for most.
_WHY_OWNED = {
    "warmup-request-count": "where warm-up requests are needed, model-analyzer sends as many as"
    " perf_analyzer can end with",
}

_NOWHERE = Places()


@dataclass(frozen=True, slots=True)
class Resolved(Generic[T]):
    """The settings of a command, remarks for the user, and the places of the given options. Of a
    file alone, `missing` is what `profile` needs besides.
    """

    settings: T
    remarks: tuple[str, ...] = ()
    places: Places = _NOWHERE
    missing: tuple[Problem, ...] = ()


def resolve_profile(
    command_line: Sequence[Entry],
    yaml: Node | None,
    cwd: Path,
    *,
    environment: Sequence[Entry] = (),
    command: str = PROFILE,
    offline: bool = False,
) -> Resolved[ProfileSettings]:
    """The settings of `profile` (or `analyze`, `doctor`). Relative paths start at `cwd`. Raises
    ConfigError with all problems.
    """
    problems = Problems()
    given, values = _values(command, (command_line, environment, yaml), cwd, problems)
    load_kind = LoadKind.REQUEST_RATE if is_request_rate_searched(given) else LoadKind.CONCURRENCY
    remarks = [*(yaml.repeated if yaml is not None else ()), *remarks_about(given, values)]
    models = []
    for entry in values["profile_models"] or ():
        with problems.collect():
            models.append(_model(entry, given, values, load_kind, remarks))
    problems.add(check_models(models, given, values))
    problems.raise_any()
    sections = _sections(command, _with_fields(values, models))
    settings = _settings(given, values, models, sections, offline=offline)
    if settings.server.reload_disable:
        settings = _as_loaded(settings)
    missing = missing_for_profile(given, values) if command == FILE else ()
    return Resolved(settings, tuple(remarks), Places(given), tuple(missing))


def _with_fields(values: Mapping[str, Any], models: Sequence[ModelSettings]) -> Mapping[str, Any]:
    """The values, with the fields of the tables that the loads of the models determine."""
    with_rates = all(model.load_kind is LoadKind.REQUEST_RATE for model in models)
    fields = _inference_fields(with_rates, values["model_type"])
    wishes = (tag for model in models for tag in Goal(models=(model.goal,)).wishes_first(()))
    computed = {
        # the columns that scripts of other tools know stay in their places
        "inference_output_fields": tuple(dict.fromkeys((*fields, *wishes))),
        "gpu_output_fields": _gpu_fields(with_rates),
    }
    unset = {key: default for key, default in computed.items() if values[key] is None}
    return {**values, **unset}


def _settings(
    given: Given,
    values: Mapping[str, Any],
    models: Sequence[ModelSettings],
    sections: Mapping[str, Mapping[str, Any]],
    *,
    offline: bool,
) -> ProfileSettings:
    return ProfileSettings(
        models=tuple(models),
        goal=_goal(Given(), given),
        composing=_composing(values),
        bls_calls=tuple(entry.name for entry in values["bls_composing_models"]),
        config_file=values["config_file"],
        repository=RepositorySettings(**sections["repository"]),
        server=ServerSettings(**sections["server"]),
        docker=DockerSettings(**sections["docker"]),
        load_generator=LoadGeneratorSettings(**sections["load_generator"]),
        monitors=_monitors(MonitorSettings(**sections["monitors"]), models),
        executor=ExecutorSettings(**sections["executor"]),
        search=SearchSettings(
            **sections["search"],
            refined=values["num_configs_per_model"],
            quick=_quick(given),
            optuna=_optuna(given, OptunaSettings(**sections["search.optuna"])),
            adaptive=AdaptiveSettings(**sections["search.adaptive"]),
        ),
        checkpoint=CheckpointSettings(**sections["checkpoint"]),
        export=ExportSettings(**sections["export"]),
        proofs=ProofSettings(**sections["proofs"]),
        display=DisplaySettings(**sections["display"]),
        offline=offline,
        prices=values["prices"],
        outputs=values["outputs"],
    )


def _monitors(settings: MonitorSettings, models: Sequence[ModelSettings]) -> MonitorSettings:
    """The settings, with the CPU monitor on if a goal needs it."""
    needs_cpu = any(model.goal.needs(Source.CPU) for model in models)
    return replace(settings, cpu=settings.cpu or needs_cpu)


def _as_loaded(settings: ProfileSettings) -> ProfileSettings:
    """Settings that vary only the load: the server keeps the variants that it has loaded."""
    no_parameters: Mapping[str, tuple[Any, ...]] = MappingProxyType({})
    return replace(
        settings,
        models=tuple(
            replace(model, parameters=no_parameters, mode=None) for model in settings.models
        ),
        composing=MappingProxyType({}),
        search=settings.search.without_search,
    )


def check_file(
    yaml: Node | None, cwd: Path, *, environment: Sequence[Entry] = ()
) -> Resolved[ProfileSettings]:
    """The settings of a YAML file that may be incomplete: the command line can add options.

    Raises ConfigError with all its problems.
    """
    return resolve_profile([], yaml, cwd, environment=environment, command=FILE)


def resolve_report(
    command_line: Sequence[Entry],
    yaml: Node | None,
    cwd: Path,
    *,
    command: str = REPORT,
    environment: Sequence[Entry] = (),
    offline: bool = False,
) -> Resolved[ReportSettings]:
    """The settings of `report` (or `best`, which takes no variant names). The goals come from
    `profile_models` in the same file. Raises ConfigError with all problems.
    """
    problems = Problems()
    given, values = _values(command, (command_line, environment, yaml), cwd, problems)
    problems.raise_any()
    models: Sequence[ModelEntry] = values.get("profile_models") or ()
    variants: Sequence[ReportedVariant] = values["report_model_configs"] or ()
    settings = ReportSettings(
        variants=tuple(variant.name for variant in variants),
        plots={
            variant.name: values["plots"] if variant.plots is None else variant.plots
            for variant in variants
        },
        formats=values["output_formats"],
        offline=offline,
        always_gpus=values["always_report_gpu_metrics"],
        conditions=values["conditions"],
        config_file=values["config_file"],
        goals={model.name: _goal_override(model.given, given) for model in models},
        default_goal=_goal_override(Given(), given),
        checkpoint_directory=values["checkpoint_directory"],
        checkpoint_prefix=values["checkpoint_prefix"],
        checkpoint_file=values["checkpoint_load_file"],
        export_path=values["export_path"],
        prices=values["prices"],
    )
    return Resolved(settings)


def entries_of(yaml: Node | None) -> Sequence[Entry]:
    """The options in a YAML file. Raises ConfigError where it is not a mapping."""
    if yaml is None:
        return ()
    if not yaml.is_mapping:
        raise yaml.problem(f"expected a mapping of options, found {yaml.describe()}")
    return yaml.entries


def _given(
    command: str,
    sources: tuple[Sequence[Entry], Sequence[Entry], Node | None],
    problems: Problems,
) -> Given:
    """The options from the command line, the environment and the YAML file; the first overrides.

    Environment and file may serve all commands, so options of other commands are read too.
    """
    command_line, environment, yaml = sources
    if yaml is not None:
        check_filled(yaml)
    in_file = Given()
    with problems.collect():
        in_file = read(entries_of(yaml), OPTIONS, problems)
    over_file = read(environment, OPTIONS, problems).below(
        read(command_line, options_of(command), problems)
    )
    if "profile_models" in over_file.values and "profile_models" in in_file.values:
        with problems.collect():
            raise Node(None, over_file.where["profile_models"]).problem(
                f"profile_models is also given at {in_file.where['profile_models']}",
                "give the models in one place only",
            )
    return in_file.below(over_file)


def _values(
    command: str,
    sources: tuple[Sequence[Entry], Sequence[Entry], Node | None],
    cwd: Path,
    problems: Problems,
) -> tuple[Given, Mapping[str, Any]]:
    """The given options, and the value of each option that is given or belongs to `command`."""
    given = _given(command, sources, problems)
    defaults = {option.key: option.default for option in options_of(command)}
    values: Mapping[str, Any] = {
        key: cwd / os.path.normpath(value) if isinstance(value, Path) else value
        for key, value in {**defaults, **given.values}.items()
    }
    values = with_endpoint(given, with_bounds_in_order(given, values))
    for rule in RULES[command]:
        problems.add(rule(given, values))
    return given, values


def _sections(command: str, values: Mapping[str, Any]) -> Mapping[str, Mapping[str, Any]]:
    """The values of options with a target, by section and field."""
    sections: dict[str, dict[str, Any]] = {}
    for option in options_of(command):
        if option.target:
            section, _, field = option.target.rpartition(".")
            sections.setdefault(section, {})[field] = values[option.key]
    return sections


def _model(
    entry: ModelEntry,
    given: Given,
    values: Mapping[str, Any],
    searched: LoadKind,
    remarks: list[str],
) -> ModelSettings:
    """The settings of one model; options that it does not set come from the global options.

    `searched` is the kind of load to search if no load is listed. Adds to `remarks`.
    """
    own = entry.given.values
    parameters = own.get("parameters") or Given()
    batch_sizes = parameters.values.get("batch_sizes") or values["batch_sizes"] or (1,)
    kind, loads = _loads(entry, parameters.values, values, searched)
    flags = _own_flags(entry, values, remarks)
    where = entry.given.where.get("perf_analyzer_flags") or given.where.get(
        "perf_analyzer_flags", ""
    )
    if "batch-size" in flags:
        batch_sizes = (Integer(1).parse(Node(flags.pop("batch-size"), where)),)
    load = _open_load(entry, parameters, given, values, flags)
    traffic = None
    if load is not None:
        kind, loads = load.kind, load.values
        traffic = replace(load.traffic, generators=values["generators"])
    else:
        kind, loads = _loads_of_flags(flags, where) or (kind, loads)
    remarks += _unused_loads(entry, given, kind, traffic)
    if not loads and values["run_config_search_disable"] and kind is LoadKind.CONCURRENCY:
        loads = (1,)

    return ModelSettings(
        name=entry.name,
        cpu_only=own.get("cpu_only", False),
        goal=_goal(entry.given, given),
        batch_sizes=tuple(batch_sizes),
        load_kind=kind,
        loads=tuple(loads),
        traffic=traffic,
        mode=own.get("run_config_search_mode"),
        parameters=own.get("model_config_parameters", MappingProxyType({})),
        perf_analyzer_flags=MappingProxyType(flags),
        genai_perf_flags=_genai_perf_flags(own, values),
        in_rounds=_in_rounds(own, values, flags),
        keeps_cache=_keeps_cache(own, values),
        server_flags=_own_or_global("triton_server_flags", own, values),
        server_environment=_own_or_global("triton_server_environment", own, values),
        docker_arguments=_own_or_global("triton_docker_args", own, values),
    )


def _in_rounds(own: Mapping[str, Any], values: Mapping[str, Any], flags: Mapping[str, Any]) -> bool:
    """Whether a model is measured in rounds. A server inside perf_analyzer is not: it would
    start for each round.
    """
    return (
        own.get("measurement", values["measurement"]) is MeasurementMode.AUTO
        and values["triton_launch_mode"] is not LaunchMode.C_API
        and PERF_ANALYZER_CARE.isdisjoint(flags)
        and not _genai_perf_flags(own, values)
    )


def _genai_perf_flags(own: Mapping[str, Any], values: Mapping[str, Any]) -> Mapping[str, Any]:
    """The flags of genai-perf, which measures only language models."""
    if values["model_type"] is not ModelType.LLM:
        return MappingProxyType({})
    return _own_or_global("genai_perf_flags", own, values)


def _keeps_cache(own: Mapping[str, Any], values: Mapping[str, Any]) -> bool:
    """Whether a model is measured with the response cache of its configuration: also if the search
    varies it, or if nothing may be loaded.
    """
    return (
        own.get("response_cache", values["response_cache"]) is ResponseCache.KEEP
        or "response_cache" in own.get("model_config_parameters", {})
        or values["reload_model_disable"]
    )


def _own_flags(entry: ModelEntry, values: Mapping[str, Any], remarks: list[str]) -> dict[str, Any]:
    """The perf_analyzer flags of a model, without those that model-analyzer sets. Adds to
    `remarks`.
    """
    flags = dict(_own_or_global("perf_analyzer_flags", entry.given.values, values))
    for name in [name for name in PERF_ANALYZER_OWNED if name in flags]:
        reason = _WHY_OWNED.get(name, "model-analyzer sets it")
        remarks.append(f"{entry.name}: perf_analyzer flag {name!r} is ignored: {reason}")
        del flags[name]
    return flags


def _loads_of_flags(flags: dict[str, Any], where: str) -> tuple[LoadKind, Sequence[int]] | None:
    """The load that perf_analyzer flags define, removed from `flags`; None if they define none."""
    if len([name for name in (*_LOAD_FLAGS, _INTERVALS) if name in flags]) > 1:
        raise Node(None, where).problem("several flags define the load", "remove all but one")
    if _INTERVALS in flags:
        return LoadKind.REQUEST_INTERVALS, (0,)  # the flag stays: it names the file
    for name, kind in _LOAD_FLAGS.items():
        if name in flags:
            return kind, Integers(1).parse(Node(flags.pop(name), where))
    return None


def _loads(
    entry: ModelEntry, own: Mapping[str, Any], values: Mapping[str, Any], searched: LoadKind
) -> tuple[LoadKind, Sequence[int]]:
    """The kind of load of a model, and the listed values."""
    concurrency = own.get("concurrency", () if own.get("request_rate") else values["concurrency"])
    request_rate = own.get("request_rate", values["request_rate"])
    # a rule reports the case that both are global
    if concurrency and request_rate and not own.keys().isdisjoint({"concurrency", "request_rate"}):
        raise Node(None, entry.where).problem(
            f"model {entry.name!r} has both concurrency and request_rate", "remove all but one"
        )
    if request_rate:
        return LoadKind.REQUEST_RATE, request_rate
    if concurrency:
        return LoadKind.CONCURRENCY, concurrency
    return searched, ()


def _open_load(
    entry: ModelEntry,
    parameters: Given,
    given: Given,
    values: Mapping[str, Any],
    flags: Mapping[str, Any],
) -> GivenLoad | None:
    """The option `load` of a model: its own one, or else the global one, unless the model has loads
    of another kind. Raises ConfigError if it contradicts other options.
    """
    own = entry.given
    place, beside = (own, parameters) if "load" in own.values else (given, given)
    load: GivenLoad | None = place.values.get("load")
    if load is None or (place is given and not parameters.values.keys().isdisjoint(_LOADS)):
        return None
    where = Node(None, place.where["load"])
    for key in _LOADS:
        if beside.values.get(key):
            raise where.problem(f"load is also given by {key}", "remove one of them")
    for flag in (*_LOAD_FLAGS, "request-distribution", *sorted(PERF_ANALYZER_CARE)):
        if flag in flags:
            raise where.problem(
                f"load does not go with the perf_analyzer flag {flag}",
                "remove the flag: with load, model-analyzer says when requests are sent, and how"
                " long a trial is measured",
            )
    if load.traffic.input and not _names_a_file(flags.get("input-data")):
        raise where.problem(
            "input needs the perf_analyzer flag input-data with a single JSON file",
            "it numbers the entries of that file, from 0; add, for example,"
            " perf_analyzer_flags: {input-data: inputs.json}",
        )
    if own.values.get("measurement", values["measurement"]) is not MeasurementMode.AUTO:
        raise where.problem("load needs measurement: auto", "remove measurement")
    if values["triton_launch_mode"] is LaunchMode.C_API:
        raise where.problem(
            "load does not go with triton_launch_mode: c_api", "use another launch mode"
        )
    if _genai_perf_flags(own.values, values):
        raise where.problem("load does not go with genai_perf_flags", "remove one of them")
    return load


def _names_a_file(value: Any) -> bool:
    """Whether the flag input-data names a single file."""
    return isinstance(value, str) and value not in PERF_ANALYZER_NO_FILES


# The options of closed loads, and of loads at perf_analyzer's own times.
_LOADS = ("concurrency", "request_rate")

# For each kind of load, the options that select another kind.
_OTHER_LOADS = {
    LoadKind.CONCURRENCY: REQUEST_RATES,
    LoadKind.REQUEST_RATE: CONCURRENCIES,
    LoadKind.REQUEST_INTERVALS: (*CONCURRENCIES, *REQUEST_RATES),
}


def _unused_loads(
    entry: ModelEntry, given: Given, kind: LoadKind, traffic: Traffic | None
) -> Iterator[str]:
    """Remarks about options for other loads than the measured one: of another kind than `kind`, or
    a `load` of all models that the model's own loads override.
    """
    keys = (*_OTHER_LOADS[kind], "load") if traffic is None else _OTHER_LOADS[kind]
    for place in (entry.given.values.get("parameters") or Given(), given):
        for key in keys:
            if place.values.get(key):
                yield (
                    f"{place.where[key]}: {key} has no effect for model {entry.name!r}: its load is"
                    f" {traffic or kind.value}"
                )


def _composing(values: Mapping[str, Any]) -> Mapping[str, ComposingSettings]:
    """The settings of composing models, from all options that name them."""
    entries = [*values["ensemble_composing_models"], *values["bls_composing_models"]]
    given: dict[str, Mapping[str, Any]] = {entry.name: entry.given.values for entry in entries}
    names = dict.fromkeys([*given, *values["cpu_only_composing_models"]])
    return MappingProxyType(
        {
            name: ComposingSettings(
                name=name,
                cpu_only=True
                if name in values["cpu_only_composing_models"]
                else given.get(name, {}).get("cpu_only"),
                parameters=given.get(name, {}).get("model_config_parameters", MappingProxyType({})),
            )
            for name in names
        }
    )


def _quick(given: Given) -> QuickSettings:
    """A quick search uses only the bounds that the user gave, no defaults."""
    return QuickSettings(
        **{
            f"{end}_{quantity}": given.values.get(f"run_config_search_{end}_{quantity}")
            for end in ("min", "max")
            for quantity in ("concurrency", "instance_count", "model_batch_size")
        }
    )


def _optuna(given: Given, settings: OptunaSettings) -> OptunaSettings:
    """A number of trials that the user gave replaces a default percentage."""

    def share(end: str, value: int | None) -> int | None:
        is_number = f"optuna_{end}_trials" in given.values
        is_share = f"{end}_percentage_of_search_space" in given.values
        return None if is_number and not is_share else value

    return replace(
        settings,
        min_percentage=share("min", settings.min_percentage),
        max_percentage=share("max", settings.max_percentage),
        limit_gives_way=given.values.keys().isdisjoint(
            ("max_percentage_of_search_space", "optuna_max_trials")
        ),
    )


def _inference_fields(with_rates: bool, model_type: ModelType) -> tuple[str, ...]:
    fields = (
        "model_name", "batch_size", _load_field(with_rates), "model_config_path",
        "instance_group", "max_batch_size", "satisfies_constraints", "perf_throughput",
        "perf_latency_p99",
    )  # fmt: skip
    if model_type is not ModelType.LLM:
        return fields
    return (
        *fields,
        "inter_token_latency_p99",
        "time_to_first_token_p99",
        "output_token_throughput",
    )


def _gpu_fields(with_rates: bool) -> tuple[str, ...]:
    return (
        "model_name", "gpu_uuid", "batch_size", _load_field(with_rates), "model_config_path",
        "instance_group", "satisfies_constraints", "gpu_used_memory", "gpu_utilization",
        "gpu_power_usage",
    )  # fmt: skip


def _load_field(with_rates: bool) -> str:
    return "request_rate" if with_rates else "concurrency"


def _own_or_global(
    key: str, own: Mapping[str, Any], values: Mapping[str, Any]
) -> Mapping[str, Any]:
    return MappingProxyType(dict(own[key] if key in own else values[key]))


def _goal(own: Given, given: Given) -> ModelGoal:
    """The goal of a model; parts that it does not set come from the global options."""
    return _goal_override(own, given).over(ModelGoal())


def _goal_override(own: Given, given: Given) -> GoalOverride:
    """The parts of a goal that the user gave, for this model or globally."""
    values = {**given.values, **own.values}
    constraints = values.get("constraints")
    shorthands = _shorthands(values)
    return GoalOverride(
        objectives=own.values.get("objectives") or given.values.get("objectives") or None,
        constraints=None if constraints is None else tightest((*constraints, *shorthands)),
        bounds=shorthands if constraints is None else (),
        weighting=own.values.get("weighting"),
    )


def _shorthands(values: Mapping[str, Any]) -> tuple[Constraint, ...]:
    """The constraints of `latency_budget` and `min_throughput`."""
    return shorthand_bounds(values.get("latency_budget"), values.get("min_throughput"))


# the settings of a model that influence its search
_SEARCH_FIELDS = ("cpu_only", "goal", "batch_sizes", "load_kind", "loads", "parameters")


def search_settings(settings: ProfileSettings, models: Sequence[str]) -> Mapping[str, str]:
    """The settings that determine which trials a search of these models runs, as text. A replay
    needs the same settings.
    """
    search = settings.search
    sections: Mapping[str, Any] = {
        "search": search, "quick": search.quick, "optuna": search.optuna,
        "adaptive": search.adaptive,
    }  # fmt: skip
    described = {
        f"{section}.{field.name}": str(_plain(getattr(value, field.name)))
        for section, value in sections.items()
        for field in fields(value)
        if field.name not in (*sections, "refined")
    }
    described["search.mode"] = str(_plain(settings.chosen_mode(models)))
    for model in settings.models:
        if model.name in models:
            for name in _SEARCH_FIELDS:
                described[f"{model.name}.{name}"] = str(_plain(getattr(model, name)))
    for composing in settings.composing.values():
        described[f"{composing.name}.parameters"] = str(_plain(composing.parameters))
    return described


def described(settings: ProfileSettings) -> Iterator[str]:
    """One line for each setting, in the order of the sections, with secrets masked."""
    veil = Veil(shown=frozenset(settings.server.show_environment))
    for section in fields(settings):
        value = getattr(settings, section.name)
        if section.name == "models":
            for model in value:
                veiled = replace(
                    model,
                    server_environment=veil.environment(model.server_environment),
                    docker_arguments=veil.container(model.docker_arguments),
                )
                yield from _lines(f"models.{model.name}", veiled)
        elif is_dataclass(value) and not isinstance(value, type):
            yield from _lines(section.name, value)
        else:
            yield f"{section.name}: {_plain(value)}"


def _lines(name: str, section: Any) -> Iterator[str]:
    for field in fields(section):
        yield f"{name}.{field.name}: {_plain(getattr(section, field.name))}"


def _plain(value: Any) -> object:
    if isinstance(value, Mapping):
        return thaw(masked_values(value))
    if isinstance(value, str):
        return masked_url(value)
    return value.value if isinstance(value, Enum) else value
