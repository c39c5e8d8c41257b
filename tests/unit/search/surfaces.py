# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Models to search, pretend response surfaces, and a driver that runs a search against one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from math import sqrt
from types import MappingProxyType
from typing import Any

from model_analyzer.domain.goals import Constraint, ModelGoal, Objective
from model_analyzer.domain.measurements import Measurement, ModelMeasurement, Outcome
from model_analyzer.domain.models import ModelFacts, ModelVariant, VariantNames, freeze
from model_analyzer.domain.protocols import Search
from model_analyzer.domain.settings import (
    AdaptiveSettings,
    ComposingSettings,
    ModelSettings,
    OptunaSettings,
    QuickSettings,
    SearchMode,
    SearchSettings,
)
from model_analyzer.domain.trials import Failure, FailureReason, LoadKind, ServerSetup, Trial
from model_analyzer.search.choose import choose
from model_analyzer.search.plan import PlannedSearch, SearchedModel, Subject

Respond = Callable[[Trial], Outcome]

# No search in these tests is longer: a sequence that reaches it does not end.
_ENDLESS = 5000


def model(
    name: str = "m", *calls: ModelFacts, max_batch_size: int = 8, **config: Any
) -> ModelFacts:
    """A model that `calls` others; a `max_batch_size` of 0 means that it does not batch."""
    limit = {"max_batch_size": max_batch_size} if max_batch_size else {}
    return ModelFacts(
        name=name,
        config=freeze({"name": name, "backend": "python", **limit, **config}),
        files="f",
        composing=calls,
    )


def ensemble(*parts: ModelFacts, name: str = "m", max_batch_size: int = 8) -> ModelFacts:
    """An ensemble with one step for each part."""
    steps = [{"model_name": part.name} for part in parts]
    limit = {"max_batch_size": max_batch_size} if max_batch_size else {}
    config = {"name": name, **limit, "ensemble_scheduling": {"step": steps}}
    return ModelFacts(name=name, config=freeze(config), files="f", composing=parts)


def composing(
    name: str,
    *,
    cpu_only: bool | None = None,
    parameters: Mapping[str, Sequence[Any]] = MappingProxyType({}),
) -> ComposingSettings:
    """What the user said about a model that is called."""
    return ComposingSettings(name=name, cpu_only=cpu_only, parameters=freeze(parameters))


def counts(*values: int, **others: Any) -> Mapping[str, Sequence[Any]]:
    """Listed numbers of instances."""
    return {"instance_group": [[{"count": value, **others}] for value in values]}


def together(*subjects: Subject) -> Subject:
    """The models of all subjects, measured together."""
    return Subject(models=tuple(m for part in subjects for m in part.models), setup=ServerSetup())


def subject(
    facts: ModelFacts | None = None,
    *said: ComposingSettings,
    loads: Sequence[int] = (),
    load_kind: LoadKind = LoadKind.CONCURRENCY,
    batch_sizes: Sequence[int] = (1,),
    parameters: Mapping[str, Sequence[Any]] = MappingProxyType({}),
    cpu_only: bool = False,
    objective: str = "perf_throughput",
    constraints: Sequence[Constraint] = (),
    in_rounds: bool = False,
    mode: SearchMode | None = None,
) -> Subject:
    """What is searched: by default a batching model without constraints and without lists."""
    facts = facts or model()
    settings = ModelSettings(
        name=facts.name,
        cpu_only=cpu_only,
        goal=ModelGoal(objectives=(Objective(tag=objective),), constraints=tuple(constraints)),
        batch_sizes=tuple(batch_sizes),
        load_kind=load_kind,
        loads=tuple(loads),
        mode=mode,
        parameters=freeze(parameters),
        perf_analyzer_flags=MappingProxyType({}),
        genai_perf_flags=MappingProxyType({}),
        in_rounds=in_rounds,
        server_flags=MappingProxyType({}),
        server_environment=MappingProxyType({}),
        docker_arguments=MappingProxyType({}),
    )
    searched = SearchedModel(
        facts=facts, settings=settings, composing={part.name: part for part in said}
    )
    return Subject(models=(searched,), setup=ServerSetup())


def latency_within(limit: float) -> Constraint:
    return Constraint(tag="perf_latency_p99", maximum=limit)


def limits(
    *,
    concurrency: tuple[int, int] = (1, 1024),
    request_rate: tuple[int, int] = (16, 8192),
    instances: tuple[int, int] = (1, 5),
    batch: tuple[int, int] = (1, 128),
    steps: int = 5,
    disable: bool = False,
    early_exit: bool = False,
    mode: SearchMode | None = None,
    sweeps: bool = True,
    quick: QuickSettings | None = None,
    optuna: OptunaSettings | None = None,
    adaptive: AdaptiveSettings | None = None,
) -> SearchSettings:
    """The bounds of a search; the defaults are those of the program."""
    return SearchSettings(
        mode=mode,
        together=False,
        sweep_disable=not sweeps,
        min_request_rate=request_rate[0],
        max_request_rate=request_rate[1],
        disable=disable,
        early_exit=early_exit,
        min_concurrency=concurrency[0],
        max_concurrency=concurrency[1],
        min_instance_count=instances[0],
        max_instance_count=instances[1],
        min_model_batch_size=batch[0],
        max_model_batch_size=batch[1],
        max_binary_search_steps=steps,
        refined=3,
        quick=quick or bounds(),
        optuna=optuna or shares(),
        adaptive=adaptive or AdaptiveSettings(),
    )


