# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""What a report says: the answer in one sentence, remarks, details, and all of it for machines."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from model_analyzer.domain.goals import Goal, ModelGoal
from model_analyzer.domain.measurements import Measurement, Notice, NoticeKind
from model_analyzer.domain.models import ModelVariant
from model_analyzer.domain.profiles import Profile, TrialRecord
from model_analyzer.domain.trials import Failure, FailureReason, LoadKind, ServerSetup, Trial
from model_analyzer.reports.build import (
    Summary,
    build_detail,
    build_summary,
    constraints_text,
)
from model_analyzer.reports.deployment import Deployment
from model_analyzer.reports.figures import figures_of
from model_analyzer.reports.headline import headline
from model_analyzer.reports.remarks import details_of, remarks_of
from model_analyzer.results.answer import answer_of
from model_analyzer.results.ranking import Ranking
from tests.phrases import DEFAULT_IS_BEST
from tests.unit.builders import (
    at_least,
    at_most,
    conclusion,
    failure,
    goal,
    instalment,
    measurement,
    objectives,
    origin,
    rank_one,
    ranking,
    record,
    together,
    trial,
    variant,
)

DEFAULT = variant("m_config_default", instance_group=[{"kind": "KIND_CPU", "count": 1}])
BEST = variant(
    "m_config_4",
    max_batch_size=8,
    dynamic_batching={},
    instance_group=[{"kind": "KIND_GPU", "count": 2}],
)


def best_against_default(
    best: Measurement, default: Measurement, by: Goal | None = None
) -> Ranking:
    return ranking(
        record(DEFAULT, default, concurrency=4), record(BEST, best, concurrency=4), by=by
    )


def sentence(ranked: Ranking) -> str:
    return "".join(headline(answer_of(ranked)))


def details(ranked: Ranking) -> str:
    return " ".join(details_of(answer_of(ranked)))


# ------------------------------------------------------------------------------------- headline


def test_the_best_is_named_with_its_settings_its_values_and_its_gain() -> None:
    ranked = best_against_default(measurement(250.5, 5.5), measurement(125.25, 3.5))
    parts = headline(answer_of(ranked))
    assert parts[1] == "m_config_4"
    assert "".join(parts) == (
        "m_config_4 at concurrency 4 gives 250 infer/sec at p99 5.50 ms (measured once): 100 %"
        " better than the default configuration."
    )


@pytest.mark.parametrize(
    ("throughput", "told", "note"),
    [
        (208, "108 % better than the default configuration", ""),
        (101, "no clear gain over the default configuration (1 %)", "not clear, "),
    ],
)
def test_a_gain_at_another_load_says_so(throughput: float, told: str, note: str) -> None:
    ranked = ranking(
        record(BEST, measurement(900), concurrency=16, batch_size=8),
        record(BEST, measurement(throughput), concurrency=4),
        record(DEFAULT, measurement(100), concurrency=4),
    )

    assert sentence(ranked).endswith(f" (measured once): {told}, both at concurrency 4.")
    assert figures_of(answer_of(ranked))[0].note == f"{note}both at concurrency 4"


def test_no_gain_is_reported_over_a_default_that_only_had_another_load() -> None:
    best = record(BEST, measurement(250.5, 5.5), concurrency=4)

    ranked = ranking(record(DEFAULT, measurement(125.25, 3.5)), best)

    assert sentence(ranked).endswith(
        " (measured once); the default configuration was measured only at another load."
    )
    assert (
        "The default configuration gives 125 infer/sec at p99 3.50 ms at concurrency 1 (the only"
        " load it was measured with)."
    ) in details(ranked)
    figures = figures_of(answer_of(ranked))
    assert [(figure.note, figure.change) for figure in figures] == [("", ""), ("", "")]


def test_a_gain_within_noise_over_a_default_that_fails_is_neither_in_sentence_nor_in_figures() -> (
    None
):
    ranked = best_against_default(
        measurement(140, 5.5, windows=(110, 170)),
        measurement(100, 50.5, windows=(80, 120)),
        goal(*at_most(perf_latency_p99=10)),
    )
    assert "better" not in sentence(ranked)
    throughput, _ = figures_of(answer_of(ranked))
    assert (throughput.label, throughput.change) == ("Throughput", "")


