# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The key figures of an answer, and each constraint with its value."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from model_analyzer.domain.costs import (
    EFFICIENCY,
    ENERGY_PER_INFERENCE,
    IDLE_ENERGY_PER_INFERENCE,
)
from model_analyzer.domain.goals import DEFAULT_OBJECTIVE
from model_analyzer.domain.measurements import Measurement
from model_analyzer.domain.metrics import METRICS
from model_analyzer.domain.words import number_text
from model_analyzer.noise.noise import Noise, ratio_noise
from model_analyzer.reports.axes import Axes, token_tags
from model_analyzer.reports.evidence import gain_text, value_texts
from model_analyzer.reports.headline import (
    by_what,
    compared_at,
    is_plain_throughput,
    over_models,
    unit_text,
)
from model_analyzer.results.answer import Answer, AnswerVerdict
from model_analyzer.results.ranking import VariantResult
from model_analyzer.results.selection import Gain, compared_default


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """A key figure as text; `interval` is its 95 % interval, unless `value` has a ±. `note` is the
    value to compare it with. `change` is the change from that value, such as `▲ 205 %`, if it is
    more than noise; `is_worse` is that for the worse.
    """

    label: str
    value: str
    unit: str
    interval: str = ""
    note: str = ""
    change: str = ""
    is_worse: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Limit:
    """A constraint and its measured value. `missed_by` is in percent of the limit: 0 if the
    constraint is met, None if its metric was not measured.
    """

    constraint: str
    value: str
    missed_by: float | None


def figures_of(answer: Answer) -> tuple[Figure, ...]:
    """The figures of the recommendation: the gain, what the goal wishes for, token metrics, then
    others. For several models, figures are by model, since gains are by model, too.
    """
    ranking, best = answer.ranking, answer.best
    if best is None:
        return ()
    default = compared_default(ranking)
    measurement = best.best.measurement
    tags = [tag for tag in token_tags(ranking.goal) if measurement.value(tag) is not None]
    tags += ["perf_throughput", Axes(ranking.goal, [best]).quantity("perf_latency_p99").tag]
    tags += [tag for tag in ranking.goal.tags if tag not in tags]
    tags += [tag for tag in ("gpu_used_memory", "cpu_used_ram", *EFFICIENCY) if tag not in tags]
    default_measurement = None if default is None else default.best.measurement
    figures = []
    for tag in ranking.goal.wishes_first(tags):
        for name, index, value, base in _values(best, tag, default_measurement):
            text, interval = value_texts(
                value, best.noise_model.interval(best.best.runs, tag, index)
            )
            figure = Figure(
                label=f"{METRICS[tag].name}{name}",
                value=text,
                unit=unit_text(tag, ranking.currency),
                interval=interval,
                note=_note(tag, base, measurement),
            )
            if default is not None and base and not _has_gain(answer, tag):
                noises = (best.noise_model.of(each.best.runs, tag) for each in (best, default))
                figure = _with_change(figure, tag, value / base, ratio_noise(*noises))
            figures.append(figure)
    return (*_gain(answer), *figures)


def _has_gain(answer: Answer, tag: str) -> bool:
    """Whether the gain over the default, which has a figure of its own, is that of the metric."""
    return (
        tag == DEFAULT_OBJECTIVE
        and bool(_gain(answer))
        and is_plain_throughput(answer.ranking.goal)
    )


def _with_change(figure: Figure, tag: str, ratio: float, noise: Noise | None) -> Figure:
    """The figure with its change from the default, unless that is noise."""
    percent = 100 * (ratio - 1)
    if ratio > 0 and not _as_gain(ratio, noise).is_clear:
        return figure
    sign = "▲" if percent > 0 else "▼"
    return replace(
        figure,
        change=f"{sign} {number_text(abs(percent), 0)} %",
        is_worse=METRICS[tag].gain(ratio, 1) < 0,
    )


def _as_gain(ratio: float, noise: Noise | None) -> Gain:
    """A change as a gain: half as much is as clear as twice as much."""
    larger = max(ratio, 1 / ratio)
    return Gain(
        percent=100 * (larger - 1), noise=None if noise is None else 100 * larger * noise.reach
    )


def _note(tag: str, default: float | None, measurement: Measurement) -> str:
    """The value of the default; and the part that GPUs take even if they are idle."""
    idle = measurement.value(IDLE_ENERGY_PER_INFERENCE) if tag == ENERGY_PER_INFERENCE else None
    parts = [
        "" if default is None else f"default {number_text(default)}",
        "" if idle is None else f"{number_text(idle)} for idle GPUs",
    ]
    return ", ".join(filter(None, parts))


def _values(
    best: VariantResult, tag: str, default: Measurement | None
) -> Iterator[tuple[str, int | None, float, float | None]]:
    """The metric of each of several models that have it, otherwise of the whole trial: a suffix
    for its name, its index, its value, and the value of the default.
    """
    measurement = best.best.measurement
    if len(best.variants) > 1:
        of_models = [
            (
                f" of {variant.model}",
                index,
                value,
                default.model_value(index, tag) if default else None,
            )
            for index, variant in enumerate(best.variants)
            if (value := measurement.models[index].values.get(tag)) is not None
        ]
        if of_models:
            yield from of_models
            return
    value = measurement.value(tag)
    if value is not None:
        yield "", None, value, default.value(tag) if default else None


def _gain(answer: Answer) -> tuple[Figure, ...]:
    """The gain over the default, if there is one."""
    gain, ranking = answer.gain, answer.ranking
    told = (AnswerVerdict.RECOMMENDED, AnswerVerdict.EQUAL)
    if gain is None or answer.verdict not in told:
        return ()
    goal = ranking.goal
    note = over_models(goal) if len(goal.models) > 1 else by_what(goal)
    if ranking.default is not None and not ranking.default.passes:
        note = "default fails the constraints"
    if not gain.is_clear:
        note = "not clear"
    return (
        Figure(
            label="Gain over the default",
            value=gain_text(gain, sign="+"),
            unit="%",
            note=", ".join(filter(None, (note, compared_at(gain)))),
        ),
    )


def limits_of(answer: Answer) -> tuple[Limit, ...]:
    """Every constraint with the value of the recommendation; with model names if several."""
    ranking, best = answer.ranking, answer.best
    if best is None:
        return ()
    measurement = best.best.measurement
    names: Sequence[str] = [variant.model for variant in best.variants]
    limits = []
    for index, model in enumerate(ranking.goal.models):
        for constraint in model.constraints:
            value = measurement.model_value(index, constraint.tag)
            prefix = f"{names[index]}: " if len(ranking.goal.models) > 1 else ""
            limits.append(
                Limit(
                    constraint=f"{prefix}{constraint}",
                    value="not measured" if value is None else number_text(value),
                    missed_by=None if value is None else constraint.excess(value) * 100,
                )
            )
    return tuple(limits)
