# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The JSON Schema accepts what the option table accepts, and nothing else it can tell apart.

Whatever somebody writes: it resolves, or every problem with it is told.

`make fuzz` tries the same for much longer.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import assume, given
from jsonschema import Draft202012Validator

from model_analyzer.config.model_options import MODEL_OPTIONS, PARAMETER_OPTIONS
from model_analyzer.config.nodes import Problems
from model_analyzer.config.options import OPTIONS, json_schema
from model_analyzer.config.sources import parse_yaml
from model_analyzer.config.table import read
from model_analyzer.domain.model_config_fields import MESSAGES
from model_analyzer.errors import ConfigError, Problem
from tests.unit.builders import nodes, plain, yaml
from tests.unit.config.configurations import (
    CONFIGURATIONS,
    EXAMPLES,
    FITTING,
    TREES,
    command_line_resolves_or_tells,
    command_lines,
    mutated_texts,
    text_resolves_or_tells,
    tree_resolves_or_tells,
)

SCHEMA = json_schema()
VALIDATOR = Draft202012Validator(SCHEMA)

# What takes arithmetic or a look around, and what JSON cannot tell apart (1.0 and 1).
BEYOND_A_SCHEMA = (
    "has no flag", "is empty", "a range of more than", "combinations", "needs a weight above 0",
    "must be at", "must be above", "'all' cannot be combined with other GPUs", "cannot"
                                                                               " expand", "finite"
                                                                                          " number",
    "are the same option", "has no effect on", "need cv", "the stages together",
    "found 1.0", "found 0.0",
)  # fmt: skip


def problems_of(tree: Any) -> Sequence[Problem]:
    """What is wrong with the options, each for itself."""
    problems = Problems()
    with problems.collect():
        root = nodes(tree)
        if not root.is_null:
            if not root.is_mapping:
                raise root.problem("no mapping")
            read(root.entries, OPTIONS, problems)
    try:
        problems.raise_any()
    except ConfigError as error:
        return error.problems
    return ()


def test_it_is_a_schema() -> None:
    Draft202012Validator.check_schema(SCHEMA)


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_every_example_passes(path: Any) -> None:
    node = parse_yaml(EXAMPLES[path], path.name)
    assert node is not None
    tree = plain(node)
    VALIDATOR.validate(tree)
    tree_resolves_or_tells(tree)  # for `profile`, and for `report`


def test_an_empty_file_passes() -> None:
    VALIDATOR.validate(None)


@given(FITTING)
def test_values_that_the_schema_accepts_are_accepted(tree: Any) -> None:
    assume(VALIDATOR.is_valid(tree))
    for problem in problems_of(tree):
        assert any(words in problem.message for words in BEYOND_A_SCHEMA), (problem, tree)


@given(CONFIGURATIONS)
def test_schema_and_parser_refuse_the_same_values(tree: Any) -> None:
    problems = problems_of(tree)
    if VALIDATOR.is_valid(tree):
        for problem in problems:
            assert any(words in problem.message for words in BEYOND_A_SCHEMA), (problem, tree)
    else:
        assert problems, next(iter(VALIDATOR.iter_errors(tree)))


@pytest.mark.parametrize(
    "text",
    [
        "batch_sizes: 1,2",
        "batch_sizes: [1, '2:8:2', {start: 1, stop: 3}]",
        "collect_cpu_metrics: 'yes'",
        "client_protocol: HTTP",
        "profile_models: a, b",
        "profile_models: [a, {b: {cpu_only: true}}]",
        "profile_models: {a: }",
        "gpus: []",
        "objectives: perf_throughput,perf_latency_p99",
        "objectives: {perf_latency: 0.5}",
        "constraints: {perf_latency_p99: {max: 0.5}}",
        "triton_server_flags: {log_verbose: 1, backend-config: [a, b]}",
        "triton_docker_mounts: /a:/b:ro, /c:/d:rw",
        "profile_models: {a: {model_config_parameters: {max_batch_size: [1, null, 8]}}}",
        "profile_models: {a: {model_config_parameters: {instance_group: "
        "[[{kind: KIND_CPU, count: [1, 2]}], [{count: 4}]]}}}",
        "plots: [{p: {title: t, x_axis: batch_size, y_axis: perf_throughput}}]",
        "report_model_configs: [a, {b: {plots: {}}}]",
        "perf_analyzer_timeout:",
        "bls_composing_models: []",
        "ensemble_composing_models: {}",
    ],
)
def test_every_form_passes(text: str) -> None:
    tree = plain(yaml(text))
    assert problems_of(tree) == ()
    VALIDATOR.validate(tree)