def test_a_gain_is_reported_with_its_noise() -> None:
    ranked = best_against_default(
        measurement(200.5, windows=(190.475, 210.525)),
        measurement(100.25, windows=(100.25, 100.25)),
    )
    assert "100 ± 40 % better than the default" in sentence(ranked)


def test_a_gain_within_its_noise_is_not_claimed() -> None:
    ranked = best_against_default(
        measurement(103, windows=(98, 108)), measurement(100, windows=(95, 105))
    )
    assert "no clear gain over the default configuration (3 ± 30 %)" in sentence(ranked)
    (gain, *_) = figures_of(answer_of(ranked))
    assert (gain.value, gain.unit, gain.note) == ("+3 ± 30", "%", "not clear")
    assert "than the default" not in sentence(ranked)


def test_a_default_that_fails_its_constraints_is_said_to() -> None:
    ranked = best_against_default(
        measurement(150, 5.5), measurement(100, 50.5), goal(*at_most(perf_latency_p99=10))
    )
    assert sentence(ranked).endswith(
        ": 50 % better than the default configuration, which fails the constraints."
    )


def test_a_default_that_fails_under_its_only_load_might_pass_under_another() -> None:
    by = goal(*at_most(perf_latency_p99=10))
    best = record(BEST, measurement(150, 5.5), concurrency=4)
    loads = [record(DEFAULT, measurement(100, 50.5), concurrency=load) for load in (4, 8)]
    only = "(the only load it was measured with; it fails the constraints)."
    assert only in details(ranking(best, loads[0], by=by))
    assert "(it fails the constraints)." in details(ranking(best, *loads, by=by))


def test_a_failing_default_with_the_best_objective_is_not_the_answer() -> None:
    ranked = best_against_default(
        measurement(4000, 8.5),
        measurement(2663, 1.5),
        goal(*at_least(perf_throughput=3900), wished=objectives(perf_latency_p99=10)),
    )
    assert headline(answer_of(ranked))[1] == "m_config_4"
    assert sentence(ranked).endswith("; the default configuration fails the constraints.")


def test_the_default_may_be_the_answer() -> None:
    ranked = best_against_default(measurement(100), measurement(200))
    assert headline(answer_of(ranked))[1] == "m_config_default"
    assert DEFAULT_IS_BEST in sentence(ranked)


def test_a_default_without_rivals_is_only_called_the_default() -> None:
    text = sentence(ranking(record(DEFAULT, measurement(1.5))))
    assert text.endswith(": it is the default configuration.")


def test_the_sentence_gives_the_values_of_other_objectives() -> None:
    wished = goal(wished=objectives(perf_throughput=1, perf_server_queue=1))
    ranked = ranking(record(DEFAULT, measurement(80, 22.5, perf_server_queue=1.5)), by=wished)
    assert "gives 80.0 infer/sec, Server Queue time 1.50 ms, p99 22.5 ms (" in sentence(ranked)


TOKENS: dict[str, Any] = {
    "output_token_throughput": 640,
    "time_to_first_token_p90": 32.5,
    "time_to_first_token_p99": 41.5,
}


@pytest.mark.parametrize(
    ("by", "values"),
    [
        (goal(), "640 tokens/sec, p99 Time To First Token 41.5 ms, 80.0 infer/sec"),
        (
            goal(
                *at_most(time_to_first_token_p90=50), wished=objectives(output_token_throughput=1)
            ),
            "640 tokens/sec, p90 Time To First Token 32.5 ms",
        ),
        (
            goal(wished=objectives(time_to_first_token_p99=1, perf_latency_p99=1)),
            "p99 Time To First Token 41.5 ms, p99 22.5 ms, 640 tokens/sec",
        ),
    ],
)
def test_counted_tokens_are_named_before_requests(by: Goal, values: str) -> None:
    ranked = ranking(record(DEFAULT, measurement(80, 22.5, **TOKENS)), by=by)
    assert f"gives {values} (measured once)" in sentence(ranked)


def test_other_objectives_than_throughput_are_named_beside_the_gain() -> None:
    latency = goal(wished=objectives(perf_latency_p99=1))
    ranked = best_against_default(measurement(100, 2.5), measurement(150, 5.5), latency)
    assert "120 % better by p99 Latency than the default configuration" in sentence(ranked)


