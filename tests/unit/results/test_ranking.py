# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The order of variants, and which records it is made of.

What holds for the recommendation of every ranking, whatever was measured.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest

from model_analyzer.domain.goals import Goal, ModelGoal
from model_analyzer.domain.measurements import Measurement
from model_analyzer.domain.models import ModelVariant
from model_analyzer.domain.profiles import MeasuredTrial, Profile, TrialRecord
from model_analyzer.domain.slots import Lane
from model_analyzer.domain.trials import LoadKind, ServerSetup
from model_analyzer.noise.pooling import pooled_by_trial
from model_analyzer.noise.ties import chance_to_meet, cost
from model_analyzer.reports.remarks import remarks_of
from model_analyzer.results.answer import answer_of
from model_analyzer.results.conditions import Conditions
from model_analyzer.results.ranking import NO_GAIN, Ranking, rank_across
from tests.random_rankings import random_limits, random_records
from tests.sizes import small_and_full
from tests.unit.builders import (
    at_least,
    at_most,
    conclusion,
    failure,
    goal,
    joint_record,
    measurement,
    objectives,
    one_round,
    rank_one,
    ranking,
    record,
    trial,
    variant,
)

DEFAULT = variant("m_config_default", max_batch_size=1)
SMALL = variant("m_config_0", max_batch_size=2)
LARGE = variant("m_config_1", max_batch_size=8)


def order(ranked: Ranking) -> list[str]:
    return [result.name for result in ranked.results]


def throughputs(ranked: Ranking) -> list[float | None]:
    return [item.measurement.value("perf_throughput") for item in ranked.measured]


# ---------------------------------------------------------------------------------------- order


def test_variants_are_ordered_by_their_best_measurement() -> None:
    ranked = ranking(
        record(DEFAULT, measurement(100)),
        record(SMALL, measurement(50)),
        record(SMALL, measurement(300), concurrency=2),
        record(LARGE, measurement(200)),
    )
    assert order(ranked) == ["m_config_0", "m_config_1", "m_config_default"]
    assert throughputs(ranked) == [300, 50, 200, 100]


def test_variants_that_pass_come_before_those_that_do_not() -> None:
    ranked = ranking(
        record(DEFAULT, measurement(900, 50)),
        record(SMALL, measurement(100, 5)),
        record(LARGE, measurement(800, 11)),
        by=goal(*at_most(perf_latency_p99=10)),
    )
    assert order(ranked) == ["m_config_0", "m_config_1", "m_config_default"]
    assert [result.passes for result in ranked.results] == [True, False, False]
    assert ranked.any_passes


def test_a_default_with_the_best_objective_does_not_lead_if_it_fails() -> None:
    ranked = ranking(
        record(DEFAULT, measurement(2663, 1)),
        record(SMALL, measurement(4000, 8)),
        by=goal(*at_least(perf_throughput=3900), wished=objectives(perf_latency_p99=10)),
    )
    assert order(ranked) == ["m_config_0", "m_config_default"]


def test_within_a_variant_passing_measurements_come_first() -> None:
    ranked = ranking(
        record(SMALL, measurement(900, 50), concurrency=4),
        record(SMALL, measurement(100, 5), concurrency=1),
        record(SMALL, measurement(200, 9), concurrency=2),
        by=goal(*at_most(perf_latency_p99=10)),
    )
    (result,) = ranked.results
    assert throughputs(ranked) == [200, 100, 900]
    assert result.best.measurement.value("perf_throughput") == 200
    assert result.passes


def test_the_earlier_of_equals_comes_first() -> None:
    ranked = ranking(record(LARGE, measurement(100)), record(SMALL, measurement(100)))
    assert order(ranked) == ["m_config_1", "m_config_0"]


def test_the_default_is_found_at_any_position() -> None:
    ranked = ranking(record(SMALL, measurement(2)), record(DEFAULT, measurement(1)))
    assert ranked.default is ranked.results[1]
    assert ranking(record(SMALL, measurement(2))).default is None


