# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The forms of `profile_models`, and what a model may set for itself."""

from __future__ import annotations

import pytest

from model_analyzer.config.model_options import ModelNames
from model_analyzer.config.resolve import resolve_report, search_settings
from model_analyzer.domain.goals import Constraint
from model_analyzer.domain.models import unmatched
from model_analyzer.domain.settings import SearchMode
from tests.phrases import NOT_AN_INTEGER, QUICK_DOES_NOT_SUPPORT
from tests.unit.builders import (
    CWD,
    flag,
    parse_problem,
    parse_problems,
    profile_problems,
    resolved,
    settings,
    yaml,
)


def names(written: str) -> list[str]:
    return [model.name for model in ModelNames().parse(yaml(written))]


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
    assert [model.name for model in ModelNames().parse(flag("a, b,c"))] == ["a", "b", "c"]


def test_a_model_named_twice_is_one_model_as_named_last() -> None:
    (model,) = ModelNames().parse(yaml("[a, {a: {cpu_only: true}}]"))
    assert model.given.values == {"cpu_only": True}


@pytest.mark.parametrize("name", ["net_config_3", "a_config_default", "1.5-large", "ünïcode"])
def test_odd_names_are_names(name: str) -> None:
    assert names(f"'{name}'") == [name]
    assert names(f"{{'{name}': {{}}}}") == [name]


@pytest.mark.parametrize("name", ["a/b", "..", ".", ""])
def test_a_name_that_cannot_be_a_directory_is_refused(name: str) -> None:
    problem = parse_problem(ModelNames(), yaml(f"{{'{name}': {{}}}}"))
    assert problem.where == "f.yaml:1:2"
    assert problem.message == f"{name!r} is not a valid model name"


@pytest.mark.parametrize("written", ["[]", "{}"])
def test_at_least_one_model_is_named(written: str) -> None:
    assert parse_problem(ModelNames(), yaml(written)).message == "contains no model name"
    assert ModelNames(may_be_none=True).parse(yaml(written)) == ()


def test_the_options_of_a_model_are_a_mapping() -> None:
    problem = parse_problem(ModelNames(), yaml("a: 3"))
    assert problem.where == "f.yaml:1:4"
    assert problem.message == "expected the options of model 'a', found 3"


@pytest.mark.parametrize(
    "option", ["cpu_only: true", "parameters: {concurrency: 1}", "objectives: [perf_throughput]"]
)
def test_an_option_that_is_not_indented_enough_is_no_model(option: str) -> None:
    (problem,) = parse_problems(ModelNames(), yaml(f"- m:\n  {option}"))
    name = option.partition(":")[0]
    assert problem.message == f"{name} is an option, and stands where a model does"
    assert problem.hint == "indent it further than the name of its model"
    (model,) = ModelNames().parse(yaml("load: {cpu_only: true}"))
    assert model.name == "load"


def test_the_place_of_a_model_is_the_place_of_its_name() -> None:
    first, second = ModelNames().parse(yaml("- a\n- b: {}"))
    assert (first.where, second.where) == ("f.yaml:1:3", "f.yaml:2:3")


def test_problems_of_all_models_are_reported_together() -> None:
    problems = parse_problems(
        ModelNames(),
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
        ("f.yaml:6:16", "unknown metric 'perf_throughputt'", "did you mean 'perf_throughput'?"),
    ]


def test_an_unknown_option_of_a_model_lists_those_there_are_if_none_is_near() -> None:
    problem = parse_problem(ModelNames(), yaml("a: {zzz: 1}"))
    assert problem.hint.startswith("one of: cpu_only, parameters, load, objectives")


@pytest.mark.parametrize("written", ["3", "[1]", "text"])
def test_parameters_are_a_mapping(written: str) -> None:
    problem = parse_problem(ModelNames(), yaml(f"a: {{parameters: {written}}}"))
    assert problem.where == "f.yaml:1:17"
    assert problem.message.startswith("expected a mapping, found")


def test_the_smallest_batch_and_load_are_one() -> None:
    (model,) = ModelNames().parse(yaml("a: {parameters: {batch_sizes: 1, concurrency: '1:2'}}"))
    assert model.given.values["parameters"].values == {"batch_sizes": (1,), "concurrency": (1, 2)}
    problems = parse_problems(
        ModelNames(), yaml("a: {parameters: {batch_sizes: 0, concurrency: 0}}")
    )
    assert [problem.message for problem in problems] == ["must be at least 1, found 0"] * 2


def test_empty_options_of_a_model_are_not_given() -> None:
    (model,) = ModelNames().parse(yaml("a: {cpu_only: , parameters: {concurrency: }}"))
    assert set(model.given.values) == {"parameters"}
    assert model.given.values["parameters"].values == {}


# --------------------------------------------------------- a budget and a search mode of its own


def test_a_model_has_a_budget_of_its_own_or_the_one_of_all() -> None:
    first, second = settings(
        "latency_budget: 20\nprofile_models: {a: {latency_budget: 5}, b: {}}"
    ).models

    assert first.goal.constraints == (Constraint(tag="perf_latency_p99", maximum=5),)
    assert second.goal.constraints == (Constraint(tag="perf_latency_p99", maximum=20),)