def test_a_gain_of_several_models_is_reported_to_be_a_mean() -> None:
    """One of them may gain much while the sum of both falls."""

    def pair(name: str, first: float, second: float) -> TrialRecord:
        works = [trial(variant(f"{model}_{name}", model=model)).workloads[0] for model in "ab"]
        each = [{"perf_throughput": value, "perf_latency_p99": 5.5} for value in (first, second)]
        return TrialRecord(
            trial=Trial(workloads=tuple(works), setup=ServerSetup()), outcome=together(*each)
        )

    ranked = ranking(
        pair("config_0", 80.5, 160.5),
        pair("config_default", 10.5, 1000.5),
        model="a,b",
        by=Goal(models=(ModelGoal(), ModelGoal())),
    )

    text = sentence(ranked)

    assert "gives 241 infer/sec (80.5 + 160) at average p99 5.50 ms" in text
    assert "% better by the mean of the models than" in text
    assert "The default configuration gives 1,011 infer/sec (10.5 + 1,000)" in details(ranked)
    gain, *of_each = figures_of(answer_of(ranked))
    assert gain.note == "mean of the models"
    assert [(figure.label, figure.value, figure.note) for figure in of_each[:2]] == [
        ("Throughput of a", "80.5", "default 10.5"),
        ("Throughput of b", "160", "default 1,000"),
    ]


def test_a_gain_over_a_failing_default_is_not_doubted() -> None:
    ranked = best_against_default(
        measurement(100, 5.5), measurement(150, 50.5), goal(*at_most(perf_latency_p99=10))
    )
    assert "no clear gain" not in sentence(ranked)
    assert "; the default configuration fails the constraints" in sentence(ranked)


def test_if_none_passes_the_nearest_is_named_with_what_it_misses() -> None:
    ranked = best_against_default(
        measurement(150, 12.5), measurement(100, 50.5), goal(*at_most(perf_latency_p99=10))
    )
    parts = headline(answer_of(ranked))
    assert parts[:2] == (
        "No configuration meets the constraints. The nearest misses them by 25 %: ", "m_config_4",
    )  # fmt: skip


def in_instalments(of: ModelVariant, *instalments: Measurement) -> list[TrialRecord]:
    return [
        record(of, each, repetition=number, concurrency=4)
        for number, each in enumerate(instalments)
    ]


STEADY = [n / 10 for n in range(80, 120)] * 5


def test_values_of_instalments_have_intervals_and_what_they_are_based_on() -> None:
    ranked = ranking(
        record(DEFAULT, instalment(STEADY, 4.0), concurrency=4),
        *in_instalments(BEST, instalment(STEADY, 1.0), instalment(STEADY, 1.1)),
    )

    text = sentence(ranked)

    assert "at concurrency 4 gives 190 ± 20 infer/sec at p99 11.9 ± 0.7 ms: " in text
    assert "once" not in text
    detail = build_detail(
        ranked.results[0], goal=ranked.goal, origin=origin(), configuration="", plots=()
    )
    assert detail.sentence.endswith(" at concurrency 4, 400 requests, 2 instalments.")


def test_doubtful_values_are_never_recommended_without_saying_so() -> None:
    answer = answer_of(
        ranking(*in_instalments(BEST, instalment(STEADY, 2.0), instalment(STEADY, 2.0)))
    )
    assert answer.is_unsure
    remark = remarks_of(answer)[0]
    assert remark.startswith("Doubtful: m_config_4 at concurrency 4: 100 infer/sec")
    assert "0.995 of 4 requests in flight" in remark


def test_few_requests_of_all_instalments_are_a_remark() -> None:
    (remark,) = remarks_of(answer_of(ranking(*in_instalments(BEST, instalment(STEADY, 0.5)))))
    assert remark == (
        "m_config_4 at concurrency 4: p99 is based on 200 requests; 299 are needed for"
        " 95 % confidence"
    )
    enough = in_instalments(BEST, instalment(STEADY, 0.5), instalment(STEADY, 0.5))
    assert remarks_of(answer_of(ranking(*enough))) == []


def test_a_bound_that_only_all_instalments_together_keep_is_a_remark() -> None:
    steady, slow = instalment(STEADY, 0.5), instalment([*STEADY, 30.0, 30.0, 30.0], 0.5)
    ranked = ranking(
        *in_instalments(BEST, slow, steady, steady),
        by=goal(*at_most(perf_latency_p99=20)),
    )
    assert ranked.results[0].passes
    (remark,) = remarks_of(answer_of(ranked))
    assert remark.startswith("m_config_4 met the constraints in 2 of 3 instalments (p99 Latency 30")