def test_failures_are_kept_beside_the_results() -> None:
    ranked = ranking(
        record(SMALL, measurement(1)),
        record(SMALL, failure("too much"), concurrency=8),
        record(LARGE, failure("did not load")),
    )
    assert order(ranked) == ["m_config_0"]
    assert [item.failure.message for item in ranked.failed] == ["too much", "did not load"]


def test_without_measurements_the_ranking_is_empty() -> None:
    ranked = ranking(record(SMALL, failure()))
    assert (ranked.results, ranked.measured, ranked.default, ranked.any_passes) == (
        (),
        (),
        None,
        False,
    )
    assert ranking().failed == ()


# ------------------------------------------------------------------------------ what is comparable


def test_other_models_are_left_out() -> None:
    other = variant("n_config_default", model="n")
    records = (record(other, measurement(5)), record(SMALL, measurement(1)))
    assert order(ranking(*records)) == ["m_config_0"]
    assert order(ranking(*records, model="n")) == ["n_config_default"]
    assert order(ranking(*records, model="nobody")) == []


def test_a_model_whose_name_looks_like_a_variant_of_another_is_kept_apart() -> None:
    odd = variant("m_config_0", model="m_config_0", max_batch_size=2)
    ranked = ranking(record(SMALL, measurement(1)), record(odd, measurement(9)))
    assert throughputs(ranked) == [1]


def test_measurements_on_another_server_are_left_out() -> None:
    old, new = ServerSetup(version="2.50.0"), ServerSetup(version="2.51.0")
    profile = Profile(
        records=(
            record(DEFAULT, measurement(999), setup=old),
            record(SMALL, failure("on the old one"), setup=old),
            record(SMALL, measurement(1), setup=new),
        )
    )
    newest = rank_one(profile, "m", goal())
    assert (throughputs(newest), newest.failed) == ([1], ())
    assert [item.sentence for item in newest.left_out] == [
        "1 measurement and 1 failure are left out: measured under different conditions (server"
        " version 2.50.0 instead of 2.51.0); --conditions 1 ranks them."
    ]
    for wanted in (Conditions.of(trial(DEFAULT, setup=old)), 1):
        chosen = rank_one(profile, "m", goal(), conditions=wanted)
        assert (order(chosen), len(chosen.failed)) == (["m_config_default"], 1)
        assert [item.conditions for item in chosen.left_out] == [2]
    with pytest.raises(ValueError, match="there is no group 3: there are 1 to 2"):
        rank_one(profile, "m", goal(), conditions=3)


def test_measurements_of_older_files_are_left_out() -> None:
    before = variant("m_config_1", max_batch_size=8, files="before")
    ranked = ranking(record(before, measurement(999)), record(SMALL, measurement(1)))
    assert order(ranked) == ["m_config_0"]
    assert [item.sentence for item in ranked.left_out] == [
        "1 measurement is left out: files of m have changed since;"
        " `model-analyzer checkpoint trials` shows all."
    ]


def test_a_name_belongs_to_its_newest_content() -> None:
    edited = variant("m_config_default", max_batch_size=4)
    ranked = ranking(
        record(DEFAULT, measurement(500)),
        record(SMALL, measurement(50)),
        record(edited, measurement(100)),
        record(edited, measurement(200), concurrency=2),
    )
    assert ranked.default is not None
    assert ranked.default.variants == (edited,)
    assert throughputs(ranked) == [200, 100, 50]


def test_models_measured_together_are_ranked_under_their_joined_name() -> None:
    a, b = variant("a_config_0", model="a"), variant("b_config_0", model="b")
    values = [{"perf_throughput": 1.0}, {"perf_throughput": 2.0}]
    both = joint_record([trial(a), trial(b)], *values)
    joined = Profile(records=(record(a, measurement(9)), both))
    by = Goal(models=(ModelGoal(), ModelGoal()))
    assert [item.trial for item in rank_one(joined, "a,b", by).measured] == [both.trial]
    assert [item.measurement for item in rank_one(joined, "a", goal()).measured] == [measurement(9)]
    # in any order
    (item,) = rank_one(joined, "b,a", by).measured
    assert item.trial.models == "b,a"
    assert [model.values for model in item.measurement.models] == values[::-1]


