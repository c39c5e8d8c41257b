# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Short ways to write the values that unit tests are about."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import pytest

from model_analyzer.config.kinds import Kind
from model_analyzer.config.nodes import Entry, Node
from model_analyzer.config.resolve import Resolved, resolve_profile
from model_analyzer.config.sources import parse_yaml
from model_analyzer.domain.goals import Constraint, Goal, ModelGoal, Objective
from model_analyzer.domain.hardware import Device
from model_analyzer.domain.histograms import Histogram
from model_analyzer.domain.measurements import Measurement, ModelMeasurement, Notice, Values
from model_analyzer.domain.models import ModelVariant, freeze
from model_analyzer.domain.profiles import Conclusion, Profile, StopReason, TrialRecord
from model_analyzer.domain.settings import ModelSettings, ProfileSettings
from model_analyzer.domain.slots import Lane
from model_analyzer.domain.traffic import Traffic
from model_analyzer.domain.trials import (
    Failure,
    FailureReason,
    Load,
    LoadKind,
    ServerSetup,
    Trial,
    Workload,
)
from model_analyzer.errors import ConfigError, Problem
from model_analyzer.reports.alternatives import Deployment
from model_analyzer.reports.build import Page, ReportOrigin, build_page
from model_analyzer.results.answer import ModelAnswer, answer_of
from model_analyzer.results.ranking import Ranking, rank

CWD = Path("/where/the/user/stands")

_Value = TypeVar("_Value")


def known(value: _Value | None) -> _Value:
    """The value, which must not be unknown."""
    assert value is not None
    return value


# ------------------------------------------------------------------------------- configuration


def yaml(text: str) -> Node:
    """What `text` says in a file called `f.yaml`."""
    return known(parse_yaml(text, "f.yaml"))


def plain(node: Node) -> Any:
    """The node as ordinary lists, dicts and scalars."""
    if node.is_mapping:
        return {entry.key: plain(entry.node) for entry in node.entries}
    return [plain(item) for item in node.items] if node.is_list else node.value


def nodes(value: Any, where: str = "f.yaml:1:1") -> Node:
    """The node of ordinary lists, dicts and scalars."""
    if isinstance(value, dict):
        entries = tuple(Entry(str(key), where, nodes(item, where)) for key, item in value.items())
        return Node(entries, where, is_mapping=True)
    if isinstance(value, list):
        return Node(tuple(nodes(item, where) for item in value), where)
    return Node(value, where)


def flag(text: str) -> Node:
    """`text` as the value of a flag on the command line."""
    return Node(text, "--flag")


def on_line(**options: str) -> list[Entry]:
    """Options as they come from the command line."""
    entries = []
    for key, text in options.items():
        name = "--" + key.replace("_", "-")
        entries.append(Entry(key, name, Node(text, name)))
    return entries


def parse_problems(kind: Kind, node: Node) -> tuple[Problem, ...]:
    """The problems of a value that `kind` does not accept."""
    with pytest.raises(ConfigError) as raised:
        kind.parse(node)
    return raised.value.problems


def parse_problem(kind: Kind, node: Node) -> Problem:
    """The only problem of a value that `kind` does not accept."""
    (problem,) = parse_problems(kind, node)
    return problem


def resolved(text: str, **options: str) -> Resolved[ProfileSettings]:
    """The settings of `profile` from YAML `text` and `options` of the command line.

    The model repository is given, and model `m` if the text names none.
    """
    lines = [text]
    if "model_repository" not in text:
        lines.append("model_repository: models")
    if "profile_models" not in text and "profile_models" not in options:
        lines.append("profile_models: m")
    return resolve_profile(on_line(**options), yaml("\n".join(lines)), CWD)


def settings(text: str, **options: str) -> ProfileSettings:
    return resolved(text, **options).settings


def model_settings(text: str, **options: str) -> ModelSettings:
    """The settings of the only model."""
    (model,) = settings(text, **options).models
    return model


def profile_problems(text: str, **options: str) -> list[str]:
    """Every problem of a configuration that cannot be used, as it is shown."""
    with pytest.raises(ConfigError) as raised:
        resolved(text, **options)
    return [str(problem) for problem in raised.value.problems]


# ---------------------------------------------------------------------------- trials and goals


def variant(
    name: str = "m_config_0",
    *,
    model: str = "m",
    files: str = "files",
    composing: Sequence[ModelVariant] = (),
    **config: Any,
) -> ModelVariant:
    """A variant with these fields in its configuration."""
    return ModelVariant(
        model=model, name=name, config=freeze(config), files=files, composing=tuple(composing)
    )


def trial(
    of: ModelVariant | None = None,
    *,
    concurrency: int = 1,
    batch_size: int = 1,
    kind: LoadKind = LoadKind.CONCURRENCY,
    flags: Mapping[str, Any] | None = None,
    inputs: str = "",
    setup: ServerSetup | None = None,
    repetition: int = 0,
    base: str = "",
    traffic: Traffic | None = None,
) -> Trial:
    """One variant under one load."""
    work = Workload(
        variant=of or variant(),
        load=Load(kind=kind, value=concurrency, batch_size=batch_size),
        flags=flags or {},
        inputs=inputs,
        base=base,
        traffic=traffic,
    )
    return Trial(workloads=(work,), setup=setup or ServerSetup(), repetition=repetition)


def joint(*trials: Trial) -> Trial:
    """The models of these trials, measured together."""
    works = tuple(work for each in trials for work in each.workloads)
    return Trial(workloads=works, setup=trials[0].setup)