def test_without_a_measured_default_nothing_is_compared() -> None:
    ranked = ranking(record(DEFAULT, failure()), record(BEST, measurement(1.5)))
    assert sentence(ranked).endswith("; the default configuration was not measured.")


@pytest.mark.parametrize(
    ("records", "expected"),
    [
        ([], "Nothing was measured of m."),
        (
            [record(BEST, failure())],
            "No configuration of m could be measured: the only trial failed.",
        ),
        (
            [record(BEST, failure()), record(DEFAULT, failure())],
            "No configuration of m could be measured: all 2 trials failed.",
        ),
    ],
)
def test_if_there_is_no_answer_the_sentence_says_why(
    records: list[TrialRecord], expected: str
) -> None:
    assert headline(answer_of(ranking(*records))) == (expected,)


@pytest.mark.parametrize(
    ("load", "words"),
    [
        ({"concurrency": 1}, "at concurrency 1"),
        ({"concurrency": 8, "batch_size": 4}, "at concurrency 8, client batch 4"),
        (
            {"concurrency": 90, "kind": LoadKind.REQUEST_RATE},
            "at 90 requests/sec",
        ),
        (
            {"concurrency": 0, "kind": LoadKind.REQUEST_INTERVALS},
            "with the given request intervals",
        ),
    ],
)
def test_the_load_is_reported_in_words(load: dict[str, int], words: str) -> None:
    assert f" {words} gives" in sentence(ranking(record(BEST, measurement(1.5), **load)))


def test_a_model_that_does_not_batch_is_not_described_as_if_it_did() -> None:
    _, settings = summary(ranking(record(DEFAULT, measurement(1.5)))).recommended
    assert settings == "1:CPU instances, at concurrency 1"


# -------------------------------------------------------------------------------------- summary


def summary(ranked: Ranking, *, best: int = 3, complete: bool = True) -> Summary:
    return build_summary(
        answer_of(ranked),
        best=best,
        origin=origin(),
        deployment=Deployment(),
        complete=complete,
        offline=False,
    )


def rows(report: Summary) -> list[object]:
    return [row[0] for row in report.table.rows]


def many(count: int, *, p99: float = 1, by: Goal | None = None) -> Ranking:
    """Variants 0, 1, … from worst to best, all better than the default."""
    records = [record(DEFAULT, measurement(0.5, p99))]
    records += [
        record(variant(f"m_config_{index}", max_batch_size=index + 1), measurement(index + 1, p99))
        for index in range(count)
    ]
    return ranking(*records, by=by)


def test_the_summary_shows_the_best_and_the_default_for_comparison() -> None:
    report = summary(many(5), best=2)
    assert rows(report) == ["m_config_4", "m_config_3", "m_config_default"]
    assert report.winners == 2
    assert report.statement.sentence == "".join(report.statement.headline)
    assert [chart.name for chart in report.charts] == ["throughput_v_latency"]


def test_enough_configurations_need_no_remark() -> None:
    assert summary(many(2), best=3).statement.remarks == ()


def test_a_run_that_ended_early_says_so() -> None:
    report = summary(many(3), complete=False)
    (remark,) = report.statement.remarks
    assert "ended before the search was complete" in remark
    assert report.statement.is_unsure
    assert not summary(many(3)).statement.is_unsure


@pytest.mark.parametrize(("least", "passing"), [(2, "3 that meet"), (3.1, "1 that meets")])
def test_fewer_passing_configurations_than_asked_for_are_remarked(
    least: float, passing: str
) -> None:
    by = goal(*at_least(perf_throughput=least))
    assert summary(many(4, by=by), best=4).shortage == (
        f"Requested top 4 configs, but found only {passing} the constraints."
    )


def test_all_configurations_there_are_need_no_remark() -> None:
    assert summary(many(1), best=5).shortage == ""


def test_if_none_passes_the_failing_ones_are_shown_with_a_remark() -> None:
    report = summary(many(4, p99=20, by=goal(*at_most(perf_latency_p99=10))), best=3)
    assert report.shortage == (
        "Requested top 3 configs, but none satisfied constraints. Showing available"
        " constraint failing configs for this model."
    )
    assert len(rows(report)) == 4
    assert report.constraints == "Max p99 Latency: 10 ms"