def test_a_reverted_configuration_is_ranked_by_its_present_version() -> None:
    """Profiled as X, edited to Y, profiled, and edited back: X is answered from the state."""
    before = variant("m_config_default", max_batch_size=1)
    edited = variant("m_config_default", max_batch_size=4)
    profile = Profile(records=(record(before, measurement(1)), record(edited, measurement(9))))

    ranked = rank_one(profile, "m", goal(), bases=(before.identity,))

    assert throughputs(ranked) == [1]


def test_measurements_under_several_kinds_of_load_are_ranked_together() -> None:
    ranked = ranking(
        record(SMALL, measurement(100), concurrency=4),
        record(SMALL, measurement(90), concurrency=80, kind=LoadKind.REQUEST_RATE),
    )
    assert throughputs(ranked) == [100, 90]
    assert not ranked.left_out


def test_without_present_conditions_the_largest_group_is_ranked() -> None:
    odd = record(LARGE, measurement(999), flags={"string-length": "16"})
    records = [record(SMALL, measurement(value), concurrency=value) for value in (1, 2, 3)]
    ranked = ranking(*records, odd)
    assert throughputs(ranked) == [3, 2, 1]
    assert [item.sentence for item in ranked.left_out] == [
        "1 measurement is left out: measured under different conditions (perf_analyzer flags"
        " of m:"
        " string-length 16 instead of not set); --conditions 2 ranks them."
    ]
    # of equals, the newer one
    assert throughputs(ranking(records[0], odd)) == [999]


def test_variants_of_an_older_version_of_the_model_are_left_out() -> None:
    def derived(name: str, exact: str, **config: Any) -> ModelVariant:
        return variant(name, parameters={"exact": exact}, **config)

    old = derived("m_config_default", "no")
    new = derived("m_config_default", "yes")
    fast = derived("m_config_0", "no", max_batch_size=8)
    slow = derived("m_config_1", "yes", max_batch_size=8)
    records = [
        record(old, measurement(200), base=old.identity),
        record(fast, measurement(900), base=old.identity),
        record(new, measurement(50), base=new.identity),
        record(slow, measurement(60), base=new.identity),
    ]
    for variants_of in (records, [with_unknown_base(entry) for entry in records]):
        ranked = ranking(*variants_of)
        assert order(ranked) == ["m_config_1", "m_config_default"]
        assert [item.sentence for item in ranked.left_out] == [
            "2 measurements are left out: config.pbtxt of m has changed since (parameters"
            f"{'.' if variants_of is not records else ': '}exact: was no, now yes);"
            " `model-analyzer checkpoint trials` shows all."
        ]
    # edited back: the present model is known, though it was measured before the other
    assert order(rank_one(Profile(records=tuple(records)), "m", goal(), bases=(old.identity,))) == [
        "m_config_0",
        "m_config_default",
    ]


def test_the_edited_part_of_an_ensemble_is_named() -> None:
    """Whichever of the models it is, and also where it is edited back."""

    def ensemble(name: str, threads: int, *others: str) -> ModelVariant:
        steps = [variant("a_config_default", model="a", parameters={"threads": threads})]
        steps += [variant(f"{other}_config_default", model=other) for other in others]
        return variant(name, composing=steps)

    slow, fast = ensemble("m_config_default", 1), ensemble("m_config_default", 2)
    more = ensemble("m_config_default", 1, "b")

    def reason(*versions: ModelVariant, now: ModelVariant) -> list[str]:
        records = [record(own, measurement(1), base=own.identity) for own in versions]
        ranked = rank_one(Profile(records=records), "m", goal(), bases=(now.identity,))
        assert len(ranked.measured) == 1
        return [part.reason for part in ranked.left_out]

    edited = "config.pbtxt of a has changed since (parameters: threads: was {}, now {})"
    assert reason(slow, fast, now=fast) == [edited.format(1, 2)]
    assert reason(slow, fast, now=slow) == [edited.format(2, 1)]
    assert reason(slow, more, now=more) == ["m has called other models since"]
    # the configuration that a variant derives from need not have been measured
    unknown = record(ensemble("m_config_0", 1), measurement(1), base="nobody knows")
    ranked = rank_one(
        Profile(records=[unknown, record(fast, measurement(1), base=fast.identity)]), "m", goal()
    )
    assert [part.reason for part in ranked.left_out] == [
        "config.pbtxt of m, or of a model that it calls, has changed since"
    ]


