# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The answer in one sentence: what to deploy, its performance, and the gain over the default."""

from __future__ import annotations

from collections.abc import Sequence

from model_analyzer.domain.goals import Goal
from model_analyzer.domain.hardware import place_text
from model_analyzer.domain.loads import under
from model_analyzer.domain.measurements import Measurement
from model_analyzer.domain.metrics import METRICS, Source, Unit, canonical
from model_analyzer.domain.models import ModelVariant
from model_analyzer.domain.numbers import number_text, percent_text
from model_analyzer.domain.profiles import MeasuredTrial
from model_analyzer.domain.ties import UNDECIDED, tie_text
from model_analyzer.domain.words import capitalized, counted, first_few
from model_analyzer.reports.axes import Axes, Quantity
from model_analyzer.reports.evidence import basis_text, gain_text, range_text
from model_analyzer.results.answer import Answer, AnswerVerdict
from model_analyzer.results.columns import instances_text
from model_analyzer.results.ranking import Ranking, VariantResult
from model_analyzer.results.selection import compared_default

# The answer names so many of the trials that noise does not let tell from the best.
_MOST_UNDECIDED = 2
# And so many of the ties of each kind; documents for programs have all.
_MOST_TIES = 3

_SHORT_LATENCIES = {
    "perf_latency_p90": "p90",
    "perf_latency_p95": "p95",
    "perf_latency_p99": "p99",
    "perf_latency_avg": "average latency",
}


def headline(answer: Answer) -> tuple[str, ...]:
    """The answer in parts; every second part (1, 3, …) is emphasized. If the model was measured on
    several kinds of hardware, it begins with the kind.
    """
    ranking, best = answer.ranking, answer.best
    place = capitalized(place_text(ranking.hardware))
    if best is None:
        return (f"{place and f'{place}: '}{_nothing(ranking)}",)
    measurement = best.best.measurement
    measurements = counted(ranking.measurements, "measurement")
    count = (
        f"{f'{place}, in' if place else 'In'} {measurements} across"
        f" {counted(len(ranking.results), 'configuration')}, "
    )
    settings = settings_text(best)
    values = values_text(best, ranking.goal, ranking.currency, with_noise=True)
    if not best.passes:
        missed = ranking.goal.shortfall(measurement)
        return (
            count + "no configuration meets the constraints; the nearest is ",
            best.name,
            f" ({settings}): {values}, which misses them by {percent_text(missed)}.",
        )
    once = " (measured once)" if answer.times == 1 and not measurement.is_instalment else ""
    return (
        count,
        best.name,
        f" ({settings}) gives {values}{once}{_against_default(answer)}.{_ties(answer)}",
    )


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
    """The main settings of the served variants, for example `2:CPU instances, max batch size 8`."""
    served = [part for variant in result.variants for part in variant.served]
    return "; ".join(
        _settings_of(part, result.best.trial.gpus, named=len(served) > 1) for part in served
    )


def values_text(
    result: VariantResult, goal: Goal, currency: str, *, with_noise: bool = False
) -> str:
    """The best measurement of a result and its load. It shows throughput and the constrained
    latency (otherwise the p99). If tokens were counted, it shows the token metrics of the goal
    instead, or token throughput and time to first token. The other objectives follow; `currency` is
    the unit of costs. With `with_noise`, values of instalments have their intervals, and the last
    value what they are based on.
    """
    measurement = result.best.measurement
    latency = Axes(goal, [result]).quantity("perf_latency_p99")
    tags = ["perf_throughput", latency.tag]
    if measurement.value("output_token_throughput") is not None:
        tags = [tag for tag in goal.tags if METRICS[tag].source is Source.LLM]
        tags.append("output_token_throughput")
        if not any(tag.startswith("time_to_first_token") for tag in tags):
            tags.append("time_to_first_token_p99")
    values = {
        tag: value
        for tag in dict.fromkeys([*tags, *_objectives(goal)])
        if (value := _value(tag, latency, measurement)) is not None
    }
    texts = [
        _latency_text(latency, value, measurement)
        if tag == latency.tag
        else _value_text(tag, value, measurement, currency)
        for tag, value in values.items()
    ]
    if with_noise and measurement.is_instalment:
        texts = _with_noise(texts, [*values], latency, result)
    if list(values)[:2] == ["perf_throughput", latency.tag]:
        texts[:2] = [f"{texts[0]} at {texts[1]}"]
    return f"{', '.join(texts)} {under(result.best.trial)}"


def _with_noise(
    texts: Sequence[str], tags: Sequence[str], latency: Quantity, result: VariantResult
) -> list[str]:
    """The texts of these metrics with intervals."""
    ranges = [
        range_text(result, tag, latency.index if tag == latency.tag else None) for tag in tags
    ]
    ranges[-1] = ", ".join(filter(None, (ranges[-1], basis_text(result.best))))
    pairs = zip(texts, ranges, strict=True)
    return [f"{text} ({bounds})" if bounds else text for text, bounds in pairs]


