# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Why a variant is slow: on the pages, and what a tested advice changed."""

from __future__ import annotations

from dataclasses import replace

import pytest

from model_analyzer.domain.profiles import TrialRecord
from model_analyzer.domain.trials import Failure, LoadKind
from model_analyzer.reports import html, markdown
from model_analyzer.reports.explain_text import (
    ExplainReport,
    confirmation_text,
    explain_document,
    explain_lines,
)
from model_analyzer.results.explain.contention import more_instances
from model_analyzer.results.explain.finding import AdvisedChange, Cause, Confirmation, FoundCause
from tests.drawn import NOT_DRAWN
from tests.unit.builders import failure, goal, measurement, ranking, record, summary_page, variant
from tests.unit.results.explain.observed import explained, model, observed, situation

ONE = model(max_batch_size=1)
STARVED = ranking(*(observed(ONE, load, 49, 20, queue=20.0 * (load - 1)) for load in (1, 8)))
HEALTHY = ranking(observed(ONE, 1, 49, 20), observed(ONE, 2, 49, 20))


def test_the_page_says_why_the_recommended_variant_is_as_fast_as_it_is() -> None:
    page = summary_page(STARVED)

    for text in (html.render_summary(page, NOT_DRAWN), markdown.render_summary(page, {})):
        assert "Why p99 is what it is" in text
        assert "Too few instances" in text
        assert "1 instance worked 98 % of the time" in text
        assert "Advice: use more instances: 2 instead of 1." in text


def test_a_cause_keeps_its_capital_letters() -> None:
    of = model(kind="KIND_GPU", max_batch_size=1)
    page = summary_page(
        ranking(*(observed(of, load, 1000, 1, queue=load - 1.0, gpu=100) for load in (1, 8)))
    )

    for text in (html.render_summary(page, NOT_DRAWN), markdown.render_summary(page, {})):
        assert "The GPU is always busy" in text


def test_the_page_says_that_nothing_is_unusual() -> None:
    assert "Nothing unusual." in markdown.render_summary(summary_page(HEALTHY), {})


def test_a_variant_that_also_failed_is_not_called_usual() -> None:
    died = failure("the process of the model died.", hint="see the log of the server")
    alive = observed(ONE, 1, 49, 20)
    page = summary_page(
        ranking(alive, alive._replace(trial=replace(alive.trial, repetition=1), outcome=died))
    )
    sentence = (
        "m_config_default failed at concurrency 1: the process of the model died;"
        " see the log of the server."
    )

    texts = (
        html.render_summary(page, NOT_DRAWN),
        html.on_paper(page, NOT_DRAWN),
        markdown.render_summary(page, {}).replace("\\", ""),
    )
    for text in texts:
        assert sentence in text
        assert "Nothing unusual" not in text


def test_the_page_names_what_measurements_rule_out() -> None:
    unbatched = model(max_batch_size=8)
    batched = model(suffix="config_0", max_batch_size=8, dynamic_batching={})
    page = summary_page(
        ranking(
            observed(unbatched, 8, 49.2, 20, queue=140),
            observed(batched, 8, 49, 160, batch=8, started=400),
        )
    )

    for text in (html.render_summary(page, NOT_DRAWN), html.on_paper(page, NOT_DRAWN)):
        assert "Ruled out: against “batches are not filled”, m_config_0" in text
        assert "it changes nothing." in text


def looked_at(record: TrialRecord) -> TrialRecord:
    """The measurement as a first look."""
    assert not isinstance(record.outcome, Failure)
    (measured,) = record.outcome.models
    outcome = replace(record.outcome, models=(replace(measured, seconds=2.0),))
    return record._replace(outcome=outcome)


def test_an_open_load_that_was_only_looked_at_is_unsure() -> None:
    flags = {"request-distribution": "poisson"}
    looked = observed(ONE, 30, 30, 20, kind=LoadKind.REQUEST_RATE, flags=flags, requests=60)
    page = summary_page(ranking(looked_at(looked)))

    assert "Unsure: 60 requests at 30 requests/sec" in markdown.render_summary(page, {})