def test_conditions_without_a_named_difference() -> None:
    records = [record(SMALL, measurement(1), flags={"f": value}) for value in (10, 10.0)]
    assert [part.sentence for part in ranking(*records).left_out] == [
        "1 measurement is left out: measured under different conditions; --conditions 1 ranks them."
    ]


def test_bases_that_do_not_fit_the_models_are_not_used() -> None:
    records = [record(SMALL, measurement(1), base=DEFAULT.identity)]
    ranked = rank_one(Profile(records=records, bases={"m": ("one", "too many")}), "m", goal())
    assert order(ranked) == ["m_config_0"]


def test_objectives_without_data_do_not_count_and_are_named() -> None:
    wished = objectives(gpu_used_memory=1, perf_throughput=10)
    records = [record(SMALL, measurement(100)), record(LARGE, measurement(200))]
    ranked = ranking(*records, by=goal(wished=wished))
    assert order(ranked) == ["m_config_1", "m_config_0"]
    assert ranked.unmeasured == ("gpu_used_memory",)
    assert [objective.tag for objective in ranked.goal.models[0].objectives] == ["perf_throughput"]
    # without any that was measured, throughput counts
    ranked = ranking(*records, by=goal(wished=objectives(cpu_used_ram=1)))
    assert order(ranked) == ["m_config_1", "m_config_0"]
    assert ranked.unmeasured == ("cpu_used_ram",)


# ----------------------------------------------------------------------------------- repetitions


def test_equal_variants_share_their_measurements() -> None:
    """A search measures a configuration that equals the default once, and again as its own."""
    equal = variant("m_config_0", max_batch_size=1)
    ranked = ranking(
        record(DEFAULT, one_round([10.0] * 100)),
        record(equal, one_round([10.0] * 100)),
        record(equal, one_round([30.0] * 300), repetition=1),
    )
    assert [len(item.runs) for item in ranked.measured] == [2, 2]
    assert len({item.measurement.value("perf_latency_p99") for item in ranked.measured}) == 1
    assert {item.trial.variants for item in ranked.measured} == {"m_config_default", "m_config_0"}
    assert ranked.measurements == 2


def test_repetitions_of_a_trial_are_ranked_as_their_mean() -> None:
    lucky, other = repeated(SMALL, 130, 80), repeated(LARGE, 111, 109)
    ranked = ranking(*lucky, *other)
    assert order(ranked) == ["m_config_1", "m_config_0"]
    assert throughputs(ranked) == [110, 105]
    assert ranked.results[1].best.trial == lucky[0].trial


def test_own_windows_of_perf_analyzer_count_without_the_rounds_before_them() -> None:
    def started(second: float, outcome: Measurement, repetition: int) -> TrialRecord:
        of_trial = record(SMALL, replace(outcome, started=second))
        return of_trial._replace(trial=replace(of_trial.trial, repetition=repetition))

    look = one_round([10.0] * 200)
    before, own = started(1, look, 1), started(2, measurement(100), 0)
    assert throughputs(ranking(before, own)) == [100]
    assert ranking(before, own).measurements == 1
    continued = ranking(before, own, started(3, look, 2))
    assert continued.measurements == 2
    assert continued.measured[0].runs == (own.outcome, replace(look, started=3))


def test_what_leads_is_first_though_it_was_measured_once_and_others_often() -> None:
    confirmed = repeated(SMALL, 100, 104)
    assert order(ranking(*confirmed, record(LARGE, measurement(105))))[0] == "m_config_1"
    assert order(ranking(*confirmed, record(LARGE, measurement(99))))[0] == "m_config_0"


