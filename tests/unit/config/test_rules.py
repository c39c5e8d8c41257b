# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Rules between options: what does not go together is told, with its place.

Several remote servers: lists of addresses, one for each; options of slots: on this machine by
default, and from a file, a flag or a variable.
"""

from __future__ import annotations

from typing import Any

import pytest

from model_analyzer.config.resolve import check_file, resolve_profile, resolve_report
from model_analyzer.config.table import ANALYZE
from model_analyzer.domain.settings import (
    ExecutorKind,
    ExecutorSettings,
    LaunchMode,
    ModelType,
    OutputFormat,
    Protocol,
    SearchMode,
)
from model_analyzer.domain.trials import LoadKind
from model_analyzer.errors import ConfigError
from model_analyzer.runner.server.endpoints import each_server, remote_endpoints
from tests.phrases import ONE_VALUE_OF_EACH_FIELD, QUICK_DOES_NOT_SUPPORT
from tests.unit.builders import (
    CWD,
    at_most,
    model_settings,
    on_line,
    profile_problems,
    resolved,
    settings,
    yaml,
)

QUICK = "run_config_search_mode: quick\n"
BRUTE = "run_config_search_mode: brute\n"
TOGETHER = "run_config_profile_models_concurrently_enable: true\n"


# ------------------------------------------------------------------ models and repository


def test_only_a_remote_server_needs_no_model_repository() -> None:
    given = on_line(profile_models="m", triton_launch_mode="remote")
    assert resolve_profile(given, None, CWD).settings.repository.path is None
    given = on_line(profile_models="m", triton_launch_mode="docker")
    with pytest.raises(
        ConfigError, match=r"no model repository is given \(give --model-repository, or "
    ):
        resolve_profile(given, None, CWD)


def test_analyze_needs_no_repository() -> None:
    given = on_line(profile_models="m")
    assert resolve_profile(given, None, CWD, command=ANALYZE).settings.repository.path is None


def test_a_file_alone_need_not_have_models_and_repository() -> None:
    assert check_file(yaml("batch_sizes: 4"), CWD).remarks == ()
    assert check_file(None, CWD).remarks == ()
    with pytest.raises(ConfigError, match=r"^f.yaml:1:1: unknown option 'x'"):
        check_file(yaml("x: 1"), CWD)


def test_a_file_alone_must_follow_the_rules() -> None:
    with pytest.raises(ConfigError, match="search mode quick does not support concurrency"):
        check_file(yaml(QUICK + "concurrency: 4"), CWD)
    with pytest.raises(ConfigError, match="share one server"):
        check_file(
            yaml(
                TOGETHER + "profile_models: {a: {triton_server_flags: {log-verbose: 1}}, b: {}}\n"
            ),
            CWD,
        )


# -------------------------------------------------------------------------- search mode quick


@pytest.mark.parametrize(
    ("text", "where", "option"),
    [
        ("concurrency: 4", "2:14", "concurrency"),
        ("batch_sizes: [1]", "2:14", "batch_sizes"),
        ("request_rate: 10", "2:15", "request_rate"),
        ("request_rate_search_enable: true", "2:29", "request_rate_search_enable"),
        ("run_config_search_max_request_rate: 99", "2:37", "run_config_search_max_request_rate"),
        ("profile_models: {m: {parameters: {concurrency: 4}}}", "2:48", "concurrency of m"),
        ("profile_models: [{m: {parameters: {batch_sizes: 4}}}]", "2:49", "batch_sizes of m"),
        (
            "profile_models: [n, {m: {model_config_parameters: {max_batch_size: 4}}}]",
            "2:51",
            "max_batch_size of m",
        ),
        (
            "profile_models: {m: {model_config_parameters: {instance_group: [{count: 1}]}}}",
            "2:47",
            "instance_group of m",
        ),
    ],
)
def test_a_quick_search_takes_no_lists_of_what_it_searches(
    text: str, where: str, option: str
) -> None:
    (problem,) = profile_problems(QUICK + text)
    assert problem.startswith(f"f.yaml:{where}: {QUICK_DOES_NOT_SUPPORT} {option} (")


@pytest.mark.parametrize("models", ["", "bls_composing_models: [c]\n"])
@pytest.mark.parametrize(
    "text",
    [
        "concurrency: [1, 2]",
        "batch_sizes: [1, 2]",
        "request_rate: [10, 20]",
        "request_rate_search_enable: true",
        "profile_models: {m: {parameters: {concurrency: [4, 5]}}}",
        "profile_models: {m: {model_config_parameters: {max_batch_size: [4, 8]}}}",
        "profile_models: {m: {model_config_parameters: {dynamic_batching: [{}, null]}}}",
    ],
)
def test_the_mode_that_is_named_for_lists_takes_them(models: str, text: str) -> None:
    (problem,) = profile_problems(QUICK + models + text)

    assert "(--search adaptive " in problem
    assert settings(f"run_config_search_mode: adaptive\n{models}{text}")


@pytest.mark.parametrize(
    "fields", ["instance_group: [{count: [1, 4, 6]}]", "dynamic_batching: [{}, null]"]
)
def test_adaptive_is_named_for_what_quick_does_not_take_of_composing_models(fields: str) -> None:
    listed = composing("bls_composing_models", fields)
    (problem,) = profile_problems(QUICK + listed)

    assert "--search adaptive " in problem
    assert settings("run_config_search_mode: adaptive\n" + listed)


@pytest.mark.parametrize(
    "text",
    [
        "perf_analyzer_flags: {concurrency-range: '1,2'}",
        "profile_models: {m: {perf_analyzer_flags: {concurrency-range: '1:8'}}}",
    ],
)
def test_lists_of_loads_in_flags_are_refused_where_they_are(text: str) -> None:
    (problem,) = profile_problems(QUICK + text)
    assert problem.startswith("f.yaml:2:")
    assert "supports one load, not" in problem
    assert settings(QUICK + text.replace("1,2", "4").replace("1:8", "4")).search.mode


def test_a_load_that_is_refused_by_its_key_is_not_refused_again() -> None:
    (problem,) = profile_problems(
        QUICK + "perf_analyzer_flags: {percentile: 9}\nconcurrency: [1, 2]"
    )
    assert f"{QUICK_DOES_NOT_SUPPORT} concurrency" in problem


def test_a_quick_search_accepts_defaults() -> None:
    text = QUICK + "concurrency: []\nrequest_rate_search_enable: false"
    assert settings(text).search.mode is SearchMode.QUICK


def test_a_quick_search_takes_one_value_of_other_fields() -> None:
    fields = "dynamic_batching: {max_queue_delay_microseconds: %s}"
    text = QUICK + f"profile_models: [{{m: {{model_config_parameters: {{{fields}}}}}}}]"
    assert settings(text % "100")
    (problem,) = profile_problems(text % "[100, 200]")
    assert f"{ONE_VALUE_OF_EACH_FIELD} of m" in problem


@pytest.mark.parametrize(
    "listed",
    ["bls_composing_models: m", "ensemble_composing_models: m", "cpu_only_composing_models: m"],
)
def test_a_quick_search_takes_lists_of_models_that_others_call(listed: str) -> None:
    models = "profile_models: {m: {model_config_parameters: {max_batch_size: [4, 8]}}}"
    assert settings(f"{QUICK}{listed}\n{models}")


@pytest.mark.parametrize("mode", ["adaptive", "optuna"])
@pytest.mark.parametrize("bound", ["min", "max"])
def test_a_search_that_tries_any_number_of_instances_has_a_limit(mode: str, bound: str) -> None:
    text = f"run_config_search_mode: {mode}\nrun_config_search_{bound}_instance_count: 10001\n"

    with pytest.raises(ConfigError, match="must be at most 10000, found 10001") as raised:
        check_file(yaml(text), CWD)

    # the upper bound follows a lower one that is above it
    assert raised.value.problems[0].where.startswith("f.yaml:2:")
    check_file(yaml(text.replace("10001", "10000")), CWD)


@pytest.mark.parametrize("mode", ["brute", "quick"])
def test_a_search_that_climbs_has_none(mode: str) -> None:
    text = f"run_config_search_mode: {mode}\nrun_config_search_max_instance_count: 2147483647\n"
    check_file(yaml(text), CWD)


def test_a_quick_search_is_not_disabled() -> None:
    (problem,) = profile_problems(QUICK + "run_config_search_disable: true")
    assert problem.startswith("f.yaml:2:28: run_config_search_disable cannot be combined")
    assert settings("run_config_search_mode: optuna\nrun_config_search_disable: true")


# ----------------------------------------------------------------------------- composing models


def composing(option: str, fields: str) -> str:
    return f"{option}: [{{c: {{model_config_parameters: {{{fields}}}}}}}]\n"


@pytest.mark.parametrize("option", ["bls_composing_models", "ensemble_composing_models"])
@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ("instance_group: [{count: [1, 2, 4, 8]}]", ""),
        ("instance_group: [{count: [3, 4, 5]}]", ""),
        ("instance_group: [{kind: KIND_CPU}]", ""),
        ("max_batch_size: [1, 7, 9]", ""),
        (
            "instance_group: [{count: [1, 4, 6]}]",
            f"{QUICK_DOES_NOT_SUPPORT} the instance counts of c",
        ),
        ("dynamic_batching: [{}, null]", f"{ONE_VALUE_OF_EACH_FIELD} of c"),
        ("dynamic_batching: {preferred_batch_size: [[4], [8]]}", ONE_VALUE_OF_EACH_FIELD),
    ],
)
def test_instance_counts_of_composing_models_are_the_steps_of_a_quick_search(
    option: str, fields: str, reason: str
) -> None:
    text = QUICK + composing(option, fields)
    if reason:
        (problem,) = profile_problems(text)
        assert reason in problem
        assert problem.startswith("f.yaml:2:")
    else:
        assert settings(text)


def test_optuna_is_free_in_its_choice_of_composing_counts() -> None:
    text = composing("bls_composing_models", "instance_group: [{count: [1, 4, 6]}]")
    assert settings("run_config_search_mode: optuna\n" + text)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (BRUTE, "search mode brute cannot search bls_composing_models"),
        ("profile_models: [a, b]\n", "needs exactly one profiled model"),
        (TOGETHER + "profile_models: m\n", "cannot be profiled concurrently"),
    ],
)
def test_a_bls_model_is_profiled_alone_and_not_by_brute_force(text: str, reason: str) -> None:
    (problem,) = profile_problems(text + "bls_composing_models: [c]")
    assert reason in problem
    assert problem.startswith("f.yaml:")


def test_a_bls_model_must_be_named_itself() -> None:
    with pytest.raises(ConfigError, match="no model is given"):
        resolve_profile(on_line(bls_composing_models="c", model_repository="r"), None, CWD)


def test_options_of_composing_models_stay_with_them() -> None:
    chosen = settings(
        "bls_composing_models: [a, {b: {cpu_only: false}}]\ncpu_only_composing_models: ' b , c'"
    )
    assert chosen.bls_calls == ("a", "b")
    assert {name: model.cpu_only for name, model in chosen.composing.items()} == {
        "a": None,
        "b": True,
        "c": True,
    }


def test_options_without_effect_for_a_composing_model_get_a_remark() -> None:
    text = "ensemble_composing_models: {c: {weighting: 2, cpu_only: true}}"
    assert resolved(text).remarks == ("f.yaml:1:44: weighting has no effect for a composing model",)


@pytest.mark.parametrize(
    ("text", "flags", "remarks"),
    [
        (
            "latency_budget: 20\nconstraints: {perf_latency_p99: {max: 50}}",
            {},
            [
                "f.yaml:1:17: latency_budget is tighter, so the constraint at f.yaml:2:14 has no"
                " effect: Max p99 Latency: 50 ms"
            ],
        ),
        (
            "latency_budget: 70\nconstraints: {perf_latency_p99: {max: 50}}\nprofile_models: a,b",
            {},
            [
                "f.yaml:1:17: latency_budget has no effect, since the constraint at f.yaml:2:14 is"
                " tighter: Max p99 Latency: 50 ms"
            ],
        ),
        (
            "min_throughput: 7\nprofile_models: {a: {constraints: {perf_throughput: {min: 9}}}}",
            {},
            [
                "f.yaml:1:17: min_throughput has no effect, since the constraint at f.yaml:2:35 is"
                " tighter: Min Throughput: 9 infer/sec"
            ],
        ),
        (
            "constraints: {perf_latency_p99: {max: 50}}",
            {"latency_budget": "70"},
            [
                "--latency-budget: latency_budget has no effect, since the constraint at"
                " f.yaml:1:14 is tighter: Max p99 Latency: 50 ms"
            ],
        ),
        ("constraints: {perf_latency_p99: {max: 50}}", {"latency_budget": "20"}, []),
        ("latency_budget: 50\nconstraints: {perf_latency_p99: {max: 50}}", {}, []),
        ("latency_budget: 50\nconstraints: {perf_throughput: {min: 9}}", {}, []),
    ],
)
def test_of_two_limits_the_one_that_does_not_count_gets_a_remark(
    text: str, flags: dict[str, str], remarks: list[str]
) -> None:
    assert [*resolved(text, **flags).remarks] == remarks


# ---------------------------------------------------------------------------- concurrent models


def test_concurrent_models_are_not_searched_by_brute_force() -> None:
    (problem,) = profile_problems(BRUTE + TOGETHER + "profile_models: a,b")
    assert problem.startswith("f.yaml:1:25: search mode brute does not support models")
    assert settings(TOGETHER + "profile_models: a,b").search.mode is None


def test_a_model_is_not_profiled_concurrently_with_itself() -> None:
    (problem,) = profile_problems(TOGETHER + "profile_models: [a, b, a]")
    assert problem.startswith("f.yaml:2:24: model 'a' cannot be profiled concurrently with itself")


def test_a_model_named_twice_is_remarked() -> None:
    result = resolved("profile_models: [a, b, {a: {cpu_only: true}}]")
    assert [model.name for model in result.settings.models] == ["a", "b"]
    assert result.settings.models[0].cpu_only
    assert result.remarks == ("f.yaml:1:25: model 'a' replaces the one at f.yaml:1:18",)


@pytest.mark.parametrize(
    ("option", "other"),
    [
        ("triton_server_flags: {log-verbose: 1}", "triton_server_flags: {log-verbose: 2}"),
        ("triton_server_environment: {A: 1}", "triton_server_environment: {}"),
    ],
)
def test_concurrent_models_share_one_server(option: str, other: str) -> None:
    models = f"profile_models: {{a: {{{option}}}, b: {{%s}}}}\n"
    assert settings(TOGETHER + models % option)
    assert settings(models % other)
    (problem,) = profile_problems(TOGETHER + models % other)
    assert "share one server" in problem


def test_a_weighting_belongs_to_each_model() -> None:
    (problem,) = profile_problems("weighting: 2\nprofile_models: {a: {weighting: 3}, b: {}}")
    assert problem.startswith(
        "f.yaml:1:12: a global weighting has no effect, and model b has no weighting"
    )
    chosen = settings("weighting: 2\nprofile_models: {a: {weighting: 3}, b: {weighting: 0.5}}")
    assert [model.goal.weighting for model in chosen.models] == [3, 0.5]


# ------------------------------------------------------------------------------- kinds of load


@pytest.mark.parametrize(
    "rate",
    [
        "request_rate: 10",
        "request_rate_search_enable: true",
        "run_config_search_min_request_rate: 10",
        "run_config_search_max_request_rate: 10",
    ],
)
@pytest.mark.parametrize(
    "concurrency",
    [
        "concurrency: 10",
        "run_config_search_min_concurrency: 10",
        "run_config_search_max_concurrency: 10",
    ],
)
def test_the_load_is_a_concurrency_or_a_request_rate(rate: str, concurrency: str) -> None:
    text = f"run_config_search_min_request_rate: 1\n{rate}\n{concurrency}"
    (problem,) = profile_problems(text)
    assert problem.startswith("f.yaml:3:")
    assert "cannot be combined" in problem


@pytest.mark.parametrize(
    "text",
    [
        "request_rate: 10",
        "request_rate_search_enable: true",
        "run_config_search_min_request_rate: 20",
        "run_config_search_max_request_rate: 20",
        "profile_models: {m: {parameters: {request_rate: 10}}}",
    ],
)
def test_with_request_rates_tables_have_their_column(text: str) -> None:
    chosen = settings(text)
    assert chosen.models[0].load_kind is LoadKind.REQUEST_RATE
    assert chosen.export.inference_fields[2] == chosen.export.gpu_fields[3] == "request_rate"


def test_a_model_takes_its_request_rate_over_a_global_concurrency() -> None:
    model = model_settings("concurrency: 4\nprofile_models: {m: {parameters: {request_rate: 9}}}")
    assert (model.load_kind, model.loads) == (LoadKind.REQUEST_RATE, (9,))


def test_a_model_has_not_both_loads() -> None:
    (problem,) = profile_problems(
        "request_rate: 4\nprofile_models: {m: {parameters: {concurrency: 9}}}"
    )
    assert problem.startswith("f.yaml:2:18: model 'm' has both concurrency and request_rate")


def test_all_models_have_the_same_kind_of_load() -> None:
    (problem,) = profile_problems("profile_models: {a: {parameters: {request_rate: 9}}, b: {}}")
    assert problem.startswith("f.yaml:1:17: some models have a request_rate, but model b has")


def test_an_empty_list_of_a_model_overrides_a_global_list() -> None:
    model = model_settings("concurrency: 4\nprofile_models: {m: {parameters: {concurrency: []}}}")
    assert model.loads == ()


# ----------------------------------------------------------------------------------- the server


@pytest.mark.parametrize("key", ["dcgm_disable", "reload_model_disable"])
def test_options_that_need_a_remote_server(key: str) -> None:
    (problem,) = profile_problems(f"{key}: true")
    assert problem == f"f.yaml:1:{len(key) + 3}: {key} needs triton_launch_mode: remote"
    assert settings(f"{key}: true\ntriton_launch_mode: remote")
    assert settings(f"{key}: false")


OPENAI = "endpoint: openai\ntriton_launch_mode: remote\n"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("outputs: on", "outputs cannot be combined with endpoint openai"),
        ("endurance: 9m", "endurance cannot be combined with endpoint openai"),
        ("profile_models: {m: {genai_perf_flags: {tokenizer: t}}}", "genai_perf_flags cannot"),
        ("client_protocol: grpc", "client_protocol cannot be combined with endpoint openai"),
        ("triton_launch_mode: local", "endpoint openai needs triton_launch_mode: remote"),
    ],
)
def test_what_openai_does_not_have(text: str, expected: str) -> None:
    rest = "" if text.startswith("triton") else "triton_launch_mode: remote\n"
    (problem,) = profile_problems(f"endpoint: openai\n{rest}{text}")
    assert expected in problem


def test_openai_is_http_of_tokens_and_loads_nothing() -> None:
    implied = settings(OPENAI)
    assert (implied.server.reload_disable, implied.server.spoken) == (True, "openai")
    assert implied.server.protocol is Protocol.HTTP
    assert implied.server.metrics_urls == ("localhost:8000/metrics",)
    assert implied.load_generator.model_type is ModelType.LLM
    assert implied.outputs == {"check": False}
    own = settings(f"{OPENAI}model_type: generic\noutputs: off\nclient_protocol: http")
    assert own.load_generator.model_type is ModelType.GENERIC


@pytest.mark.parametrize("mode", ["docker", "remote", "c_api"])
def test_slots_of_a_cluster_start_servers_of_their_own(mode: str) -> None:
    (problem,) = profile_problems(f"executor: ray\ntriton_launch_mode: {mode}")
    assert problem == (
        f"f.yaml:1:11: executor ray cannot be combined with triton_launch_mode {mode}"
        " (each slot starts a server of its own: use triton_launch_mode local)"
    )
    assert settings("executor: ray")
    assert settings(f"executor: local\ntriton_launch_mode: {mode}")


def test_an_image_has_a_name() -> None:
    text = "triton_docker_image: '  '\n"
    (problem,) = profile_problems(text + "triton_launch_mode: docker")
    assert problem == "f.yaml:1:22: the image name is empty"
    assert settings(text)


@pytest.mark.parametrize("written", ["/a:/b", "/a:/b:rw:z", "/a::ro", "/a:/b:x"])
def test_a_mount_has_three_parts(written: str) -> None:
    (problem,) = profile_problems(f"triton_docker_mounts: ['/c:/d:ro', '{written}']")
    assert problem.startswith("f.yaml:1:36: expected HOST:CONTAINER:ro or HOST:CONTAINER:rw")


def test_texts_of_a_container_keep_their_commas() -> None:
    model = model_settings(
        "triton_launch_mode: docker\ntriton_docker_args: {environment: ['A=1,2'], cap_add: 'X,Y'}"
    )
    assert dict(model.docker_arguments) == {"environment": ("A=1,2",), "cap_add": ("X", "Y")}


@pytest.mark.parametrize(
    ("mode", "option", "ignored"),
    [
        ("local", "triton_docker_mounts: /a:/b:ro", True),
        ("local", "triton_docker_labels: {a: b}", True),
        ("remote", "triton_docker_args: {user: me}", True),
        ("docker", "triton_docker_args: {user: me}", False),
        ("c_api", "triton_server_flags: {log-verbose: 1}", True),
        ("c_api", "triton_output_path: log", True),
        ("remote", "triton_output_path: log", True),
        ("local", "triton_output_path: log", False),
        ("local", "triton_docker_labels: {}", False),
    ],
)
def test_options_that_a_launch_mode_ignores_get_a_remark(
    mode: str, option: str, ignored: bool
) -> None:
    result = resolved(f"triton_launch_mode: {mode}\n{option}")
    key = option.split(":")[0]
    assert result.settings.server.launch is LaunchMode(mode)
    assert result.remarks == (
        (f"f.yaml:2:{len(key) + 3}: {key} has no effect in launch mode {mode}",) if ignored else ()
    )


def test_flags_of_the_server_that_the_program_decides_are_remarked() -> None:
    (remark,) = resolved("profile_models: {m: {triton_server_flags: {http_port: 1}}}").remarks
    assert remark.startswith("f.yaml:1:43: tritonserver flag 'http-port' is ignored")


@pytest.mark.parametrize("value", [5, 1000])
def test_warm_up_requests_of_the_user_are_refused_with_a_word(value: int) -> None:
    """With fewer of them than requests in flight, perf_analyzer never ends."""
    flags = f"perf_analyzer_flags: {{warmup-request-count: {value}}}"
    result = resolved(f"{flags}\nprofile_models: [m]")
    (remark,) = result.remarks
    assert "'warmup-request-count' is ignored: where warm-up requests are needed" in remark
    assert not result.settings.models[0].perf_analyzer_flags


@pytest.mark.parametrize("word", ["off", "execution_count"])
def test_off_is_a_word_of_the_rate_limit(word: str) -> None:
    model = model_settings(f"triton_server_flags: {{rate-limit: {word}, log_info: off}}")
    assert dict(model.server_flags) == {"rate-limit": word, "log-info": "false"}


@pytest.mark.parametrize(
    ("flags", "remark"),
    [
        ("perf_analyzer_flags: {fixed-schedule: true}", "'fixed-schedule' is unknown"),
        ("triton_server_flags: {a_new_flag: 1}", "'a-new-flag' is unknown"),
        ("perf_analyzer_flags: {percentile: 99.9}", "reads 99, and ignores '.9' after it"),
        ("perf_analyzer_flags: {measurement-interval: 5ms}", "reads 5, and ignores 'ms' after it"),
        ("triton_server_flags: {http_thread_count: 8.5}", "reads 8, and ignores '.5' after it"),
        ("perf_analyzer_flags: {async: maybe}", "'maybe' means false"),
        (
            "perf_analyzer_flags: {measurement-mode: count_windows, measurement-interval: 900}",
            "'measurement-interval' has no effect, since a window ends after 50 requests"
            " (remove it, or measurement-mode)",
        ),
        (
            "perf_analyzer_flags: {measurement-mode: time_windows, measurement-request-count: 9}",
            "'measurement-request-count' has no effect, since a window ends after 5000 ms",
        ),
        (
            "perf_analyzer_flags: {measurement-request-count: 9, measurement-interval: 900}",
            "'measurement-interval' has no effect, since a window ends after 9 requests"
            " (remove it, or measurement-request-count)",
        ),
    ],
)
def test_a_flag_that_works_but_perhaps_not_as_meant_is_remarked(flags: str, remark: str) -> None:
    for text in (flags, f"profile_models: {{m: {{{flags}}}}}"):
        (written,) = resolved(text).remarks
        assert written.startswith("f.yaml:1:")
        assert remark in written


@pytest.mark.parametrize(
    "flags",
    [
        "perf_analyzer_flags: {percentile: 99.0, stability-percentage: 5.5, async: no}",
        "triton_server_flags: {log-verbose: 1, http-thread-count: ' 8 '}",
    ],
)
def test_a_flag_that_works_as_meant_is_not_remarked(flags: str) -> None:
    assert resolved(flags).remarks == ()


@pytest.mark.parametrize(
    ("goal", "tag"),
    [
        ("objectives: [output_token_throughput]", "output_token_throughput"),
        ("constraints: {time_to_first_token_p90: {max: 5}}", "time_to_first_token_p90"),
    ],
)
def test_tokens_as_a_goal_need_a_language_model(goal: str, tag: str) -> None:
    (problem,) = profile_problems(f"profile_models: {{m: {{{goal}}}}}")
    assert f"m: {tag} is measured of language models only (add model_type: LLM)" in problem


# --------------------------------------------------------------------------- goals and language


def test_a_summary_of_all_models_needs_constraints_for_all() -> None:
    (problem,) = profile_problems("num_top_model_configs: 2")
    assert problem.startswith("f.yaml:1:24: num_top_model_configs needs global constraints")
    for bound in (
        "latency_budget: 5",
        "min_throughput: 5",
        "constraints: {gpu_used_memory: {max: 1}}",
    ):
        assert settings(f"num_top_model_configs: 2\n{bound}").export.best_of_all == 2


def test_a_fraction_of_a_millisecond_is_a_bound() -> None:
    model = model_settings("constraints: {perf_latency_p99: {max: 0.5}}\nlatency_budget: 1.9")
    assert model.goal.constraints == at_most(perf_latency_p99=0.5)


@pytest.mark.parametrize("word", ["LLM", "llm", "Llm"])
def test_an_llm_is_one_however_it_is_spelled_and_keeps_its_columns(word: str) -> None:
    chosen = settings(f"model_type: {word}\nrequest_rate: 4")
    assert chosen.load_generator.model_type is ModelType.LLM
    assert chosen.export.inference_fields[2] == "request_rate"
    assert chosen.export.inference_fields[-1] == "output_token_throughput"


@pytest.mark.parametrize(
    ("flags", "switch"),
    [
        ("triton_server_flags: {grpc-server-cert: a.pem}", "grpc-use-ssl"),
        ("perf_analyzer_flags: {ssl-grpc-certificate-chain-file: a.pem}", "ssl-grpc-use-ssl"),
    ],
)
def test_certificates_are_remarked_without_tls(flags: str, switch: str) -> None:
    (remark,) = resolved(flags).remarks
    assert remark.endswith(f" has no effect without {switch}: true")
    assert resolved(flags.replace("{", f"{{{switch}: false, ")).remarks != ()
    both = "triton_server_flags: {grpc-use-ssl: true, grpc-server-cert: a.pem}"
    both += "\nperf_analyzer_flags: {ssl-grpc-use-ssl: true, ssl-grpc-private-key-file: b}"
    assert resolved(both).remarks == ()


def test_certificates_of_https_are_remarked_without_an_address_of_it() -> None:
    flags = "perf_analyzer_flags: {ssl-https-ca-certificates-file: a.pem}"
    (remark,) = resolved(flags).remarks
    assert remark == (
        "f.yaml:1:22: ssl-https-ca-certificates-file has no effect without an https:// endpoint"
    )
    for used in (
        "triton_http_endpoint: HTTPS://host:8000",
        "triton_metrics_url: https://host:8002/metrics",
        "verify: https://host:8000\nclient_protocol: http",
    ):
        assert resolved(f"{flags}\n{used}").remarks == ()


def test_a_column_that_no_table_has_is_told_before_the_run() -> None:
    text = (
        "inference_output_fields: [model_name, backend_parameter/X, perf_throughput, gpu_uuid]\n"
        "gpu_output_fields: [gpu_uuid, hardware, request_intervals, perf_throughputs]\n"
        "server_output_fields: [gpu_uuid, batch_size]"
    )

    assert resolved(text).remarks == (
        "f.yaml:1:26: inference_output_fields: 'gpu_uuid' is neither a metric nor a column: it is"
        " left out",
        "f.yaml:2:20: gpu_output_fields: 'perf_throughputs' is neither a metric nor a column: it is"
        " left out (did you mean 'perf_throughput'?)",
        "f.yaml:3:23: server_output_fields: 'batch_size' is neither a metric nor a column: it is"
        " left out",
    )


@pytest.mark.parametrize(
    ("option", "other"),
    [
        ("perf_output_path: a.txt", "perf_output: true"),
        ("slots: 2", "executor: ray"),
        ("slot_label: [a=b]", "executor: ray"),
    ],
)
def test_an_option_is_remarked_without_the_one_that_it_needs(option: str, other: str) -> None:
    (remark,) = resolved(option).remarks
    assert remark.endswith(f"{option.partition(':')[0]} has no effect without {other}")
    assert resolved(f"{option}\n{other}").remarks == ()


def test_flags_of_genai_perf_are_remarked_without_an_llm() -> None:
    text = "genai_perf_flags: {streaming: true}"
    (remark,) = resolved(text).remarks
    assert "genai_perf_flags has no effect without model_type: LLM" in remark
    assert resolved(f"{text}\nmodel_type: LLM").remarks == ()
    (remark,) = resolved(f"profile_models: {{m: {{{text}}}}}").remarks
    assert remark.startswith("f.yaml:1:40: genai_perf_flags has no effect without")


@pytest.mark.parametrize(
    ("low", "high"),
    [
        ("min_percentage_of_search_space: 20", "max_percentage_of_search_space: 10"),
        ("optuna_min_trials: 20", "optuna_max_trials: 10"),
        ("run_config_search_min_request_rate: 20", "run_config_search_max_request_rate: 10"),
    ],
)
def test_least_is_not_above_most(low: str, high: str) -> None:
    (problem,) = profile_problems(f"{low}\n{high}")
    assert problem.startswith("f.yaml:1:")
    assert "is above" in problem


def test_two_tables_are_two_files_even_where_one_has_its_default() -> None:
    (problem,) = profile_problems("filename_model_inference: metrics-server-only.csv")
    assert problem.startswith("f.yaml:1:27: ")
    assert "are the same file 'metrics-server-only.csv'" in problem


# -------------------------------------------------------------------------------------- report


@pytest.mark.parametrize(
    "written", ["x,y", "[x, y]", "{x: , y: {}}", "[x, {y: {plots: {}}}]", "[' x ', y]"]
)
def test_variants_to_report_have_the_forms_of_models(written: str) -> None:
    report = resolve_report([], yaml(f"report_model_configs: {written}"), CWD).settings
    assert report.variants == ("x", "y")


def test_a_variant_has_its_own_plots_or_those_of_all() -> None:
    plot = "{title: T, x_axis: perf_latency, y_axis: batch_size, monotonic: 'yes'}"
    report = resolve_report(
        [], yaml(f"report_model_configs: [x, {{y: {{plots: {{}}}}}}]\nplots: [{{p: {plot}}}]"), CWD
    ).settings
    (shown,) = report.plots["x"]
    assert (shown.name, shown.x_axis, shown.monotonic) == ("p", "perf_latency_p99", True)
    assert report.plots["y"] == ()


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("plots: 3", "f.yaml:1:8: expected a mapping of plots, found 3"),
        ("plots: {p: {title: t, x_axis: batch_size}}", "f.yaml:1:12: plot 'p' has no y_axis"),
        ("plots: {a/b: {}}", "f.yaml:1:9: 'a/b' is not a file name"),
        (
            "plots: {p: {title: t, x_axis: batch, y_axis: perf_throughput}}",
            "f.yaml:1:31: unknown metric 'batch' (did you mean 'batch_size'?)",
        ),
        (
            "output_formats: [pdf, doc]",
            f"f.yaml:1:23: expected one of {', '.join(each.value for each in OutputFormat)}",
        ),
        ("report_model_configs: {x: {plot: {}}}", "f.yaml:1:28: 'plot' is not one of the options"),
        ("report_model_configs: []", "f.yaml:1:23: contains no variant name"),
    ],
)
def test_problems_of_a_report_have_a_place(text: str, problem: str) -> None:
    given: Any = on_line(report_model_configs="x") if "report_model" not in text else []
    with pytest.raises(ConfigError) as raised:
        resolve_report(given, yaml(text), CWD)
    assert str(raised.value.problems[0]).startswith(problem)


# ------------------------------------------------------------------------------ checkpoints


def test_a_run_that_keeps_no_checkpoint_has_none_to_copy() -> None:
    (problem,) = profile_problems("checkpoint_storage: s3://b\nno_checkpoint: true")
    assert problem == ("f.yaml:1:21: no_checkpoint and checkpoint_storage cannot be combined")
    assert settings("checkpoint_storage: s3://b").checkpoint.storage == "s3://b"
    assert settings("").checkpoint.storage is None


# ------------------------------------------------------------------------------- adaptive search

ADAPTIVE = "run_config_search_mode: adaptive\n"


def test_an_adaptive_search_is_not_disabled() -> None:
    (problem,) = profile_problems(ADAPTIVE + "run_config_search_disable: true")
    assert problem.startswith("f.yaml:2:28: run_config_search_disable cannot be combined")


@pytest.mark.parametrize(
    "limit", ["budget: 20m", "max_measurements: 30", "max_trials: 30", "stop_when_sure: 90%"]
)
def test_limits_of_an_adaptive_search_need_that_mode(limit: str) -> None:
    (problem,) = profile_problems(QUICK + limit)
    assert "needs search mode adaptive" in problem
    assert settings(ADAPTIVE + limit)


def test_time_of_earlier_runs_counts_for_a_budget_only() -> None:
    counts = ADAPTIVE + "budget_counts_earlier_runs: true\n"
    (problem,) = profile_problems(counts)
    assert problem.startswith("f.yaml:2:29: budget_counts_earlier_runs needs a budget")
    assert settings(counts + "budget: 20m").search.adaptive.counts_earlier_runs


def test_an_adaptive_search_takes_ensembles_lists_and_several_models() -> None:
    assert settings(
        ADAPTIVE
        + "concurrency: [1, 2]\nbatch_sizes: [1, 4]\n"
        + "run_config_profile_models_concurrently_enable: true\nprofile_models: [a, b]"
    )


# ------------------------------------------------------------------------------------- goodput

WITH_LIMIT = "constraints: {perf_latency_p99: {max: 50}}"


@pytest.mark.parametrize(
    "text",
    [
        f"objectives: [perf_goodput]\n{WITH_LIMIT}",
        "objectives: [perf_goodput]\nlatency_budget: 50",
        "constraints: {perf_goodput: {min: 20}, time_to_first_token_p90: {max: 50}}\n"
        "model_type: LLM",
        "latency_budget: 9\nprofile_models: {m: {objectives: {perf_goodput: 1}}}",
        "objectives: [perf_goodput]\nrun_config_profile_models_concurrently_enable: true\n"
        f"profile_models: {{m: {{{WITH_LIMIT}}}, n: {{}}}}",
    ],
)
def test_goodput_is_a_goal_with_latency_constraints(text: str) -> None:
    assert any("perf_goodput" in model.goal.tags for model in settings(text).models)


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("objectives: [perf_goodput]", "f.yaml:1:1"),
        ("constraints: {perf_goodput: {min: 20}, perf_server_queue: {max: 5}}", "f.yaml:1:1"),
        ("profile_models: {m: {objectives: {perf_goodput: 1}}}", "f.yaml:1:34"),
        ("objectives: [perf_goodput]\nprofile_models: {m: {objectives: []}}", "f.yaml:1:1"),
        (
            f"profile_models: {{m: {{{WITH_LIMIT}}}, n: {{constraints: {{}}}}}}\n"
            "objectives: [perf_goodput]",
            "f.yaml:2:1",
        ),
    ],
)
def test_goodput_needs_a_latency_constraint(text: str, place: str) -> None:
    (problem,) = profile_problems(text)
    assert problem.startswith(place)
    assert "perf_goodput counts the requests within the latency constraints" in problem


@pytest.mark.parametrize(
    "text",
    [
        "measurement: perf_analyzer",
        "triton_launch_mode: c_api",
        "perf_analyzer_flags: {measurement-interval: 1000}",
        "model_type: LLM\ngenai_perf_flags: {backend: vllm}",
    ],
)
def test_goodput_needs_the_times_of_requests(text: str) -> None:
    (problem,) = profile_problems(f"objectives: [perf_goodput]\n{WITH_LIMIT}\n{text}")
    assert problem.startswith("f.yaml:1:1")
    assert "m: perf_goodput needs measurements in rounds" in problem


SHARED = "perf_analyzer_flags: {shared-memory: system, output-shared-memory-size: 9}"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("load: {arrivals: poisson, rate: 20}\ngenerators: 2", "generators: 2"),
        ("executor: ray\nslots_per_host: 2", "slots_per_host: 2"),
        (
            "triton_launch_mode: remote\ntriton_grpc_endpoint: ['a:1', 'b:2']",
            "several remote servers",
        ),
    ],
)
def test_several_perf_analyzers_cannot_share_memory(text: str, reason: str) -> None:
    (problem,) = profile_problems(f"{text}\n{SHARED}")
    assert problem.startswith("f.yaml:3:22: m: ")
    assert f"shared-memory cannot be combined with {reason}" in problem
    assert profile_problems(f"{text}\n{SHARED.replace('system', 'cuda')}")
    assert resolved(f"{text}\n{SHARED.replace('system', 'none')}")


def test_one_perf_analyzer_may_share_memory() -> None:
    assert resolved(SHARED)
    assert resolved(f"load: {{arrivals: poisson, rate: 20}}\n{SHARED}")


def test_of_concurrent_models_one_may_share_memory() -> None:
    together = "run_config_profile_models_concurrently_enable: true\nrun_config_search_mode: quick"
    both = f"profile_models: {{a: {{{SHARED}}}, b: {{{SHARED}}}}}"
    problems = profile_problems(f"{together}\n{both}")
    assert [problem.split()[1] for problem in problems] == ["a:", "b:"]
    assert resolved(f"{together}\nprofile_models: {{a: {{{SHARED}}}, b: {{}}}}")


REMOTE = "triton_launch_mode: remote\n"


def test_one_address_is_one_server() -> None:
    server = settings(REMOTE + "triton_grpc_endpoint: a:1").server
    assert server.grpc_endpoints == ("a:1",)
    assert server.count == 1
    assert each_server(server) == (server,)


@pytest.mark.parametrize("written", ["[a:1, b:2]", "a:1,b:2", '"a:1, b:2"'])
def test_a_list_is_a_server_for_each_address(written: str) -> None:
    server = settings(REMOTE + f"triton_grpc_endpoint: {written}").server
    assert server.grpc_endpoints == ("a:1", "b:2")
    assert server.count == 2


def test_addresses_that_are_not_given_are_on_the_same_host() -> None:
    server = settings(REMOTE + "triton_grpc_endpoint: [a:1, b:2]").server
    first, second = map(remote_endpoints, each_server(server))
    assert [str(address) for address in first.addresses] == ["a:8000", "a:1", "a:8002"]
    assert [str(address) for address in second.addresses] == ["b:8000", "b:2", "b:8002"]
    assert second.metrics_url == "http://b:8002/metrics"


def test_each_server_has_the_addresses_at_its_place_in_the_lists() -> None:
    server = settings(
        REMOTE + "triton_grpc_endpoint: [a:1, a:2]\n"
        "triton_http_endpoint: [a:3, a:4]\n"
        "triton_metrics_url: ['http://a:5/metrics', 'http://a:6/metrics']"
    ).server
    _, second = each_server(server)
    assert second.grpc_endpoints == ("a:2",)
    assert second.http_endpoints == ("a:4",)
    assert second.metrics_urls == ("http://a:6/metrics",)


def test_lists_have_the_same_length() -> None:
    (problem,) = profile_problems(
        REMOTE + "triton_grpc_endpoint: [a:1, b:1]\ntriton_metrics_url: http://a:2/metrics"
    )
    assert problem.startswith("f.yaml:3:21: ")
    assert "triton_metrics_url has 1 value, but triton_grpc_endpoint has 2" in problem


def test_a_server_is_not_given_twice() -> None:
    (problem,) = profile_problems(REMOTE + "triton_grpc_endpoint: [a:1, 'grpc://a:1']")
    assert problem.startswith("f.yaml:2:23: triton_grpc_endpoint has a:1 twice")


@pytest.mark.parametrize("mode", ["local", "docker", "c_api"])
def test_only_remote_servers_may_be_several(mode: str) -> None:
    (problem,) = profile_problems(
        f"triton_launch_mode: {mode}\ntriton_grpc_endpoint: [localhost:1, localhost:2]"
    )
    assert problem.startswith("f.yaml:2:23: ")
    assert "a list in triton_grpc_endpoint needs triton_launch_mode: remote" in problem


def test_a_wrong_address_in_a_list_has_its_place() -> None:
    (problem,) = profile_problems(REMOTE + "triton_grpc_endpoint: [a:1, b]")
    assert problem.startswith("f.yaml:2:29: expected HOST:PORT")


FILE = """
executor: ray
ray_address: head:6379
slots: 8
slot_gpus: 2
slot_cpus: 16
slot_label: [ray.io/accelerator-type=H100, rack=3]
slots_per_host: 2
"""


def test_trials_are_measured_on_this_machine_by_default() -> None:
    assert settings("").executor == ExecutorSettings(
        kind=ExecutorKind.LOCAL,
        address="auto",
        slots=None,
        gpus=None,
        cpus=None,
        labels=(),
        per_host=1,
    )


def test_slots_of_a_cluster() -> None:
    assert settings(FILE).executor == ExecutorSettings(
        kind=ExecutorKind.RAY,
        address="head:6379",
        slots=8,
        gpus=2,
        cpus=16,
        labels=("ray.io/accelerator-type=H100", "rack=3"),
        per_host=2,
    )


def test_words_for_all_that_there_is() -> None:
    executor = settings("slots: auto\nslot_cpus: all").executor
    assert (executor.slots, executor.cpus) == (None, None)


@pytest.mark.parametrize(
    "written",
    ["executor: dask", "slots: 0", "slot_gpus: 0.5", "slot_cpus: auto", "slot_label: H100"],
)
def test_values_that_make_no_sense_are_named_with_their_place(written: str) -> None:
    (problem,) = profile_problems(written)
    assert problem.startswith("f.yaml:1:")
