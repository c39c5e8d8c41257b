# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The answer as one value: verdict, certainty, compliance, and what measured better."""

from __future__ import annotations

from dataclasses import replace

import pytest

from model_analyzer.domain.hardware import Machine
from model_analyzer.domain.measurements import Measurement
from model_analyzer.domain.models import ModelVariant
from model_analyzer.domain.profiles import Profile, StopReason
from model_analyzer.domain.slots import Lane, SharedHost, Shift
from model_analyzer.domain.trials import Failure, FailureReason
from model_analyzer.reports.headline import figures_of, headline
from model_analyzer.reports.remarks import (
    IN_PROGRESS,
    UNFINISHED,
    certainty_text,
    changes_text,
    evidence_text,
    remarks_of,
)
from model_analyzer.results.answer import Answer, AnswerVerdict, answer_of
from tests.phrases import DEFAULT_IS_BEST
from tests.unit.builders import (
    at_most,
    conclusion,
    goal,
    measurement,
    objectives,
    rank_one,
    ranking,
    record,
    variant,
)

DEFAULT = variant("m_config_default", max_batch_size=1)
SMALL = variant("m_config_0", max_batch_size=2)
LARGE = variant("m_config_1", max_batch_size=8)
BOUND = goal(*at_most(perf_latency_p99=10))


def test_a_gain_that_rounds_to_nothing_keeps_the_default() -> None:
    ranked = ranking(record(DEFAULT, measurement(1000)), record(SMALL, measurement(1004)))
    assert answer_of(ranked).verdict is AnswerVerdict.KEEP
    ranked = ranking(record(DEFAULT, measurement(1000)), record(SMALL, measurement(1006)))
    assert answer_of(ranked).verdict is AnswerVerdict.EQUAL
    ranked = ranking(record(DEFAULT, measurement(1000)), record(SMALL, measurement(1100)))
    assert answer_of(ranked).verdict is AnswerVerdict.RECOMMENDED
    # a default that needs more than what is as good is no reason to stay
    dear = variant("m_config_default", max_batch_size=1, instance_group=[{"count": 2}])
    ranked = ranking(record(dear, measurement(1000)), record(SMALL, measurement(1004)))
    assert answer_of(ranked).verdict is AnswerVerdict.EQUAL


def test_what_is_better_by_the_objectives_has_no_rival_that_is_better_too() -> None:
    """More throughput for more memory: by a mean of percentages, each of both would be better."""
    by = goal(wished=objectives(perf_throughput=3, cpu_used_ram=2, perf_latency_p95=1))
    default = measurement(557, host={"cpu_used_ram": 267.0}, perf_latency_p95=34.0)
    other = measurement(837, host={"cpu_used_ram": 482.0}, perf_latency_p95=25.4)
    ranked = ranking(record(DEFAULT, default), record(LARGE, other), by=by)

    answer = answer_of(ranked)

    assert ranked.results[0].name == "m_config_1"
    assert answer.gain is not None
    assert answer.gain.percent == pytest.approx(5.9, abs=0.1)
    assert not answer.rivals


def noisy(throughput: float) -> Measurement:
    return measurement(throughput, windows=[throughput * part for part in (0.9, 1, 1.1)])


def test_a_higher_load_or_larger_batches_are_no_reason_to_leave_the_default() -> None:
    default = variant("m_config_default", max_batch_size=8)
    for gain in (0.4, 0, -0.2, -0.8):
        answer = answer_of(
            ranking(
                record(default, noisy(90.0), concurrency=3),
                record(default, noisy(100.0), concurrency=4),
                record(default, noisy(99.9), concurrency=5),
                record(SMALL, noisy(100.0 + gain), concurrency=3),
            )
        )
        assert answer.verdict is AnswerVerdict.KEEP
        assert answer.best is not None
        assert answer.best.best.trial.loads == "concurrency=4"
        assert "m_config_0" in [item.trial.variants for item in answer.ranking.ties]


def test_a_default_that_answers_much_later_is_not_kept() -> None:
    default = variant("m_config_default", max_batch_size=8)
    answer = answer_of(
        ranking(
            record(default, measurement(100.0, 40.0), concurrency=64),
            record(SMALL, measurement(100.2, 10.0), concurrency=4),
        )
    )
    assert answer.best is not None
    assert answer.best.best.trial.variants == "m_config_0"


def test_no_gain_has_no_sign() -> None:
    dear = variant("m_config_default", max_batch_size=1, instance_group=[{"count": 2}])
    answer = answer_of(ranking(record(dear, noisy(100)), record(SMALL, noisy(99.8))))
    assert answer.verdict is AnswerVerdict.EQUAL
    assert "no clear gain over the default configuration (0 ±" in "".join(headline(answer))


