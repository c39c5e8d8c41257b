# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""What a page says of measurements that are not the answer: those that a reader selects, and those
that are best at another limit. The script decides which these are; what is said of them is from
here: gains, values with their noise, configurations, and commands.

There is also what else one could choose: measurements that trade some of the objective for another
metric, and what that gains and costs, in words.

What a page needs to rank the measurements of a model again, at another limit of the latency.

The script `ranking.js` follows the rules of `results.ranking` and `noise.ties`. What those rules
derive from runs and configurations is computed here: costs, windows, the noise of rounds. Values of
metrics are those of the page's table. Cases in tests/golden/budget hold for both.
"""

from __future__ import annotations

import math
import shlex
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from heapq import nsmallest
from itertools import chain, groupby, islice, pairwise

from model_analyzer.domain.costs import EFFICIENCY
from model_analyzer.domain.goals import DEFAULT_OBJECTIVE, Constraint, Goal, ModelGoal, Objective
from model_analyzer.domain.goodput import GOODPUT
from model_analyzer.domain.metrics import METRICS, Better, Unit, canonical, metric_of
from model_analyzer.domain.profiles import MeasuredTrial
from model_analyzer.domain.trials import under
from model_analyzer.domain.words import number_text
from model_analyzer.noise.noise_model import NoiseModel
from model_analyzer.noise.pooling import in_rounds
from model_analyzer.noise.ties import cost, memory_steps, total_load
from model_analyzer.reports.breakdown import Points, averages_of, distribution_of
from model_analyzer.reports.headline import compared_at, gain_text, unit_text, value_texts
from model_analyzer.reports.parameters import Axes, Quantity, configuration_changes
from model_analyzer.reports.plots import Chart, plots_over_latency
from model_analyzer.results.answer import gain_over
from model_analyzer.results.columns import reports_gpus
from model_analyzer.results.ranking import RANKING_RULES, Ranking, VariantResult

# Noise takes time: of more measurements, only those have it that may be the best at some limit.
_MOST_WITH_NOISE = 2000
# So many of the best at each limit may be the answer there, given noise and ties.
_CLOSEST = 40

# Pages have the latencies of so many measurements.
_MOST_WITH_LATENCIES = 500

# Before the text of a gain that is not more than noise.
_UNCLEAR = "~"
# Between a gain and the load under which both were compared.
_AT = "|"

_Texts = dict[int, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Deployment:
    """How to use the recommendation: its config.pbtxt (of each model, if there are several), their
    `difference` from those in the model repository, and the `command` that prints a Kubernetes
    manifest; `start` is how that begins, before goals. "" if unknown. `configurations` are the same
    texts of the best variants, in the order of the ranking.
    """

    configuration: str = ""
    difference: str = ""
    command: str = ""
    start: str = ""
    configurations: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Alternatives:
    """What is said of the measurements (rows) of one model on one kind of hardware.

    `default` is the row that the gains at the limits of the run are over, None if there is none.
    `gains` has for each choice of objectives, by the row of the default and the own row, the gain
    in percent; one that is not clear begins with `~`, one that may come from the load is missing.
    After a `|`, it says under which load both were compared, if not that of the row.
    `values` has the values with their noise, by metric and row. `variants` are the best ones: what
    each changes in the default, its config.pbtxt, and the difference from that in the model
    repository. `commands` print the manifest, for each choice: one to which a limit is added, and
    one without a limit; "" if there is no command. `command` prints that of the run. `latencies`
    has, by row, the distribution of the latencies and their averages over time: see `breakdown.py`.
    """

    default: int | None
    gains: tuple[Mapping[int, _Texts], ...]
    values: Mapping[str, _Texts]
    variants: tuple[tuple[tuple[tuple[str, str, str], ...], str, str], ...]
    commands: tuple[tuple[str, str], ...]
    command: str
    latencies: Mapping[int, tuple[Points, Sequence[Points]]]


def alternatives_of(
    ranking: Ranking, budget: OtherLimits | None, deployment: Deployment
) -> Alternatives:
    """What is said of the measurements of a ranking; the limits and objectives that a reader can
    choose are those of the `budget`.
    """
    goals = [*_goals(ranking, budget)]
    gains = tuple(
        _gains(ranking, goal, budget, with_all=not number) for number, goal in enumerate(goals)
    )
    rows = {row for gain in gains for row in chain.from_iterable(gain.values())}
    is_short = len(ranking.measured) <= _MOST_WITH_NOISE
    tags = {tag for goal in goals for tag in goal.wishes}
    tags.add(Axes(ranking.goal, ranking.results).quantity("perf_latency_p99").tag)
    if budget is not None:
        tags.add(budget.limit)
    places = _places(ranking)
    default = ranking.default
    return Alternatives(
        default=None if default is None else places[id(default.best)],
        gains=gains,
        values={
            tag: _values(ranking, tag, range(len(ranking.measured)) if is_short else sorted(rows))
            for tag in sorted(tags)
        },
        variants=tuple(_variants(ranking, deployment)),
        commands=tuple(_commands(goals, deployment)) if budget is not None else (),
        command=deployment.command,
        latencies=dict(_latencies(ranking)),
    )


def _goals(ranking: Ranking, budget: OtherLimits | None) -> Iterator[Goal]:
    """The goal of each choice of objectives, without the limit that moves."""
    if budget is None:
        yield Goal(models=tuple(_unbounded(model) for model in ranking.goal.models))
        return
    constraints = tuple(
        Constraint(tag=tag, minimum=minimum, maximum=maximum)
        for tag, minimum, maximum in budget.constraints
    )
    for choice in budget.choices:
        objectives = tuple(Objective(tag=tag, weight=weight) for tag, weight in choice.objectives)
        yield Goal(models=(ModelGoal(objectives=objectives, constraints=constraints),))


def _unbounded(goal: ModelGoal) -> ModelGoal:
    return ModelGoal(objectives=goal.objectives, weighting=goal.weighting)


def _places(ranking: Ranking) -> Mapping[int, int]:
    return {id(item): place for place, item in enumerate(ranking.measured)}


def _gains(
    ranking: Ranking, goal: Goal, budget: OtherLimits | None, *, with_all: bool
) -> Mapping[int, _Texts]:
    """The gains over the default for one choice of objectives; `with_all` measurements over the
    default at the limits of the run.
    """
    default = ranking.default
    if default is None or ranking.is_across_models:
        return {}
    places = _places(ranking)
    defaults = [places[id(item)] for item in default.measured]
    pairs: dict[int, dict[int, None]] = {}
    if with_all:
        rows = range(min(len(ranking.measured), _MOST_WITH_NOISE))
        pairs[places[id(default.best)]] = dict.fromkeys(rows)
    if budget is not None:
        for row, others in _at_limits(ranking, goal, budget.limit, defaults):
            pairs.setdefault(row, {}).update(dict.fromkeys(others))
    by = Goal(models=tuple(map(_unbounded, goal.models)))
    return {
        row: dict(_gains_over(ranking, by, row, [*others], defaults))
        for row, others in pairs.items()
    }


def _gains_over(
    ranking: Ranking, by: Goal, base: int, rows: Sequence[int], defaults: Sequence[int]
) -> Iterator[tuple[int, str]]:
    """The text of each gain over one measurement of the default configuration."""
    compared = [ranking.measured[row] for row in (base, *(row for row in defaults if row != base))]
    own = set(defaults)
    of_variant = {
        id(item): result.measured for result in ranking.results for item in result.measured
    }
    for row in rows:
        if row in own:
            continue
        item = ranking.measured[row]
        variant = of_variant[id(item)]
        gain = gain_over(by, ranking.noise_model, item, compared, of_variant=variant)
        if gain is not None:
            mark, at = "" if gain.is_clear else _UNCLEAR, compared_at(gain)
            yield row, f"{mark}{gain_text(gain, sign='+')}{f'{_AT}{at}' if at else ''}"


def _at_limits(
    ranking: Ranking, goal: Goal, limit: str, defaults: Sequence[int]
) -> Iterator[tuple[int, Sequence[int]]]:
    """The measurement of the default that counts at each limit, and those that may be best there:
    the default changes only at limits that one of its measurements just meets.
    """
    over = ranking.columns.of(limit)
    items = ranking.measured
    misses = goal.shortfalls(ranking.columns, [item.measurement for item in items])
    by_merit = goal.best_first(
        [row for row, value in enumerate(over) if value is not None and not misses[row]],
        lambda row: items[row].measurement,
    )
    known = [(value, row) for row in defaults if (value := over[row]) is not None]
    if not known:
        return
    ours = [row for row in by_merit if row in set(defaults)]
    steps = sorted({_known(over[row]) for row in ours})
    yield min(known)[1], _within(by_merit, over, steps[0] if steps else math.inf)
    for low, high in pairwise([*steps, math.inf]):
        best = next(row for row in ours if _known(over[row]) <= low)
        yield best, _within(by_merit, over, high)


def _within(by_merit: Sequence[int], over: Sequence[float | None], limit: float) -> Sequence[int]:
    """The best rows below a limit."""
    return [*islice((row for row in by_merit if _known(over[row]) < limit), _CLOSEST)]


def _known(value: float | None) -> float:
    return math.inf if value is None else value


def _values(ranking: Ranking, tag: str, rows: Sequence[int]) -> _Texts:
    """The values of a metric with their noise, where that is known."""
    texts = {}
    for row in rows:
        item: MeasuredTrial = ranking.measured[row]
        value = item.measurement.value(tag)
        interval = None if value is None else ranking.noise_model.interval(item.runs, tag)
        if value is not None and interval is not None:
            text, bounds = value_texts(value, interval)
            texts[row] = f"{text} ({bounds})" if bounds else text
    return texts


def _latencies(ranking: Ranking) -> Iterator[tuple[int, tuple[Points, Sequence[Points]]]]:
    """The latencies of the first measurements, and of the default."""
    default = ranking.default
    for row, item in enumerate(ranking.measured):
        if row < _MOST_WITH_LATENCIES or (default is not None and item is default.best):
            latencies = distribution_of(item), averages_of(item)
            if any(latencies):
                yield row, latencies


def _variants(
    ranking: Ranking, deployment: Deployment
) -> Iterator[tuple[tuple[tuple[str, str, str], ...], str, str]]:
    default = ranking.default
    for result, texts in zip(ranking.results, deployment.configurations, strict=False):
        is_changed = default is not None and result is not default
        changes = configuration_changes(default.best, result.best) if is_changed and default else ()
        yield (tuple(changes), *texts)


def _commands(goals: Sequence[Goal], deployment: Deployment) -> Iterator[tuple[str, str]]:
    """For each choice, the command without its limit, and the one for no limit."""
    for goal in goals if deployment.start else ():
        (model,) = goal.models
        flags = goal_flags(model)
        yield f"{deployment.start} {flags}", f"{deployment.start} {goal_flags(model, ends=True)}"


def goal_flags(goal: ModelGoal, *, ends: bool = False) -> str:
    """The flags of `best` that stand for a goal. More constraints may follow, unless it `ends`."""
    weights = [f":{objective.weight:.15g}" for objective in goal.objectives]
    if len(weights) == 1:
        weights = [""]
    weighted = zip(goal.objectives, weights, strict=True)
    flags = ["--metric", ",".join(f"{objective.tag}{weight}" for objective, weight in weighted)]
    for bound in goal.constraints:
        if bound.minimum is not None:
            flags += ["--constraint", f"{bound.tag}>{bound.minimum:.15g}"]
        if bound.maximum is not None:
            flags += ["--constraint", f"{bound.tag}<{bound.maximum:.15g}"]
    if ends and not goal.constraints:
        flags += ["--constraint", "none"]
    return shlex.join(flags)


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


# Objectives that the reader can choose, besides that of the run.
_CHOICES = (DEFAULT_OBJECTIVE, "output_token_throughput", *EFFICIENCY)

# The noise of rounds takes time to compute. Of more measurements, only those are worth it that
# are among the best at some limit.

# A metric with its minimum and its maximum.
_Constraint = tuple[str, float | None, float | None]

# One number for each measurement; a single number if it is the same for all.
_Numbers = Sequence[float] | float


@dataclass(frozen=True, slots=True, kw_only=True)
class ObjectiveChoice:
    """A way to rank: `objectives` are pairs of metric and weight. `better` is 1 for each metric of
    which more is better, otherwise -1.
    """

    name: str
    unit: str
    objectives: tuple[tuple[str, float], ...]
    better: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class OtherLimits:
    """The measurements of one model on one kind of hardware, to be ranked at other limits.

    `chart` is the key of the chart whose x axis is the metric `limit` (its y axis is `height`),
    `maximum` the limit of the run (None: no limit). `constraints` (metric, minimum, maximum) are
    the others. The first of the `choices` is that of the run. The rows of the page's table begin at
    `start`; `shown` are those in the table of the best configurations.

    Of each variant: `counts` has the number of rows, `contents` a number that is the same for equal
    configurations, `instances` its cost, `defaults` whether it is the default. Of each row: `loads`
    and `memory` (of GPUs, of the host) are costs as in `ties.cost`, `windows` has the spread of the
    windows as squares and degrees of freedom, `runs` the values of each metric of repeated rows,
    `errors` the standard error of each metric of rows in rounds, `usual` the usual error of a
    metric.
    """

    chart: str
    limit: str
    height: str
    name: str
    unit: str
    maximum: float | None
    constraints: tuple[_Constraint, ...]
    choices: tuple[ObjectiveChoice, ...]
    start: int
    shown: tuple[int, ...]
    counts: tuple[int, ...]
    contents: tuple[int, ...]
    instances: tuple[int, ...]
    defaults: tuple[bool, ...]
    loads: _Numbers
    memory: tuple[_Numbers, _Numbers]
    windows: tuple[_Numbers, _Numbers]
    runs: Mapping[int, Mapping[str, Sequence[float | None]]]
    errors: Mapping[str, Mapping[int, float | None]]
    usual: Mapping[str, float]


def budget_of(
    ranking: Ranking,
    charts: Sequence[Chart],
    shown: Sequence[VariantResult],
    *,
    start: int,
    always_gpus: bool,
) -> OtherLimits | None:
    """The data to rank again; None if no chart is over latency, or if the rules need more than the
    table of the page has: for several models, for metrics of GPUs that are not shown, and for
    goodput, which each limit changes.
    """
    axes = Axes(ranking.goal, ranking.results)
    drawn = {chart.name for chart in charts}
    plot = next((plot for plot in plots_over_latency(axes) if plot.name in drawn), None)
    if plot is None or ranking.is_across_models or len(ranking.goal.models) != 1:
        return None
    (goal,), items = ranking.goal.models, ranking.measured
    if GOODPUT in goal.tags:
        return None
    quantity = axes.quantity(plot.x_axis)
    on_limit = [each for each in goal.constraints if canonical(each.tag) == quantity.tag]
    choices = _choices(goal, ranking)
    tags = {quantity.tag, *goal.tags, *(tag for each in choices for tag, _ in each.objectives)}
    are_shown = [reports_gpus(item, always=always_gpus) for item in items]
    if any(tag.startswith("gpu_") for tag in tags) and not all(are_shown):
        return None
    upper = [each.maximum for each in on_limit if each.maximum is not None]
    memory = [memory_steps(item.measurement) for item in items]
    best_costs = [cost(each.best.trial, each.best.measurement) for each in ranking.results]
    contents = {each.best.trial.content: None for each in ranking.results}
    numbers = {content: number for number, content in enumerate(contents)}
    places = {id(item): place for place, item in enumerate(items)}
    metric = METRICS[quantity.tag]
    others = tuple(
        (canonical(each.tag), each.minimum, None if each in on_limit else each.maximum)
        for each in goal.constraints
        if each not in on_limit or each.minimum is not None
    )
    return OtherLimits(
        chart=next(chart.key for chart in charts if chart.name == plot.name),
        limit=quantity.tag,
        height=axes.quantity(plot.y_axis).tag,
        name=quantity.name,
        unit=str(metric.unit),
        maximum=min(upper, default=None),
        constraints=others,
        choices=choices,
        start=start,
        shown=tuple(places[id(result.best)] for result in shown),
        counts=tuple(len(result.measured) for result in ranking.results),
        contents=tuple(numbers[each.best.trial.content] for each in ranking.results),
        instances=tuple(int(each[2]) for each in best_costs),
        defaults=tuple(result.is_default for result in ranking.results),
        loads=_compact([total_load(item.trial) for item in items]),
        memory=(_compact([gpu for gpu, _ in memory]), _compact([host for _, host in memory])),
        windows=_windows(ranking),
        runs=_repeated(items, tags),
        errors=_errors(ranking, tags, quantity.tag, others),
        usual={tag: NoiseModel(()).expected_deviation(tag).error for tag in sorted(tags)},
    )


def _choices(goal: ModelGoal, ranking: Ranking) -> tuple[ObjectiveChoice, ...]:
    """The objectives of the run, and single metrics that were measured."""
    own = [each for each in goal.objectives if each.weight > 0] or list(goal.objectives)
    others = [
        [Objective(tag=tag)]
        for tag in _CHOICES
        if tag in ranking.columns.tags and [canonical(each.tag) for each in own] != [tag]
    ]
    return tuple(_choice(each, ranking.currency) for each in (own, *others))


def _choice(objectives: Sequence[Objective], currency: str) -> ObjectiveChoice:
    metrics = [metric_of(each.tag) for each in objectives]
    unit = str(metrics[0].unit) if len(metrics) == 1 else ""
    return ObjectiveChoice(
        name=", ".join(metric.name for metric in metrics),
        unit=currency if metrics[0].unit is Unit.CURRENCY else unit,
        objectives=tuple(
            (metric.tag, each.weight) for metric, each in zip(metrics, objectives, strict=True)
        ),
        better=tuple(1 if metric.better is Better.HIGHER else -1 for metric in metrics),
    )


def _compact(numbers: Sequence[float]) -> _Numbers:
    return numbers[0] if len(set(numbers)) == 1 else numbers


def _windows(ranking: Ranking) -> tuple[_Numbers, _Numbers]:
    """The spread of the windows of each row, as squares and degrees of freedom; 0 if unknown."""
    squares, freedoms = [], []
    for item in ranking.measured:
        noise = None
        if not in_rounds(item.runs):
            noise = ranking.noise_model.between_windows(item.runs, 0)
        squares.append(0.0 if noise is None else _rounded(noise.error**2 * noise.freedom))
        freedoms.append(0.0 if noise is None else noise.freedom)
    return _compact(squares), _compact(freedoms)


def _rounded(number: float) -> float:
    return float(f"{number:.7g}")


def _repeated(
    items: Sequence[MeasuredTrial], tags: set[str]
) -> Mapping[int, Mapping[str, Sequence[float | None]]]:
    return {
        row: {tag: [run.value(tag) for run in item.runs] for tag in sorted(tags)}
        for row, item in enumerate(items)
        if len(item.runs) > 1
    }


def _errors(
    ranking: Ranking, tags: set[str], limit: str, constraints: Sequence[_Constraint]
) -> Mapping[str, Mapping[int, float | None]]:
    rows = [row for row, item in enumerate(ranking.measured) if in_rounds(item.runs)]
    if len(rows) > _MOST_WITH_NOISE:
        leading = _leading(ranking, limit, constraints)
        rows = [row for row in rows if row in leading]
    errors: dict[str, dict[int, float | None]] = {}
    for tag in sorted(tags):
        errors[tag] = {}
        for row in rows:
            noise = ranking.noise_model.of(ranking.measured[row].runs, tag)
            errors[tag][row] = None if noise is None else _rounded(noise.error)
    return errors


def _leading(ranking: Ranking, limit: str, constraints: Sequence[_Constraint]) -> Collection[int]:
    """The rows that are among the best at some limit of the latency; if too many, the first of
    each limit.
    """
    tag = canonical(ranking.goal.models[0].objectives[0].tag)
    sign = 1 if METRICS[tag].better is Better.HIGHER else -1
    values, over = ranking.columns.of(tag), ranking.columns.of(limit)
    rows = [row for row, value in enumerate(values) if value is not None]
    for other, minimum, maximum in constraints:
        low = -math.inf if minimum is None else minimum
        high = math.inf if maximum is None else maximum
        bounded = ranking.columns.of(other)
        # an unknown value cannot be checked
        rows = [row for row in rows if (value := bounded[row]) is None or low <= value <= high]
    # the handle of the limit has steps of three digits
    steps = {row: float(f"{over[row] or 0.0:.3g}") for row in rows}
    best: list[tuple[float, int]] = []
    places: list[tuple[int, int]] = []
    for _, group in groupby(sorted(rows, key=steps.__getitem__), key=steps.__getitem__):
        new = [(-sign * (values[row] or 0.0), row) for row in group]
        best = nsmallest(RANKING_RULES["CLOSEST"], chain(best, new))
        is_new = set(new)
        places += [(place, each[1]) for place, each in enumerate(best) if each in is_new]
    return {row for _, row in sorted(places)[:_MOST_WITH_NOISE]}