def test_what_another_beats_in_everything_is_not_first_for_being_measured_twice() -> None:
    bound = goal(*at_most(perf_latency_p99=26))
    risky = variant("m_config_7", max_batch_size=4)
    faster = record(variant("m_config_6", max_batch_size=8), measurement(4318, 13.3))
    twice = [
        record(risky, measurement(4190, 24.9), concurrency=1),
        record(risky, measurement(4208, 26.5), concurrency=1, repetition=1),
    ]
    assert order(ranking(*twice, faster, by=bound))[0] == "m_config_6"


def test_a_conclusion_gives_way_to_what_is_known_as_well_cheaper_and_better_in_everything() -> None:
    dear = variant("m_config_1", max_batch_size=8, instance_group=[{"count": 2}])
    concluded = repeated(dear, 4900, 4500, p99=13)
    better = repeated(SMALL, 5000, 4700, p99=6)

    def first(*records: TrialRecord) -> str:
        by_search = conclusion(concluded[0].trial, trials=2)
        return order(ranking(*records, conclusion=by_search))[0]

    assert first(*concluded, *better) == "m_config_0"
    # a search may know why that is luck
    assert first(*concluded, better[0]) == "m_config_1"
    as_dear = variant("m_config_2", max_batch_size=4, instance_group=[{"count": 2}])
    assert first(*concluded, *repeated(as_dear, 5000, 4700, p99=6)) == "m_config_1"


def test_a_trial_close_to_a_bound_must_be_much_better_to_lead() -> None:
    bound = goal(*at_most(perf_latency_p99=10))

    def first(*more: TrialRecord) -> str:
        return order(ranking(*more, by=bound))[0]

    sure = repeated(SMALL, 100, 104, p99=8)
    assert first(*sure, record(LARGE, measurement(112, 9.99))) == "m_config_0"
    assert first(*sure, record(LARGE, measurement(112, 8))) == "m_config_1"
    assert first(*sure, record(LARGE, measurement(200, 9.99))) == "m_config_1"
    # the more it is repeated, the less noise can hide
    narrow = repeated(LARGE, *[112, 112, 112, 112], p99=9.95)
    assert first(*sure, narrow[0]) == "m_config_0"
    assert first(*sure, *narrow) == "m_config_1"
    # where nothing is sure, what passes is better than what is known not to
    known_to_fail = repeated(SMALL, 300, 304, p99=12)
    assert first(*known_to_fail, record(LARGE, measurement(200, 9.99))) == "m_config_1"


def test_the_conclusion_of_a_search_comes_first_without_later_measurements() -> None:
    bound = goal(*at_most(perf_latency_p99=10))
    sure, bold = record(SMALL, measurement(100, 8)), record(LARGE, measurement(112, 9.99))
    concluded = conclusion(sure.trial, trials=2, by=bound)

    ranked = ranking(sure, bold, by=bound, conclusion=concluded)
    assert order(ranked) == ["m_config_0", "m_config_1"]
    assert ranked.conclusion == concluded
    # repetitions that it did not ask for do not take it back, unless they beat it
    again = record(LARGE, measurement(112, 10.003), repetition=1)
    assert order(ranking(sure, bold, again, by=bound, conclusion=concluded))[0] == "m_config_0"
    again = record(LARGE, measurement(112, 9.97), repetition=1)
    beaten = ranking(sure, bold, again, by=bound, conclusion=concluded)
    assert order(beaten)[0] == "m_config_1"
    assert beaten.conclusion is None

    # nor do other trials, as long as they are no better
    more = record(LARGE, measurement(90, 7), concurrency=2)
    assert ranking(sure, bold, more, by=bound, conclusion=concluded).conclusion == concluded

    better = record(LARGE, measurement(150, 5), concurrency=2)
    others = [
        ranking(sure, bold, better, by=bound, conclusion=concluded),
        ranking(sure, by=bound, conclusion=replace(concluded, trials=3)),
        ranking(sure, bold, by=goal(*at_most(perf_latency_p99=11)), conclusion=concluded),
        ranking(bold, more, by=bound, conclusion=concluded),
        ranking(bold, sure._replace(outcome=failure()), by=bound, conclusion=concluded),
    ]
    assert [order(other)[0] for other in others] == [
        "m_config_1",
        "m_config_0",
        *["m_config_1"] * 3,
    ]
    assert [other.conclusion for other in others] == [None] * 5
    assert [other.unused_conclusion for other in others] == [
        "it recommended m_config_0: concurrency=1, but m_config_1: concurrency=2 is better by all"
        " measurements",
        "some of its trials are not among these measurements",
        "it was for different goals",
        "its recommendation is not among these measurements",
        "its recommendation is not among these measurements",
    ]
    # what was found since then is not certain: nobody has concluded that it is the best
    assert [other.is_unfinished for other in others] == [True, *[False] * 4]
    assert not beaten.is_unfinished
    assert "does not apply" in next(iter(remarks_of(answer_of(others[1]))))
    assert not ranked.unused_conclusion


