# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""What a report says: the answer in one sentence, remarks, details, and all of it for machines.

results.json: everything for machines, as its schema says.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import jsonschema
import pytest

from model_analyzer.domain.goals import Goal, ModelGoal
from model_analyzer.domain.measurements import Measurement, ModelMeasurement, Notice, NoticeKind
from model_analyzer.domain.models import ModelVariant
from model_analyzer.domain.profiles import Profile, TrialRecord
from model_analyzer.domain.trials import FailureReason, Load, LoadKind, ServerSetup, Trial, Workload
from model_analyzer.reports.alternatives import Deployment
from model_analyzer.reports.build import (
    Summary,
    build_detail,
    build_summary,
    constraints_text,
    state_answer,
)
from model_analyzer.reports.document import (
    RESULTS_VERSION,
    results_document,
    results_schema,
    variant_document,
)
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
    objectives,
    one_round,
    origin,
    rank_one,
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


BEST_ON_8 = variant("m_config_4", max_batch_size=8, dynamic_batching={})


def document(*rankings: Ranking, complete: bool | None = True) -> dict[str, Any]:
    """The document, as whoever reads the file sees it; it is as the schema says."""
    made = results_document(
        [*map(answer_of, rankings)], origin("H200", CPU="16 cores"), complete=complete
    )
    read: dict[str, Any] = json.loads(json.dumps(made, allow_nan=False))
    jsonschema.Draft202012Validator(results_schema()).validate(read)
    return read


def test_the_schema_is_one_and_closed() -> None:
    schema = results_schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    assert schema["properties"]["version"]["const"] == RESULTS_VERSION
    reasons = schema["$defs"]["failure"]["properties"]["reason"]["enum"]
    assert set(reasons) == {reason.name for reason in FailureReason}
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({**document(), "more": 1}, schema)


def test_the_recommendation_with_its_gain_and_its_constraints() -> None:
    ranked = ranking(
        record(DEFAULT, measurement(100, 5.5, windows=[98, 102])),
        record(DEFAULT, measurement(90, 5.5), concurrency=4, batch_size=2),
        record(BEST_ON_8, measurement(150, 12.0, windows=[149, 151]), concurrency=4, batch_size=2),
        by=goal(*at_most(perf_latency_p99=10, gpu_used_memory=5), *at_least(perf_throughput=120)),
    )

    (model,) = document(ranked)["models"]

    recommended = model["recommended"]
    assert recommended["variant"] == "m_config_default"
    assert recommended["loads"] == [
        {"model": "m", "kind": "concurrency", "value": 1, "batch_size": 1}
    ]
    assert not recommended["satisfies_constraints"]
    assert recommended["shortfall_percent"] == pytest.approx(100 / 6)
    constraints = [
        (each["metric"], each["met"], each["value"]) for each in recommended["constraints"]
    ]
    assert constraints == [
        ("perf_latency_p99", True, 5.5),
        ("gpu_used_memory", None, None),
        ("perf_throughput", False, 100),
    ]
    assert recommended["constraints"][2]["missed_by_percent"] == pytest.approx(100 / 6)
    assert recommended["gain_over_default"] is None
    assert model["sentence"] == state_answer(answer_of(ranked), complete=True).sentence
    assert model["default"] == "m_config_default"
    assert [each["variant"] for each in model["variants"]] == ["m_config_default", "m_config_4"]

    (model,) = document(ranking(*_records(ranked)))["models"]
    gain = model["recommended"]["gain_over_default"]
    assert (gain["percent"], gain["is_clear"]) == (pytest.approx(50), True)
    assert gain["noise_percent"] == pytest.approx(13.3, abs=0.05)
    assert gain["interval"] == {
        "low": pytest.approx(36.7, abs=0.05), "high": pytest.approx(63.3, abs=0.05)
    }  # fmt: skip


