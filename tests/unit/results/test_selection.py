# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""What of a ranking is shown, and how much the best gains over the default.

Whatever a checkpoint holds, each of its records is ranked, or counted once with a reason.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import permutations
from typing import Any

import jsonschema
import pytest
from hypothesis import Phase, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from model_analyzer.domain.goals import Goal, ModelGoal
from model_analyzer.domain.measurements import Measurement
from model_analyzer.domain.models import DEFAULT_SUFFIX, ModelVariant
from model_analyzer.domain.profiles import Profile, TrialRecord
from model_analyzer.domain.trials import Load, LoadKind, ServerSetup, Trial, Workload
from model_analyzer.noise.noise import Interval, Noise, combined, ratio_noise
from model_analyzer.reports.build import Summary
from model_analyzer.reports.document import results_document, results_schema
from model_analyzer.reports.front import pareto_front
from model_analyzer.reports.html import render_summary
from model_analyzer.results.answer import (
    Answer,
    AnswerVerdict,
    Gain,
    answer_of,
    gain_over_default,
    top,
    top_with_default,
)
from model_analyzer.results.ranking import Ranking, VariantResult, rank, rank_across
from tests.drawn import NOT_DRAWN
from tests.phrases import DEFAULT_IS_BEST
from tests.sizes import costly
from tests.unit.builders import (
    at_least,
    at_most,
    failure,
    goal,
    known,
    measurement,
    objectives,
    one_round,
    origin,
    rank_one,
    ranking,
    record,
    summary_page,
    variant,
)
from tests.unit.builders import together as measured_together


def ranked(
    *throughputs: float, default: float | None = None, p99: float = 1, by: Goal | None = None
) -> Ranking:
    """Variants 0, 1, … with these throughputs, and the default."""
    records = [
        record(variant(f"m_config_{index}", max_batch_size=index + 2), measurement(value, p99))
        for index, value in enumerate(throughputs)
    ]
    if default is not None:
        records.append(record(variant("m_config_default"), measurement(default, 1)))
    return ranking(*records, by=by)


def names(results: Sequence[VariantResult]) -> list[str]:
    return [result.name.removeprefix("m_config_") for result in results]


# ------------------------------------------------------------------------------------------ top


def test_the_top_are_the_best_in_order() -> None:
    order = ranked(10, 40, 20, 30, default=5)
    assert names(top(order, 2)) == ["1", "3"]
    assert names(top(order, 9)) == ["1", "3", "2", "0", "default"]


def test_only_those_that_pass_are_at_the_top() -> None:
    strict = goal(*at_most(perf_latency_p99=5))
    order = ranking(
        record(variant("m_config_0", max_batch_size=2), measurement(99, 9)),
        record(variant("m_config_1", max_batch_size=4), measurement(10, 2)),
        by=strict,
    )
    assert names(top(order, 3)) == ["1"]


def test_if_none_passes_the_nearest_are_shown() -> None:
    order = ranked(10, 40, p99=9, by=goal(*at_most(perf_latency_p99=5)))
    assert names(top(order, 1)) == ["1"]
    assert names(top(order, 3)) == ["1", "0"]


def test_the_default_is_shown_behind_the_top_if_it_is_not_among_them() -> None:
    assert names(top_with_default(ranked(10, 40, default=5), 1)) == ["1", "default"]
    assert names(top_with_default(ranked(10, 40, default=50), 2)) == ["default", "1"]
    assert names(top_with_default(ranked(10, 40), 1)) == ["1"]


def test_a_default_that_fails_is_shown_behind_those_that_pass() -> None:
    order = ranking(
        record(variant("m_config_default"), measurement(99, 9)),
        record(variant("m_config_1", max_batch_size=4), measurement(10, 2)),
        by=goal(*at_most(perf_latency_p99=5)),
    )
    assert names(top_with_default(order, 3)) == ["1", "default"]


def test_an_empty_ranking_shows_no_variants() -> None:
    assert list(top(ranking(), 3)) == list(top_with_default(ranking(), 3)) == []


# ----------------------------------------------------------------------------------------- gain


