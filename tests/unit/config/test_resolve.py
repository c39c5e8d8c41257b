# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""From command line and YAML to settings: who wins, what is inherited, what is refused."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import FrozenInstanceError
from pathlib import Path
from typing import Any

import pytest

from model_analyzer.config.resolve import described, resolve_profile, resolve_report
from model_analyzer.domain.goals import Constraint, ModelGoal
from model_analyzer.domain.settings import ModelSettings, Protocol, SearchMode
from model_analyzer.domain.trials import LoadKind
from model_analyzer.errors import ConfigError
from tests.phrases import GIVEN_TWICE, NOT_AN_INTEGER, ONLY_LOADED, OTHER_LOAD
from tests.unit.builders import (
    CWD,
    at_least,
    at_most,
    model_settings,
    objectives,
    on_line,
    profile_problems,
    resolved,
    settings,
    yaml,
)

# ---------------------------------------------------------------------------------- precedence


def test_the_file_wins_over_the_default_and_the_command_line_over_both() -> None:
    assert settings("").export.best == 3
    assert settings("num_configs_per_model: 5").export.best == 5
    assert settings("num_configs_per_model: 5", num_configs_per_model="7").export.best == 7


def test_each_option_is_decided_for_itself() -> None:
    chosen = settings(
        "client_protocol: http\nperf_analyzer_timeout: 60", perf_analyzer_timeout="90"
    )
    assert (chosen.server.protocol, chosen.load_generator.timeout_s) == (Protocol.HTTP, 90)
    assert chosen.load_generator.max_launches == 10


@pytest.mark.parametrize(
    ("text", "options", "section", "field", "value"),
    [
        (
            "run_config_search_max_binary_search_steps: 0", {},
            "search", "max_binary_search_steps", 0,
        ),
        (
            "run_config_search_max_binary_search_steps: 3",
            {"run_config_search_max_binary_search_steps": "0"},
            "search", "max_binary_search_steps", 0,
        ),
        ("inference_output_fields: []", {}, "export", "inference_fields", ()),
        ("collect_cpu_metrics: 'false'", {}, "monitors", "cpu", False),
        ("collect_cpu_metrics: true", {"collect_cpu_metrics": "false"}, "monitors", "cpu", False),
    ],
)  # fmt: skip
def test_a_zero_an_empty_list_and_a_false_count(
    text: str, options: dict[str, str], section: str, field: str, value: Any
) -> None:
    assert getattr(getattr(settings(text, **options), section), field) == value


def test_the_idle_server_may_be_observed_for_a_fraction_of_a_second() -> None:
    assert settings("duration_seconds: 0.5").monitors.idle_s == 0.5
    assert settings("", duration_seconds="1.5").monitors.idle_s == 1.5


@pytest.mark.parametrize("text", ["num_configs_per_model: null", "num_configs_per_model: ~"])
def test_null_is_not_given(text: str) -> None:
    assert settings(text).export.best == 3
    assert settings(text, num_configs_per_model="4").export.best == 4


def test_a_null_on_a_required_option_leaves_it_missing() -> None:
    (problem,) = profile_problems("profile_models: null")
    assert problem.startswith("profile_models: no model is given")


def test_relative_paths_start_at_the_current_directory() -> None:
    chosen = settings("checkpoint_directory: a/../b\nexport_path: /absolute/./x")
    assert chosen.checkpoint.directory == CWD / "b"
    assert chosen.export.path == Path("/absolute/x")


def test_settings_do_not_change_any_more() -> None:
    chosen = settings("")
    with pytest.raises(FrozenInstanceError):
        chosen.models = ()  # type: ignore[misc]


def test_one_file_may_serve_all_commands() -> None:
    text = "report_model_configs: [m_config_0]\nnum_configs_per_model: 4"
    assert settings(text).export.best == 4


def test_an_empty_file_says_nothing() -> None:
    given = on_line(profile_models="m", model_repository="models")
    assert resolve_profile(given, None, CWD) == resolve_profile(given, yaml("{}"), CWD)


