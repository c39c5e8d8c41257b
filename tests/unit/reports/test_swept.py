# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""What a user swept is named wherever a configuration is: also what is inside JSON."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from model_analyzer.app.checkpoints.show import choose_trials, content_tables, parse_query
from model_analyzer.domain.models import model_and_field
from model_analyzer.reports.build import state_answer
from model_analyzer.reports.fleet import FleetModel, fleet_page
from model_analyzer.reports.kubernetes import manifest
from model_analyzer.reports.parameters import is_swept, parameter_name
from model_analyzer.reports.tables import answer_table, summary_table
from model_analyzer.results.answer import ModelAnswer, answer_of
from model_analyzer.results.columns import rows_of
from model_analyzer.results.ranking import Ranking
from model_analyzer.state.api import Checkpoint
from model_analyzer.state.profile_state import ProfileState
from tests.unit.builders import measurement, origin, ranking, record, summary_page, trial, variant


def parameters(**values: str) -> dict[str, Any]:
    return {"parameters": {key: {"string_value": value} for key, value in values.items()}}


def setup(steps: int) -> str:
    return json.dumps({"iterations": steps, "labels": ["a", "b"], "text": 'it\'s "so"'})


# how the default and the best are configured, what is named, and the column of files for programs
SWEEPS: dict[str, tuple[dict[str, Any], dict[str, Any], str, str]] = {
    "a parameter": (
        parameters(iterations="40"), parameters(iterations="10"),
        "iterations", "config.parameters.iterations.string_value",
    ),
    "inside JSON": (
        parameters(setup=setup(40)), parameters(setup=setup(10)),
        "setup.iterations", "config.parameters.setup.string_value.iterations",
    ),
    "a field": (
        {"dynamic_batching": {"max_queue_delay_microseconds": 40}},
        {"dynamic_batching": {"max_queue_delay_microseconds": 10}},
        "Max queue delay (µs)", "config.dynamic_batching.max_queue_delay_microseconds",
    ),
    "a field of an instance group": (
        {"instance_group": [{"kind": "KIND_GPU", "count": 1, "rate_limiter": {"priority": 40}}]},
        {"instance_group": [{"kind": "KIND_GPU", "count": 1, "rate_limiter": {"priority": 10}}]},
        "instance_group.rate_limiter.priority", "config.instance_group.0.rate_limiter.priority",
    ),
}  # fmt: skip


@pytest.fixture(params=[*SWEEPS])
def sweep(request: pytest.FixtureRequest) -> tuple[dict[str, Any], dict[str, Any], str, str]:
    return SWEEPS[request.param]


def ranked(default: dict[str, Any], best: dict[str, Any]) -> Ranking:
    return ranking(
        record(variant("m_config_default", **default), measurement(100, 20)),
        record(variant("m_config_0", **best), measurement(400, 5)),
    )


def test_the_sentence_and_what_is_deployed_name_it(sweep) -> None:
    default, best, name, _ = sweep
    answer = answer_of(ranked(default, best))
    statement = state_answer(answer, complete=True)
    assert f"m_config_0 ({name} 40 → 10) at concurrency 1 gives" in statement.sentence
    (part,) = summary_page(ranked(default, best)).parts
    field = "max_queue_delay_microseconds" if "queue" in name else name.split(".")[-1]
    (change,) = part.changes
    assert change[0].endswith(field)
    assert change[1:] == ("40", "10")
    first = manifest(answer, origin(), {"m": ""}).splitlines()[0]
    assert first.startswith(f"# m_config_0 ({name} 40 → 10): 400 infer/sec")
    model = FleetModel(answer=ModelAnswer(model="m", answers=(answer,)), link="")
    page = fleet_page([model], written="", tool="")
    (place,) = (n for n, column in enumerate(page.columns) if column.key == "configuration")
    assert page.rows[0].cells[place].text.endswith(f", {name} 10")