@pytest.mark.parametrize(
    ("queue", "advice"),
    [
        (60.0, "Measure more: --confirm does."),
        (0.0, "Measure more: profile again with a longer measurement-interval"),
    ],
)
def test_an_unsure_explanation_names_what_measures_more(queue: float, advice: str) -> None:
    report = report_of(looked_at(observed(ONE, 4, 49, 20, queue=queue, requests=60)))

    assert advice in report.unsure


def test_times_that_do_not_add_up_are_not_shown() -> None:
    of = model(max_batch_size=1, model_transaction_policy={"decoupled": True})
    lines = list(explain_lines(report_of(observed(of, 1, 9, 61, outside=3.5))))

    assert lines[1].startswith("An average request takes 64.5 ms; where that time goes is not")


def test_a_percentile_that_was_not_measured_is_not_shown() -> None:
    """Checkpoints of Triton Model Analyzer have no p50."""
    report = report_of(record(ONE, measurement(49, 22.5)))

    assert report.subject == "m_config_default at concurrency 1: 49.0 infer/s, p99 22.5 ms."
    assert report.times == "The average latency was not measured."
    (hardware,) = explain_document([report])["hardware"]
    assert hardware["metrics"] == {"perf_throughput": 49, "perf_latency_p99": 22.5}
    assert hardware["average_ms"] is None


def test_a_stream_is_explained_in_first_token_and_further_ones() -> None:
    of = model(max_batch_size=1, model_transaction_policy={"decoupled": True})
    tokens = {"time_to_first_token_avg": 15.0, "time_to_first_token_p99": 18.5}
    lines = list(explain_lines(report_of(observed(of, 1, 9, 60, outside=0.0, latencies=tokens))))

    assert "9.00 infer/s, p99 of the first token 18.5 ms, p50" in lines[0]
    assert lines[1] == (
        "An average request takes 60.0 ms: 45.0 ms for the further tokens (75 %), 15.0 ms to the"
        " first token (25 %)."
    )


def report_of(*records: TrialRecord) -> ExplainReport:
    return ExplainReport(model="m", goal=goal(), kind="", explanation=explained(*records))


def test_without_counters_of_the_server_the_page_explains_nothing() -> None:
    page = summary_page(ranking(record(variant(), measurement(100, 10))))

    assert "Why p99" not in markdown.render_summary(page, {})


def text_of(change: AdvisedChange, after: TrialRecord | Failure) -> str:
    faster = model(count=2, suffix="config_0")
    finding = FoundCause(
        cause=Cause.TOO_FEW_INSTANCES,
        under=situation(observed(ONE, 8, 49, 20, queue=140)),
        weight=0.9,
        evidence=(),
        advice="use more",
        change=change,
    )
    (work,) = observed(faster, 8, 98, 20).trial.workloads
    result = after if isinstance(after, Failure) else situation(after)
    return confirmation_text(
        Confirmation(finding=finding, work=work, before=finding.under, after=result)
    )


def test_a_tested_advice_says_what_it_changed() -> None:
    text = text_of(more_instances(ONE, 2), observed(ONE, 8, 98, 20, queue=60))

    assert text.startswith("against “too few instances”, m_config_0 (instance_group ")
    assert text.endswith(
        "49.0 → 98.0 infer/s (+94 to +107 %), p99 176 ms → 88.1 ms (-54 to -46 %): it helps."
    )


def test_a_change_of_the_client_names_its_flags() -> None:
    text = text_of(
        AdvisedChange(model="m", flags={"async": "true"}), observed(ONE, 8, 49, 20, queue=140)
    )

    assert "perf_analyzer with async: true, at concurrency 8" in text
    assert text.endswith("it changes nothing.")


def test_a_change_of_a_called_model_names_it() -> None:
    part = model("slow", count=1)

    text = text_of(more_instances(part, 2), failure("it did not load"))

    assert "(instance_group of slow " in text
    assert text.endswith(": it could not be measured (it did not load).")
