# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""An answer is a headline and at most two lines, of 60 words together, whatever was measured; what
one must know before one deploys it stays in the headline.

What a run was for is what one sees first, wherever its results are shown.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from html import unescape
from typing import Any, NamedTuple

import pytest

from model_analyzer.domain.goals import Goal, ModelGoal
from model_analyzer.domain.measurements import Doubt, Measurement, Notice, NoticeKind
from model_analyzer.domain.metrics import METRICS
from model_analyzer.domain.models import ModelVariant
from model_analyzer.domain.profiles import StopReason, TrialRecord
from model_analyzer.domain.trials import LoadKind
from model_analyzer.reports.build import build_detail
from model_analyzer.reports.fleet import FleetModel, fleet_page, sparkline
from model_analyzer.reports.headline import headline
from model_analyzer.reports.html import render_summary
from model_analyzer.reports.kubernetes import manifest
from model_analyzer.reports.tables import answer_table, hardware_table, summary_table
from model_analyzer.results.answer import ModelAnswer, answer_of
from model_analyzer.results.columns import columns_of
from model_analyzer.results.ranking import Ranking
from tests.drawn import NOT_DRAWN
from tests.goldens import check_folder
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
    origin,
    ranking,
    record,
    resolved,
    summary_page,
    trial,
    variant,
)

DEFAULT = variant("m_config_default", instance_group=[{"kind": "KIND_CPU", "count": 1}])
BEST = variant(
    "m_config_4",
    max_batch_size=8,
    dynamic_batching={"max_queue_delay_microseconds": 100, "preferred_batch_size": [4, 8]},
    instance_group=[{"kind": "KIND_GPU", "count": 2}],
    parameters={"threads": {"string_value": "4"}, "pool": {"string_value": "large"}},
)
OTHER = variant("m_config_5", max_batch_size=16)
LATENCY = goal(*at_most(perf_latency_p99=10))
TOKENS: dict[str, Any] = {
    "output_token_throughput": 640.0,
    "time_to_first_token_p99": 41.5,
    "inter_token_latency_p99": 7.25,
}
MANY = objectives(
    perf_goodput=4, output_token_throughput=3, time_to_first_token_p99=2, inter_token_latency_p99=1
)
STEADY = [n / 10 for n in range(80, 120)] * 5


def against_default(*best: Measurement, by: Goal | None = None, **load: Any) -> Ranking:
    load = {"concurrency": 4, **load}
    runs = [record(BEST, each, repetition=number, **load) for number, each in enumerate(best)]
    return ranking(record(DEFAULT, measurement(100, 9.5), **load), *runs, by=by)


def concluded(ranked_by: Goal, *best: Measurement, chance: float, rival: str = "") -> Ranking:
    runs = [record(BEST, each, repetition=number) for number, each in enumerate(best)]
    end = conclusion(runs[0].trial, 2, by=ranked_by)
    end = replace(end, chance=chance, reason=StopReason.BUDGET, rival=rival, noise_percent=80.0)
    default = record(DEFAULT, measurement(100, 9.5))
    return ranking(default, *runs, by=ranked_by, conclusion=end)


def models_together(*pairs: tuple[str, float, float]) -> Ranking:
    def measured(name: str, first: float, second: float) -> TrialRecord:
        trials = [
            trial(variant(f"{model}_{name}", model=model), concurrency=load)
            for model, load in (("a", 4), ("b", 8))
        ]
        values = [{"perf_throughput": rate, "perf_latency_p99": 12.5} for rate in (first, second)]
        return joint_record(trials, *values)

    by = Goal(models=(ModelGoal(constraints=at_most(perf_latency_p99=12)), ModelGoal(weighting=2)))
    return ranking(*(measured(*pair) for pair in pairs), model="a,b", by=by)


def noisy(name: str, throughput: float, size: int) -> TrialRecord:
    rates = [throughput * (1 + off) for off in (-0.1, 0.1) * 4]
    of = variant(name, max_batch_size=size)
    return record(of, one_round([10.0] * 100, 100 / throughput, windows=rates))


