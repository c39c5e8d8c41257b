# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The option `load`."""

from __future__ import annotations

import jsonschema
import pytest

from model_analyzer.config.traffic_options import OpenLoad
from model_analyzer.domain.traffic import Arrivals, Stage, Traffic
from model_analyzer.domain.trials import LoadKind
from tests.unit.builders import model_settings, plain, profile_problems, resolved, yaml


def test_arrivals_at_listed_rates() -> None:
    model = model_settings("load: {arrivals: gamma, rate: {start: 50, stop: 100, step: 50}, cv: 2}")
    assert model.load_kind is LoadKind.REQUEST_RATE
    assert model.loads == (50, 100)
    assert model.traffic == Traffic(arrivals=Arrivals.GAMMA, cv=2.0)
    assert model.in_rounds


def test_rates_are_searched_if_none_is_listed() -> None:
    model = model_settings("load: {arrivals: poisson, seed: 7}")
    assert (model.load_kind, model.loads) == (LoadKind.REQUEST_RATE, ())
    assert model.traffic == Traffic(arrivals=Arrivals.POISSON, seed=7)


def test_stages_have_their_own_times() -> None:
    model = model_settings("load: {stages: [{rate: 50, for: 30s}, {rate: 400, for: 10}]}")
    assert (model.load_kind, model.loads) == (LoadKind.REQUEST_INTERVALS, (0,))
    assert model.traffic is not None
    assert model.traffic.stages == (Stage(50.0, 30.0), Stage(400.0, 10.0))
    assert str(model.traffic) == "stages (50/s for 30 s, 400/s for 10 s)"


def test_a_log_is_replayed() -> None:
    model = model_settings("load: {replay: log.csv, speed: 2, column: when, unit: ms}")
    assert model.load_kind is LoadKind.REQUEST_INTERVALS
    assert model.traffic is not None
    assert (model.traffic.log, model.traffic.speed) == ("log.csv", 2.0)
    assert (model.traffic.column, model.traffic.unit) == ("when", "ms")


def test_a_column_of_a_log_selects_inputs() -> None:
    text = "load: {replay: log.csv, input: prompt}\nperf_analyzer_flags: {input-data: in.json}"
    selecting = model_settings(text).traffic
    plain_log = model_settings("load: {replay: log.csv}").traffic
    assert selecting is not None
    assert plain_log is not None
    assert selecting.input == "prompt"
    assert str(selecting) == "a replayed log with its inputs"
    # measurements with other inputs are not compared, and earlier keys stay
    assert selecting.meaning == {**plain_log.meaning, "input": "prompt"}


def test_the_path_of_a_log_is_no_part_of_what_is_measured() -> None:
    here, there = (Traffic(arrivals=Arrivals.REPLAY, log=log) for log in ("a.csv", "b.csv"))
    assert here == there
    assert here.meaning == there.meaning


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("load: 5", "expected a mapping with arrivals, stages or replay, found 5"),
        ("load: {rate: 5}", "arrivals is missing"),
        ("load: {}", "load is empty (give arrivals, stages or replay)"),
        ("load: {speed: 2}", "replay is missing"),
        ("load: {unit: ms, column: t, input: n}", "replay is missing"),
        ("load: {arrivals: poisson, rate: []}", "rate is an empty list (leave rate out"),
        ("load: {arrivals: possion}", "expected one of constant, poisson, gamma, found 'possion'"),
        ("load: {arrivals: poisson, rate: 0}", "must be at least 1, found 0"),
        ("load: {arrivals: poisson, cv: 2}", "cv has no effect on poisson arrivals"),
        ("load: {arrivals: gamma}", "gamma arrivals need cv"),
        ("load: {arrivals: gamma, cv: 1e99}", "must be at most 10, found 1e+99"),
        ("load: {arrivals: gamma, cv: 11}", "must be at most 10, found 11"),
        ("load: {arrivals: poisson, speed: 2}", "unknown key 'speed'"),
        ("load: {stages: []}", "expected a list of {rate: 50, for: 30s}, found an empty list"),
        ("load: {stages: 5}", "expected a list of {rate: 50, for: 30s}, found 5"),
        ("load: {stages: [{rate: 50}]}", "for is missing"),
        ("load: {stages: [{rate: 50, for: 0}]}", "must be above 0, found 0"),
        ("load: {stages: [{rate: 50, for: 2h}]}", "the stages together last longer than an hour"),
        ("load: {stages: [{rate: 1e5, for: 60}]}", "have more than 5,000,000 requests"),
        ("load: {stages: [{rate: 0.1, for: 1s}]}", "together have fewer than 10 requests"),
        ("load: {replay: log.csv, input: a}", "input needs the perf_analyzer flag input-data"),
        (
            "load: {replay: log.csv, input: a}\nperf_analyzer_flags: {input-data: zero}",
            "input needs the perf_analyzer flag input-data",
        ),
        (
            "load: {replay: log.csv, input: a}\nperf_analyzer_flags: {input-data: [a, b]}",
            "input needs the perf_analyzer flag input-data",
        ),
        ("load: {arrivals: poisson, input: a}", "unknown key 'input'"),
        ("load: {replay: log.csv, unit: minutes}", "expected one of s, ms, us, ns"),
        ("load: {replay: log.csv, speed: 1e16}", "must be at most 1e+15, found 1e+16"),
        ("load: {arrivals: poisson, rate: 1000000000}", "must be at most 100000, found 1000000000"),
        ("load: {stages: [{rate: 1e9, for: 0.001}]}", "must be at most 100000, found 1e+09"),
        ("load: {arrivals: poisson}\nconcurrency: 4", "load is also given by concurrency"),
        (
            "load: {arrivals: poisson}\nperf_analyzer_flags: {measurement-interval: 100}",
            "load does not go with the perf_analyzer flag measurement-interval",
        ),
        (
            "load: {arrivals: poisson}\nperf_analyzer_flags: {request-distribution: poisson}",
            "load does not go with the perf_analyzer flag request-distribution",
        ),
        ("load: {arrivals: poisson}\nmeasurement: perf_analyzer", "load needs measurement: auto"),
        ("load: {arrivals: poisson}\ntriton_launch_mode: c_api", "load does not go with"),
    ],
)
def test_problems_are_told_where_they_are(text: str, message: str) -> None:
    (problem,) = profile_problems(text)
    assert message in problem
    assert problem.startswith("f.yaml:")


