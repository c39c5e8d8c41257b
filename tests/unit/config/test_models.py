# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The forms of `profile_models`, and what a model may set for itself."""

from __future__ import annotations

import pytest

from model_analyzer.config.model_options import Models
from tests.phrases import NOT_AN_INTEGER
from tests.unit.builders import flag, parse_problem, parse_problems, yaml


def names(written: str) -> list[str]:
    return [model.name for model in Models().parse(yaml(written))]


@pytest.mark.parametrize(
    "written",
    [
        "a,b",
        "' a , b '",
        "[a, b]",
        "{a: {}, b: {}}",
        "{a: , b: }",
        "[a, {b: {cpu_only: true}}]",
        "[{a: {}, b: {}}]",
        "['a,b']",
    ],
)
def test_every_form_names_the_models_in_order(written: str) -> None:
    assert names(written) == ["a", "b"]


def test_models_on_the_command_line_are_text_with_commas() -> None:
    assert [model.name for model in Models().parse(flag("a, b,c"))] == ["a", "b", "c"]


def test_a_model_named_twice_is_one_model_as_named_last() -> None:
    (model,) = Models().parse(yaml("[a, {a: {cpu_only: true}}]"))
    assert model.given.values == {"cpu_only": True}


@pytest.mark.parametrize("name", ["net_config_3", "a_config_default", "1.5-large", "ünïcode"])
def test_odd_names_are_names(name: str) -> None:
    assert names(f"'{name}'") == [name]
    assert names(f"{{'{name}': {{}}}}") == [name]


@pytest.mark.parametrize("name", ["a/b", "..", ".", ""])
def test_a_name_that_cannot_be_a_directory_is_refused(name: str) -> None:
    problem = parse_problem(Models(), yaml(f"{{'{name}': {{}}}}"))
    assert problem.where == "f.yaml:1:2"
    assert problem.message == f"{name!r} is not a valid model name"


@pytest.mark.parametrize("written", ["[]", "{}"])
def test_at_least_one_model_is_named(written: str) -> None:
    assert parse_problem(Models(), yaml(written)).message == "contains no model name"


def test_the_options_of_a_model_are_a_mapping() -> None:
    problem = parse_problem(Models(), yaml("a: 3"))
    assert problem.where == "f.yaml:1:4"
    assert problem.message == "expected the options of model 'a', found 3"


def test_the_place_of_a_model_is_the_place_of_its_name() -> None:
    first, second = Models().parse(yaml("- a\n- b: {}"))
    assert (first.where, second.where) == ("f.yaml:1:3", "f.yaml:2:3")


def test_problems_of_all_models_are_reported_together() -> None:
    problems = parse_problems(
        Models(),
        yaml(
            "a:\n"
            "  cpu_onyl: true\n"
            "  parameters: {batch_size: 1, concurrency: [1, x]}\n"
            "b:\n"
            "  weighting: 0\n"
            "  objectives: {perf_throughputt: 1}\n"
        ),
    )
    assert [(problem.where, problem.message, problem.hint) for problem in problems] == [
        ("f.yaml:2:3", "unknown option 'cpu_onyl'", "did you mean 'cpu_only'?"),
        ("f.yaml:3:16", "unknown option 'batch_size'", "did you mean 'batch_sizes'?"),
        ("f.yaml:3:48", f"{NOT_AN_INTEGER}, found 'x'", ""),
        ("f.yaml:5:14", "must be above 0, found 0", ""),
        (
            "f.yaml:6:16",
            "unknown metric 'perf_throughputt'",
            "did you mean 'perf_throughput'?",
        ),
    ]


def test_an_unknown_option_of_a_model_lists_those_there_are_if_none_is_near() -> None:
    problem = parse_problem(Models(), yaml("a: {zzz: 1}"))
    assert problem.hint.startswith("one of: cpu_only, parameters, load, objectives")


@pytest.mark.parametrize("written", ["3", "[1]", "text"])
def test_parameters_are_a_mapping(written: str) -> None:
    problem = parse_problem(Models(), yaml(f"a: {{parameters: {written}}}"))
    assert problem.where == "f.yaml:1:17"
    assert problem.message.startswith("expected a mapping, found")


def test_the_smallest_batch_and_load_are_one() -> None:
    (model,) = Models().parse(yaml("a: {parameters: {batch_sizes: 1, concurrency: '1:2'}}"))
    assert model.given.values["parameters"].values == {"batch_sizes": (1,), "concurrency": (1, 2)}
    problems = parse_problems(Models(), yaml("a: {parameters: {batch_sizes: 0, concurrency: 0}}"))
    assert [problem.message for problem in problems] == ["must be at least 1, found 0"] * 2


def test_empty_options_of_a_model_are_not_given() -> None:
    (model,) = Models().parse(yaml("a: {cpu_only: , parameters: {concurrency: }}"))
    assert set(model.given.values) == {"parameters"}
    assert model.given.values["parameters"].values == {}