# ------------------------------------------------------------------------------------- problems


def test_an_unknown_option_is_located_and_the_nearest_is_named() -> None:
    (problem,) = profile_problems("perf_analyser_timeout: 3")
    assert problem == (
        "f.yaml:1:1: unknown option 'perf_analyser_timeout' (did you mean 'perf_analyzer_timeout'?)"
    )


def test_all_problems_of_file_and_command_line_are_reported_together() -> None:
    problems = profile_problems(
        "num_configs_per_model: 0\n"
        "client_protocol: grcp\n"
        "monitoring_interval: .nan\n"
        "constraints: {perf_latency_p99: 5}\n"
        "no_such_thing: 1\n",
        perf_analyzer_timeout="soon",
    )
    assert [problem.split(": ")[0] for problem in problems] == [
        "f.yaml:1:24",
        "f.yaml:2:18",
        "f.yaml:3:22",
        "f.yaml:4:33",
        "f.yaml:5:1",
        "--perf-analyzer-timeout",
    ]


def test_a_problem_of_the_command_line_names_the_flag() -> None:
    assert profile_problems("", batch_sizes="1,x") == [
        f"--batch-sizes: {NOT_AN_INTEGER}, found 'x'"
    ]


@pytest.mark.parametrize("text", ["- a", "just text", "3"])
def test_a_file_is_a_mapping_of_options(text: str) -> None:
    given = on_line(profile_models="m", model_repository="models")
    with pytest.raises(ConfigError) as raised:
        resolve_profile(given, yaml(text), CWD)
    (problem,) = raised.value.problems
    assert problem.where == "f.yaml:1:1"
    assert problem.message.startswith("expected a mapping of options, found")


def test_models_and_a_repository_are_needed() -> None:
    with pytest.raises(ConfigError) as raised:
        resolve_profile([], None, CWD)
    assert [problem.where for problem in raised.value.problems] == [
        "profile_models",
        "model_repository",
    ]
    assert all(problem.hint for problem in raised.value.problems)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("profile_models: {m: {zzz: 1}}", "f.yaml:1:22: unknown option 'zzz'"),
        ("profile_models: []", "f.yaml:1:17: contains no model name"),
        ("model_repository: ''", "f.yaml:1:19: expected a path, found empty text"),
    ],
)
def test_an_invalid_option_is_not_reported_as_missing(text: str, problem: str) -> None:
    (message,) = profile_problems(text)
    assert message.startswith(problem)


def test_models_are_named_in_one_place() -> None:
    (problem,) = profile_problems("profile_models: [a]", profile_models="b")
    assert problem == (
        f"--profile-models: {GIVEN_TWICE} f.yaml:1:17 (give the models in one place only)"
    )


@pytest.mark.parametrize("size", ["concurrency", "instance_count", "model_batch_size"])
def test_a_lower_bound_is_not_above_the_upper_one(size: str) -> None:
    low, high = f"run_config_search_min_{size}", f"run_config_search_max_{size}"
    (problem,) = profile_problems(f"{low}: 8\n{high}: 4")
    assert problem == f"f.yaml:1:{len(low) + 3}: {low} (8) is above {high} (4)"
    assert settings(f"{low}: 4\n{high}: 4")


@pytest.mark.parametrize(
    ("text", "bounds"),
    [
        ("run_config_search_min_concurrency: 2048", {"min": 2048, "max": 2048}),
        ("run_config_search_min_request_rate: 10000", {"min": 10000, "max": 10000}),
        ("run_config_search_max_request_rate: 8", {"min": 8, "max": 8}),
        ("run_config_search_min_instance_count: 6", {"min": 6, "max": 6}),
        ("run_config_search_min_model_batch_size: 256", {"min": 256, "max": 256}),
        ("run_config_search_max_concurrency: 2", {"min": 1, "max": 2}),
    ],
)
def test_a_default_bound_gives_way_to_a_given_one(text: str, bounds: Mapping[str, int]) -> None:
    search = settings(text).search
    quantity = text.partition(":")[0].partition("_search_")[2][4:]
    assert {end: getattr(search, f"{end}_{quantity}") for end in bounds} == bounds