def test_every_table_has_a_column_of_it(sweep) -> None:
    default, best, name, key = sweep
    of_sweep = ranked(default, best)
    for table in (
        summary_table(of_sweep.results, of_sweep),
        answer_table(of_sweep.results, of_sweep.goal),
        summary_page(of_sweep).explorer.first(2),
    ):
        place = table.headers.index(name)
        assert [str(row[place]) for row in table.rows] == ["10", "40"]
    configurations = (variant("m_config_default", **default), variant("m_config_0", **best))
    rows = rows_of((each.name, record(each, measurement(1))) for each in configurations)
    assert [str(row[key]) for row in rows] == ["40", "10"]


def test_commands_about_checkpoints_have_it(sweep, tmp_path: Path) -> None:
    default, best, name, key = sweep
    with ProfileState(tmp_path) as state:
        for number, config in enumerate((default, best)):
            state.record(trial(variant(f"m_config_{number}", **config)), measurement(100 + number))
        state.save()
    checkpoint = Checkpoint.open(tmp_path)
    table = choose_trials(checkpoint, parse_query([], None, None, None)).table()
    assert [str(row[table.headers.index(name)]) for row in table.rows] == ["40", "10"]
    (shown,) = (table for title, table in content_tables(checkpoint) if "Variants" in title)
    assert name in shown.headers
    assert [str(cell) for cell in checkpoint.to_pandas()[key]] == ["40", "10"]


def test_what_is_the_same_or_not_set_is_not_a_change() -> None:
    default = variant("m_config_default", **parameters(a="1", b="1"))
    best = variant("m_config_0", **parameters(a="1", b="2", c="3", password="s3cr3t"))
    other = variant("m_config_1", **parameters(a="5"))
    measured = zip((default, best, other), (100, 400, 50), strict=True)
    answer = answer_of(ranking(*(record(of, measurement(rate)) for of, rate in measured)))
    sentence = state_answer(answer, complete=True).sentence
    assert "m_config_0 (a 1, b 1 → 2, 2 more) at" in sentence


def test_a_long_value_is_cut_in_the_sentence_and_whole_in_tables() -> None:
    of_sweep = ranked(parameters(text="x" * 50), parameters(text="y" * 50))
    sentence = state_answer(answer_of(of_sweep), complete=True).sentence
    assert f"(text {'x' * 39}… → {'y' * 39}…)" in sentence
    assert "y" * 50 in str(summary_table(of_sweep.results, of_sweep).rows[0])


@pytest.mark.parametrize("text", ["{", "{" * 100_000, '{"a": }', "{}", "", '["a"]'])
def test_a_text_that_is_no_object_is_a_text(text: str) -> None:
    of_sweep = ranked(parameters(text=text), parameters(text="other"))
    assert str(summary_table(of_sweep.results, of_sweep).rows[0][-1]) == "other"


@pytest.mark.parametrize("model", ["", "part.", "dots.and-dashes.v2.", "outer.inner."])
@pytest.mark.parametrize(
    ("field", "name", "swept"),
    [
        ("max_batch_size", "Max batch size", False),
        ("instance_group.0.count", "Instances", False),
        ("dynamic_batching.max_queue_delay_microseconds", "Max queue delay (µs)", True),
        ("parameters.a.string_value.max_batch_size", "a.max_batch_size", True),
        ("optimization.graph.level", None, True),
    ],
)
def test_names_of_models_may_contain_dots(model: str, field: str, name, swept: bool) -> None:
    parameter = f"config.{model}{field}"
    expected = f"{name} of {model[:-1]}" if model else name
    assert parameter_name(parameter) == (expected if name else model + field)
    assert is_swept(parameter) is swept
    assert model_and_field(parameter) == (model[:-1], field)


def test_models_with_dots_keep_the_columns_of_the_others() -> None:
    def calls(limit: int) -> dict[str, Any]:
        parts = [
            variant(f"{model}_c", model=model, max_batch_size=limit) for model in ("a.b-c", "d")
        ]
        return {"composing": parts, "ensemble_scheduling": {"step": []}}

    of_sweep = ranked(calls(8), calls(4))
    headers = answer_table(of_sweep.results, of_sweep.goal).headers
    assert ("Batch" in headers, [each for each in headers if "a.b-c" in each]) == (True, [])