def test_a_metric_that_repetitions_do_not_change_counts_as_exact() -> None:
    bound = goal(*at_most(cpu_used_ram=1000))
    small = repeated(SMALL, 100, 104, ram=500)
    large = record(LARGE, measurement(200, cpu_used_ram=999.9))
    assert order(ranking(*small, large, by=bound))[0] == "m_config_1"


def test_a_trial_that_may_break_a_bound_does_not_tie() -> None:
    bound = goal(*at_most(perf_latency_p99=50))
    safe = [
        record(LARGE, measurement(throughput, p99), repetition=index)
        for index, (throughput, p99) in enumerate([(1000, 30), (1005, 30.5), (995, 29.8)])
    ]
    near = [
        record(SMALL, measurement(throughput, p99), repetition=index)
        for index, (throughput, p99) in enumerate([(1040, 51.5), (1030, 48.4), (1035, 49.8)])
    ]
    ranked = ranking(*safe, *near, by=bound)
    assert order(ranked) == ["m_config_1", "m_config_0"]
    assert not ranked.ties


def with_unknown_base(of: TrialRecord) -> TrialRecord:
    (work,) = of.trial.workloads
    return of._replace(trial=replace(of.trial, workloads=(replace(work, base=""),)))


def repeated(
    of: ModelVariant, *values: float, p99: float = 10, ram: float | None = None
) -> list[TrialRecord]:
    host: dict[str, Any] = {} if ram is None else {"cpu_used_ram": ram}
    measured = record(of, measurement(values[0], p99, **host))
    return [
        measured._replace(
            trial=replace(measured.trial, repetition=number),
            outcome=measurement(value, p99, **host),
        )
        for number, value in enumerate(values)
    ]


def test_the_cheapest_tie_is_first_and_the_others_are_named() -> None:
    two = variant("m_config_1", instance_group=[{"count": 2, "kind": "KIND_CPU"}])
    small, large = repeated(SMALL, 100, 104), repeated(two, 100.5, 104.5)
    ranked = ranking(*small, *large)
    assert order(ranked) == ["m_config_0", "m_config_1"]
    assert [item.trial.variants for item in ranked.ties] == ["m_config_1"]

    apart = ranking(*small, *repeated(two, 121, 125))
    assert order(apart) == ["m_config_1", "m_config_0"]
    assert apart.ties == ()


def test_across_models_each_has_the_order_of_its_own_answer() -> None:
    """What a search has concluded is not undone, and what was not measured counts for none."""
    m = [record(SMALL, measurement(100)), record(LARGE, measurement(101))]
    other = variant("n_config_0", model="n")
    conclusions = {Lane("m"): conclusion(m[0].trial, trials=2)}
    profile = Profile(records=[*m, record(other, measurement(100.5))], conclusions=conclusions)
    rankings = [rank_one(profile, name, goal()) for name in ("m", "n")]
    (across,) = rank_across(rankings, goal(), "all")
    own = [name for name in order(across) if name.startswith("m_")]
    assert (len(order(across)), own) == (3, order(rankings[0]))

    wished = goal(wished=objectives(gpu_used_memory=1, perf_throughput=1))
    (across,) = rank_across(rankings, wished, "all")
    assert across.unmeasured == ("gpu_used_memory",)
    # by another goal, the order is another
    low = goal(wished=objectives(perf_latency_p99=1))
    odd = [record(SMALL, measurement(103, 9)), record(LARGE, measurement(100, 3))]
    assert order(ranking(*odd)) == ["m_config_0", "m_config_1"]
    (across,) = rank_across([ranking(*odd)], low, "all")
    assert order(across) == ["m_config_1", "m_config_0"]


