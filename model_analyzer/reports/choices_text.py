# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""What else one could choose: measurements that trade some of the objective for another metric, and
what that gains and costs, in words.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from model_analyzer.domain.loads import under
from model_analyzer.domain.metrics import METRICS, Unit, canonical
from model_analyzer.domain.numbers import number_text
from model_analyzer.domain.profiles import MeasuredTrial
from model_analyzer.reports.axes import Axes, Quantity
from model_analyzer.reports.headline import unit_text
from model_analyzer.results.ranking import Ranking

_THROUGHPUT, _TOKENS = "perf_throughput", "output_token_throughput"
_LATENCY, _FIRST_TOKEN = "perf_latency_p99", "time_to_first_token_p99"

# A choice gives up at most this share of the objective …
_MOST_LOSS = 0.25
# … and is this many times better in the other metric.
_LEAST_FACTOR = 1.5
# A choice that is better by the objective gains at least this share.
_LEAST_GAIN = 0.01

# Factors that have words; so far (as a share) a factor may be from one.
_FRACTIONS = {1 / 2: "half the", 1 / 3: "a third of the", 1 / 4: "a quarter of the", 2: "twice the"}
_NEAR = 0.08
_MANY = 1.5  # from here on, "1.8 times" is shorter than "80 % more"
_FEW = 0.5  # below, "30 % of" is shorter than "70 % less"


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """A measurement that meets the constraints, and its objective and other metric divided by those
    of the recommendation.
    """

    item: MeasuredTrial
    objective: float
    other: float


def choices_text(ranking: Ranking) -> tuple[str, ...]:
    """A sentence for each choice, such as `m_config_3 at concurrency 8: 5 % less
    throughput, half the p99 Latency (593 infer/sec, 9.8 ms)`.
    """
    if not ranking.results or len(ranking.goal.models) != 1:
        return ()
    wished = ranking.goal.models[0].objectives[0].tag
    other = _other(ranking, canonical(wished))
    if other is None:
        return ()
    values = other.values(ranking.columns, ranking.measured)
    return tuple(
        _sentence(choice, canonical(wished), other, ranking)
        for choice in choices(ranking, other.tag, values)
    )


def _other(ranking: Ranking, wished: str) -> Quantity | None:
    """What the objective is traded for: latency for throughput, and throughput for the others."""
    axes = Axes(ranking.goal, ranking.results)
    pairs = {_THROUGHPUT: _LATENCY, _TOKENS: _FIRST_TOKEN}
    if wished in pairs:
        return axes.quantity(pairs[wished])
    has_tokens = ranking.columns.of(_TOKENS)[0] is not None
    return Quantity(tag=_TOKENS if has_tokens else _THROUGHPUT)


def _sentence(choice: Choice, wished: str, other: Quantity, ranking: Ranking) -> str:
    measurement = choice.item.measurement
    values = ", ".join(
        f"{number_text(value)} {unit_text(quantity.tag, ranking.currency)}"
        for quantity in (Quantity(tag=wished), other)
        if (value := quantity.value(measurement)) is not None
    )
    changes = f"{change_text(wished, choice.objective)}, {change_text(other.tag, choice.other)}"
    return f"{choice.item.trial.variants} {under(choice.item.trial)}: {changes} ({values})"


def change_text(tag: str, ratio: float) -> str:
    """A change of a metric in words, by the ratio of new to old: `half the p99 Latency`,
    `5 % less throughput`, `12 % higher RAM Usage`.
    """
    metric = METRICS[tag]
    is_rate = metric.unit in (Unit.INFERENCES_PER_SECOND, Unit.TOKENS_PER_SECOND)
    name = metric.name.lower() if is_rate else metric.name
    for factor, words in _FRACTIONS.items():
        if abs(ratio / factor - 1) <= _NEAR:
            return f"{words} {name}"
    if ratio >= _MANY:
        return f"{number_text(ratio, 1)} times the {name}"
    if ratio <= _FEW:
        return f"{100 * ratio:.0f} % of the {name}"
    percent = round(100 * abs(ratio - 1))
    if not percent:
        return f"the same {name}"
    more, less = ("more", "less") if is_rate else ("higher", "lower")
    return f"{percent} % {more if ratio > 1 else less} {name}"


def choices(ranking: Ranking, other: str, values: Sequence[float | None]) -> Sequence[Choice]:
    """At most two choices beside the recommendation: the least loss of the objective for a much
    better `other` metric, and the highest objective at a worse one. `values` are those of the other
    metric, in the order of the ranking.

    Empty if there are several objectives or several models, or if the recommendation does not meet
    the constraints.
    """
    goal = ranking.goal
    tags = [objective.tag for model in goal.models for objective in model.objectives]
    if len(tags) != 1 or not ranking.any_passes or values[0] is None:
        return ()
    wished = ranking.columns.of(tags[0])
    if not wished[0] or not values[0]:
        return ()
    passing = [
        Choice(item=item, objective=value / wished[0], other=beside / values[0])
        for item, value, beside, passes in zip(
            ranking.measured, wished, values, ranking.passing, strict=True
        )
        if passes and value and beside
    ]
    return tuple(_chosen(passing, tags[0], other))


def _chosen(passing: Sequence[Choice], tag: str, other: str) -> Iterator[Choice]:
    def merit(choice: Choice) -> float:
        return _times_better(tag, choice.objective)

    cheap = [
        choice
        for choice in passing
        if 1 - _MOST_LOSS <= merit(choice) <= 1
        and _times_better(other, choice.other) >= _LEAST_FACTOR
    ]
    if cheap:
        yield max(cheap, key=merit)
    dear = [
        choice
        for choice in passing
        if merit(choice) >= 1 + _LEAST_GAIN and _times_better(other, choice.other) < 1
    ]
    if dear:
        yield max(dear, key=merit)


def _times_better(tag: str, ratio: float) -> float:
    """A ratio of new to old value, above 1 if the new one is better."""
    return ratio if METRICS[tag].gain(1, 0) > 0 else 1 / ratio