def latency_text(result: VariantResult, goal: Goal) -> str:
    """The constrained latency (otherwise the p99) of the best measurement; "" if unknown."""
    measurement = result.best.measurement
    latency = Axes(goal, [result]).quantity("perf_latency_p99")
    value = latency.value(measurement)
    return "" if value is None else _latency_text(latency, value, measurement)


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


def _objectives(goal: Goal) -> Sequence[str]:
    """The metrics that any model optimizes, without duplicates."""
    tags = [objective.tag for model in goal.models for objective in model.objectives]
    return list(dict.fromkeys(canonical(tag) for tag in tags))


def _value(tag: str, latency: Quantity, measurement: Measurement) -> float | None:
    return latency.value(measurement) if tag == latency.tag else measurement.value(tag)


def _latency_text(latency: Quantity, value: float, measurement: Measurement) -> str:
    """The latency to show next to the throughput, with name and unit."""
    name = _SHORT_LATENCIES.get(latency.tag, METRICS[latency.tag].name)
    if latency.model:
        name = f"{name} of {latency.model}"
    elif len(measurement.models) > 1:
        name = f"average {name}"
    return f"{name} {number_text(value)} {METRICS[latency.tag].unit}"


def _value_text(tag: str, value: float, measurement: Measurement, currency: str) -> str:
    metric = METRICS[tag]
    text = f"{number_text(value)} {unit_text(tag, currency)}"
    if tag == "perf_throughput" and len(measurement.models) > 1:
        own = [model.values.get(tag) for model in measurement.models]
        text += f" ({' + '.join('?' if each is None else number_text(each) for each in own)})"
    if tag in ("perf_throughput", "output_token_throughput"):
        return text
    return f"{metric.name} {text}"


def _settings_of(variant: ModelVariant, gpus: int, *, named: bool) -> str:
    parts = [f"{instances_text(variant, gpus=gpus)} instances"]
    if named:
        own = " + ".join(f"{count}:{kind}" for count, kind in variant.instances(gpus=gpus))
        parts = [f"{variant.name} with {own} instances"]
    if variant.max_batch_size:
        parts.append(f"max batch size {variant.max_batch_size}")
        parts.append(f"dynamic batching {'on' if variant.has_dynamic_batching else 'off'}")
    return ", ".join(parts)


def _ties(answer: Answer) -> str:
    """The ties, which are about as good as the best, and what noise does not let tell from it."""
    best = answer.ranking.results[0].best
    by_text: dict[str, list[MeasuredTrial]] = {}
    for item in answer.ranking.ties:
        by_text.setdefault(tie_text(item, best), []).append(item)
    ties = "".join(f" {text}: {_listed(others)}." for text, others in by_text.items())
    if not answer.undecided:
        return ties
    others = [f"{_named(each.item)}, {each.text}" for each in answer.undecided[:_MOST_UNDECIDED]]
    more = len(answer.undecided) - len(others)
    if more:
        others.append(f"and {more} more")
    return f"{ties} {UNDECIDED}: {'; '.join(others)}."


def _listed(items: Sequence[MeasuredTrial]) -> str:
    """The first of the trials; a load that all of them share once."""
    loads = {under(item.trial) for item in items}
    if len(items) == 1 or len(loads) > 1:
        return first_few([*map(_named, items)], _MOST_TIES)
    names = first_few([item.trial.variants for item in items], _MOST_TIES)
    return f"{names}, {'both' if len(items) == 2 else 'all'} {loads.pop()}"


def _named(item: MeasuredTrial) -> str:
    return f"{item.trial.variants} {under(item.trial)}"


def _against_default(answer: Answer) -> str:
    ranking, gain = answer.ranking, answer.gain
    if ranking.is_across_models:
        return ""
    default = ranking.default
    if default is None:
        return "; the default configuration has no measurement to compare with"
    if answer.verdict is AnswerVerdict.KEEP:
        if len(ranking.results) == 1 or answer.rivals:
            return ": it is the default configuration"
        clearly = "clearly " if ranking.ties else ""
        return f": it is the default configuration, and no other configuration is {clearly}better"
    base = values_text(default, ranking.goal, ranking.currency)
    fails = ", and fails the constraints" if not default.passes else ""
    if gain is None and compared_default(ranking) is None:
        base += " (the only load it was measured with, so the gain may come from the load)"
    elif len(default.measured) == 1 and not default.passes:
        base += " (the only load it was measured with)"
    if gain is None:
        return f"; the default configuration gives {base}{fails}"
    verdict = (
        f"no clear gain over the default configuration ({gain_text(gain)} %)"
        if answer.verdict is AnswerVerdict.EQUAL
        else f"{gain_text(gain)} % better {_by_what(ranking.goal)} than the default configuration"
    )
    return f": {verdict}, which gives {base}{fails}"


def _by_what(goal: Goal) -> str:
    """The metrics that a gain refers to. For models that are measured together, it is a mean over
    the models, and may be positive although their total throughput is lower.
    """
    if is_plain_throughput(goal):
        return "at maximizing throughput"
    names = [METRICS[tag].name for tag in _objectives(goal)]
    if len(goal.models) > 1:
        names.append(over_models(goal))
    return f"by the objectives ({', '.join(names)})"