def test_the_load_of_a_model_overrides_the_global_one() -> None:
    text = """
load: {arrivals: poisson, rate: 5}
profile_models: {m: {load: {arrivals: constant, rate: 7}}}
"""
    assert model_settings(text).loads == (7,)
    text = """
load: {arrivals: poisson, rate: 5}
profile_models: {m: {parameters: {request_rate: 9}}}
"""
    model = model_settings(text)
    assert (model.traffic, model.loads) == (None, (9,))


@pytest.mark.parametrize("own", ["concurrency: [1]", "request_rate: [1]"])
def test_a_load_of_all_models_that_a_model_overrides_is_told(own: str) -> None:
    text = f"""
load: {{arrivals: poisson, rate: 5}}
profile_models: {{m: {{parameters: {{{own}}}}}}}
"""
    assert resolved(text).remarks == (
        f"f.yaml:2:7: load has no effect for model 'm': its load is {own.split(':')[0]}",
    )


def test_a_search_bound_for_another_kind_of_load_is_told() -> None:
    text = """
load: {arrivals: poisson, rate: 5}
run_config_search_max_concurrency: 16
profile_models: m
"""
    assert resolved(text).remarks == (
        "f.yaml:3:36: run_config_search_max_concurrency has no effect for model 'm': its load is"
        " Poisson arrivals",
    )


def test_a_load_of_a_model_is_no_remark_about_that_of_all() -> None:
    text = """
load: {arrivals: poisson, rate: 5}
profile_models: {m: {load: {arrivals: constant, rate: 7}}}
"""
    assert not resolved(text).remarks


@pytest.mark.parametrize(
    "text",
    [
        "{arrivals: gamma, cv: 2, rate: [1, 2], seed: 3}",
        "{arrivals: Poisson, rate: '1,2'}",
        "{stages: [{rate: 5, for: 30s}], seed: 1}",
        "{replay: a.csv, speed: 0.5, column: t, unit: ns, input: prompt}",
    ],
)
def test_the_schema_accepts_what_is_read(text: str) -> None:
    node = yaml(text)
    OpenLoad().parse(node)
    jsonschema.validate(plain(node), dict(OpenLoad().schema()))


@pytest.mark.parametrize(
    "text", ["{rate: 5}", "{stages: [{rate: 5}]}", "{replay: a, cv: 1}", "{arrivals: odd}"]
)
def test_the_schema_refuses_what_is_refused(text: str) -> None:
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(plain(yaml(text)), dict(OpenLoad().schema()))


def test_several_generators_send_an_open_load() -> None:
    model = model_settings("load: {arrivals: poisson, rate: 2000}\ngenerators: 3")
    assert model.traffic == Traffic(arrivals=Arrivals.POISSON, generators=3)
    one = model_settings("load: {arrivals: poisson, rate: 2000}").traffic
    assert one is not None
    assert "generators" not in one.meaning
    # trials with another number of them are measured again
    assert one.meaning != model.traffic.meaning


def test_generators_without_an_open_load() -> None:
    (problem,) = profile_problems("generators: 2")
    assert "generators need the option load" in problem