def test_a_measurement_better_than_the_recommendation_of_a_search_is_named() -> None:
    bound = goal(*at_most(perf_latency_p99=10))
    sure = record(variant("m_config_0"), measurement(100, 8))
    bold = record(variant("m_config_1", max_batch_size=4), measurement(112, 9.99))
    concluded = conclusion(sure.trial, trials=2, by=bound)

    (remark,) = summary(
        ranking(sure, bold, by=bound, conclusion=concluded), best=2
    ).statement.remarks
    assert remark == (
        "m_config_1 at concurrency 1 is 12 % better, at p99 Latency 9.99 ms: close to Max"
        " p99 Latency: 10 ms (51 % chance that it meets the constraints)."
    )
    best = conclusion(bold.trial, trials=2, by=bound)
    (remark,) = summary(ranking(sure, bold, by=bound, conclusion=best), best=2).statement.remarks
    assert remark == (
        "m_config_1: a 51 % chance that it meets the constraints (p99 Latency 9.99 ms, Max p99"
        " Latency: 10 ms)."
    )


@pytest.mark.parametrize(
    ("chance", "text"),
    [
        (0.0, "a chance of less than 1 %"),
        (0.2, "a 20 % chance"),
        (0.11, "an 11 % chance"),
        (0.8, "an 80 % chance"),
        (0.999, "a chance of more than 99 %"),
    ],
)
def test_no_chance_is_called_certain(chance: float, text: str) -> None:
    best = record(variant("m_config_0"), measurement(100))
    concluded = replace(conclusion(best.trial, trials=1), chance=chance)
    statement = summary(ranking(best, conclusion=concluded)).statement
    assert f"There is {text} that" in " ".join(statement.folded)
    assert f"{text} that" in " ".join((statement.caution, *statement.lines))


def test_objectives_without_measurements_make_a_conclusion_worthless() -> None:
    wished = goal(wished=objectives(cpu_used_ram=1))
    best = record(variant("m_config_0"), measurement(100))
    report = summary(ranking(best, by=wished, conclusion=conclusion(best.trial, 1, by=wished)))

    assert report.statement.evidence == "1 measurement across 1 configuration."
    assert report.statement.remarks == (
        "The conclusion of the search does not apply to this ranking: its objectives were not"
        " measured.",
        "Objectives without measurements are ignored: RAM Usage. Ranked by Throughput.",
    )


def test_few_requests_and_other_programs_beside_the_recommendation_are_reported_once() -> None:
    notices = [
        Notice(kind=NoticeKind.BUSY_MACHINE, text=f"m at 1: other programs used {share}%")
        for share in (80, 90)
    ]
    notices += [
        Notice(kind=NoticeKind.FEW_REQUESTS, text=f"p99 is based on {count} requests")
        for count in (3, 4)
    ]
    best = record(variant("m_config_0"), measurement(100, notices=notices))
    other = record(variant("m_config_1", max_batch_size=4), measurement(50, notices=notices))

    remarks = ("p99 is based on 3 requests", "m at 1: other programs used 80%")
    assert summary(ranking(best, other)).statement.remarks == remarks
    best = record(variant("m_config_0"), measurement(100))
    assert summary(ranking(best, other)).statement.remarks == ()


def test_a_request_rate_that_was_not_reached_is_remarked() -> None:
    def remarks(throughput: float, **load: Any) -> tuple[str, ...]:
        return summary(ranking(record(BEST, measurement(throughput), **load))).statement.remarks

    rate: dict[str, Any] = {"concurrency": 5000, "kind": LoadKind.REQUEST_RATE}
    (remark,) = remarks(91.4, **rate)
    assert remark.startswith("m_config_4: only 91.4 of 5,000 requests/sec were answered. ")
    (remark,) = remarks(4600, batch_size=2, **rate)
    assert "only 2,300 of 5,000 requests/sec" in remark
    assert remarks(4500, **rate) == ()
    assert remarks(9000, batch_size=2, **rate) == ()
    assert remarks(91, concurrency=5000) == ()
    assert remarks(0, kind=LoadKind.REQUEST_INTERVALS, concurrency=0) == ()


