# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The answer in one sentence: what to deploy, its performance, and the gain over the default; and
the key figures of an answer, and each constraint with its value.

How sure a value of rounds is: its 95 % interval, and the measurements behind it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from model_analyzer.domain.costs import (
    EFFICIENCY,
    ENERGY_PER_INFERENCE,
    IDLE_ENERGY_PER_INFERENCE,
)
from model_analyzer.domain.goals import DEFAULT_OBJECTIVE, Goal
from model_analyzer.domain.goodput import GOODPUT
from model_analyzer.domain.hardware import place_text
from model_analyzer.domain.measurements import Measurement
from model_analyzer.domain.metrics import METRICS, Source, Unit
from model_analyzer.domain.models import ModelVariant
from model_analyzer.domain.profiles import MeasuredTrial
from model_analyzer.domain.trials import under
from model_analyzer.domain.words import (
    capitalized,
    counted,
    decimals_for,
    number_text,
    percent_text,
    whole,
    with_error,
)
from model_analyzer.noise.noise import Interval, Noise, ratio_noise
from model_analyzer.reports.parameters import Axes, Quantity, swept_text, token_tags
from model_analyzer.results.answer import Answer, AnswerVerdict, Gain, compared_default
from model_analyzer.results.columns import instances_text, own_instances_text, requests_behind
from model_analyzer.results.ranking import Ranking, VariantResult


def basis_text(item: MeasuredTrial) -> str:
    """The requests and rounds behind the values: `1,240 requests, 3 rounds`."""
    requests = requests_behind(item.measurement)
    words = counted(requests, "request") if isinstance(requests, int) else f"{requests} requests"
    is_round = item.measurement.is_round
    times = counted(len(item.runs), "round") if is_round else times_text(item)
    return f"{words}, {times}"


def times_text(item: MeasuredTrial) -> str:
    """How often a trial was measured, in words."""
    count = len(item.runs)
    return "once" if count == 1 else f"{count} times"


def value_texts(value: float, interval: Interval | None) -> tuple[str, str]:
    """A value with the digits that its 95 % interval supports, such as `1,360 ± 60`. If one side of
    the interval is clearly longer, the value alone, and its interval, such as `508 to 1,831`.
    """
    if interval is None:
        return number_text(value), ""
    if interval.is_lopsided(value):
        return number_text(value), f"{number_text(interval.low)} to {number_text(interval.high)}"
    return with_error(value, (interval.high - interval.low) / 2), ""


def gain_text(gain: Gain, *, sign: str = "") -> str:
    """A gain in percent with its noise, such as `850 ± 160`, or its interval, such as `780 to
    5,400`, if one side of that is clearly longer; a whole number if the noise is unknown. The
    `sign` "+" marks positive gains, too.
    """
    interval = gain.interval
    if interval is None:
        return f"{whole(gain.percent):{sign},.0f}"
    if interval.is_lopsided(gain.percent):
        return f"{_percent_text(interval.low, sign)} to {_percent_text(interval.high, sign)}"
    return with_error(gain.percent, gain.noise, sign=sign)


def _percent_text(percent: float, sign: str) -> str:
    """A bound of a gain: a whole number with two significant digits."""
    digits = min(decimals_for(abs(percent), 2), 0) if percent else 0
    return f"{whole(round(percent, digits)):{sign},.0f}"


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


# The headline has so many values at most; tiles and tables have all.
_MOST_VALUES = 3
# Requests per second that were answered, and in time: if they are the same, one is enough.
_RATES = (GOODPUT, "perf_throughput")
# And so many served models have their settings beside it; other tables have all.
_MOST_PARTS = 2

_SHORT_LATENCIES = {
    "perf_latency_p90": "p90",
    "perf_latency_p95": "p95",
    "perf_latency_p99": "p99",
    "perf_latency_avg": "average latency",
}