def test_an_equal_variant_with_another_name_is_no_tie() -> None:
    twin = variant("m_config_5", **LARGE.config)
    other = variant("m_config_6", max_batch_size=64)
    ranked = ranking(*(each for of in (LARGE, twin, other) for each in repeated(of, 100, 104)))
    assert [item.trial.variants for item in ranked.ties] == ["m_config_6"]


def test_what_the_client_sent_late_counts_with_its_latencies_as_they_are() -> None:
    late = record(SMALL, measurement(80, 20, perf_send_lag_p99=5))
    in_time = record(LARGE, measurement(80, 120, perf_send_lag_p99=0.5))
    by = goal(*at_most(perf_latency_p99=150), wished=objectives(perf_latency_p99=10))
    assert order(ranking(in_time, late, by=by))[0] == SMALL.name


@pytest.mark.parametrize(("sent_p99", "is_named"), [(45, True), (55, False)])
def test_a_trial_that_misses_a_constraint_by_the_lag_only_is_named(
    sent_p99: float, is_named: bool
) -> None:
    late = measurement(100, 90, perf_send_lag_p99=40, perf_sent_latency_p99=sent_p99)
    in_time = record(LARGE, measurement(80, 20, perf_send_lag_p99=0.5))
    ranked = ranking(record(SMALL, late), in_time, by=goal(*at_most(perf_latency_p99=50)))
    assert order(ranked)[0] == LARGE.name
    assert is_named == any(
        "25 % better, and may miss the constraints only because its requests were sent late" in text
        for text in remarks_of(answer_of(ranked))
    )


# In time at the low load; at the high one more answers, of which nearly a half is late.
LOW_LOAD = record(SMALL, one_round([10.0] * 60), concurrency=1)
HIGH_LOAD = record(SMALL, one_round([15.0] * 52 + [40.0] * 48), concurrency=8)
GOODPUT = objectives(perf_goodput=1)


def best_load(ranked: Ranking) -> int:
    return ranked.results[0].best.trial.workloads[0].load.value


def test_goodput_follows_the_constraints_of_each_ranking() -> None:
    """The same measurements, by three limits: stored values do not change."""

    def ranked(limit: float) -> Ranking:
        by = goal(*at_most(perf_latency_p50=limit), wished=GOODPUT)
        return ranking(LOW_LOAD, HIGH_LOAD, by=by)

    assert [best_load(ranked(limit)) for limit in (12, 30, 50)] == [1, 1, 8]
    values = {
        limit: [item.measurement.value("perf_goodput") for item in ranked(limit).measured]
        for limit in (12, 30, 50)
    }
    assert values == {12: [60, 0], 30: [60, 52], 50: [100, 60]}
    assert isinstance(LOW_LOAD.outcome, Measurement)
    assert "perf_goodput" not in LOW_LOAD.outcome.totals


def test_goodput_may_be_a_constraint() -> None:
    limits = at_most(perf_latency_p50=30)
    ranked = ranking(LOW_LOAD, HIGH_LOAD, by=goal(*limits, *at_least(perf_goodput=55)))
    assert best_load(ranked) == 1
    assert best_load(ranking(LOW_LOAD, HIGH_LOAD, by=goal(*limits))) == 8


def test_goodput_without_data_is_ignored_and_the_reason_is_given() -> None:
    by = goal(*at_most(perf_latency_p99=30), wished=GOODPUT)
    ranked = ranking(record(SMALL, measurement(100, 10)), by=by)
    assert ranked.unmeasured == ("perf_goodput",)
    (remark,) = (text for text in remarks_of(answer_of(ranked)) if "ignored" in text)
    assert "times of single requests, which only rounds have" in remark