def measurement(
    throughput: float | None = None,
    p99: float | None = None,
    *,
    gpus: Mapping[str, Values] | None = None,
    host: Values | None = None,
    windows: Sequence[float] = (),
    notices: Sequence[Notice] = (),
    commands: Sequence[str] = (),
    requests: int | None = None,
    composing: Mapping[str, Values] | None = None,
    **values: float,
) -> Measurement:
    """What one model gave; further `values` are metrics by tag."""
    given = {"perf_throughput": throughput, "perf_latency_p99": p99, **values}
    of_model = ModelMeasurement(
        values={tag: value for tag, value in given.items() if value is not None},
        windows=tuple(windows),
        requests=requests,
        composing=composing or {},
    )
    return Measurement(
        models=(of_model,),
        gpus=gpus or {},
        host=host or {},
        notices=tuple(notices),
        commands=tuple(commands),
    )


def one_round(
    latencies: Sequence[float],
    seconds: float = 1.0,
    *,
    windows: Sequence[float] = (),
    **values: float,
) -> Measurement:
    """What a round gave that counted requests with these latencies (ms)."""
    ordered = sorted(latencies)
    rate = len(ordered) / seconds
    percentiles = {
        f"perf_latency_p{p}": ordered[round(p / 100 * (len(ordered) - 1))] for p in (50, 90, 95, 99)
    }
    average = sum(ordered) / len(ordered)
    model = ModelMeasurement(
        values={"perf_throughput": rate, "perf_latency_avg": average, **percentiles, **values},
        requests=len(ordered),
        windows=tuple(windows) or (rate, rate),
        seconds=seconds,
        histograms={"perf_latency": Histogram.of(ordered)},
    )
    return Measurement(models=(model,))


def together(*models: Values) -> Measurement:
    """What several models gave in one trial."""
    return Measurement(models=tuple(ModelMeasurement(values=values) for values in models))


def failure(message: str = "it did not load", *, hint: str = "look at its log") -> Failure:
    return Failure(reason=FailureReason.MODEL_NOT_LOADED, message=message, hint=hint)


def objectives(**weights: float) -> tuple[Objective, ...]:
    return tuple(Objective(tag=tag, weight=weight) for tag, weight in weights.items())


def at_most(**limits: float) -> tuple[Constraint, ...]:
    return tuple(Constraint(tag=tag, maximum=limit) for tag, limit in limits.items())


def at_least(**limits: float) -> tuple[Constraint, ...]:
    return tuple(Constraint(tag=tag, minimum=limit) for tag, limit in limits.items())


def goal(
    *constraints: Constraint, wished: Sequence[Objective] | None = None, weighting: float = 1
) -> Goal:
    """The goal of one model; most throughput if nothing else is wished."""
    wished = wished or (Objective(tag="perf_throughput"),)
    model = ModelGoal(objectives=tuple(wished), constraints=tuple(constraints), weighting=weighting)
    return Goal(models=(model,))


# ---------------------------------------------------------------------------------- results


def record(of: ModelVariant, outcome: Measurement | Failure, **load: Any) -> TrialRecord:
    """A trial of a variant with its outcome; `load` is what `trial` takes."""
    return TrialRecord(trial=trial(of, **load), outcome=outcome)


def joint_record(trials: Iterable[Trial], *values: Values) -> TrialRecord:
    """Models that were measured together, with the values of each."""
    return TrialRecord(trial=joint(*trials), outcome=together(*values))


def ranking(
    *records: TrialRecord,
    by: Goal | None = None,
    model: str = "m",
    conclusion: Conclusion | None = None,
) -> Ranking:
    conclusions = {} if conclusion is None else {Lane(model): conclusion}
    return rank_one(Profile(records=records, conclusions=conclusions), model, by or goal())


def rank_one(profile: Profile, model: str, by: Goal, **more: Any) -> Ranking:
    """The ranking of a model that was measured on one kind of hardware."""
    (only,) = rank(profile, model, by, **more)
    return only


def conclusion(recommended: Trial, trials: int, by: Goal | None = None) -> Conclusion:
    """What a search came to from so many trials."""
    return Conclusion(
        recommended=recommended.key,
        goal=(by or goal()).identity,
        feasible=True,
        trials=trials,
        reason=StopReason.NOTHING_WORTH,
        limit=26,
        margin=0.03,
        chance=0.2,
        gain=0.013,
    )


def summary_page(
    *rankings: Ranking,
    best: int = 3,
    where: ReportOrigin | None = None,
    difference: str = "",
    deployment: Deployment | None = None,
    complete: bool = True,
    offline: bool = False,
) -> Page:
    """The summary page of a model, with a ranking for each kind of hardware."""
    return build_page(
        ModelAnswer(model=rankings[0].model, answers=tuple(map(answer_of, rankings))),
        [deployment or Deployment(difference=difference) for _ in rankings],
        best=best,
        origin=where or origin(),
        complete=complete,
        offline=offline,
    )


def origin(*gpus: str, cores: int | None = None, **host: str) -> ReportOrigin:
    """Where numbers come from: GPUs by name, each of 16 GB."""
    devices = [
        Device(uuid=f"GPU-{index}", name=name, memory=16_000) for index, name in enumerate(gpus)
    ]
    return ReportOrigin(
        host=host, devices=devices, written="2026-01-02 03:04:05", checkpoint="0.ckpt", cores=cores
    )
