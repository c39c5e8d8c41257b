# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The plan of a run as JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from model_analyzer.domain.goals import ModelGoal
from model_analyzer.domain.models import ModelVariant, thaw
from model_analyzer.domain.trials import Trial
from model_analyzer.domain.windows import WINDOWS
from model_analyzer.forecast.durations import AROUND_S, COUNTED_WINDOW_S, LOAD_S, START_S
from model_analyzer.forecast.run_plan import (
    Minutes,
    Plan,
    Resumed,
    duration,
    in_minutes,
    total_seconds,
)
from model_analyzer.forecast.searches import Forecast
from model_analyzer.noise.first_look import FIRST_LOOK_S


def document_of(
    plans: Sequence[Plan], idle_s: float, resumed: Resumed | None = None
) -> Mapping[str, Any]:
    """The plans of a run, after `idle_s` seconds of observing the idle server."""
    seconds = total_seconds(plans, idle_s)
    return {
        "subjects": [_subject(plan) for plan in plans],
        "minutes": None if seconds is None else in_minutes(seconds),
        **_range_document(duration(plans, idle_s)),
        "resumes_from": None if resumed is None else asdict(resumed),
        "assumptions": {
            "seconds_of_instalment": FIRST_LOOK_S,
            "windows_per_measurement": WINDOWS,
            "seconds_of_counted_window": COUNTED_WINDOW_S,
            "seconds_around_measurement": AROUND_S,
            "seconds_per_load": LOAD_S,
            "seconds_per_server_start": START_S,
            "seconds_idle": idle_s,
        },
    }


def _subject(plan: Plan) -> Mapping[str, Any]:
    return {
        "models": [*plan.goals],
        "objectives": {name: _objectives(goal) for name, goal in plan.goals.items()},
        "constraints": {name: _constraints(goal) for name, goal in plan.goals.items()},
        "seconds_per_measurement": plan.trial_s,
        **({"replays": dict(plan.replays)} if plan.replays else {}),
        **({"unknown": plan.unknown} if plan.forecast is None else _forecast(plan, plan.forecast)),
    }


def _objectives(goal: ModelGoal) -> Mapping[str, Any]:
    return {objective.tag: objective.weight for objective in goal.objectives}


def _constraints(goal: ModelGoal) -> Mapping[str, Any]:
    return {
        constraint.tag: {"min": constraint.minimum, "max": constraint.maximum}
        for constraint in goal.constraints
    }


def _forecast(plan: Plan, forecast: Forecast) -> Mapping[str, Any]:
    return {
        "mode": forecast.mode.value,
        "dimensions": [
            {
                "model": varied.model,
                "parameter": varied.parameter,
                "values": thaw(varied.values),
                "bounded": varied.is_bounded,
            }
            for varied in forecast.varied
        ],
        "size": forecast.size,
        "exact": forecast.is_exact,
        "most_measurements": forecast.most_trials,
        "variants": forecast.variants,
        "loads": forecast.loads,
        "server_starts": plan.starts,
        "minutes": None if plan.seconds is None else in_minutes(plan.seconds),
        **_range_document(duration([plan])),
        "trials": None if forecast.trials is None else [_trial(trial) for trial in forecast.trials],
    }


def _range_document(minutes: Minutes | None) -> Mapping[str, Any]:
    return {
        "minutes_low": None if minutes is None else minutes.low,
        "minutes_high": None if minutes is None else minutes.high,
    }


def _trial(trial: Trial) -> Sequence[Mapping[str, Any]]:
    return [
        {
            "model": work.variant.model,
            "variant": work.variant.name,
            "served": [_served(part) for part in work.variant.served],
            work.load.kind.value: work.load.value,
            "batch_size": work.load.batch_size,
        }
        for work in trial.workloads
    ]


def _served(part: ModelVariant) -> Mapping[str, Any]:
    return {
        "model": part.model,
        "instances": {kind: count for count, kind in part.instances(gpus=0)},
        "max_batch_size": part.max_batch_size,
    }