def test_a_gain_that_rounds_to_nothing_is_shown_nowhere() -> None:
    """Not even over a default that fails the constraints."""
    for gain in (1000.1, 1005.0):
        ranked = ranking(
            record(DEFAULT, measurement(1000, 11)), record(SMALL, measurement(gain, 9)), by=BOUND
        )
        answer = answer_of(ranked)
        assert (answer.verdict, answer.gain) == (AnswerVerdict.RECOMMENDED, None)
        assert "% better" not in "".join(headline(answer))
        assert "Gain over the default" not in [figure.label for figure in figures_of(answer)]


def test_a_recommended_default_is_not_called_best_if_something_measured_better() -> None:
    default, other = record(DEFAULT, measurement(100)), record(SMALL, measurement(130))
    answer = answer_of(ranking(default, other, conclusion=conclusion(default.trial, trials=2)))
    if answer.verdict is AnswerVerdict.KEEP:
        assert len(answer.rivals) == 1
        assert DEFAULT_IS_BEST not in "".join(headline(answer))
    alone = answer_of(ranking(default, record(SMALL, measurement(90))))
    assert DEFAULT_IS_BEST in "".join(headline(alone))


def concluded(
    chance: float, reason: StopReason, limit: int | None = 13, *, feasible: bool = True
) -> Answer:
    sole = record(SMALL, measurement(100))
    ending = replace(conclusion(sole.trial, trials=1), chance=chance, reason=reason, limit=limit)
    ending = replace(ending, feasible=feasible)
    return answer_of(ranking(sole, conclusion=ending))


def test_an_answer_is_unsure_if_something_better_was_probably_missed() -> None:
    for chance, is_unsure in ((0.74, True), (0.3, False)):
        assert concluded(chance, StopReason.LIMIT).is_unsure == is_unsure
    assert not answer_of(ranking(record(SMALL, measurement(1)))).is_unsure


def test_the_option_that_continues_a_stopped_search_is_named() -> None:
    texts = {
        reason: certainty_text(concluded(0.5, reason)).partition("tried")[2]
        for reason in (
            StopReason.LIMIT, StopReason.KEPT, StopReason.STALLED, StopReason.BUDGET,
            StopReason.NOTHING_WORTH,
        )
    }  # fmt: skip
    assert [*texts.values()] == [
        "; --max-measurements 26 continues.",
        "; --max-measurements 26 continues.",
        "; --max-measurements 26 continues.",
        "; a longer --budget continues.",
        ".",
    ]


@pytest.mark.parametrize(("chance", "advises"), [(0.3, True), (0.004, False)])
def test_where_hardly_anything_meets_the_constraints_nothing_advises_to_go_on(
    chance: float, advises: bool
) -> None:
    answer = concluded(chance, StopReason.LIMIT, feasible=False)
    assert ("continues" in evidence_text(answer)) == advises


def test_a_recommendation_whose_repetitions_broke_a_constraint_says_so() -> None:
    records = [
        record(SMALL, measurement(2020, p99), repetition=number)
        for number, p99 in enumerate((7.79, 10.75))
    ]
    answer = answer_of(ranking(*records, by=BOUND))
    assert answer.compliance is not None
    assert (answer.compliance.times_met, len(answer.compliance.measurements)) == (1, 2)
    assert 0 < answer.compliance.chance < 1
    assert answer.is_unsure
    assert answer_of(ranking(record(SMALL, measurement(1)))).compliance is None


def test_if_nothing_meets_the_constraints_the_answer_is_the_nearest() -> None:
    answer = answer_of(ranking(record(SMALL, measurement(100, 20)), by=BOUND))
    assert answer.verdict is AnswerVerdict.NEAREST
    assert not answer.is_met
    assert answer.best is not None
    assert answer_of(ranking()).verdict is AnswerVerdict.NOTHING


def test_a_better_measurement_that_is_not_recommended_is_a_rival() -> None:
    sure = record(SMALL, measurement(100, 8))
    bold = record(LARGE, measurement(112, 9.99))
    ending = conclusion(sure.trial, trials=2, by=BOUND)
    answer = answer_of(ranking(sure, bold, by=BOUND, conclusion=ending))
    assert [rival.item.trial.variants for rival in answer.rivals] == ["m_config_1"]
    assert answer.compliance is not None
    assert answer.rivals[0].chance < answer.compliance.chance
    assert answer_of(ranking(sure, bold, by=BOUND)).rivals == ()


def test_a_better_trial_that_just_misses_a_bound_is_named() -> None:
    ranked = ranking(
        record(SMALL, measurement(1000, 5)),
        record(LARGE, measurement(1370, 10.1)),
        record(LARGE, measurement(2000, 20), concurrency=8),
        by=BOUND,
    )
    answer = answer_of(ranked)
    (near,) = answer.near_misses
    assert near.item.trial.variants == "m_config_1"
    assert remarks_of(answer) == [
        "m_config_1 at concurrency 1 is 37 % better, at p99 Latency 10.1 ms: 1 % beyond"
        f" Max p99 Latency: 10 ms ({100 * near.chance:.0f} % chance that it meets the constraints)."
    ]
    assert 0.2 < near.chance < 0.5


