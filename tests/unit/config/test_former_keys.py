# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Keys of old files, and what to write in their place.

Options with two names, such as `search` and `run_config_search_mode`, wherever they can be
given.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import pytest

from model_analyzer.config.former_keys import FORMER_KEYS, FORMER_METRICS
from model_analyzer.config.given_options import origins
from model_analyzer.config.model_options import MODEL_OPTIONS, PARAMETER_OPTIONS
from model_analyzer.config.nodes import Entry, Node
from model_analyzer.config.options import OPTIONS, json_schema
from model_analyzer.config.resolve import resolve_profile
from model_analyzer.config.sources import misspelled, parse_yaml, read_environment
from model_analyzer.domain.metrics import METRICS
from model_analyzer.domain.settings import SearchMode
from model_analyzer.errors import ConfigError
from tests.unit.builders import profile_problems

MIGRATION = Path(__file__).parents[3] / "docs" / "migration.md"
KEYS = {option.key for option in (*OPTIONS, *MODEL_OPTIONS, *PARAMETER_OPTIONS)}


def test_each_key_of_an_old_file_is_refused_with_what_to_write() -> None:
    """As in public files of 2021."""
    assert profile_problems(
        "model_names: [m]\n"
        "analysis_models: {m: {objectives: {perf_throughput: 10}}}\n"
        "summarize: true\n"
        "max_retries: 100\n"
        "log_level: INFO\n"
        "triton_version: 24.01-py3\n"
        "perf_measurement_window: 5000\n"
        "run_config_search_preferred_batch_size_disable: true\n"
        "cpu_monitor_disable: true\n"
        "export: true\n"
        "parameters: {concurrency: 4}\n"
    )[:11] == [
        f"f.yaml:{line}:1: unknown option {key!r} ({FORMER_KEYS[key]})"
        for line, key in enumerate(
            (
                "model_names", "analysis_models", "summarize", "max_retries", "log_level",
                "triton_version", "perf_measurement_window",
                "run_config_search_preferred_batch_size_disable", "cpu_monitor_disable", "export",
                "parameters",
            ),
            start=1,
        )
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("key", "hint"),
    [
        ("concurrency", "write parameters: {concurrency: …}"),
        ("batch_sizes", "write parameters: {batch_sizes: …}"),
        ("request_rate", "write parameters: {request_rate: …}"),
        ("max_batch_size", "write model_config_parameters: {max_batch_size: …} below the model"),
        ("percentile", "write perf_analyzer_flags: {percentile: …}"),
        ("request_count", "write perf_analyzer_flags: {request-count: …}"),
        ("log_verbose", "write triton_server_flags: {log-verbose: …}"),
    ],
)
def test_an_option_in_the_wrong_place_of_a_model_is_told_its_place(key: str, hint: str) -> None:
    problems = profile_problems(f"profile_models: {{m: {{{key}: 4}}}}")

    assert f"f.yaml:1:22: unknown option {key!r} ({hint})" in problems


@pytest.mark.parametrize(
    ("word", "meant"),
    [
        ("p99", "perf_latency_p99"),
        ("latency_avg", "perf_latency_avg"),
        ("latency", "perf_latency_p99"),
        ("throughput", "perf_throughput"),
    ],
)
def test_a_short_or_former_metric_is_told_its_name(word: str, meant: str) -> None:
    for text in (
        f"objectives: [{word}]",
        f"objectives: {{{word}: 1}}",
        f"constraints: {{{word}: {{max: 5}}}}",
    ):
        assert any(
            problem.endswith(f"unknown metric {word!r} (write {meant})")
            for problem in profile_problems(text)
        )


@pytest.mark.parametrize("key", ["log_levels", "model_namez", "cpu_monitor", "zzz"])
def test_a_name_that_is_hardly_similar_is_not_suggested(key: str) -> None:
    (problem,) = (one for one in profile_problems(f"{key}: 1") if "unknown option" in one)

    assert problem == f"f.yaml:1:1: unknown option {key!r}"


def test_the_table_names_no_option_in_its_own_place_and_only_options() -> None:
    top_level = {option.key for option in OPTIONS}
    of_models = {option.key for option in MODEL_OPTIONS}
    assert not FORMER_KEYS.keys() & top_level & of_models
    assert set(FORMER_METRICS.values()) <= METRICS.keys()
    for hint in FORMER_KEYS.values():
        named = set(re.findall(r"\b[a-z]+(?:_[a-z]+)+\b", hint))
        assert named <= KEYS | {
            "preferred_batch_size",
            "max_batch_size",
            "instance_group",
            "dynamic_batching",
        }


def test_the_guide_has_every_key() -> None:
    text = MIGRATION.read_text("utf-8")
    assert [key for key in FORMER_KEYS if f"`{key}`" not in text] == []
    assert [name for name in FORMER_METRICS if "_" not in name and f"`{name}`" not in text] == []


def test_variables_of_former_keys_are_told_too() -> None:
    variables = dict.fromkeys(("MODEL_ANALYZER_MODEL_NAMES", "MODEL_ANALYZER_CONCURRENCY"), "1")

    assert [*misspelled(variables)] == [
        "MODEL_ANALYZER_MODEL_NAMES: unknown variable, ignored: write profile_models"
    ]


@pytest.mark.parametrize("key", ["model_names", "models", "analysis_models", "profile_model"])
def test_models_below_another_key_are_not_missing_too(key: str) -> None:
    (problem,) = profile_problems(f"{key}: [m]")

    assert f"unknown option {key!r}" in problem


UNFILLED = "which is not filled in (fill it in before the run: variables in YAML are not replaced)"