@pytest.mark.parametrize(
    ("best", "default"),
    [
        pytest.param(measurement(100, 5.5), measurement(150, 50.5), id="no clear gain over it"),
        pytest.param(measurement(150, 12.5), measurement(100, 50.5), id="both break a constraint"),
    ],
)
def test_a_gain_that_the_sentence_leaves_out_is_null(
    best: Measurement, default: Measurement
) -> None:
    strict = goal(*at_most(perf_latency_p99=10))
    ranked = ranking(record(BEST_ON_8, best), record(DEFAULT, default), by=strict)

    (model,) = document(ranked)["models"]

    assert "better" not in model["sentence"]
    assert "gain" not in model["sentence"]
    assert model["recommended"]["gain_over_default"] is None


def test_the_conclusion_of_a_search() -> None:
    best = record(BEST_ON_8, measurement(150))
    concluded = conclusion(best.trial, trials=1)

    (without,) = document(ranking(best))["models"]
    (with_one,) = document(ranking(best, conclusion=concluded))["models"]

    assert without["conclusion"] is None
    assert with_one["conclusion"] == {
        "trials": 1,
        "reason": concluded.explanation,
        "limit": 26,
        "margin_percent": pytest.approx(3),
        "chance_percent": pytest.approx(20),
        "expected_gain_percent": pytest.approx(1.3),
    }
    (none,) = document(ranking(best, conclusion=replace(concluded, feasible=False)))["models"]
    assert none["conclusion"]["expected_gain_percent"] is None


def _records(ranked: Ranking) -> list[TrialRecord]:
    return [TrialRecord(trial=item.trial, outcome=item.measurement) for item in ranked.measured]


def test_every_measurement_with_its_values_by_model_and_by_gpu() -> None:
    notice = Notice(kind=NoticeKind.UNSTABLE, text="so and so")
    ranked = ranking(
        record(
            BEST_ON_8,
            measurement(
                150, 5.5, gpus={"a": {"gpu_used_memory": 7.0}, "b": {"gpu_used_memory": 8.0}},
                host={"cpu_used_ram": 70.5}, windows=[149.0], requests=500, notices=[notice],
                commands=["perf_analyzer -m m"],
            ),
        )
    )  # fmt: skip

    made = document(ranked)

    (measured,) = made["models"][0]["variants"][0]["measurements"]
    assert measured["metrics"] == {
        "perf_throughput": 150, "perf_latency_p99": 5.5, "gpu_used_memory": 15,
        "cpu_used_ram": 70.5,
    }  # fmt: skip
    assert measured["gpus"]["b"] == {"gpu_used_memory": 8}
    assert measured["models"][0]["requests"] == 500
    assert measured["notices"] == [{"kind": "unstable", "text": "so and so"}]
    assert measured["trial"] == ranked.measured[0].trial.key
    assert measured["started"] is None
    assert made["metrics"]["gpu_used_memory"] == {
        "name": "GPU Memory Usage", "unit": "MB", "better": "lower",
    }  # fmt: skip
    assert set(made["metrics"]) == set(measured["metrics"])


def test_failures_origin_and_whether_it_is_complete() -> None:
    ranked = ranking(
        record(DEFAULT, measurement(100)),
        record(BEST_ON_8, failure("too much", hint="less"), concurrency=8),
    )

    made = document(ranked, ranking(model="n"), complete=False)

    assert made["complete"] is False
    assert made["origin"]["host"] == {"CPU": "16 cores"}
    assert made["origin"]["gpus"] == [{"uuid": "GPU-0", "name": "H200", "memory_mb": 16_000}]
    (failed,) = made["models"][0]["failures"]
    assert (failed["variant"], failed["reason"]) == ("m_config_4", "MODEL_NOT_LOADED")
    assert (failed["message"], failed["hint"]) == ("too much", "less")
    assert failed["loads"][0]["value"] == 8
    nothing = made["models"][1]
    assert (nothing["recommended"], nothing["server"], nothing["variants"]) == (None, None, [])


