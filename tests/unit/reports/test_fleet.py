# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The overview of models: what each row says."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from html import unescape
from typing import Any

import pytest

from model_analyzer.domain.profiles import TrialRecord
from model_analyzer.reports.fleet import (
    HEIGHT,
    WIDTH,
    FleetCell,
    FleetModel,
    FleetPage,
    fleet_page,
    render_fleet,
    sparkline,
)
from model_analyzer.results.answer import ModelAnswer, answer_of
from model_analyzer.results.ranking import Ranking
from tests.unit.builders import (
    at_most,
    conclusion,
    failure,
    goal,
    known,
    measurement,
    ranking,
    record,
    variant,
)


def records(model: str = "m", *, best: float = 200, **metrics: Any) -> list[TrialRecord]:
    """The default, and a configuration that gives more."""
    default = variant(f"{model}_config_default", model=model, max_batch_size=1)
    tuned = variant(
        f"{model}_config_0",
        model=model,
        max_batch_size=8,
        dynamic_batching={},
        instance_group=[{"count": 2, "kind": "KIND_CPU"}],
    )
    return [
        *(
            record(default, measurement(rate, 10, windows=[rate] * 3), concurrency=load)
            for load, rate in ((1, 80), (4, 100))
        ),
        record(tuned, measurement(best, 20, windows=[best] * 3, **metrics), concurrency=4),
    ]


def fleet_model(ranked: Ranking, *, source: str = "", is_complete: bool = True) -> FleetModel:
    return FleetModel(
        answer=ModelAnswer(model=ranked.model, answers=(answer_of(ranked),)),
        link=f"summaries/{ranked.model}/result_summary.html",
        source=source,
        is_complete=is_complete,
    )


def page_of(*models: FleetModel, remarks: tuple[str, ...] = ()) -> FleetPage:
    return fleet_page(models, written="today", tool="model-analyzer 1", remarks=remarks)


def cells_of(ranked: Ranking, *, is_complete: bool = True) -> Mapping[str, FleetCell]:
    """The cells of the only row, by column."""
    page = page_of(fleet_model(ranked, is_complete=is_complete))
    (row,) = page.rows
    return {column.key: cell for column, cell in zip(page.columns, row.cells, strict=True)}


def test_a_row_has_the_answer_its_gain_and_its_limits() -> None:
    cells = cells_of(ranking(*records(), by=goal(*at_most(perf_latency_p99=40))))

    texts = {key: cell.text for key, cell in cells.items()}
    assert texts == {
        "model": "m",
        "answer": "recommended",
        "throughput": "200",
        "latency": "p99 20.0",
        "gain": texts["gain"],
        "limits": "✓ p99 ≤ 40 ms",
        "configuration": "2:CPU, max batch 8, dynamic",
        "load": "concurrency 4",
    }
    assert texts["gain"].startswith("+100")
    assert (cells["throughput"].value, cells["latency"].value) == (200, 20)
    assert cells["gain"].value == pytest.approx(100)
    assert cells["limits"].style == "met"
    assert cells["limits"].title == "Max p99 Latency: 40 ms (20.0)"
    assert cells["configuration"].title.startswith("m_config_0: ")


def test_missed_limits_are_shown_with_their_excess_and_without_a_gain() -> None:
    cells = cells_of(ranking(*records(), by=goal(*at_most(perf_latency_p99=5))))

    assert (cells["answer"].text, cells["answer"].style) == ("limits missed", "missed")
    assert cells["limits"].text == (
        "✗ missed by 100 %: a limit of 10 ms would be met by m_config_default"
    )
    assert cells["limits"].style == "missed"
    assert cells["limits"].value == pytest.approx(100)
    assert cells["gain"].text == ""


def test_models_that_need_a_person_are_first_and_names_are_in_natural_order() -> None:
    good = [
        fleet_model(ranking(*records(model=name), model=name)) for name in ("a_10", "a_9", "a_2")
    ]
    by = goal(*at_most(perf_latency_p99=5))
    missed = fleet_model(ranking(*records(model="z"), by=by, model="z"))
    names = [row.cells[0].text for row in page_of(*good, missed).rows]
    assert names == ["z", "a_2", "a_9", "a_10"]


def test_limits_that_one_of_several_measurements_missed_are_doubtful() -> None:
    made = records()
    again = made[-1]._replace(
        trial=replace(made[-1].trial, repetition=1), outcome=measurement(200, 42, windows=[200] * 3)
    )
    cells = cells_of(ranking(*made, again, by=goal(*at_most(perf_latency_p99=35))))

    assert (cells["limits"].text, cells["limits"].style) == ("? p99 ≤ 35 ms", "unchecked")
    assert cells["limits"].title.endswith("met in 1 of 2 measurements")
    assert cells["answer"].text == "uncertain"


def test_a_limit_that_was_not_measured_is_neither_met_nor_missed() -> None:
    by = goal(*at_most(perf_server_queue=5))
    cells = cells_of(ranking(*records(), by=by))
    assert (cells["limits"].text, cells["limits"].style) == ("? not measured", "unchecked")