def bounds(
    *,
    concurrency: tuple[int | None, int | None] = (None, None),
    instances: tuple[int | None, int | None] = (None, None),
    batch: tuple[int | None, int | None] = (None, None),
) -> QuickSettings:
    """The bounds of a quick search; by default there are none."""
    return QuickSettings(
        min_concurrency=concurrency[0],
        max_concurrency=concurrency[1],
        min_instance_count=instances[0],
        max_instance_count=instances[1],
        min_model_batch_size=batch[0],
        max_model_batch_size=batch[1],
    )


def shares(
    least: int | None = 5,
    most: int | None = 10,
    *,
    trials: tuple[int | None, int | None] = (None, None),
    early_exit: int = 10,
    formula: bool = False,
    limit_gives_way: bool = False,
) -> OptunaSettings:
    """How long an Optuna search goes on; the defaults are those of the program."""
    return OptunaSettings(
        min_percentage=least,
        max_percentage=most,
        min_trials=trials[0],
        max_trials=trials[1],
        early_exit_threshold=early_exit,
        use_concurrency_formula=formula,
        limit_gives_way=limit_gives_way,
    )


UNBOUNDED = bounds()
UNLIMITED = AdaptiveSettings()
SHARES = shares()
QUICK = limits(mode=SearchMode.QUICK, sweeps=False)


def search(
    target: Subject,
    where: SearchSettings,
    *,
    quick: QuickSettings = UNBOUNDED,
    optuna: OptunaSettings = SHARES,
    names: VariantNames | None = None,
    best: int = 3,
    adaptive: AdaptiveSettings = UNLIMITED,
) -> PlannedSearch:
    settings = replace(where, quick=quick, optuna=optuna, adaptive=adaptive, refined=best)
    return choose(target, settings, names or VariantNames())


def sequence(search: Search, respond: Respond, first: int | None = None) -> list[Trial]:
    """Every trial that the search asks for when `respond` answers, or only so many `first` ones."""
    trials: list[Trial] = []
    while len(trials) != first and (trial := search.ask()) is not None:
        trials.append(trial)
        assert len(trials) < _ENDLESS, "the search does not end"
        search.tell(trial, respond(trial))
    return trials


def searched(
    of: Subject | None = None, respond: Respond | None = None, *, best: int = 3, **bounds: Any
) -> list[Trial]:
    """Every trial of a search within these bounds; by default, more of everything is better."""
    return sequence(search(of or subject(), limits(**bounds), best=best), respond or growing)


def measurement(throughput: float, *, latency: float = 1.0) -> Measurement:
    values = {
        "perf_throughput": throughput,
        "perf_latency_avg": latency,
        "perf_latency_p99": latency,
    }
    return Measurement(models=(ModelMeasurement(values=values),))


def failure() -> Failure:
    return Failure(reason=FailureReason.MODEL_NOT_LOADED, message="m did not load")


def short_name(trial: Trial) -> str:
    """`default`, `0`, `1`, …"""
    return trial.variants.removeprefix("m_config_")


def load(trial: Trial) -> int:
    return trial.workloads[0].load.value


def client_batch(trial: Trial) -> int:
    return trial.workloads[0].load.batch_size


def instances(trial: Trial) -> int:
    groups: Sequence[Mapping[str, Any]] = config(trial).get("instance_group", ({},))
    return sum(group.get("count", 1) for group in groups)


def batch_limit(trial: Trial) -> int:
    return trial.workloads[0].variant.max_batch_size


def config(trial: Trial) -> Mapping[str, Any]:
    return trial.workloads[0].variant.config


def visits(trials: Iterable[Trial]) -> list[tuple[str, int]]:
    """(variant, load) of each trial."""
    return [(short_name(trial), load(trial)) for trial in trials]


def variants(trials: Iterable[Trial]) -> list[Trial]:
    """The first trial of each variant, in order of first appearance."""
    first: dict[str, Trial] = {}
    for trial in trials:
        first.setdefault(trial.variants, trial)
    return list(first.values())


def growing(trial: Trial) -> Measurement:
    """Throughput grows with everything, without an end; latency with the load."""
    throughput = 100.0 * load(trial) * batch_limit(trial) * instances(trial) * client_batch(trial)
    return measurement(throughput, latency=10.0 * load(trial))


def lawfully_growing(trial: Trial) -> Measurement:
    """The same, with the average latency of the requests in flight: a checkpoint keeps it."""
    (model,) = growing(trial).models
    average = 10.0 / (batch_limit(trial) * instances(trial))
    values = {**model.values, "perf_latency_avg": average}
    return Measurement(models=(ModelMeasurement(values=values),))


def flat(_trial: Trial) -> Measurement:
    """Nothing makes a difference."""
    return measurement(100.0)


def saturating(trial: Trial) -> Measurement:
    """Throughput of each model grows up to batches of 16 and 4 instances; a chain of models is
    as fast as its slowest part. Latency is what the load makes of it.
    """
    models: list[ModelMeasurement] = []
    for work in trial.workloads:
        throughput = _capacity(work.variant)
        latency = 1000 * work.load.value / throughput
        models += measurement(throughput, latency=latency).models
    return Measurement(models=tuple(models))


def _capacity(variant: ModelVariant) -> float:
    capacities = [_capacity(part) for part in variant.composing]
    if "ensemble_scheduling" not in variant.config:
        groups = variant.config.get("instance_group", ({},))
        count = sum(group.get("count", 1) for group in groups)
        capacities.append(
            1000 * sqrt(min(max(variant.max_batch_size, 1), 16)) * sqrt(min(count, 4))
        )
    return min(capacities)


def all_parts(trial: Trial) -> Mapping[str, ModelVariant]:
    """Every variant that the server has for the trial, by model."""

    def parts(variant: ModelVariant) -> Iterable[ModelVariant]:
        yield variant
        for part in variant.composing:
            yield from parts(part)

    return {part.model: part for work in trial.workloads for part in parts(work.variant)}