@pytest.mark.parametrize(
    ("text", "shares"),
    [
        ("max_percentage_of_search_space: 3", (3, 3)),
        ("min_percentage_of_search_space: 20", (20, 20)),
        ("max_percentage_of_search_space: 30", (5, 30)),
    ],
)
def test_a_default_share_gives_way_to_a_given_one(text: str, shares: tuple[int, int]) -> None:
    optuna = settings(text).search.optuna
    assert (optuna.min_percentage, optuna.max_percentage) == shares


@pytest.mark.parametrize(
    ("text", "gives_way"),
    [
        ("optuna_min_trials: 60", True),
        ("optuna_min_trials: 60\nmax_percentage_of_search_space: 10", False),
        ("min_percentage_of_search_space: 5\noptuna_max_trials: 10", False),
    ],
)
def test_the_default_limit_of_optuna_adapts(text: str, gives_way: bool) -> None:
    assert settings(text).search.optuna.limit_gives_way is gives_way


def test_endpoints_do_not_share_a_port() -> None:
    text = "triton_http_endpoint: localhost:8000\ntriton_metrics_url: http://localhost:8000/metrics"
    (problem,) = profile_problems(text)
    assert problem.startswith("f.yaml:2:21: ")
    assert "share port 8000" in problem
    assert settings(text.replace("8000/", "8002/")).server.http_endpoints == ("localhost:8000",)


@pytest.mark.parametrize("name", ["a/b.csv", "..", "", "/tmp/x.csv"])
def test_the_name_of_a_table_is_not_a_path(name: str) -> None:
    (problem,) = profile_problems(f"filename_model_inference: '{name}'")
    assert problem.startswith(f"f.yaml:1:27: expected the name of a file, found {name!r}")


# ---------------------------------------------------------------- what a model takes from the rest


def two_models(text: str) -> tuple[ModelSettings, ModelSettings]:
    """Model `own`, which sets something for itself, and `other`, which does not."""
    own, other = settings(text).models
    assert (own.name, other.name) == ("own", "other")
    return own, other


@pytest.mark.parametrize(
    ("everywhere", "itself", "field", "of_own", "of_other"),
    [
        ("batch_sizes: [1, 2]", "parameters: {batch_sizes: 8}", "batch_sizes", (8,), (1, 2)),
        ("concurrency: [1, 2]", "parameters: {concurrency: 8}", "loads", (8,), (1, 2)),
        (
            "perf_analyzer_flags: {percentile: 95, shape: 'IN:4'}",
            "perf_analyzer_flags: {percentile: 99}",
            "perf_analyzer_flags", {"percentile": "99"}, {"percentile": "95", "shape": "IN:4"},
        ),
        (
            "triton_server_flags: {log_verbose: 1, rate-limit: off}",
            "triton_server_flags: {rate-limit: execution_count}",
            "server_flags",
            {"rate-limit": "execution_count"}, {"log-verbose": "1", "rate-limit": "off"},
        ),
        (
            "triton_server_environment: {A: 1, B: 2}",
            "triton_server_environment: {A: 3}",
            "server_environment", {"A": "3"}, {"A": "1", "B": "2"},
        ),
    ],
)  # fmt: skip
def test_a_value_of_a_model_replaces_the_whole_global_value(
    everywhere: str, itself: str, field: str, of_own: Any, of_other: Any
) -> None:
    own, other = two_models(f"{everywhere}\nprofile_models: {{own: {{{itself}}}, other: {{}}}}")
    assert getattr(own, field) == of_own
    assert getattr(other, field) == of_other