def test_the_gain_is_that_of_the_best_over_the_default() -> None:
    gain = known(gain_over_default(ranked(150, 200, default=100)))
    assert gain.percent == pytest.approx(100)
    assert gain.noise is None
    assert gain.is_clear


@pytest.mark.parametrize(
    ("best", "default", "is_reported"),
    [
        ({"concurrency": 8}, [{"concurrency": 8}], True),
        ({"concurrency": 8}, [{"concurrency": 1}], False),
        ({"concurrency": 8}, [{"concurrency": 8, "batch_size": 4}], False),
        # loads were tried, and none is better for the default
        ({"concurrency": 8}, [{"concurrency": 1}, {"concurrency": 2}], True),
    ],
)
def test_a_gain_is_reported_unless_it_may_come_from_the_load(
    best: dict[str, Any], default: Sequence[dict[str, Any]], is_reported: bool
) -> None:
    tried = [record(variant("m_config_default"), measurement(100), **load) for load in default]
    other = variant("m_config_0", max_batch_size=2)

    order = ranking(record(other, measurement(200), **best), *tried)

    assert (gain_over_default(order) is not None) is is_reported


@pytest.mark.parametrize("concurrencies", [[4], [4, 8]])
def test_where_the_default_refuses_the_clients_both_are_compared_under_one_of_its_loads(
    concurrencies: Sequence[int],
) -> None:
    default, best = variant("m_config_default", max_batch_size=1), variant("m_config_0")
    tried = [record(default, measurement(100 + each), concurrency=each) for each in concurrencies]
    large = record(best, measurement(900), concurrency=16, batch_size=8)

    without = gain_over_default(ranking(large, *tried))
    shared = record(best, measurement(208), concurrency=4)
    gain = gain_over_default(ranking(large, shared, *tried))

    assert without is None
    assert gain is not None
    assert gain.percent == pytest.approx(100)
    assert gain.at == shared.trial


def test_a_default_that_refuses_the_clients_is_not_called_as_good() -> None:
    default, best = variant("m_config_default", max_batch_size=1), variant("m_config_0")

    answer = answer_of(
        ranking(
            record(best, measurement(900), concurrency=16, batch_size=8),
            record(best, measurement(101), concurrency=4),
            record(default, measurement(100), concurrency=4),
        )
    )

    assert answer.verdict is AnswerVerdict.RECOMMENDED


@pytest.mark.parametrize(
    ("concurrency", "waiting_ms", "config", "is_reported"),
    [
        pytest.param(8, 4.0, {}, True, id="an instance with full batches that is always busy"),
        pytest.param(8, 1.0, {}, False, id="an instance that waits for requests"),
        pytest.param(4, 4.0, {}, False, id="batches that are not full"),
        pytest.param(
            8, 4.0, {"dynamic_batching": {"max_queue_delay_microseconds": 4000}}, False,
            id="requests that wait for others",
        ),
    ],
)  # fmt: skip
def test_a_gain_over_a_default_that_is_as_busy_as_it_can_be_is_reported(
    concurrency: int, waiting_ms: float, config: dict[str, Any], is_reported: bool
) -> None:
    times: dict[str, Any] = {
        "perf_server_queue": waiting_ms, "perf_server_compute_infer": 5.0,
    }  # fmt: skip
    default = variant("m_config_default", max_batch_size=4, **config)
    tried = record(default, measurement(100, 9, **times), concurrency=concurrency)
    best = record(variant("m_config_0", max_batch_size=2), measurement(200, 3), concurrency=16)

    assert (gain_over_default(ranking(best, tried)) is not None) is is_reported
    # where latency counts too, less of a load may be better
    soon = goal(wished=objectives(perf_latency_p99=1))
    assert gain_over_default(ranking(best, tried, by=soon)) is None


def test_a_tiny_gain_is_reported_for_any_load() -> None:
    default = record(variant("m_config_default"), measurement(100, windows=(95, 105)))
    best = record(variant("m_config_0"), measurement(103, windows=(98, 108)), concurrency=8)

    gain = known(gain_over_default(ranking(default, best)))

    assert not gain.is_clear