@pytest.mark.parametrize(
    "text",
    [
        "batch_sizes: 0",
        "batch_sizes: {start: 1, stop: 3, by: 1}",
        "batch_sizes: 1,x",
        "collect_cpu_metrics: maybe",
        "client_protocol: ftp",
        "profile_models: a/b",
        "profile_models: a,..",
        "profile_models: {..: }",
        "profile_models: []",
        "profile_models: {a: {cpu: true}}",
        "objectives: {perf_throughputt: 1}",
        "constraints: {perf_latency_p99: {min: 0.5}}",
        "constraints: {perf_latency_p99: {}}",
        "perf_analyzer_flags: {measurement_mode: x}",
        "triton_docker_mounts: /a:/b",
        "profile_models: {a: {model_config_parameters: {max_batch: 1}}}",
        "profile_models: {a: {model_config_parameters: {max_batch_size: 2147483648}}}",
        "profile_models: {a: {model_config_parameters: {instance_group: {count: 4}}}}",
        "profile_models: {a: {model_config_parameters: {instance_group: [{kind: CPU}]}}}",
        "plots: {p: {title: t, x_axis: batch_size}}",
        "triton_http_endpoint: localhost:65536",
        "monitoring_interval: 0",
        "mode: offline",
        "run_config_search_max_instance_count: 2147483648",
    ],
)
def test_invalid_values_are_refused(text: str) -> None:
    tree = plain(yaml(text))
    assert problems_of(tree)
    assert not VALIDATOR.is_valid(tree)


def test_an_editor_gets_every_option_with_help_and_default() -> None:
    properties = SCHEMA["properties"]
    assert list(properties) == [option.key for option in OPTIONS]
    assert all(properties[option.key]["description"] == option.help for option in OPTIONS)
    assert properties["client_protocol"]["default"] == "grpc"
    assert properties["batch_sizes"]["default"] == [1]
    assert properties["checkpoint_directory"]["default"] == "checkpoints"
    assert properties["run_config_search_max_concurrency"]["anyOf"][0] == {
        "type": "integer",
        "minimum": 1,
        "maximum": 2**31 - 1,
    }


def test_models_and_their_configurations_are_described_to_the_last_field() -> None:
    definitions = SCHEMA["$defs"]
    assert set(definitions["model"]["properties"]) == {option.key for option in MODEL_OPTIONS}
    parameters = definitions["model"]["properties"]["parameters"]["anyOf"][0]
    assert set(parameters["properties"]) == {option.key for option in PARAMETER_OPTIONS}
    for message, fields in MESSAGES.items():
        expected = set(fields) - ({"name"} if message == "ModelConfig" else set())
        assert set(definitions[message]["properties"]) == expected
        assert definitions[message]["additionalProperties"] is False


def test_definitions_are_used() -> None:
    text = str(SCHEMA)
    assert [name for name in SCHEMA["$defs"] if f"#/$defs/{name}" not in text] == []


@given(CONFIGURATIONS)
def test_a_configuration_resolves_or_all_its_problems_are_reported(tree: Any) -> None:
    tree_resolves_or_tells(tree)


@given(TREES)
def test_a_file_of_any_content_resolves_or_all_its_problems_are_reported(tree: Any) -> None:
    tree_resolves_or_tells(tree)


@given(mutated_texts())
def test_a_damaged_example_resolves_or_all_its_problems_are_reported(text: str) -> None:
    text_resolves_or_tells(text)


@given(command_lines())
def test_a_command_line_resolves_or_all_its_problems_are_reported(
    command_line: tuple[str, list[str]],
) -> None:
    command_line_resolves_or_tells(command_line)