def doubtful(measured: Measurement) -> Measurement:
    doubt = Doubt(law="in flight", text="7 of 8 requests in flight " * 5, hint="measure again")
    few = Notice(kind=NoticeKind.FEW_REQUESTS, text="p99 is based on few requests " * 5)
    return replace(measured, doubts=(doubt, doubt), notices=(few,))


def ensemble() -> Ranking:
    parts = [variant(f"part{n}_config_0", model=f"part{n}", max_batch_size=4) for n in range(5)]
    defaults = [variant(f"part{n}_config_default", model=f"part{n}") for n in range(5)]
    return ranking(
        record(variant("m_config_default", composing=defaults), measurement(100, 9.5)),
        record(variant("m_config_3", composing=parts, platform="ensemble"), measurement(300, 9.9)),
        by=LATENCY,
    )


def at_other_loads(throughput: float) -> Ranking:
    return ranking(
        record(BEST, measurement(900), concurrency=16, batch_size=8),
        record(BEST, measurement(throughput), concurrency=4),
        record(DEFAULT, measurement(100), concurrency=4),
    )


def repeated(of: ModelVariant, *outcomes: Measurement, by: Goal | None = None) -> Ranking:
    runs = [
        record(of, each, repetition=number, concurrency=4) for number, each in enumerate(outcomes)
    ]
    return ranking(*runs, by=by)


def twice(of: ModelVariant) -> list[TrialRecord]:
    return [record(of, measurement(value), repetition=n) for n, value in enumerate((99, 101))]


def rivals(throughput: float, p99: float, by: Goal | None = None) -> Ranking:
    """What a search recommended, and a variant that may be better."""
    sure = record(BEST, measurement(100, 8))
    bold = record(OTHER, measurement(throughput, p99))
    return ranking(sure, bold, by=by, conclusion=conclusion(sure.trial, trials=2, by=by))


def models_at_a_rate(*answered: float) -> Ranking:
    """Two models under 100 requests/s each."""
    load: dict[str, Any] = {"kind": LoadKind.REQUEST_RATE, "concurrency": 100}
    trials = [trial(variant(f"{m}_config_0", model=m), **load) for m in "ab"]
    both = joint_record(trials, *({"perf_throughput": each} for each in answered))
    return ranking(both, model="a,b", by=Goal(models=(ModelGoal(), ModelGoal())))