def test_goals_of_a_model_replace_the_global_ones_as_a_whole() -> None:
    own, other = two_models(
        "objectives: {perf_throughput: 1, gpu_used_memory: 2}\n"
        "constraints: {perf_throughput: {min: 5}, perf_latency_p99: {max: 9}}\n"
        "profile_models:\n"
        "  own: {objectives: [perf_latency_avg], constraints: {gpu_used_memory: {max: 7}},"
        " weighting: 3}\n"
        "  other: {}\n"
    )
    assert own.goal.objectives == objectives(perf_latency_avg=10)
    assert own.goal.constraints == at_most(gpu_used_memory=7)
    assert own.goal.weighting == 3
    assert other.goal.objectives == objectives(perf_throughput=1, gpu_used_memory=2)
    assert other.goal.constraints == (*at_least(perf_throughput=5), *at_most(perf_latency_p99=9))
    assert other.goal.weighting == 1


def test_a_model_may_be_freed_of_the_global_constraints() -> None:
    own, _ = two_models(
        "constraints: {perf_latency_p99: {max: 9}}\n"
        "profile_models: {own: {constraints: {}}, other: {}}"
    )
    assert own.goal.constraints == ()


def test_a_model_that_sets_nothing_is_searched_for_throughput() -> None:
    model = model_settings("")
    assert model.goal.objectives == objectives(perf_throughput=10)
    assert model.goal.constraints == ()
    assert (model.batch_sizes, model.load_kind, model.loads) == ((1,), LoadKind.CONCURRENCY, ())
    assert (model.cpu_only, dict(model.parameters)) == (False, {})


def test_only_models_with_cpu_only_are_searched_on_the_cpu() -> None:
    own, other = two_models("profile_models: {own: {cpu_only: true}, other: {}}")
    assert (own.cpu_only, other.cpu_only) == (True, False)


def test_models_keep_the_order_in_which_they_are_named() -> None:
    assert [model.name for model in settings("profile_models: [z, a, m]").models] == ["z", "a", "m"]


def test_sweeps_reach_the_settings_of_the_model() -> None:
    model = model_settings(
        "profile_models: {m: {model_config_parameters: {max_batch_size: [2, 4]}}}"
    )
    assert dict(model.parameters) == {"max_batch_size": (2, 4)}


def test_without_a_search_the_concurrency_is_one_unless_listed() -> None:
    assert model_settings("run_config_search_disable: true").loads == (1,)
    assert model_settings("run_config_search_disable: true\nconcurrency: 2,4").loads == (2, 4)


# ----------------------------------------------------------------------------------- shorthands


@pytest.mark.parametrize(
    ("constraints", "shorthand", "expected"),
    [
        ("{}", "latency_budget: 10", at_most(perf_latency_p99=10)),
        ("{perf_latency_p99: {max: 20}}", "latency_budget: 10", at_most(perf_latency_p99=10)),
        ("{perf_latency_p99: {max: 5}}", "latency_budget: 10", at_most(perf_latency_p99=5)),
        ("{perf_latency: {max: 5}}", "latency_budget: 10", at_most(perf_latency_p99=5)),
        ("{}", "min_throughput: 100", at_least(perf_throughput=100)),
        ("{perf_throughput: {min: 50}}", "min_throughput: 100", at_least(perf_throughput=100)),
        ("{perf_throughput: {min: 200}}", "min_throughput: 100", at_least(perf_throughput=200)),
        (
            "{gpu_used_memory: {max: 1}}",
            "latency_budget: 0.5",
            at_most(gpu_used_memory=1, perf_latency_p99=0.5),
        ),
    ],
)
@pytest.mark.parametrize("place", ["global", "model"])
def test_a_shorthand_adds_a_constraint_and_keeps_the_tighter_bound(
    place: str, constraints: str, shorthand: str, expected: tuple[Constraint, ...]
) -> None:
    text = (
        f"constraints: {constraints}"
        if place == "global"
        else f"profile_models: {{m: {{constraints: {constraints}}}}}"
    )
    assert model_settings(f"{text}\n{shorthand}").goal.constraints == expected


def test_both_shorthands_apply_to_every_model() -> None:
    for model in settings(
        "profile_models: [a, {b: {constraints: {}}}]", latency_budget="10", min_throughput="100"
    ).models:
        assert model.goal.constraints == (
            *at_most(perf_latency_p99=10),
            *at_least(perf_throughput=100),
        )