@pytest.mark.parametrize("order", [ranked(10), ranked(10, default=20), ranking()])
def test_without_a_default_to_beat_there_is_no_gain(order: Ranking) -> None:
    assert gain_over_default(order) is None


def best_and_default(best: Measurement, default: Measurement, by: Goal | None = None) -> Gain:
    gain = gain_over_default(
        ranking(
            record(variant("m_config_0", max_batch_size=2), best),
            record(variant("m_config_default"), default),
            by=by,
        )
    )
    assert gain is not None
    return gain


def test_the_windows_of_both_sides_give_the_noise_of_the_gain() -> None:
    """Half the 95 % interval of a ratio of 2; each side has a share in the noise of the other."""
    gain = best_and_default(
        measurement(200, windows=(190, 200, 210)), measurement(100, windows=(95, 105))
    )
    assert gain.percent == pytest.approx(100)
    best = Noise(error=math.sqrt((2 * 0.0025 + 0.01 / 3) / 3), freedom=3)
    base = Noise(error=math.sqrt((0.005 + 2 * 0.01 / 3) / 3), freedom=3)
    noise = known(ratio_noise(best, base))
    assert gain.noise == pytest.approx(200 * noise.reach)
    assert gain.is_clear


def test_each_metric_brings_its_noise_into_a_gain_as_much_as_it_moves_it() -> None:
    by = goal(wished=objectives(perf_throughput=3, perf_latency_p99=1))
    new, old = variant("m_config_0", max_batch_size=2), variant("m_config_default")
    runs = ((new, [(300, 4.0), (330, 5.0)]), (old, [(100, 3.0), (108, 3.4)]))
    order = ranking(
        *(
            record(each, measurement(*values), repetition=number)
            for each, given in runs
            for number, values in enumerate(given)
        ),
        by=by,
    )
    gain, (best, base) = gain_over_default(order), (order.results[0].best, order.results[1].best)
    values = {tag: best.measurement.model_value(0, tag) or 0.0 for tag in by.tags}

    def moved(tag: str, by_share: float) -> float:
        throughput, p99 = (value * (1 + by_share * (of == tag)) for of, value in values.items())
        return by.gain_percent(measurement(throughput, p99), base.measurement)

    parts = [
        (
            abs(moved(tag, 1e-6) - moved(tag, -1e-6)) / 2e-6,
            ratio_noise(*(order.noise_model.of(item.runs, tag, 0) for item in (best, base))),
        )
        for tag in by.tags
    ]
    noise = combined(parts)
    assert gain is not None
    assert noise is not None
    assert gain.noise == pytest.approx(noise.reach)


def test_no_gain_is_told_over_a_default_without_a_value_of_an_objective() -> None:
    by = goal(wished=objectives(perf_throughput=1, time_to_first_token_p99=1))
    best = record(variant("m_config_0"), measurement(200, time_to_first_token_p99=3.0))
    for default in (measurement(100), measurement(100, time_to_first_token_p99=6.0)):
        ranked = ranking(best, record(variant("m_config_default"), default), by=by)
        has_all = len(default.models[0].values) == 2
        assert (gain_over_default(ranked) is not None) is has_all


def test_measurements_of_others_make_the_interval_of_a_gain_narrower() -> None:
    best, base = measurement(200, windows=(194, 200, 206)), measurement(100, windows=(97, 103))
    alone = best_and_default(best, base)
    others = [
        record(
            variant(f"m_config_{size}", max_batch_size=size), measurement(90, windows=(87, 90, 93))
        )
        for size in range(4, 14)
    ]
    among = gain_over_default(
        ranking(
            record(variant("m_config_0", max_batch_size=2), best),
            record(variant("m_config_default"), base),
            *others,
        )
    )
    assert among is not None
    assert among.noise is not None
    assert alone.noise is not None
    assert among.noise < 0.9 * alone.noise