CASES = {
    "closed loop": against_default(measurement(250.5, 5.5)),
    "repeated": against_default(one_round(STEADY, 0.5), one_round(STEADY, 0.6)),
    "rate": against_default(measurement(300, 5.5), kind=LoadKind.REQUEST_RATE, concurrency=900),
    "goodput": against_default(
        measurement(250, 5.5, perf_goodput=200), by=goal(wished=objectives(perf_goodput=1))
    ),
    "tokens": against_default(measurement(250, 5.5, **TOKENS), by=goal(wished=MANY)),
    "two models": models_together(("config_default", 10, 1000), ("config_0", 80, 1600)),
    "ensemble": ensemble(),
    "met by nothing": against_default(
        measurement(150, 12.5), by=goal(*at_most(perf_latency_p99=2), *at_least(perf_goodput=4))
    ),
    "doubtful": against_default(doubtful(measurement(150, 5)), by=LATENCY),
    "met in 1 of 2": against_default(measurement(150, 9.7), measurement(140, 10.1), by=LATENCY),
    "not measured": against_default(measurement(150), by=goal(*at_most(gpu_used_memory=3))),
    "noisy machine": concluded(LATENCY, measurement(150, 9), chance=0.3, rival="m_config_5"),
    "everything at once": concluded(
        LATENCY,
        doubtful(measurement(150, 9.7)),
        doubtful(measurement(140, 10.1)),
        chance=0.97,
        rival="m_config_5",
    ),
    "search unsure": concluded(LATENCY, measurement(150, 9.9), chance=0.97),
    "undecided": ranking(
        *(noisy(f"m_config_{n}", 1000 - 30 * n, 2 * n + 2) for n in range(6)),
        noisy("m_config_default", 600, 1),
    ),
    "failures": ranking(
        record(DEFAULT, measurement(100, 5)), record(BEST, failure("no memory " * 20))
    ),
    "nothing": ranking(record(DEFAULT, failure("no luck")), record(BEST, failure())),
    "nothing at all": ranking(),
    "gain at another load": at_other_loads(208),
    "no clear gain at another load": at_other_loads(101),
    "default at another load": ranking(
        record(DEFAULT, measurement(125.25, 3.5)),
        record(BEST, measurement(250.5, 5.5), concurrency=4),
    ),
    "gain within noise over a default that fails": ranking(
        record(DEFAULT, measurement(100, 50.5, windows=(80, 120))),
        record(BEST, measurement(140, 5.5, windows=(110, 170))),
        by=LATENCY,
    ),
    "gain with its noise": ranking(
        record(DEFAULT, measurement(100.25, windows=(100.25, 100.25))),
        record(BEST, measurement(200.5, windows=(190.475, 210.525))),
    ),
    "gain within its noise": ranking(
        record(DEFAULT, measurement(100, windows=(95, 105))),
        record(BEST, measurement(103, windows=(98, 108))),
    ),
    "default fails at every load": ranking(
        record(BEST, measurement(150, 5.5), concurrency=4),
        *(record(DEFAULT, measurement(100, 50.5), concurrency=load) for load in (4, 8)),
        by=LATENCY,
    ),
    "failing default has the best objective": ranking(
        record(DEFAULT, measurement(2663, 1.5)),
        record(BEST, measurement(4000, 8.5)),
        by=goal(*at_least(perf_throughput=3900), wished=objectives(perf_latency_p99=10)),
    ),
    "default alone": ranking(record(DEFAULT, measurement(1.5))),
    "two objectives": ranking(
        record(DEFAULT, measurement(80, 22.5, perf_server_queue=1.5)),
        by=goal(wished=objectives(perf_throughput=1, perf_server_queue=1)),
    ),
    "tokens within a limit of p90": ranking(
        record(DEFAULT, measurement(80, 22.5, time_to_first_token_p90=32.5, **TOKENS)),
        by=goal(*at_most(time_to_first_token_p90=50), wished=objectives(output_token_throughput=1)),
    ),
    "tokens without a goal": ranking(record(DEFAULT, measurement(80, 22.5, **TOKENS))),
    "limit of p90": ranking(
        record(BEST, measurement(100, 22.5, perf_latency_p90=8.5)),
        by=goal(*at_most(perf_latency_p90=10)),
    ),
    "by latency": against_default(
        measurement(100, 2.5), by=goal(wished=objectives(perf_latency_p99=1))
    ),
    "loads of several models": models_at_a_rate(99.0, 50.0),
    "client batch": ranking(record(BEST, measurement(1.5), concurrency=8, batch_size=4)),
    "given intervals": ranking(
        record(BEST, measurement(1.5), kind=LoadKind.REQUEST_INTERVALS, concurrency=0)
    ),
    "several GPUs": ranking(
        record(BEST, measurement(2, gpus={f"GPU-{n}": {"gpu_used_memory": 1e3} for n in (0, 1)}))
    ),
    "few requests": repeated(BEST, one_round(STEADY, 0.5)),
    "doubtful rounds": repeated(BEST, one_round(STEADY, 2.0), one_round(STEADY, 2.0)),
    "met by all rounds together": repeated(
        BEST,
        one_round([*STEADY, 30.0, 30.0, 30.0], 0.5),
        *[one_round(STEADY, 0.5)] * 2,
        by=goal(*at_most(perf_latency_p99=20)),
    ),
    "a bold rival": rivals(112, 9.99, by=LATENCY),
    "a rival measured once": rivals(102, 8),
    "conclusion without its objective": concluded(
        goal(wished=objectives(cpu_used_ram=1)), measurement(100), chance=0.1
    ),
    "failed under other loads": ranking(
        record(BEST, measurement(100)),
        *(record(BEST, failure("the server died"), concurrency=load) for load in (16, 32)),
    ),
    "ties": ranking(
        *twice(variant("m_config_0", max_batch_size=2)),
        *(each for n in range(1, 6)
          for each in twice(variant(f"m_config_{n}", max_batch_size=4 * n))),
    ),
    "ties that need more": ranking(
        *twice(variant("m_config_0", max_batch_size=2)),
        *twice(variant("m_config_1", max_batch_size=4)),
        record(variant("m_config_0", max_batch_size=2), measurement(100), concurrency=4),
        *twice(variant("m_config_2", max_batch_size=2, instance_group=[{"count": 2}])),
    ),
}  # fmt: skip