def test_of_several_models_the_one_whose_request_rate_was_not_reached_is_named() -> None:
    works = [
        work
        for model in ("a", "b")
        for work in trial(
            variant(f"{model}_config_0", model=model), concurrency=100, kind=LoadKind.REQUEST_RATE
        ).workloads
    ]
    outcome = together({"perf_throughput": 99.0}, {"perf_throughput": 50.0})
    both = TrialRecord(trial=Trial(workloads=tuple(works), setup=ServerSetup()), outcome=outcome)
    ranked = rank_one(Profile(records=(both,)), "a,b", Goal(models=(ModelGoal(), ModelGoal())))

    (remark,) = remarks_of(answer_of(ranked))

    assert "only 50.0 of 100 requests/sec to b were answered" in remark


def twice(of: ModelVariant, *values: float) -> list[TrialRecord]:
    return [record(of, measurement(value), repetition=n) for n, value in enumerate(values)]


def test_without_constraints_nothing_breaks_one() -> None:
    sure = twice(variant("m_config_0"), 100, 101)
    bold = record(variant("m_config_1", max_batch_size=4), measurement(102))
    concluded = conclusion(sure[0].trial, trials=2)

    (remark,) = summary(ranking(*sure, bold, conclusion=concluded), best=2).statement.remarks

    assert remark.endswith(" better, but only once: it may be noise.")


def test_a_failure_of_the_recommendation_under_another_load_is_named() -> None:
    best, other = variant("m_config_0"), variant("m_config_1", max_batch_size=4)
    gone = Failure(reason=FailureReason.SERVER_DIED, message="the server died under it")
    records = [record(best, measurement(100)), record(other, measurement(90))]
    records.append(record(other, gone, concurrency=8))
    assert summary(ranking(*records), best=2).statement.remarks == ()

    records += [record(best, gone, concurrency=number) for number in (16, 32)]
    (remark,) = summary(ranking(*records), best=2).statement.remarks
    assert remark == (
        "m_config_0 failed at concurrency 16, and 1 time more: the server died under it."
    )


def test_a_tie_is_not_trusted_less() -> None:
    chosen = twice(variant("m_config_0", max_batch_size=2), 99, 101)
    equal = twice(variant("m_config_1", max_batch_size=4), 100, 101)
    ranked = ranking(*chosen, *equal, conclusion=conclusion(chosen[0].trial, trials=2))

    report = summary(ranked, best=2)

    assert [item.trial.variants for item in ranked.ties] == ["m_config_1"]
    assert report.statement.remarks == ()
    assert "Ties with it: m_config_1 at concurrency 1." in report.statement.folded


def test_many_ties_are_cut_and_their_common_load_is_named_once() -> None:
    chosen = twice(variant("m_config_0", max_batch_size=2), 99, 101)
    equal = [
        record
        for number in range(1, 6)
        for record in twice(variant(f"m_config_{number}", max_batch_size=4 * number), 99, 101)
    ]

    two, five = ranking(*chosen, *equal[:4]), ranking(*chosen, *equal)

    assert details(two) == "Ties with it: m_config_1, m_config_2, both at concurrency 1."
    assert len(five.ties) == 5
    assert details(five) == (
        "Ties with it: m_config_1, m_config_2, m_config_3 and 2 more, all at concurrency 1."
    )


def noisy(of: ModelVariant, throughput: float, latency: float = 10.0) -> TrialRecord:
    """An instalment whose windows differ by a tenth."""
    rates = [throughput * (1 + off) for off in (-0.1, 0.1) * 4]
    return record(of, instalment([latency] * 100, 100 / throughput, windows=rates))


def test_what_noise_does_not_let_tell_from_the_best_is_named_and_is_no_tie() -> None:
    best = noisy(variant("m_config_0"), 1000)
    others = [
        noisy(variant(f"m_config_{n}", max_batch_size=2 * n), throughput)
        for n, throughput in enumerate((950, 940, 930, 500), 1)
    ]

    answer = answer_of(ranking(best, *others))

    first, second, third = answer.undecided
    text = " ".join(details_of(answer))
    assert text == (
        "Cannot be told apart from it yet: m_config_1 at concurrency 1, measured 5 %"
        f" worse (± {first.noise_percent:.0f} %); m_config_2 at concurrency 1,"
        f" measured 6 % worse (± {second.noise_percent:.0f} %); and 1 more."
    )
    assert "Ties with it" not in text
    assert third.item.trial.variants == "m_config_3"


