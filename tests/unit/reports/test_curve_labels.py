# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Labels inside the chart of all measurements, its axes, and memory without a chart."""

from __future__ import annotations

from typing import Any

import pytest

from model_analyzer.reports.build import Summary
from model_analyzer.reports.plots import Chart
from model_analyzer.results.ranking import Ranking
from tests.features.capacity.replicas import capacity, closed_load
from tests.unit.builders import measurement, ranking, record, summary_page, variant

DEFAULT = variant("m_config_default")
LARGE = variant("m_config_0", max_batch_size=8)


def summary(ranked: Ranking) -> Summary:
    (part,) = summary_page(ranked).parts
    return part


def chart(ranked: Ranking, name: str = "throughput_v_latency") -> Chart:
    (drawn,) = [chart for chart in summary(ranked).charts if chart.name == name]
    return drawn


def labels(ranked: Ranking) -> list[list[str]]:
    """The texts of each layer of labels: loads, then names."""
    return [
        [value["text"] for value in layer["data"]["values"]]
        for layer in chart(ranked).spec["layer"]
        if layer.get("mark", {}).get("style") == "label"
    ]


def curve(*points: tuple[float, float]) -> Ranking:
    return ranking(
        *(
            record(LARGE, measurement(rate, p99), concurrency=2**number)
            for number, (rate, p99) in enumerate(points)
        )
    )


def test_the_best_line_has_its_loads_and_its_knee() -> None:
    bent = curve((100, 10), (200, 11), (390, 12), (400, 20), (410, 28))
    assert sorted(labels(bent)[0]) == ["1", "16", "2", "4 (knee)", "8"]
    assert "numbers along its line are loads" in chart(bent).caption


def test_the_knee_of_the_chart_is_that_of_capacity() -> None:
    points = ((100, 10), (200, 20), (300, 30), (400, 40))
    loads = [closed_load(2**number, *point) for number, point in enumerate(points)]
    known = capacity(*loads, constraints=()).replica.knee
    assert known is not None

    (knee,) = [text for text in labels(curve(*points))[0] if "knee" in text]
    assert knee == f"{known.concurrency} (knee)"


def test_a_line_that_grows_in_proportion_has_no_knee() -> None:
    straight = curve((100, 10), (200, 20), (380, 30), (700, 40))
    assert sorted(labels(straight)[0]) == ["1", "2", "4", "8"]


def test_labels_that_would_overlap_are_left_out() -> None:
    assert labels(curve((100, 10), (100.1, 10.01), (400, 20)))[0] == ["1 (knee)", "4"]


def test_lines_have_names_without_that_of_the_model() -> None:
    ranked = ranking(
        record(DEFAULT, measurement(100, 10)),
        record(LARGE, measurement(400, 50)),
        record(variant("m_config_1", max_batch_size=4), measurement(399, 50)),
    )
    assert labels(ranked)[1] == ["config_0", "config_default"]


def scale(ranked: Ranking, name: str) -> dict[str, Any]:
    drawn: dict[str, Any] = chart(ranked, name).spec["layer"][0]["encoding"]["y"]["scale"]
    return drawn


@pytest.mark.parametrize(("slow", "kind"), [(90, "log"), (70, "linear")])
def test_an_axis_is_logarithmic_if_the_default_squashes_the_others(slow: float, kind: str) -> None:
    ranked = ranking(
        *(record(DEFAULT, measurement(100, slow), concurrency=n) for n in (1, 2)),
        *(record(LARGE, measurement(400, 18 + n), concurrency=n) for n in (1, 2)),
    )
    assert scale(ranked, "latency_v_concurrency")["type"] == kind


@pytest.mark.parametrize(("other", "from_zero"), [(92, False), (80, True)])
def test_an_axis_begins_at_zero_unless_all_values_are_close(other: float, from_zero: bool) -> None:
    ranked = ranking(
        record(LARGE, measurement(100, 5)), record(LARGE, measurement(other, 6), concurrency=2)
    )
    assert scale(ranked, "throughput_v_concurrency")["zero"] is from_zero


def test_memory_that_is_the_same_everywhere_is_a_sentence() -> None:
    def with_memory(other: float) -> Summary:
        return summary(
            ranking(
                record(LARGE, measurement(100, 5, host={"cpu_used_ram": 512.4})),
                record(LARGE, measurement(90, 4, host={"cpu_used_ram": other}), concurrency=2),
            )
        )

    same, different = with_memory(500), with_memory(300)
    assert same.same_memory == "RAM Usage is the same in all these measurements: 512 MB."
    assert different.same_memory == ""
    assert "cpu_mem_v_latency" not in [each.name for each in same.charts]
    assert "cpu_mem_v_latency" in [each.name for each in different.charts]