@pytest.mark.parametrize("option", ["latency_budget", "min_throughput"])
def test_a_shorthand_of_zero_is_refused(option: str) -> None:
    assert profile_problems(f"{option}: 0") == [
        f"f.yaml:1:{len(option) + 3}: must be above 0, found 0"
    ]


# ----------------------------------------------------------------- perf_analyzer flags with meaning


@pytest.mark.parametrize(
    ("flags", "kind", "loads"),
    [
        ("{concurrency-range: 8}", LoadKind.CONCURRENCY, (8,)),
        ("{concurrency-range: '2:6:2'}", LoadKind.CONCURRENCY, (2, 4, 6)),
        ("{request-rate-range: 100}", LoadKind.REQUEST_RATE, (100,)),
        ("{request-rate-range: '100:300:100'}", LoadKind.REQUEST_RATE, (100, 200, 300)),
        ("{request-intervals: intervals.txt}", LoadKind.REQUEST_INTERVALS, (0,)),
    ],
)
def test_flags_that_define_the_load_list_it(
    flags: str, kind: LoadKind, loads: tuple[int, ...]
) -> None:
    model = model_settings(f"concurrency: [1, 2]\nperf_analyzer_flags: {flags}")
    assert (model.load_kind, model.loads) == (kind, loads)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", True),
        ("measurement: auto", True),
        ("measurement: perf_analyzer", False),
        ("perf_analyzer_flags: {shape: 'IN:4', max-threads: 4, concurrency-range: 2}", True),
        ("perf_analyzer_flags: {measurement-interval: 500}", False),
        ("measurement: auto\nperf_analyzer_flags: {stability-percentage: 999}", False),
        ("perf_analyzer_flags: {percentile: 95}", False),
        ("perf_analyzer_flags: {request-intervals: gaps.txt}", False),
        ("perf_analyzer_flags: {request-count: 100}", False),
        ("model_type: LLM", True),
        ("model_type: LLM\ngenai_perf_flags: {tokenizer: t}", False),
        ("genai_perf_flags: {tokenizer: t}", True),
        ("triton_launch_mode: c_api", False),
        ("triton_launch_mode: remote", True),
    ],
)
def test_rounds_give_way_to_flags_that_say_how_to_measure(text: str, expected: bool) -> None:
    assert model_settings(text).in_rounds is expected


def test_a_model_is_measured_in_its_own_way() -> None:
    text = "profile_models: {m: {measurement: perf_analyzer}, n: {}}\n"
    both = settings(text)
    assert [model.in_rounds for model in both.models] == [False, True]
    both = settings(
        f"measurement: perf_analyzer\n{text.replace('n: {}', 'n: {measurement: auto}')}"
    )
    assert [model.in_rounds for model in both.models] == [False, True]


def test_load_and_batch_size_flags_become_settings() -> None:
    model = model_settings(
        "batch_sizes: [1, 2]\n"
        "perf_analyzer_flags: {batch-size: 4, concurrency-range: 8, percentile: 95}"
    )
    assert model.batch_sizes == (4,)
    assert dict(model.perf_analyzer_flags) == {"percentile": "95"}


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        ("{batch-size: many}", f"{NOT_AN_INTEGER}, found 'many'"),
        ("{batch-size: 0}", "must be at least 1, found 0"),
        ("{concurrency-range: 0}", "must be at least 1, found 0"),
        ("{request-rate-range: 'a:b'}", f"{NOT_AN_INTEGER}, found 'a'"),
    ],
)
def test_an_invalid_load_is_refused(flags: str, message: str) -> None:
    (problem,) = profile_problems(f"profile_models: {{m: {{perf_analyzer_flags: {flags}}}}}")
    assert problem == f"f.yaml:1:{43 + flags.index(': ') + 2}: {message}"


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        ("{async: true, sync: true}", "sync does not go with async"),
        ("{streaming: true, sync: true}", "sync does not go with streaming"),
        ("{streaming: true}", "streaming needs gRPC"),
        ("{request-parameter: 'n:1:int'}", "request-parameter is only sent to a server over gRPC"),
        ("{request-parameter: 'n:1:int', streaming: true}", ""),
        ("{periodic-concurrency-range: '1:10:1'}", "periodic-concurrency-range changes the load"),
        ("{binary-search: true}", "binary-search needs a range of loads"),
        ("{binary-search: false}", ""),
        ("{max-trials: 2}", "perf_analyzer never has a result with max-trials 2"),
        ("{max-trials: 2, request-count: 20}", ""),
        ("{max-trials: 3, async: true, sync: false}", ""),
    ],
)
def test_flags_that_perf_analyzer_refuses_together(flags: str, message: str) -> None:
    protocol = "http" if message.endswith("gRPC") else "grpc"
    text = f"profile_models: {{m: {{perf_analyzer_flags: {flags}}}}}\nclient_protocol: {protocol}"
    if not message:
        assert model_settings(text)
        return
    (problem,) = profile_problems(text)
    assert problem.startswith(f"f.yaml:1:43: m: {message}")