def test_a_chance_that_looks_the_same_is_no_reason_against_a_rival() -> None:
    within = goal(*at_most(perf_latency_p99=30))
    chosen = noisy(variant("m_config_0"), 1000, latency=10.0)
    rival = noisy(variant("m_config_1", max_batch_size=4), 1030, latency=11.0)
    concluded = conclusion(chosen.trial, trials=2, by=within)

    answer = answer_of(ranking(chosen, rival, by=within, conclusion=concluded))

    assert answer.compliance is not None
    assert answer.rivals[0].chance < answer.compliance.chance
    (remark,) = (line for line in remarks_of(answer) if "measured" in line)
    assert remark.endswith(" measured 3.0 % better, but only once: it may be noise.")


def test_the_resource_that_a_tie_needs_more_of_is_named() -> None:
    chosen = twice(variant("m_config_0", max_batch_size=2), 99, 101)
    larger_batches = variant("m_config_1", max_batch_size=4)
    dearer = variant("m_config_2", max_batch_size=2, instance_group=[{"count": 2}])
    more_load = [record(variant("m_config_0", max_batch_size=2), measurement(100), concurrency=4)]

    ranked = ranking(*chosen, *twice(larger_batches, 99, 101), *more_load, *twice(dearer, 99, 101))

    assert details(ranked) == (
        "Ties with it: m_config_1 at concurrency 1."
        " Within noise of it, but at a higher load: m_config_0 at concurrency 4."
        " Within noise of it, but needs more resources: m_config_2 at concurrency 1."
    )


def test_repetitions_are_measurements_too() -> None:
    once = record(DEFAULT, measurement(50))
    chosen = twice(variant("m_config_0"), 100, 101)
    concluded = conclusion(chosen[0].trial, trials=2)

    report = summary(ranking(once, *chosen, conclusion=concluded), best=2)

    assert report.statement.evidence.startswith("3 measurements across 2 configurations; ")
    method = dict(report.method)
    assert method["Trials"] == "2 measured (3 measurements)"
    assert method["End of the search"].startswith("after 2 trials: ")


def test_a_constraint_that_could_not_be_checked_is_remarked() -> None:
    report = summary(many(3, by=goal(*at_most(gpu_used_memory=100))))
    assert report.statement.remarks == (
        "The constraint on GPU Memory Usage (MB) could not be checked: it was not measured.",
    )


def test_notices_of_the_shown_measurements_are_reported_once() -> None:
    few = Notice(kind=NoticeKind.FEW_REQUESTS, text="too few requests")
    shaky = Notice(kind=NoticeKind.UNSTABLE, text="not stable")
    ranked = ranking(
        record(DEFAULT, measurement(3, notices=[few, shaky])),
        record(
            DEFAULT,
            measurement(1, notices=[Notice(kind=few.kind, text="not shown")]),
            concurrency=2,
        ),
        record(BEST, measurement(2, notices=[few])),
    )
    assert "too few requests" in summary(ranked).statement.remarks
    assert summary(ranked).notices == ("not stable",)


def test_a_summary_of_nothing_has_neither_rows_nor_charts() -> None:
    report = summary(ranking(record(BEST, failure("no luck"))))
    assert (report.table.rows, report.charts, report.winners) == ((), (), 0)
    assert [failed.failure.message for failed in report.failures] == ["no luck"]


def test_constraints_in_words() -> None:
    assert constraints_text(goal(), "m") == "None"
    both = goal(*at_most(perf_latency_p99=99), *at_least(perf_throughput=100))
    assert constraints_text(both, "m") == "Max p99 Latency: 99 ms, Min Throughput: 100 infer/sec"


def test_constraints_of_several_models_are_named() -> None:
    several = Goal(models=(*goal(*at_most(perf_latency_p99=99)).models, *goal().models))
    assert constraints_text(several, "one,other") == "one: Max p99 Latency: 99 ms; other: None"


# --------------------------------------------------------------------------------------- detail


TWO = ServerSetup(devices=("H200", "H200"))