def test_a_model_has_a_search_mode_of_its_own_or_the_one_of_all() -> None:
    chosen = settings(
        "search: brute\nprofile_models: {a: {search: quick}, b: {}, c: {search: adaptive}}\n"
        "budget: 30s"
    )

    assert [chosen.chosen_mode([name]) for name in "abc"] == [
        SearchMode.QUICK, SearchMode.BRUTE, SearchMode.ADAPTIVE,
    ]  # fmt: skip
    assert [chosen.budget_of([name]).seconds for name in "abc"] == [None, None, 30]
    modes = [search_settings(chosen, [name])["search.mode"] for name in "abc"]
    assert modes == ["quick", "brute", "adaptive"]


def test_both_names_of_the_search_mode_of_a_model_must_agree() -> None:
    (problem,) = profile_problems(
        "profile_models: {a: {search: quick, run_config_search_mode: brute}}"
    )
    assert "are the same option" in problem


def test_only_a_model_with_quick_search_must_be_fit_for_it() -> None:
    text = "profile_models: {a: {search: quick}, b: {parameters: {concurrency: [1, 2]}}}"
    assert len(settings(text).models) == 2
    swapped = text.replace("{search: quick}", "{}").replace(
        "{parameters", "{search: quick, parameters"
    )
    assert any(QUICK_DOES_NOT_SUPPORT in problem for problem in profile_problems(swapped))


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ("profile_models: {a: {search: quick}, b: {}}\nconcurrency: 4", "does not support concurr"),
        (
            "profile_models: {a: {search: quick}}\nmax_trials: 9",
            "max_measurements needs search mode adap",
        ),
        (
            "profile_models: {a: {search: adaptive}, b: {}}\nrun_config_search_disable: true",
            "cannot be combined with search mode adaptive",
        ),
        (
            "profile_models: {a: {search: brute}}\nbls_composing_models: [c]",
            "search mode brute cannot search bls_composing_models",
        ),
        (
            "run_config_profile_models_concurrently_enable: true\n"
            "profile_models: {a: {search: quick}, b: {search: adaptive}}",
            "those of a and b differ",
        ),
    ],
)
def test_the_rules_of_a_mode_hold_if_one_model_has_it(options: str, problem: str) -> None:
    assert any(problem in each for each in profile_problems(options))


def test_a_server_that_never_loads_models_has_no_mode_of_a_model() -> None:
    (model,) = settings(
        "profile_models: {a: {search: adaptive}}\ntriton_launch_mode: remote\n"
        "reload_model_disable: true"
    ).models
    assert model.mode is None


# ------------------------------------------------------------------------------------- patterns


@pytest.mark.parametrize(
    ("text", "models"),
    [
        ("all", ["a_1", "a_2", "b"]),
        ("'*'", ["a_1", "a_2", "b"]),
        ("a_*", ["a_1", "a_2"]),
        ("a_?", ["a_1", "a_2"]),
        ("'[ab]_1'", ["a_1"]),
        ("[b, all]", ["b", "a_1", "a_2"]),
        ("[a_1, a_1]", ["a_1"]),
        ("A_*", []),
        ("c", ["c"]),
    ],
)
def test_a_pattern_stands_for_models_of_the_repository(text: str, models: list[str]) -> None:
    chosen = settings(f"profile_models: {text}").without_patterns(["a_1", "a_2", "b"])
    assert [model.name for model in chosen.models] == models


def test_a_model_may_be_named_like_a_pattern() -> None:
    chosen = settings("profile_models: [all]").without_patterns(["a", "all"])
    assert [model.name for model in chosen.models] == ["all"]


def test_a_model_has_the_options_of_its_name_or_of_the_last_pattern() -> None:
    chosen = settings(
        "profile_models: {all: {latency_budget: 9}, 'b*': {latency_budget: 7}, b1: {search: quick}}"
    ).without_patterns(["a", "b1", "b2"])

    assert {
        model.name: (model.mode, [bound.maximum for bound in model.goal.constraints])
        for model in chosen.models
    } == {"a": (None, [9]), "b2": (None, [7]), "b1": (SearchMode.QUICK, [])}


def test_a_pattern_that_stands_for_no_model_is_reported() -> None:
    assert unmatched(["x*", "a*", "m", "all"], ["a"]) == ["x*"]
    assert unmatched(["all"], []) == ["all"]


def test_problems_of_a_matching_model_are_at_the_place_of_its_pattern() -> None:
    places = resolved("profile_models: {'a*': {latency_budget: 7}}").places
    assert places.for_model("latency_budget", "a1").startswith("f.yaml:1:")
    assert places.for_model("latency_budget", "b") == "model b"


def test_a_report_judges_a_model_by_the_goal_of_its_pattern() -> None:
    text = "report_model_configs: x\nprofile_models: {'a*': {latency_budget: 7}}"
    report = resolve_report([], yaml(text), CWD).settings
    assert report.asked_goal("a1").bounds == (Constraint(tag="perf_latency_p99", maximum=7),)
    assert report.asked_goal("b").bounds == ()
