# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""What a run would do, as text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from model_analyzer.domain.goals import Objective
from model_analyzer.domain.metrics import Better, metric_of
from model_analyzer.domain.models import ModelVariant, thaw
from model_analyzer.domain.trials import Trial
from model_analyzer.domain.windows import WINDOWS
from model_analyzer.domain.words import counted
from model_analyzer.forecast.run_plan import (
    AROUND_S,
    COUNTED_WINDOW_S,
    LOAD_S,
    START_S,
    Forecast,
    Plan,
    Resumed,
    Varied,
    duration,
)
from model_analyzer.noise.first_look import FIRST_LOOK_S

# A line has no more values of a parameter.
_MOST_VALUES = 16


def lines_of(plans: Sequence[Plan], idle_s: float, resumed: Resumed | None = None) -> Iterator[str]:
    """The plans; the idle server is observed for `idle_s` seconds before."""
    for plan in plans:
        yield from _plan_lines(plan)
        yield ""
    together = duration(plans, idle_s)
    if len(plans) > 1 and together is not None:
        yield f"Total time: {together}."
        yield ""
    if resumed is not None:
        yield f"Resumes from {resumed}: what is among them is not measured again."
        yield ""
    yield from _assumptions(idle_s)


def _seconds(seconds: float) -> str:
    """An estimate does not know more than two digits."""
    return f"{float(f'{seconds:.2g}'):,g} s"


def _plan_lines(plan: Plan) -> Iterator[str]:
    forecast = plan.forecast
    if forecast is None:
        yield f"{plan.name}: cannot be planned: {plan.unknown}"
        return
    yield f"{plan.name}: {forecast.mode.value} search"
    for name, goal in plan.goals.items():
        of = f" of {name}" if len(plan.goals) > 1 else ""
        yield f"  objectives{of}: {', '.join(_wishes(goal.objectives))}"
        if goal.constraints:
            yield f"  constraints{of}: {', '.join(map(str, goal.constraints))}"
    for name, replay in plan.replays.items():
        yield f"  replays for {name}: {replay}" if len(plan.goals) > 1 else f"  replays {replay}"
    for varied in forecast.varied:
        yield f"  varies {varied.model} {varied.parameter}: {_values(varied)}"
    size = "no bound" if forecast.size is None else counted(forecast.size, "combination")
    yield f"  space: {size}"
    yield f"  measurements: {_count(forecast)}"
    if forecast.variants is None:
        yield f"  time: about {_seconds(plan.trial_s)} for each measurement"
        return
    kept = "" if forecast.is_exact else "at most "
    kept_loads = kept or ("at most " if forecast.confirmed else "")
    loads = (
        "" if forecast.loads is None else f", loaded {kept_loads}{counted(forecast.loads, 'time')}"
    )
    yield f"  variants: {kept}{forecast.variants}{loads}"
    starts = "not known" if plan.starts is None else f"{plan.starts}"
    yield f"  server starts: {starts}"
    minutes = duration([plan])
    if minutes is None:
        yield f"  time: about {_seconds(plan.trial_s)} for each measurement"
    else:
        yield f"  time: {minutes}"
    if forecast.trials is not None:
        yield ""
        yield from _table(forecast.trials)


def _count(forecast: Forecast) -> str:
    if forecast.trials is None and forecast.has_list:
        return f"at most {forecast.most_trials}, too many to list"
    if forecast.trials is None:
        most = "" if forecast.most_trials is None else f"at most {forecast.most_trials}: "
        return f"{most}chosen during the search"
    more = (forecast.most_trials or 0) - len(forecast.trials) - forecast.confirmed
    further = {"refine the load of the best": more, "confirm it": forecast.confirmed}
    if not more:
        further = {"confirm the best": forecast.confirmed}
    texts = [f"at most {count} to {purpose}" for purpose, count in further.items() if count > 0]
    plus = f", plus {' and '.join(texts)}" if texts else ""
    if forecast.is_exact:
        return f"{len(forecast.trials)}{plus}"
    return f"at most {len(forecast.trials)}, fewer where throughput stops growing{plus}"


def _table(trials: Sequence[Trial]) -> Iterator[str]:
    """A line for each variant with its loads, in the order of measuring."""
    loads: dict[str, list[str]] = {}
    for trial in trials:
        about = "; ".join(_size(work.variant) for work in trial.workloads)
        loads.setdefault(f"{trial.variants} ({about})", []).append(trial.loads)
    width = max(map(len, loads), default=0)
    for name, of_variant in loads.items():
        yield f"  {name:{width}}  {', '.join(_shortened(of_variant))}"


def _size(variant: ModelVariant) -> str:
    """Instances and batch limit of all that is served."""
    return ", ".join(
        " + ".join(f"{count}:{kind}" for count, kind in part.instances(gpus=0))
        + f" x {max(part.max_batch_size, 1)}"
        for part in variant.served
    )


def _shortened(loads: Sequence[str]) -> Iterator[str]:
    """The loads without a name that they share with the one before."""
    before = ""
    for load in loads:
        name, _, value = load.rpartition("=")
        yield value if name == before else load
        before = name


def _wishes(objectives: Sequence[Objective]) -> Iterator[str]:
    for objective in objectives:
        metric = metric_of(objective.tag)
        way = "high" if metric.better is Better.HIGHER else "low"
        weight = f" (weight {objective.weight:g})" if len(objectives) > 1 else ""
        yield f"{way} {metric.header}{weight}"


def _values(varied: Varied) -> str:
    values = [str(thaw(value)) for value in varied.values]
    last = values[-1:] if varied.is_bounded else []
    if len(values) > _MOST_VALUES or not varied.is_bounded:
        values = [*values[: _MOST_VALUES - 2], "…", *last]
    return ", ".join(values)


def _assumptions(idle_s: float) -> Iterator[str]:
    yield (
        f"Times assume {FIRST_LOOK_S:.1f} s for each round (under a log or stages, their"
        f" length), or {WINDOWS} windows for each measurement (of the configured length, or"
        f" {COUNTED_WINDOW_S:g} s if requests are counted), plus {AROUND_S:g} s,"
        f" {LOAD_S:g} s to load a variant and {START_S:g} s to start a server. The lower end"
        " assumes that the search ends early, the upper end that unstable measurements are"
        " repeated. Neither is a limit."
    )
    if idle_s:
        yield f"The idle server is measured for {idle_s:g} s first."