@pytest.mark.parametrize(
    ("text", "place", "placeholder"),
    [
        ("export_path: ${OUT}/x", "1:14", "${OUT}"),
        ("a: 1\nconcurrency: ${N:-4}", "2:14", "${N:-4}"),
        ("profile_models:\n  ${MODEL}: {cpu_only: true}", "2:3", "${MODEL}"),
        ("profile_models:\n  m: {parameters: {concurrency: [1, '${N}']}}", "2:37", "${N}"),
        ("checkpoint_directory: $HOME/ck", "1:23", "$HOME"),
        ("checkpoint_directory: '{{ ck }}'", "1:23", "{{ ck }}"),
        ("checkpoint_directory: <CHECKPOINT>", "1:23", "<CHECKPOINT>"),
        ("triton_http_endpoint: $HOST:8000", "1:23", "$HOST"),
        # not valid as YAML
        ("profile_models: [${MODEL}]", "1:19", "${MODEL}"),
        ("profile_models: {{ model }}", "1:18", "{{ model }}"),
    ],
)
def test_a_template_that_is_not_filled_in_is_recognized(
    text: str, place: str, placeholder: str
) -> None:
    try:
        problems = profile_problems(text)
    except ConfigError as error:
        problems = [str(problem) for problem in error.problems]

    assert f"f.yaml:{place}: has the placeholder {placeholder}, {UNFILLED}" in problems
    assert all("has the placeholder" in problem for problem in problems)


def test_values_for_other_programs_may_have_variables() -> None:
    problems = profile_problems(
        "zzz: 1\n"
        "triton_server_environment: {A: '${B}'}\n"
        "perf_analyzer_flags: {string-data: '${x}'}\n"
        "profile_models:\n"
        "  m: {model_config_parameters: {parameters: {a: {string_value: '${B}'}}}}\n"
        "triton_docker_labels: {a: '{{ .Node }}'}\n"
        "slot_label: 'a=$b $(c) <d>'\n"
        "# ${COMMENT}\n"
    )
    assert not any("placeholder" in problem for problem in problems)


def test_a_comment_is_no_placeholder() -> None:
    with pytest.raises(ConfigError, match="not valid YAML"):
        parse_yaml("# ${A}\nb: [1, 2\nc: 3", "f.yaml")


REPOSITORY = Entry("model_repository", "-m", Node("models", "-m"))
MODELS = Entry("profile_models", "--profile-models", Node("m", "--profile-models"))
SHORT, LONG = "search", "run_config_search_mode"


def flag(key: str, value: str) -> Entry:
    name = "--" + key.replace("_", "-")
    return Entry(key, name, Node(value, name))


def mode(*command_line: Entry, yaml: str = "", environment: Sequence[Entry] = ()) -> SearchMode:
    resolved = resolve_profile(
        [REPOSITORY, MODELS, *command_line],
        parse_yaml(yaml, "f.yaml"),
        Path("/"),
        environment=environment,
    )
    chosen = resolved.settings.search.mode
    assert chosen is not None
    return chosen


def test_the_short_name_is_a_flag_a_key_and_a_variable() -> None:
    assert mode(flag(SHORT, "adaptive")) is SearchMode.ADAPTIVE
    assert mode(yaml="search: adaptive") is SearchMode.ADAPTIVE
    variables = read_environment({"MODEL_ANALYZER_SEARCH": "adaptive"})
    assert mode(environment=variables) is SearchMode.ADAPTIVE


@pytest.mark.parametrize("keys", [(SHORT, LONG), (LONG, SHORT)])
def test_the_command_line_overrides_the_file_whichever_names_they_use(
    keys: tuple[str, str],
) -> None:
    above, below = keys
    assert mode(flag(above, "quick"), yaml=f"{below}: adaptive") is SearchMode.QUICK


def test_the_limit_of_measurements_has_an_earlier_name() -> None:
    for key in ("max_measurements", "max_trials"):
        yaml = parse_yaml(f"search: adaptive\n{key}: 7", "f.yaml")
        resolved = resolve_profile([REPOSITORY, MODELS], yaml, Path("/"))
        assert resolved.settings.search.adaptive.max_trials == 7


def test_both_names_may_say_the_same() -> None:
    assert mode(flag(SHORT, "quick"), flag(LONG, "quick")) is SearchMode.QUICK


@pytest.mark.parametrize("keys", [(SHORT, LONG), (LONG, SHORT)])
def test_different_values_under_both_names_are_an_error_that_names_both(
    keys: tuple[str, str],
) -> None:
    first, second = keys
    with pytest.raises(ConfigError) as caught:
        mode(flag(first, "quick"), flag(second, "brute"))
    (problem,) = caught.value.problems
    assert {SHORT, LONG} <= set(problem.message.replace(",", "").split())
    assert problem.where == flag(second, "").where
    assert flag(first, "").where in problem.hint

    with pytest.raises(ConfigError, match=r"f\.yaml:2:.*f\.yaml:1:"):
        mode(yaml=f"{first}: quick\n{second}: brute\n")


def test_the_schema_has_both_names() -> None:
    properties = json_schema()["properties"]

    assert "adaptive" in str(properties[SHORT])
    assert properties[SHORT]["anyOf"] == properties[LONG]["anyOf"]


def test_origins_show_one_option() -> None:
    file = parse_yaml("search: adaptive", "f.yaml")
    assert file is not None
    variables = read_environment({"MODEL_ANALYZER_RUN_CONFIG_SEARCH_MODE": "quick"})

    (shown,) = origins((variables, file.entries), OPTIONS, Path("/"), with_defaults=False)

    assert (shown.key, shown.value) == (LONG, "quick")
    assert shown.instead_of == (file.entries[0].node.where,)