def test_repetitions_give_the_noise_of_a_gain_in_any_metric() -> None:
    def repeated(of: ModelVariant, *latencies: float) -> list[TrialRecord]:
        return [
            record(of, measurement(9, p99), repetition=number)
            for number, p99 in enumerate(latencies)
        ]

    order = ranking(
        *repeated(variant("m_config_0", max_batch_size=2), 4.9, 5.1),
        *repeated(variant("m_config_default"), 9.9, 10.1),
        by=goal(wished=objectives(perf_latency_p99=1)),
    )
    gain = known(gain_over_default(order))
    assert gain.percent == pytest.approx(100)
    assert gain.noise is not None
    assert 10 < gain.noise < 30


def test_a_gain_below_its_noise_is_not_clear() -> None:
    gain = best_and_default(
        measurement(103, windows=(98, 108)), measurement(100, windows=(95, 105))
    )
    assert gain.noise is not None
    assert 0 < gain.percent < gain.noise
    assert not gain.is_clear


def test_over_a_default_that_breaks_the_constraints_a_gain_is_reported_only_if_it_is_clear() -> (
    None
):
    strict = goal(*at_most(perf_latency_p99=5))
    order = ranking(
        record(variant("m_config_0", max_batch_size=2), measurement(50, 1)),
        record(variant("m_config_default"), measurement(100, 9)),
        by=strict,
    )
    assert gain_over_default(order) is None
    gain = best_and_default(measurement(150, 1), measurement(100, 9), strict)
    assert gain.percent == pytest.approx(50)


def test_a_recommendation_that_breaks_the_constraints_has_no_gain() -> None:
    order = ranking(
        record(variant("m_config_0", max_batch_size=2), measurement(200, 6)),
        record(variant("m_config_default"), measurement(100, 9)),
        by=goal(*at_most(perf_latency_p99=5)),
    )
    assert gain_over_default(order) is None


@pytest.mark.parametrize(
    ("gain", "clear"),
    [
        # without any evidence of noise, it is that of most measurements
        (Gain(percent=8, noise=None), False),
        (Gain(percent=9, noise=None), True),
        (Gain(percent=1, noise=0), True),
        (Gain(percent=0, noise=None), False),
        (Gain(percent=-50, noise=5), False),
        (Gain(percent=5, noise=5), False),
        (Gain(percent=6, noise=5), True),
        # 4.9 to 50 times the default, although half of the interval is more than the gain
        (Gain(percent=1470, noise=1820), True),
        (Gain(percent=1470, noise=4400), False),
    ],
)
def test_a_gain_is_clear_if_it_is_more_than_its_noise(gain: Gain, clear: bool) -> None:
    assert gain.is_clear is clear


def test_a_gain_with_a_large_noise_has_the_interval_of_a_ratio() -> None:
    twice_or_half = known(Gain(percent=1900, noise=2000 * math.log(2)).interval)
    assert [twice_or_half.low, twice_or_half.high] == pytest.approx([900, 3900])
    assert Gain(percent=20, noise=12).interval == Interval(low=8, high=32)
    assert Gain(percent=20, noise=None).interval is None
    assert Gain(percent=-100, noise=300).interval == Interval(low=-400, high=200)


def test_windows_on_one_side_give_no_noise() -> None:
    gain = best_and_default(measurement(200, windows=(190, 210)), measurement(100))
    assert gain.noise is None


def test_the_spread_of_throughput_is_no_noise_of_another_metric() -> None:
    latency = goal(wished=objectives(perf_latency_p99=1))
    gain = best_and_default(
        measurement(9, 1, windows=(8, 10)), measurement(9, 2, windows=(8, 10)), latency
    )
    assert gain.percent == pytest.approx(100)
    assert gain.noise is None


def test_no_percentage_is_told_over_a_default_that_has_nothing_of_the_objective() -> None:
    by = goal(*at_most(perf_latency_p99=30), wished=objectives(perf_goodput=1))
    slow = record(variant("m_config_default"), one_round([40.0] * 50, 1.0), concurrency=8)
    fast = record(variant("m_config_0"), one_round([20.0] * 50, 1.0), concurrency=8)

    ranked = ranking(fast, slow, by=by)

    assert ranked.results[1].best.measurement.value("perf_goodput") == 0
    assert gain_over_default(ranked) is None