def test_a_detail_has_everything_about_one_variant() -> None:
    ranked = ranking(
        record(BEST, measurement(1.5, 2.5, commands=["perf -c 1"]), setup=TWO),
        record(
            BEST,
            measurement(2.5, 3.5, commands=["perf -c 2", "perf -c 1"]),
            concurrency=2,
            setup=TWO,
        ),
        record(DEFAULT, measurement(1.5, commands=["perf -m other"]), setup=TWO),
    )
    detail = build_detail(
        ranked.results[0],
        goal=ranked.goal,
        origin=origin("H200", "H200"),
        configuration='name: "m"',
        plots=(),
        offline=False,
    )
    assert detail.variant == "m_config_4"
    assert detail.sentence == (
        "m_config_4 uses 4:GPU instances with a max batch size of 8 and has dynamic batching"
        " enabled; platform unknown. 2 measurements on GPU(s) 2 x H200 with total memory 29.8 GB."
        " Best measurement: 2.50 infer/sec at p99 3.50 ms at concurrency 2."
    )
    assert detail.configuration == 'name: "m"'
    assert detail.commands == ("perf -c 2", "perf -c 1")
    assert len(detail.table.rows) == 2
    assert [chart.name for chart in detail.charts] == ["latency_breakdown", "throughput_v_latency"]


def test_a_detail_of_a_machine_without_gpus_says_cpu() -> None:
    ranked = ranking(record(variant("m_config_0", backend="python"), measurement(1.5)))
    detail = build_detail(
        ranked.results[0],
        goal=ranked.goal,
        origin=origin(),
        configuration="",
        plots=(),
        offline=False,
    )
    assert detail.sentence == (
        "m_config_0 uses 1:CPU instances with a max batch size of 0 and has dynamic batching"
        " disabled; platform python. 1 measurement on CPU."
        " Best measurement: 1.50 infer/sec at concurrency 1."
    )


# ------------------------------------------------------------------------------------------ GPUs


def on_gpus(*uuids: str) -> Ranking:
    gpus = {uuid: {"gpu_used_memory": 1000.0, "gpu_utilization": 50.0} for uuid in uuids}
    return ranking(
        record(BEST, measurement(250.5, 5.5, gpus=gpus)),
        record(DEFAULT, measurement(1.5, 2.5)),
    )


@pytest.mark.parametrize(
    ("names", "uuids", "line"),
    [
        (["H200"], ["GPU-0"], "GPU(s): 1 x H200. Total Available GPU Memory: 14.9 GB"),
        (
            ["H200", "A100", "H200"],
            ["GPU-0", "GPU-1", "GPU-2"],
            "GPU(s): 2 x H200, 1 x A100. Total Available GPU Memory: 44.7 GB."
            " Memory is the sum over the GPUs; utilization and power are their means.",
        ),
        # only those that were observed
        (["H200", "A100"], ["GPU-1"], "GPU(s): 1 x A100. Total Available GPU Memory: 14.9 GB"),
        (["H200"], [], ""),
    ],
)
def test_a_summary_names_the_gpus_that_were_observed(
    names: list[str], uuids: list[str], line: str
) -> None:
    report = build_summary(
        answer_of(on_gpus(*uuids)),
        best=3,
        origin=origin(*names),
        deployment=Deployment(),
        complete=True,
    )
    assert report.gpus == line
    assert ("Max GPU Memory Usage (MB)" in report.table.headers) == bool(uuids)


def test_a_variant_on_cpus_is_reported_without_gpus_unless_asked_for() -> None:
    ranked = ranking(record(DEFAULT, measurement(1.5, gpus={"GPU-0": {"gpu_used_memory": 7.0}})))
    quiet = build_detail(
        ranked.results[0], goal=ranked.goal, origin=origin("H200"), configuration=""
    )
    asked = build_detail(
        ranked.results[0],
        goal=ranked.goal,
        origin=origin("H200"),
        configuration="",
        always_gpus=True,
    )
    assert "1 measurement on CPU." in quiet.sentence
    assert "1 measurement on GPU(s) 1 x H200 with total memory 14.9 GB." in asked.sentence
    assert "Max GPU Memory Usage (MB)" not in quiet.table.headers
    assert "Max GPU Memory Usage (MB)" in asked.table.headers


def test_the_sentence_and_the_figures_have_the_constrained_latency() -> None:
    best = measurement(100, 22.5, perf_latency_p90=8.5)
    ranked = ranking(record(BEST, best), by=goal(*at_most(perf_latency_p90=10)))
    assert "gives 100 infer/sec at p90 8.50 ms (" in sentence(ranked)
    assert "p99 Latency" not in [figure.label for figure in figures_of(answer_of(ranked))]