def words(text: str) -> int:
    return sum(any(map(str.isalnum, word)) for word in text.split())


def said_of(ranked: Ranking) -> str:
    """All that a page says of an answer, a line for each statement."""
    (part,) = summary_page(ranked, where=origin("H200", "A100", "H200")).parts
    statement = part.statement
    lines = [statement.sentence, *statement.lines, *(f"* {line}" for line in statement.folded)]
    for figure in part.figures:
        about = (figure.value, figure.unit, figure.interval, figure.note, figure.change)
        lines.append(f"{figure.label}: {' | '.join(filter(None, about))}")
    lines += [f"{limit.constraint}: {limit.value}" for limit in part.limits]
    lines += [*part.recommended, part.shortage, part.gpus, *part.notices]
    lines += [": ".join(row) for row in part.method]
    return "".join(f"{line}\n" for line in filter(None, lines))


def test_what_is_said_of_an_answer_is_as_ever() -> None:
    texts = {f"{name.replace(' ', '_')}.txt": said_of(case) for name, case in CASES.items()}

    check_folder("answers", texts)


def shown_beside_the_tiles(page: str) -> str:
    """The text of the answer on a page, without its tiles, chips, buttons and what is folded."""
    text = page[page.index('<section id="answer"') :]
    text = text[: text.index("</section>")]
    text = re.sub(r"(?s)<(dl|ul)\b.*?</\1>|<p class=.actions.*?</p>", " ", text)
    return unescape(re.sub(r"<[^>]*>", " ", text))


@pytest.mark.parametrize("complete", [True, False])
@pytest.mark.parametrize("case", CASES)
def test_an_answer_has_at_most_sixty_words(case: str, complete: bool) -> None:
    page = summary_page(CASES[case], complete=complete)
    statement = page.parts[0].statement

    assert len(statement.lines) <= 2
    assert words(" ".join((statement.sentence, *statement.lines))) <= 60
    assert words(shown_beside_the_tiles(render_summary(page, NOT_DRAWN))) <= 60


@pytest.mark.parametrize(
    ("case", "start"),
    [
        ("rate", "Note: the request rate was not reached"),
        ("doubtful", "Not certain: its values contradict each other"),
        ("met in 1 of 2", "Not certain: it met the constraints in 1 of 2 measurements"),
        ("not measured", "Not certain: GPU Memory Usage has a constraint but was not measured"),
        (
            "noisy machine",
            "Not certain: this machine is too noisy to tell it from another (± 80 %)",
        ),
        ("search unsure", "Not certain: a 63 % chance that it meets"),
        ("everything at once", "Not certain: its values contradict each other; it met"),
    ],
)
def test_what_one_must_know_is_in_the_headline(case: str, start: str) -> None:
    page = summary_page(CASES[case])
    statement = page.parts[0].statement

    assert statement.caution.startswith(start)
    assert statement.sentence.endswith(statement.caution)
    assert statement.caution in shown_beside_the_tiles(render_summary(page, NOT_DRAWN))
    assert statement.is_unsure == start.startswith("Not certain")


@pytest.mark.parametrize("case", CASES)
def test_every_unsure_answer_says_why(case: str) -> None:
    statement = summary_page(CASES[case]).parts[0].statement
    is_said = statement.caution.startswith("Not certain") or not statement.is_met
    assert is_said or not statement.is_unsure
    assert answer_of(CASES[case]).is_unsure <= statement.is_unsure


def test_an_unfinished_run_is_not_certain() -> None:
    page = summary_page(CASES["closed loop"], complete=False)
    assert page.parts[0].statement.caution == "Not certain: the search is not complete."