def test_the_front_goes_from_the_cheapest_to_the_best() -> None:
    points = [(3.0, 30.0), (1.0, 10.0), (2.0, 5.0), (2.0, 20.0), (4.0, 30.0)]
    assert pareto_front(points) == [1, 3, 0]


def test_the_first_of_equal_points_is_on_the_front() -> None:
    assert pareto_front([(1.0, 1.0), (1.0, 1.0)]) == [0]


def test_no_points_have_no_front() -> None:
    assert pareto_front([]) == []


SETUPS = [
    ServerSetup(),
    ServerSetup(version="2.51.0"),
    ServerSetup(launch="docker", devices=("NVIDIA L4",)),
    ServerSetup(version="2.51.0", devices=("NVIDIA L4",)),
    ServerSetup(flags={"pinned-memory-pool-byte-size": 0}),
]
FLAGS = [{}, {"string-length": "16"}, {"shape": ("a:1", "b:2")}]
VALUES = st.sampled_from([0.0, 5.0, 9.9, 10.0, 10.04, 11.0, 100.0])
# what is bounded, and wished for, was not always measured
GOALS = [
    ModelGoal(),
    ModelGoal(constraints=at_most(perf_latency_p99=10)),
    ModelGoal(constraints=at_most(perf_latency_p95=10) + at_least(perf_throughput=10)),
    ModelGoal(objectives=objectives(gpu_used_memory=1, perf_throughput=10)),
    ModelGoal(objectives=objectives(perf_latency_p99=1), constraints=at_most(gpu_utilization=1)),
]

# these values are large: to make failing ones smaller takes minutes
MANY = hypothesis_settings(costly(3), phases=[Phase.explicit, Phase.reuse, Phase.generate])


@st.composite
def workloads(draw: st.DrawFn, model: str) -> Workload:
    name = draw(st.sampled_from([DEFAULT_SUFFIX, "_config_0", "_config_1"]))
    parts = []
    if draw(st.booleans()):
        parts = [variant(f"part{DEFAULT_SUFFIX}", model="part", max_batch_size=2)]
    return Workload(
        variant=variant(
            f"{model}{name}",
            model=model,
            files=draw(st.sampled_from(["", "before", "now"])),
            composing=parts,
            max_batch_size=draw(st.sampled_from([1, 2])),
            parameters={"exact": {"string_value": draw(st.sampled_from(["yes", "no"]))}},
        ),
        load=Load(
            kind=draw(st.sampled_from(LoadKind)),
            value=draw(st.sampled_from([1, 2])),
            batch_size=draw(st.sampled_from([1, 2])),
        ),
        flags=draw(st.sampled_from(FLAGS)),
        inputs=draw(st.sampled_from(["", "text"])),
        base=draw(st.sampled_from(["", "", "old", "new"])),
    )


@st.composite
def records(draw: st.DrawFn, names: Sequence[str]) -> TrialRecord:
    order = draw(st.sampled_from(list(permutations(names))))
    works = [draw(workloads(model)) for model in order]
    trial = Trial(
        workloads=tuple(works),
        setup=draw(st.sampled_from(SETUPS)),
        repetition=draw(st.sampled_from([0, 0, 1, 2])),
    )
    if draw(st.integers(0, 4)) == 0:
        return TrialRecord(trial=trial, outcome=failure())
    tags = ["perf_throughput", "perf_latency_p99", "perf_latency_p95"]
    values = [{tag: draw(VALUES) for tag in tags if draw(st.integers(0, 5))} for _ in works]
    return TrialRecord(trial=trial, outcome=measured_together(*values))


def by_key(record: TrialRecord) -> str:
    return record.trial.key


def counts(rankings: Iterable[Ranking]) -> tuple[int, int]:
    """Measurements and failures that are ranked, or counted as left out."""
    measured = failed = 0
    for each in rankings:
        # equal variants with different names share measurements
        measured += len({id(run) for item in each.measured for run in item.runs})
        failed += len(each.failed)
        measured += sum(part.measurements for part in each.left_out)
        failed += sum(part.failures for part in each.left_out)
    return measured, failed


