# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""What a report says: the answer in one sentence, remarks, details, and all of it for machines."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from model_analyzer.domain.goals import Goal
from model_analyzer.domain.measurements import Notice, NoticeKind
from model_analyzer.domain.models import ModelVariant
from model_analyzer.domain.profiles import TrialRecord
from model_analyzer.domain.trials import LoadKind, ServerSetup
from model_analyzer.reports.alternatives import Deployment
from model_analyzer.reports.build import Summary, build_detail, build_summary, constraints_text
from model_analyzer.reports.remarks import remarks_of
from model_analyzer.results.answer import answer_of
from model_analyzer.results.ranking import Ranking
from tests.unit.builders import (
    at_least,
    at_most,
    conclusion,
    failure,
    goal,
    measurement,
    one_round,
    origin,
    ranking,
    record,
    variant,
)

DEFAULT = variant("m_config_default", instance_group=[{"kind": "KIND_CPU", "count": 1}])
BEST = variant(
    "m_config_4",
    max_batch_size=8,
    dynamic_batching={},
    instance_group=[{"kind": "KIND_GPU", "count": 2}],
)


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


def test_a_default_that_was_measured_alone_is_compared_with_nothing() -> None:
    alone = summary(ranking(record(DEFAULT, measurement(5, 5))))
    assert alone.advice == "Only the default configuration was measured"

    worse = record(variant("m_config_0", max_batch_size=2), measurement(1, 50))
    kept = summary(ranking(record(DEFAULT, measurement(5, 5)), worse))
    assert kept.advice == (
        "Keep the default configuration (no other configuration is clearly better)"
    )


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


def test_if_none_passes_the_failing_ones_are_shown_with_a_remark() -> None:
    report = summary(many(4, p99=20, by=goal(*at_most(perf_latency_p99=10))), best=3)
    assert report.shortage == (
        "Requested top 3 configs, but none satisfied constraints. Showing available"
        " constraint failing configs for this model."
    )
    assert len(rows(report)) == 4
    assert report.constraints == "Max p99 Latency: 10 ms"


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


def twice(of: ModelVariant, *values: float) -> list[TrialRecord]:
    return [record(of, measurement(value), repetition=n) for n, value in enumerate(values)]


def test_a_tie_is_not_trusted_less() -> None:
    chosen = twice(variant("m_config_0", max_batch_size=2), 99, 101)
    equal = twice(variant("m_config_1", max_batch_size=4), 100, 101)
    ranked = ranking(*chosen, *equal, conclusion=conclusion(chosen[0].trial, trials=2))

    report = summary(ranked, best=2)

    assert [item.trial.variants for item in ranked.ties] == ["m_config_1"]
    assert report.statement.remarks == ()
    assert "Ties with it: m_config_1 at concurrency 1." in report.statement.folded


def noisy(of: ModelVariant, throughput: float, latency: float = 10.0) -> TrialRecord:
    """A round whose windows differ by a tenth."""
    rates = [throughput * (1 + off) for off in (-0.1, 0.1) * 4]
    return record(of, one_round([latency] * 100, 100 / throughput, windows=rates))


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


# ------------------------------------------------------------------------------------------ GPUs


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