def test_a_host_whose_slots_slow_each_other_down_is_named() -> None:
    shared = SharedHost(
        host="gpu1", slots=4, model="m", trial="key",
        throughput=Shift(-3.0, 1.0), latency_p99=Shift(11.0, 4.0),
    )  # fmt: skip
    steady = replace(shared, host="gpu2", throughput=Shift(-1.0, 2.0), latency_p99=None)
    measured = [
        record(chosen, replace(measurement(1), machine=Machine(host=host)))
        for host, chosen in {"gpu1": SMALL, "gpu2": LARGE}.items()
    ]
    profile = Profile(records=measured, shared_hosts={"gpu1": shared, "gpu2": steady})

    assert remarks_of(answer_of(rank_one(profile, "m", goal()))) == [
        "Measured on a shared host. 4 slots on gpu1, compared with one alone: 3.0 ± 1.0 % less"
        " throughput, p99 latency 11 ± 4 % higher."
    ]
    assert not remarks_of(answer_of(rank_one(replace(profile, records=measured[1:]), "m", goal())))


def test_a_search_that_did_not_finish_is_named() -> None:
    profile = Profile(records=[record(SMALL, measurement(1))], unfinished=frozenset({Lane("m")}))
    assert remarks_of(answer_of(rank_one(profile, "m", goal()))) == [UNFINISHED]

    growing = replace(profile, is_growing=True)
    assert remarks_of(answer_of(rank_one(growing, "m", goal()))) == [IN_PROGRESS]


def test_variants_that_were_never_tried_are_counted() -> None:
    text = "m: 24 of 24 variants left out, because the server would refuse them: …"
    profile = Profile(records=[record(DEFAULT, measurement(1))], refused={"m": (text,)})

    assert remarks_of(answer_of(rank_one(profile, "m", goal()))) == [f"{text}."]


def test_an_answer_without_alternatives_says_why_they_failed() -> None:
    failed = Failure(
        reason=FailureReason.MODEL_NOT_LOADED,
        message="m_config_0 did not load: no GPUs are available",
        hint="set `cpu_only: true` for the model",
    )
    records = [record(DEFAULT, measurement(1)), record(SMALL, failed), record(LARGE, failed)]

    assert remarks_of(answer_of(ranking(*records, by=goal()))) == [
        "Only the default could be measured: 2 other configurations failed. The first: m_config_0"
        " did not load: no GPUs are available; set `cpu_only: true` for the model."
    ]


def test_the_changes_of_the_default_are_told_in_words() -> None:
    limited = {"kind": "KIND_CPU", "count": 1, "rate_limiter": {"priority": 2}}
    before = variant("m_config_default", max_batch_size=1, instance_group=[limited])
    after = variant(
        "m_config_0",
        max_batch_size=8,
        dynamic_batching={},
        instance_group=[{**limited, "count": 2}],
    )
    dropped = variant("m_config_1", max_batch_size=1, instance_group=[{"kind": "KIND_CPU"}])

    def changes(recommended: ModelVariant) -> str:
        records = [record(before, measurement(1)), record(recommended, measurement(9))]
        return changes_text(answer_of(ranking(*records, by=goal())))

    assert changes(after) == (
        "Changes of the default: instances 1:CPU → 2:CPU, dynamic_batching off → on,"
        " max_batch_size 1 → 8; rate_limiter kept."
    )
    smaller = variant("m_config_2", max_batch_size=0, instance_group=[limited])
    assert changes(smaller) == (
        "Changes of the default: max_batch_size 1 → 0 (clients with larger batches will be"
        " refused); rate_limiter kept."
    )
    assert changes(dropped) == (
        'Changes of the default: instance_group: rate_limiter {"priority": 2} → not set.'
    )
    assert not changes_text(answer_of(ranking(record(before, measurement(1)), by=goal())))


@pytest.mark.parametrize(
    ("chance", "words"),
    [(0.8, "an 80 % chance"), (0.11, "an 11 % chance"), (0.18, "an 18 %"), (0.6, "a 60 %")],
)
def test_numbers_have_the_article_that_is_spoken(chance: float, words: str) -> None:
    by = goal(*at_most(perf_latency_p99=10))
    concluded = replace(
        conclusion(record(SMALL, measurement(100, 5)).trial, trials=1, by=by), chance=chance
    )
    ranked = ranking(record(SMALL, measurement(100, 5)), by=by, conclusion=concluded)
    assert words in certainty_text(answer_of(ranked))