@pytest.mark.parametrize("case", CASES)
def test_no_sentence_is_lost_by_folding(case: str) -> None:
    statement = summary_page(CASES[case]).parts[0].statement
    shown = {*statement.lines, *statement.folded}
    assert shown >= {*statement.remarks, *statement.details}
    assert not {*statement.lines} & {*statement.folded}


class Case(NamedTuple):
    """A goal, the metric that is its first wish, and the axes of its first chart."""

    by: Goal
    tag: str
    x: str
    y: str


LIMIT = at_most(perf_latency_p99=40)
P99 = "p99 Latency (ms)"
GOALS_FIRST: Mapping[str, Case] = {
    "goodput": Case(
        goal(*LIMIT, wished=objectives(perf_goodput=1)),
        "perf_goodput", P99, "Goodput (infer/sec)",
    ),
    "tokens": Case(
        goal(wished=objectives(output_token_throughput=1)),
        "output_token_throughput", "p99 Time To First Token (ms)",
        "Output Token Throughput (tokens/sec)",
    ),
    "first token": Case(
        goal(wished=objectives(time_to_first_token_avg=1)),
        "time_to_first_token_avg", "Avg Time To First Token (ms)",
        "Output Token Throughput (tokens/sec)",
    ),
    "latency": Case(
        goal(wished=objectives(perf_latency_avg=1)),
        "perf_latency_avg", "Avg Latency (ms)", "Throughput (infer/sec)",
    ),
    "latency within a limit of another": Case(
        goal(*LIMIT, wished=objectives(perf_latency_avg=1)),
        "perf_latency_avg", P99, "Avg Latency (ms)",
    ),
    "memory": Case(
        goal(wished=objectives(cpu_used_ram=1)),
        "cpu_used_ram", P99, "RAM Usage (MB)",
    ),
    "mostly energy": Case(
        goal(wished=objectives(perf_throughput=1, energy_per_inference=3)),
        "energy_per_inference", P99, "GPU Energy Per Inference (J)",
    ),
}  # fmt: skip
TAGS_OF_TOKENS = {"output_token_throughput", "time_to_first_token_avg"}


def ranked(case: Case) -> Ranking:
    """The default and a configuration that is better in everything."""
    made = []
    for name, better in (("m_config_default", 1.0), ("m_config_0", 2.0)):
        of_case = variant(name, max_batch_size=8 if better > 1 else 1)
        for load in (1, 2):
            times = [10 * load / better, 15 * load / better] * round(100 * better * load)
            more: dict[str, Any] = {
                "energy_per_inference": (2 + load) / better,
                "cpu_used_ram": 400 * load / better,
            }
            if case.tag in TAGS_OF_TOKENS:
                more |= {"output_token_throughput": 160 * load * better}
                for each in ("avg", "p99"):
                    more[f"time_to_first_token_{each}"] = 25 * load / better
            made.append(record(of_case, one_round(times, **more), concurrency=load))
    return ranking(*made, by=case.by)


@pytest.fixture(params=[*GOALS_FIRST])
def case(request: pytest.FixtureRequest) -> Case:
    return GOALS_FIRST[request.param]


def axes_of(spec: Mapping[str, Any]) -> tuple[str, str]:
    (titles,) = {
        tuple(layer["encoding"][axis]["title"] for axis in ("x", "y"))
        for layer in spec["layer"]
        if all(layer["encoding"].get(axis, {}).get("title") for axis in ("x", "y"))
    }
    return titles[0], titles[1]


def is_about(text: str, tag: str) -> bool:
    """Whether a header or a value is that of the metric, in short or in full."""
    short = {"output_token_throughput": "tokens/s", "cpu_used_ram": "RAM MB",
             "perf_latency_avg": "average latency", "energy_per_inference": "J/infer"}  # fmt: skip
    names = (METRICS[tag].name, short.get(tag, METRICS[tag].name))
    return any(name.lower() in text.lower() for name in names)