def test_models_measured_together_and_composing_models_have_their_own_values() -> None:
    part = variant("p_config_0", model="p", max_batch_size=2)
    whole = variant(
        "e_config_0",
        model="e",
        composing=[part],
        ensemble_scheduling={"step": [{"model_name": "p"}]},
    )
    trial = Trial(
        workloads=(
            Workload(variant=whole, load=Load(value=2)),
            Workload(variant=BEST_ON_8, load=Load(kind=LoadKind.REQUEST_INTERVALS, value=0)),
        ),
        setup=ServerSetup(version="2.51.0", devices=("L4",), flags={"rate-limit": "off"}),
    )
    outcome = Measurement(
        models=(
            ModelMeasurement(
                values={"perf_throughput": 10.0}, composing={"p": {"perf_server_queue": 0.5}}
            ),
            ModelMeasurement(values={"perf_throughput": 5.0, "perf_latency_p99": 3.0}),
        ),
        started=1_700_000_000.5,
    )
    wished = ModelGoal(objectives=objectives(perf_latency=1))
    ranked = rank_one(
        Profile(records=(TrialRecord(trial=trial, outcome=outcome),)),
        "e,m",
        Goal(models=(ModelGoal(weighting=3), wished)),
    )

    made = document(ranked, complete=None)

    (model,) = made["models"]
    assert made["complete"] is None
    assert [each["weighting"] for each in model["goals"]] == [3, 1]
    assert model["goals"][1]["objectives"][0]["metric"] == "perf_latency_p99"
    assert model["server"]["flags"] == {"rate-limit": "off"}
    measured = model["variants"][0]["measurements"][0]
    assert measured["metrics"]["perf_throughput"] == 15
    assert measured["loads"][1] == {
        "model": "m", "kind": "request_intervals", "value": None, "batch_size": 1,
    }  # fmt: skip
    assert measured["models"][0]["composing"] == {"p": {"perf_server_queue": 0.5}}
    assert measured["started"] == "2023-11-14T22:13:20.500+00:00"
    configured = model["variants"][0]["models"][0]
    assert configured["instances"] == []
    assert configured["composing"][0]["instances"] == [{"count": 1, "kind": "GPU"}]
    assert configured["composing"][0]["configuration"] == {"max_batch_size": 2}


def test_a_variant_alone_is_a_part_of_the_document() -> None:
    ranked = ranking(record(BEST_ON_8, measurement(150)))
    (model,) = document(ranked)["models"]
    assert variant_document(ranked.results[0], ranked) == model["variants"][0]


def test_what_a_server_with_openais_api_does_not_tell_is_unknown() -> None:
    there = variant("m_config_default", platform="openai")

    (model,) = document(ranking(record(there, measurement(10, 5))))["models"]

    (part,) = model["variants"][0]["models"]
    assert (part["instances"], part["max_batch_size"], part["dynamic_batching"]) == ([], None, None)


def test_rounds_have_intervals_and_their_number() -> None:
    latencies = [n / 10 for n in range(80, 120)] * 5
    ranked = ranking(
        record(BEST_ON_8, one_round(latencies), concurrency=4),
        record(BEST_ON_8, one_round(latencies), concurrency=4, repetition=1),
        record(DEFAULT, measurement(100, 5.5), concurrency=4),
        by=goal(*at_most(perf_latency_p90=20)),
    )

    (model,) = document(ranked)["models"]

    (best,) = model["variants"][0]["measurements"]
    for told in (model["recommended"], best):
        assert (told["instalments"], told["requests"]) == (2, 400)
        assert set(told["intervals"]) == {
            "perf_throughput", "perf_latency_p99", "perf_latency_p90",
        }  # fmt: skip
        low, high = told["intervals"]["perf_throughput"].values()
        assert low < 200 < high
    (careful,) = model["variants"][1]["measurements"]
    assert careful["instalments"] is careful["requests"] is None
    assert careful["intervals"] == {}


def test_tokens_per_second_have_an_interval_whatever_the_goal_is() -> None:
    latencies = [n / 10 for n in range(80, 120)] * 5
    run = one_round(latencies, output_token_throughput=600.0)
    (told,) = document(ranking(record(BEST_ON_8, run, concurrency=4)))["models"]

    intervals = told["recommended"]["intervals"]
    low = intervals["perf_throughput"]["low"]
    assert intervals["output_token_throughput"]["low"] == pytest.approx(3 * low)