def test_flags_of_any_genai_perf_are_taken() -> None:
    text = "model_type: LLM\ngenai_perf_flags: {output-tokens-mean: 9, new-one: 1, model: x}"
    assert model_settings(text).genai_perf_flags["new-one"] == "1"
    first, second = resolved(text).remarks
    assert "genai-perf flag 'new-one' is unknown: it is given to genai-perf as it is" in first
    assert "genai-perf flag 'model' is ignored" in second


@pytest.mark.parametrize(
    "name",
    [
        "model-name", "url", "protocol", "service-kind", "triton-server-directory",
        "model-repository", "latency-report-file", "verbose-csv",
    ],
)  # fmt: skip
def test_a_flag_that_the_program_decides_is_left_out_with_a_remark(name: str) -> None:
    result = resolved(f"perf_analyzer_flags: {{{name}: mine, percentile: 95}}")
    assert dict(result.settings.models[0].perf_analyzer_flags) == {"percentile": "95"}
    (remark,) = result.remarks
    assert remark.startswith("m: ")
    assert repr(name) in remark


def test_a_repeated_key_is_reported() -> None:
    result = resolved("batch_sizes: 1\nbatch_sizes: 2")
    assert result.remarks == ("f.yaml:2:1: 'batch_sizes' replaces the value at f.yaml:1:1",)


@pytest.mark.parametrize(
    ("text", "remark"),
    [
        (
            "profile_models: {m: {parameters: {request_rate: 4}}}\nconcurrency: 5",
            f"f.yaml:2:14: concurrency {OTHER_LOAD} request_rate",
        ),
        (
            "profile_models: {m: {parameters: {concurrency: 4}}}\nrequest_rate_search_enable: true",
            f"f.yaml:2:29: request_rate_search_enable {OTHER_LOAD} concurrency",
        ),
        (
            "request_rate: 4\nperf_analyzer_flags: {concurrency-range: 5}",
            f"f.yaml:1:15: request_rate {OTHER_LOAD} concurrency",
        ),
    ],
)
def test_a_load_beside_that_which_is_measured_gets_a_remark(text: str, remark: str) -> None:
    assert resolved(text).remarks == (remark,)


def test_a_normal_configuration_has_no_remarks() -> None:
    assert resolved("perf_analyzer_flags: {percentile: 95}").remarks == ()


# -------------------------------------------------------------------------------------- remote