def headline(answer: Answer) -> tuple[str, ...]:
    """What to deploy, its load, its values and its gain over the default, in parts; every second
    part (1, 3, …) is emphasized. If the model was measured on several kinds of hardware, it begins
    with the kind.
    """
    ranking, best = answer.ranking, answer.best
    place = place_text(ranking.hardware)
    start = place and f"{capitalized(place)}: "
    if best is None:
        return (f"{start}{_nothing(ranking)}",)
    swept = swept_text(ranking, with_default=True)
    load = f"({swept}) {under(best.best.trial)}" if swept else under(best.best.trial)
    values = values_text(best, ranking.goal, ranking.currency)
    if not best.passes:
        missed = percent_text(ranking.goal.shortfall(best.best.measurement))
        nothing = "no configuration meets the constraints. The nearest misses them by"
        text = f"{start}{nothing} {missed}: " if start else f"{capitalized(nothing)} {missed}: "
        return text, best.name, f" {load} gives {values}."
    is_once = answer.times == 1 and not best.best.measurement.is_round
    once = " (measured once)" if is_once else ""
    return start, best.name, f" {load} gives {values}{once}{_against_default(answer)}."


def _nothing(ranking: Ranking) -> str:
    """Why there is no recommendation."""
    left_out = sum(part.measurements for part in ranking.left_out)
    if left_out:
        return (
            f"No measurement of {ranking.model} can be compared:"
            f" {counted(left_out, 'measurement')} left out."
        )
    if ranking.failed:
        count = len(ranking.failed)
        which = "the only trial" if count == 1 else f"all {count} trials"
        return f"No configuration of {ranking.model} could be measured: {which} failed."
    return f"Nothing was measured of {ranking.model}."


def settings_text(result: VariantResult) -> str:
    """The main settings of the first served variants, for example `2:CPU instances, max batch size
    8`.
    """
    served = [part for variant in result.variants for part in variant.served]
    texts = [_settings_of(part, result.best.trial.gpus, named=len(served) > 1) for part in served]
    more = len(texts) - _MOST_PARTS
    texts[_MOST_PARTS:] = [f"and {more} more"] if more > 0 else []
    return "; ".join(texts)


def values_text(result: VariantResult, goal: Goal, currency: str) -> str:
    """The best measurement of a result, without its load: what the goal wishes for, then throughput
    and the constrained latency (otherwise the p99). If tokens were counted, it shows the token
    metrics of the goal instead, or token throughput and time to first token. There are up to three
    values in all. Values of rounds have their noise; `currency` is the unit of costs.
    """
    measurement = result.best.measurement
    latency = Axes(goal, [result]).quantity("perf_latency_p99")
    tags = ["perf_throughput", latency.tag]
    if measurement.value("output_token_throughput") is not None:
        tags = [tag for tag in goal.tags if METRICS[tag].source is Source.LLM]
        tags.append("output_token_throughput")
        if not any(tag.startswith("time_to_first_token") for tag in tags):
            tags.append("time_to_first_token_p99")
    shown = [
        tag
        for tag in goal.wishes_first((*tags, *goal.wishes))
        if _value(tag, latency, measurement) is not None
    ]
    rates = [tag for tag in shown if tag in _RATES]
    if len({number_text(measurement.totals[tag]) for tag in rates}) == 1:
        shown = [tag for tag in shown if tag not in rates[1:]]  # every request was in time
    shown = shown[:_MOST_VALUES]
    texts = [
        _latency_text(latency, result) if tag == latency.tag else _value_text(tag, result, currency)
        for tag in shown
    ]
    for place in range(len(shown) - 1):
        if shown[place] in _RATES and shown[place + 1] == latency.tag:
            texts[place : place + 2] = [f"{texts[place]} at {texts[place + 1]}"]
    return ", ".join(texts)


def unit_text(tag: str, currency: str) -> str:
    """The unit of a metric; `currency` is that of costs."""
    unit = METRICS[tag].unit
    return currency if unit is Unit.CURRENCY else str(unit)


def is_plain_throughput(goal: Goal) -> bool:
    """Whether a gain is one of the shown throughput: one model, throughput the only objective."""
    return len(goal.models) == 1 and goal.is_for_throughput


def over_models(goal: Goal) -> str:
    """What a gain means for models that are measured together."""
    weighted = "weighted " if len({model.weighting for model in goal.models}) > 1 else ""
    return f"{weighted}mean of the models"


def _value(tag: str, latency: Quantity, measurement: Measurement) -> float | None:
    return latency.value(measurement) if tag == latency.tag else measurement.value(tag)