def test_where_the_default_is_best_there_is_no_gain() -> None:
    cells = cells_of(ranking(*records(best=50)))
    assert (cells["answer"].text, cells["gain"].text) == ("keep the default", "")
    assert cells["limits"].text == "no limits"


def test_a_model_without_a_measurement_has_an_empty_row() -> None:
    broken = ranking(record(variant(), failure()))
    cells = cells_of(broken)

    assert cells["answer"].text == "not measured"
    assert {cell.text for key, cell in cells.items() if key not in ("model", "answer")} == {""}
    assert page_of(fleet_model(broken)).rows[0].spark is None


@pytest.mark.parametrize(
    ("chance", "text", "value"), [(0.05, "95", 0.95), (0.001, ">99", 0.999), (0.999, "<1", 0.001)]
)
def test_the_certainty_is_that_of_the_search(chance: float, text: str, value: float) -> None:
    made = records()
    ending = replace(conclusion(made[-1].trial, trials=3), chance=chance)
    cells = cells_of(ranking(*made, conclusion=ending))

    assert cells["certainty"].text == text
    assert cells["certainty"].value == pytest.approx(value)
    assert "The search stopped" in cells["certainty"].title
    assert cells["answer"].text == ("uncertain" if chance > 0.5 else "recommended")


def test_a_run_that_was_interrupted_is_unfinished_and_uncertain() -> None:
    cells = cells_of(ranking(*records()), is_complete=False)
    assert (cells["certainty"].text, cells["answer"].text) == ("unfinished", "uncertain")


def test_columns_that_no_model_needs_are_left_out() -> None:
    plain = page_of(fleet_model(ranking(*records())))
    tokens = records("llm", output_token_throughput=812.4, time_to_first_token_p99=48)
    several = page_of(
        fleet_model(ranking(*records()), source="a"),
        fleet_model(ranking(*tokens, model="llm"), source="b"),
    )

    optional = {"checkpoint", "tokens", "first-token", "certainty", "cost", "hardware"}
    assert not optional & {column.key for column in plain.columns}
    assert optional & {column.key for column in several.columns} == {
        "checkpoint", "tokens", "first-token",
    }  # fmt: skip


def test_the_same_model_of_two_checkpoints_has_two_rows() -> None:
    page = page_of(
        fleet_model(ranking(*records()), source="a"), fleet_model(ranking(*records()), source="b")
    )

    assert [[cell.text for cell in row.cells[:2]] for row in page.rows] == [["m", "a"], ["m", "b"]]
    assert page.sentence == "2 models: 2 recommended."


def test_many_rows_are_compact() -> None:
    assert not page_of(*[fleet_model(ranking(*records()))] * 20).is_compact
    assert page_of(*[fleet_model(ranking(*records()))] * 21).is_compact


def test_whatever_a_model_is_called_is_text_and_its_link_a_path() -> None:
    name = '<b>"x" & y%'
    html = render_fleet(
        page_of(fleet_model(ranking(*records(name), model=name)), remarks=("<i>left out",))
    )

    assert "<b>" not in html
    assert "<i>" not in html
    (link,) = re.findall(r'<a href="([^"]*)"', html)
    assert link == "summaries/%3Cb%3E%22x%22%20%26%20y%25/result_summary.html"


def test_the_page_loads_nothing_from_elsewhere() -> None:
    html = render_fleet(page_of(fleet_model(ranking(*records()))))
    assert "default-src 'none'" in unescape(html)
    assert not re.search(r"(src|href)=\"(https?:|//)", html)


# ------------------------------------------------------------------------------------ pictures


def test_a_picture_has_all_measurements_and_the_best() -> None:
    picture = known(sparkline(ranking(*records(), by=goal(*at_most(perf_latency_p99=15)))))

    # the default meets the limit
    assert picture.best == (0.0, HEIGHT / 2)
    assert sorted(picture.dots) == [(0.0, HEIGHT / 2), (0.0, 14.4), (WIDTH, 0.0)]
    assert list(picture.front) == [(0.0, HEIGHT / 2), (WIDTH, 0.0)]
    assert picture.limit is not None
    assert 0 < picture.limit < WIDTH
    assert "3 measurements" in picture.label


def test_a_limit_outside_the_picture_is_not_drawn() -> None:
    picture = known(sparkline(ranking(*records(), by=goal(*at_most(perf_latency_p99=500)))))
    assert picture.limit is None


def test_a_single_measurement_is_in_the_middle() -> None:
    picture = known(sparkline(ranking(record(variant(), measurement(100, 10)))))
    assert picture.dots == ((WIDTH / 2, 0.0),)


def test_a_large_search_is_thinned() -> None:
    made = [
        record(variant(f"m_config_{n}", max_batch_size=n + 1), measurement(100 + n, 10 + n))
        for n in range(200)
    ]
    picture = known(sparkline(ranking(*made)))
    assert len(picture.dots) == 60
    assert len(picture.front) == 40