@pytest.mark.parametrize(
    "given",
    [
        "triton_server_flags: {log-verbose: 1}",
        "triton_server_environment: {A: b}",
        "triton_output_path: server.log",
        "collect_cpu_metrics: true",
        "profile_models: {m: {triton_server_flags: {log-verbose: 1}}}",
        "profile_models: {m: {triton_server_environment: {A: b}}}",
    ],
)
def test_options_without_effect_on_a_remote_server_get_one_remark(given: str) -> None:
    (remark,) = resolved(f"triton_launch_mode: remote\n{given}").remarks

    assert "has no effect in launch mode remote" in remark
    assert remark.startswith("f.yaml:2:")


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("perf_analyzer_flags: {shared-memory: system}", "f.yaml:2:22"),
        ("profile_models: {m: {perf_analyzer_flags: {shared-memory: cuda}}}", "f.yaml:2:43"),
    ],
)
def test_a_remote_server_has_to_allow_shared_memory(text: str, place: str) -> None:
    (remark,) = resolved(f"triton_launch_mode: remote\n{text}").remarks

    assert remark == (
        f"{place}: shared-memory with a remote server: Triton from 26.04 (2.68) on allows that only"
        " if it is started with --allow-client-shm=true"
    )
    assert not resolved(f"triton_launch_mode: local\n{text}").remarks
    none = text.replace("system", "none").replace("cuda", "none")
    assert not resolved(f"triton_launch_mode: remote\n{none}").remarks


def test_tracing_stays_on_at_a_remote_server() -> None:
    text = "perf_analyzer_flags: {trace-level: TIMESTAMPS}"
    (remark,) = resolved(f"triton_launch_mode: remote\n{text}").remarks

    assert remark.startswith("f.yaml:2:22: trace-level with a remote server: it stays set there")
    assert not resolved(f"triton_launch_mode: local\n{text}").remarks


def test_without_reloading_only_loads_are_searched() -> None:
    result = resolved(
        "triton_launch_mode: remote\nreload_model_disable: true\n"
        "run_config_search_mode: optuna\n"
        "profile_models: {m: {model_config_parameters: {max_batch_size: [1, 2]}}}"
    )

    (model,) = result.settings.models
    assert dict(model.parameters) == {}
    assert model.loads == ()
    assert result.settings.search.disable
    assert result.settings.search.mode is SearchMode.BRUTE
    (remark,) = result.remarks
    assert ONLY_LOADED in remark


# ----------------------------------------------------------------------------------------- TLS


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("triton_server_flags: {grpc-use-ssl: true}", "the server uses TLS"),
        ("perf_analyzer_flags: {ssl-grpc-use-ssl: true}", "the client uses TLS"),
        (
            "triton_server_flags: {grpc-use-ssl: true}\n"
            "profile_models: {m: {perf_analyzer_flags: {percentile: 95}}}",
            "m: the server uses TLS",
        ),
    ],
)
def test_a_server_and_its_clients_both_speak_tls_or_neither(text: str, words: str) -> None:
    (problem,) = profile_problems(text)
    assert words in problem


@pytest.mark.parametrize(
    "text",
    [
        "triton_server_flags: {grpc-use-ssl: true}\nperf_analyzer_flags: {ssl-grpc-use-ssl: true}",
        "triton_launch_mode: remote\nperf_analyzer_flags: {ssl-grpc-use-ssl: true}",
        "client_protocol: http\ntriton_server_flags: {grpc-use-ssl: true}",
    ],
)
def test_tls_on_one_side_is_valid_if_the_other_side_is_not_ours(text: str) -> None:
    assert settings(text)


def test_several_headers_can_be_given() -> None:
    (model,) = settings("perf_analyzer_flags: {http-header: ['A: b', 'C: d']}").models
    assert model.perf_analyzer_flags["http-header"] == ("A: b", "C: d")


# -------------------------------------------------------------------------------------- report


def test_a_report_uses_the_goals_of_the_file_it_shares_with_profile() -> None:
    text = (
        "profile_models: {a: {objectives: [perf_latency_p99]}, b: {}}\n"
        "constraints: {perf_throughput: {min: 5}}\n"
        "latency_budget: 10\n"
        "num_configs_per_model: 9\n"
    )
    result = resolve_report(on_line(report_model_configs="a_config_1,b_config_2"), yaml(text), CWD)
    report = result.settings
    assert report.variants == ("a_config_1", "b_config_2")
    assert report.goals["a"].objectives == objectives(perf_latency_p99=10)
    bounds = (*at_least(perf_throughput=5), *at_most(perf_latency_p99=10))
    assert report.goals["a"].constraints == bounds
    assert report.goals["b"].constraints == bounds
    default = report.asked_goal("of no model").over(ModelGoal())
    assert default.constraints == bounds
    assert default.objectives == objectives(perf_throughput=10)
    assert report.checkpoint_directory == CWD / "checkpoints"
    assert report.export_path == CWD