def test_it_is_an_axis_of_the_first_chart(case: Case) -> None:
    (part,) = summary_page(ranked(case)).parts
    assert axes_of(part.charts[0].spec) == (case.x, case.y)
    is_high = METRICS[case.tag].gain(1, 0) > 0 or METRICS[case.tag].name not in case.y
    side = "higher" if is_high else "lower"
    assert f"; {side} and further left is better." in part.charts[0].caption
    if part.budget is not None:  # the handle of the limit is in the same chart
        assert part.budget.chart == part.charts[0].key
    result = ranked(case).results[0]
    detail = build_detail(result, goal=case.by, origin=origin(), configuration="")
    over_latency = [chart for chart in detail.charts if chart.name != "latency_breakdown"]
    assert axes_of(over_latency[0].spec) == (case.x, case.y)
    drawn = sparkline(ranked(case))
    assert drawn is not None
    assert case.y.partition(" (")[0] in drawn.label


def test_it_is_first_in_sentence_figures_and_manifest(case: Case) -> None:
    answer = answer_of(ranked(case))
    texts = "".join(headline(answer))
    assert is_about(texts.partition(" gives ")[2].partition(", ")[0], case.tag)
    (part,) = summary_page(ranked(case)).parts
    figures = [figure.label for figure in part.figures if "Gain" not in figure.label]
    assert figures[0] == METRICS[case.tag].name
    if len(case.by.wishes) == 1:
        assert f"% better by {METRICS[case.tag].name} than the default" in texts
    written = manifest(answer, origin(), {"m": ""})
    assert is_about(written.splitlines()[0].partition(",")[0], case.tag)


def test_it_is_the_first_metric_of_every_table(case: Case) -> None:
    of_case = ranked(case)
    answer = answer_of(of_case)
    assert is_about(summary_table(of_case.results, of_case).headers[1], case.tag)
    assert is_about(answer_table(of_case.results, case.by).headers[4], case.tag)
    assert is_about(hardware_table([answer]).headers[5], case.tag)
    explorer = summary_page(of_case).explorer
    assert next(key for key in explorer.order if key in METRICS) == case.tag
    columns = columns_of([{"model": "m", **dict.fromkeys(METRICS, 1.0)}], case.by.wishes)
    assert columns[1] == case.tag


def test_it_is_the_first_number_of_the_fleet(case: Case) -> None:
    answer = answer_of(ranked(case))
    model = FleetModel(answer=ModelAnswer(model="m", answers=(answer,)), link="")
    page = fleet_page([model], written="", tool="")
    names = [column.name for column in page.columns]
    assert names[names.index("Answer") + 1] == METRICS[case.tag].name
    assert answer.best is not None
    shown = page.rows[0].cells[names.index("Answer") + 1]
    assert shown.value == answer.best.best.measurement.value(case.tag)
    values = [cell.value for cell in page.rows[0].cells if cell.value is not None]
    assert len(values) == len(set(values))  # each in one column


def test_the_columns_that_scripts_know_stay_in_their_places() -> None:
    usual = resolved("").settings.export.inference_fields
    wished = resolved("objectives: {perf_goodput: 1}\nlatency_budget: 5")
    assert wished.settings.export.inference_fields == (*usual, "perf_goodput")
    known = resolved("objectives: {perf_latency_p99: 1}")
    assert known.settings.export.inference_fields == usual


def test_models_with_different_goals_have_one_column_of_them() -> None:
    models = [
        FleetModel(
            answer=ModelAnswer(model=name, answers=(answer_of(ranked(GOALS_FIRST[name])),)), link=""
        )
        for name in ("goodput", "memory")
    ]
    page = fleet_page(models, written="", tool="")
    (place,) = (place for place, column in enumerate(page.columns) if column.key == "goal")
    texts = [row.cells[place].text for row in page.rows]
    assert texts == ["Goodput 800 infer/sec", "RAM Usage 200 MB"]


@pytest.mark.parametrize(("limit", "times"), [(40.0, 1), (25.0, 2)])
def test_throughput_is_not_repeated_where_every_request_was_in_time(
    limit: float, times: int
) -> None:
    by = goal(*at_most(perf_latency_p50=limit), wished=objectives(perf_goodput=1))
    measured = record(variant("m_config_0"), one_round([20.0] * 30 + [30.0] * 20, 1.0))

    sentence = "".join(headline(answer_of(ranking(measured, by=by))))

    assert sentence.count("infer/sec") == times
    assert "Goodput" in sentence