def held(profile: Profile, names: Sequence[str], kind: str | None = None) -> tuple[int, int]:
    """Those of just these models, on this kind of hardware or on all, that the profile has."""
    own = [
        isinstance(record.outcome, Measurement)
        for record in profile.records
        if sorted(work.variant.model for work in record.trial.workloads) == sorted(names)
        and kind in (None, record.trial.setup.kind)
    ]
    return sum(own), len(own) - sum(own)


def check(rankings: Sequence[Ranking]) -> None:
    """What is shown does not contradict itself."""
    answers = [answer_of(ranking) for ranking in rankings]
    text = json.loads(json.dumps(results_document(answers, origin(), complete=None)))
    jsonschema.validate(text, results_schema())
    page = summary_page(*rankings)
    assert (page.hardware is not None) == (len(rankings) > 1)
    for answer, model, summary in zip(answers, text["models"], page.parts, strict=True):
        check_part(answer, model, summary)
    assert ">None</td>" not in render_summary(page, NOT_DRAWN)


def check_part(answer: Answer, model: Mapping[str, Any], summary: Summary) -> None:
    ranking = answer.ranking
    gains = [figure for figure in summary.figures if figure.label == "Gain over the default"]
    for gain in gains:
        if gain.note == "not clear":
            assert answer.verdict is AnswerVerdict.EQUAL
        else:
            assert answer.verdict is AnswerVerdict.RECOMMENDED
            assert int(gain.value.split()[0]) > 0
    assert (model["verdict"] in ("nearest", "nothing")) == (not summary.statement.is_met)
    if answer.verdict is AnswerVerdict.KEEP:
        assert ranking.results[0].is_default
        if answer.rivals:
            assert DEFAULT_IS_BEST not in summary.statement.sentence
    if ranking.any_passes:
        assert ranking.results[0].passes
    assert not re.search(r"(?<!\d)0 % better", summary.statement.sentence)


@pytest.mark.parametrize("names", [("m",), ("a", "b")])
@MANY
@given(data=st.data())
def test_each_record_is_ranked_or_counted_once(names: Sequence[str], data: st.DataObject) -> None:
    mine = data.draw(st.lists(records(names), max_size=12, unique_by=by_key))
    others = data.draw(st.lists(records(("m", "b")[: len(names)]), max_size=2))
    together = ",".join(names)
    present: list[dict[str, tuple[str, ...]]] = [
        {}, {together: ("new",) * len(names)}, {together: ("old",)},
    ]  # fmt: skip
    bases = data.draw(st.sampled_from(present))
    profile = Profile(records=(*mine, *others), bases=bases)
    goal = Goal(models=tuple(data.draw(st.sampled_from(GOALS)) for _ in names))

    by_default = rank(profile, ",".join(names), goal)
    assert counts(by_default) == held(profile, names)
    assert len({ranking.kind for ranking in by_default}) == len(by_default)
    check(by_default)
    for number, group in enumerate(by_default[0].groups, 1):
        chosen = rank_one(profile, ",".join(names), goal, conditions=number)
        assert (chosen.group, chosen.groups) == (group, by_default[0].groups)
        assert counts([chosen]) == held(profile, names, group.kind)
    swapped = rank(profile, ",".join(reversed(names)), goal)
    assert counts(swapped) == counts(by_default)


@MANY
@given(data=st.data())
def test_the_answer_across_models_is_in_order(data: st.DataObject) -> None:
    parts = [
        data.draw(st.lists(records((name,)), min_size=1, max_size=5, unique_by=by_key))
        for name in ("m", "n")
    ]
    goal = Goal(models=(data.draw(st.sampled_from(GOALS)),))
    profile = Profile(records=[record for part in parts for record in part])
    rankings = [ranking for name in ("m", "n") for ranking in rank(profile, name, goal)]
    every = rank_across(rankings, goal, "all")
    summary_page(*every)
    for across in every:
        assert [result.passes for result in across.results] == sorted(
            (result.passes for result in across.results), reverse=True
        )