def test_a_report_needs_neither_models_nor_a_repository_but_variants() -> None:
    with pytest.raises(ConfigError) as raised:
        resolve_report([], None, CWD)
    (problem,) = raised.value.problems
    assert problem.where == "report_model_configs"
    assert resolve_report(on_line(report_model_configs="x"), None, CWD).settings.goals == {}


def test_a_report_finds_the_mistakes_of_the_shared_file_too() -> None:
    with pytest.raises(ConfigError) as raised:
        resolve_report(on_line(report_model_configs="x"), yaml("batch_sizes: none"), CWD)
    assert str(raised.value) == f"f.yaml:1:14: {NOT_AN_INTEGER}, found 'none'"


@pytest.mark.parametrize(
    ("text", "limit"),
    [
        ("constraints: {perf_latency_p99: {max: 10}, perf_latency: {max: 100}}", 10),
        ("constraints: {perf_latency: {max: 7}, perf_latency_p99: {max: 10}}", 7),
        ("latency_budget: 50\nconstraints: {perf_latency_p99: {max: 80}}", 50),
    ],
)
def test_the_tightest_of_several_bounds_on_a_metric_counts(text: str, limit: float) -> None:
    (model,) = settings(text).models
    assert model.goal.constraints == at_most(perf_latency_p99=limit)


def test_flags_that_define_the_load_twice_are_refused() -> None:
    (problem,) = profile_problems(
        "perf_analyzer_flags: {concurrency-range: 4, request-rate-range: 10}"
    )
    assert "several flags define the load" in problem
    assert problem.split(":")[1].isdecimal()


@pytest.mark.parametrize(
    ("text", "shares"),
    [
        ("", (5, 10)),
        ("optuna_max_trials: 6", (5, None)),
        ("optuna_min_trials: 6", (None, 10)),
        ("optuna_max_trials: 6\nmax_percentage_of_search_space: 10", (5, 10)),
        ("optuna_min_trials: 6\nmin_percentage_of_search_space: 7", (7, 10)),
    ],
)
def test_a_number_of_trials_replaces_a_default_percentage(
    text: str, shares: tuple[int | None, int | None]
) -> None:
    optuna = settings(text).search.optuna
    assert (optuna.min_percentage, optuna.max_percentage) == shares


def test_values_are_described_without_secrets() -> None:
    lines = [*described(settings("checkpoint_storage: s3://me:s3cr3t@bucket/folder"))]
    assert "checkpoint.storage: s3://******@bucket/folder" in lines
    assert not any("s3cr3t" in line for line in lines)


def test_memory_of_the_server_is_observed_where_a_goal_is_about_it() -> None:
    assert not settings("").monitors.cpu
    assert settings("objectives: [cpu_used_ram]").monitors.cpu
    assert settings("constraints: {cpu_used_ram: {max: 5}}").monitors.cpu


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", False),
        ("response_cache: off", False),  # YAML reads it as false
        ("response_cache: keep", True),
        ("response_cache: keep\nprofile_models: {m: {response_cache: 'off'}}", False),
        ("profile_models: {m: {response_cache: KEEP}}", True),
        (
            "profile_models: {m: {model_config_parameters:"
            " {response_cache: [{enable: true}, {enable: false}]}}}",
            True,
        ),
    ],
)
def test_a_response_cache_is_kept_on_wish_or_if_the_search_varies_it(
    text: str, expected: bool
) -> None:
    assert model_settings(text).keeps_cache is expected


def test_a_response_cache_cannot_be_off_if_nothing_is_loaded() -> None:
    text = "reload_model_disable: true\ntriton_launch_mode: remote"

    assert model_settings(text).keeps_cache