def _latency_text(latency: Quantity, result: VariantResult) -> str:
    """The latency to show next to the throughput, with name and unit."""
    name = _SHORT_LATENCIES.get(latency.tag, METRICS[latency.tag].name)
    if latency.model:
        name = f"{name} of {latency.model}"
    elif len(result.variants) > 1:
        name = f"average {name}"
    value = latency.value(result.best.measurement)
    return (
        f"{name} {_measured(result, latency.tag, value, latency.index)} {METRICS[latency.tag].unit}"
    )


def _value_text(tag: str, result: VariantResult, currency: str) -> str:
    metric, measurement = METRICS[tag], result.best.measurement
    value = _measured(result, tag, measurement.value(tag))
    text = f"{value} {unit_text(tag, currency)}"
    if tag == "perf_throughput" and len(measurement.models) > 1:
        own = [model.values.get(tag) for model in measurement.models]
        text += f" ({' + '.join('?' if each is None else number_text(each) for each in own)})"
    if tag in ("perf_throughput", "output_token_throughput"):
        return text
    return f"{metric.name} {text}"


def _measured(
    result: VariantResult, tag: str, value: float | None, index: int | None = None
) -> str:
    """A value of the best measurement; that of rounds with its noise."""
    if value is None:
        return "unknown"
    is_round = result.best.measurement.is_round
    runs = result.best.runs
    interval = result.noise_model.interval(runs, tag, index) if is_round else None
    text, bounds = value_texts(value, interval)
    return f"{text} ({bounds})" if bounds else text


def _settings_of(variant: ModelVariant, gpus: int, *, named: bool) -> str:
    parts = [f"{instances_text(variant, gpus=gpus)} instances"]
    if named:
        parts = [f"{variant.name} with {own_instances_text(variant, gpus=gpus)} instances"]
    if variant.max_batch_size:
        parts.append(f"max batch size {variant.max_batch_size}")
        parts.append(f"dynamic batching {'on' if variant.has_dynamic_batching else 'off'}")
    return ", ".join(parts)


def _against_default(answer: Answer) -> str:
    ranking, gain = answer.ranking, answer.gain
    default = ranking.default
    if ranking.is_across_models:
        return ""
    if default is None:
        return "; the default configuration was not measured"
    if answer.verdict is AnswerVerdict.KEEP:
        if len(ranking.results) == 1 or answer.rivals:
            return ": it is the default configuration"
        clearly = "clearly " if ranking.ties else ""
        return f": it is the default configuration, and no other configuration is {clearly}better"
    fails = "" if default.passes else ", which fails the constraints"
    if gain is None:
        is_elsewhere = compared_default(ranking) is None
        only = "; the default configuration was measured only at another load"
        return only if is_elsewhere else fails.replace(", which", "; the default configuration")
    better = " ".join(filter(None, ("better", by_what(ranking.goal))))
    verdict = (
        f"{gain_text(gain)} % {better} than the default configuration"
        if gain.is_clear
        else f"no clear gain over the default configuration ({gain_text(gain)} %)"
    )
    return f": {verdict}{fails}{f', {compared_at(gain)}' if gain.at else ''}"


def compared_at(gain: Gain) -> str:
    """Under which load a gain was measured, if not that of the recommendation; otherwise ""."""
    return f"both {under(gain.at)}" if gain.at else ""


def default_text(answer: Answer) -> str:
    """The values of the default configuration, for comparison; "" if it was not measured, or is
    the answer.
    """
    ranking = answer.ranking
    default = ranking.default
    if default is None or default is answer.best or ranking.is_across_models:
        return ""
    notes = []
    if len(default.measured) == 1 and (compared_default(ranking) is None or not default.passes):
        notes.append("the only load it was measured with")
    if not default.passes:
        notes.append("it fails the constraints")
    note = f" ({'; '.join(notes)})" if notes else ""
    values = values_text(default, ranking.goal, ranking.currency)
    return f"The default configuration gives {values} {under(default.best.trial)}{note}."


def by_what(goal: Goal) -> str:
    """What a gain refers to, unless that is the shown throughput. For models that are measured
    together, it is a mean over the models, and may be positive although their total throughput is
    lower.
    """
    if is_plain_throughput(goal):
        return ""
    if len(goal.models) > 1:
        return f"by the {over_models(goal)}"
    return f"by {METRICS[goal.wishes[0]].name}" if len(goal.wishes) == 1 else "by the objectives"