def test_across_models_goodput_follows_the_global_constraints() -> None:
    own = ranking(LOW_LOAD, HIGH_LOAD, by=goal(*at_most(perf_latency_p50=12)))
    by = goal(*at_most(perf_latency_p50=50), wished=GOODPUT)
    (across,) = rank_across([own], by, "all")
    assert best_load(across) == 8
    assert across.measured[0].measurement.value("perf_goodput") == 100
    (without,) = rank_across([own], goal(), "all")
    assert "perf_goodput" not in without.columns.tags


# What is cheaper may be so much worse, if its latency is also much shorter (docs/results.md).
MOST_FOR_CHEAPER = 0.03


def faults_of(seed: int) -> Iterator[str]:
    """What is wrong with the recommendations of random measurements, at limits that are relaxed."""
    records = random_records(seed)
    before: MeasuredTrial | None = None
    for limit in random_limits(seed, records):
        ranked = ranking(*records, by=goal(*at_most(perf_latency_p99=limit)))
        if not ranked.any_passes:
            continue
        first, chances = ranked.results[0].best, chances_of(ranked.goal, records)
        if before is not None and (fall := 1 - throughput(first) / throughput(before)) > 0:
            surer = chances[first.trial.first.key] / chances[before.trial.first.key]
            is_surer = surer**2 * (1 - fall) >= 1  # the exchange that docs/results.md names
            is_cheaper = costs(first) < costs(before) and fall <= MOST_FOR_CHEAPER
            is_default = ranked.results[0].is_default and 100 * fall < NO_GAIN
            if not (is_surer or is_cheaper or is_default):
                yield f"seed {seed}: at most {limit:.4g} ms, {fall:.2%} less"
        before = first
        for better in better_in_everything(ranked, chances):
            yield f"seed {seed}: at most {limit:.4g} ms, {name(better)} beats {name(first)}"


def better_in_everything(ranked: Ranking, chances: Mapping[str, float]) -> Iterator[MeasuredTrial]:
    """The trials that beat the recommended one by the goal, and in no margin, cost or chance are
    worse. One that is better by nothing that counts is no reason not to keep the default.
    """
    first = ranked.results[0].best
    least = NO_GAIN if ranked.results[0].is_default else 0
    by = ranked.goal
    for item in ranked.measured:
        if (
            by.passes(item.measurement)
            and by.gain_percent(item.measurement, first.measurement) > least
            and p99(item) <= p99(first)
            and all(own <= its for own, its in zip(costs(item), costs(first), strict=True))
            and chances[item.trial.first.key] >= chances[first.trial.first.key]
        ):
            yield item


def chances_of(by: Goal, records: Sequence[TrialRecord]) -> Mapping[str, float]:
    """The chance of each trial to meet the constraints, by its key."""
    measured = [
        MeasuredTrial(trial=record.trial, measurement=record.outcome)
        for record in records
        if isinstance(record.outcome, Measurement)
    ]
    runs = {key: item.runs for (_, key), item in pooled_by_trial(measured).items()}
    chance = chance_to_meet(by, runs)
    return {key: chance(key) for key in runs}


def throughput(item: MeasuredTrial) -> float:
    value = item.measurement.value("perf_throughput")
    assert value is not None
    return value


def p99(item: MeasuredTrial) -> float:
    value = item.measurement.value("perf_latency_p99")
    assert value is not None
    return value


def costs(item: MeasuredTrial) -> tuple[float, ...]:
    return cost(item.trial, item.measurement)


def name(item: MeasuredTrial) -> str:
    return f"{item.trial.variants} at {item.trial.workloads[0].load.value}"


@small_and_full("seeds", range(40), *(range(n, n + 500) for n in range(1000, 11_000, 500)))
def test_nothing_beats_a_recommendation_and_a_relaxed_limit_costs_nothing(
    seeds: Sequence[int],
) -> None:
    assert [fault for seed in seeds for fault in faults_of(seed)] == []
