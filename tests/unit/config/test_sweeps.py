# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""`model_config_parameters`: what is one value, what is a sweep, and what comes out; the table of
model configuration fields is what its tool would write today.
"""

from __future__ import annotations

import subprocess
import sys
from itertools import product
from math import prod
from pathlib import Path
from typing import Any

import pytest

from model_analyzer.config.model_options import SCALARS, ModelConfigParameters
from model_analyzer.domain import model_config_fields
from model_analyzer.domain.model_config_fields import ENUMS, MESSAGES
from model_analyzer.domain.models import thaw
from model_analyzer.errors import ConfigError
from tests.phrases import NO_VALUES_TO_TRY, NOT_AN_INTEGER
from tests.unit.builders import parse_problem, parse_problems, yaml


def alternatives(text: str) -> dict[str, list[Any]]:
    """The values to try for each field, as plain data."""
    return dict(thaw(ModelConfigParameters().parse(yaml(text))))


def combinations(text: str) -> list[tuple[Any, ...]]:
    """What a search goes through: the product of all fields, the last one fastest."""
    return list(product(*alternatives(text).values()))


# ------------------------------------------------------------------------- one value or a sweep


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("max_batch_size: 4", [4]),
        ("max_batch_size: [4, 8]", [4, 8]),
        ("max_batch_size: [8, 4, 8]", [8, 4, 8]),
        ("backend: python", ["python"]),
        ("backend: [python, onnxruntime]", ["python", "onnxruntime"]),
        ("response_cache: {enable: [true, 'false']}", [{"enable": True}, {"enable": False}]),
        ("dynamic_batching: {}", [{}]),
        (
            "dynamic_batching: {max_queue_delay_microseconds: 100}",
            [{"max_queue_delay_microseconds": 100}],
        ),
        (
            "dynamic_batching: [{}, {max_queue_delay_microseconds: 100}]",
            [{}, {"max_queue_delay_microseconds": 100}],
        ),
        (
            "dynamic_batching: {max_queue_delay_microseconds: [100, 200]}",
            [{"max_queue_delay_microseconds": 100}, {"max_queue_delay_microseconds": 200}],
        ),
        (
            "dynamic_batching: {preferred_batch_size: [4, 8]}",
            [{"preferred_batch_size": [4, 8]}],
        ),
        (
            "dynamic_batching: {preferred_batch_size: [[4, 8], [16]]}",
            [{"preferred_batch_size": [4, 8]}, {"preferred_batch_size": [16]}],
        ),
        (
            "instance_group: [{kind: KIND_GPU, count: 1}]",
            [[{"kind": "KIND_GPU", "count": 1}]],
        ),
        (
            "instance_group: [[{count: 1}], [{count: 2}, {count: 3}]]",
            [[{"count": 1}], [{"count": 2}, {"count": 3}]],
        ),
        (
            "instance_group: [{kind: KIND_GPU, count: [1, 2]}]",
            [[{"kind": "KIND_GPU", "count": 1}], [{"kind": "KIND_GPU", "count": 2}]],
        ),
        (
            "instance_group: [{gpus: [0, 1]}]",
            [[{"gpus": [0, 1]}]],
        ),
        (
            "parameters: {THREADS: {string_value: ['1', '2']}}",
            [{"THREADS": {"string_value": "1"}}, {"THREADS": {"string_value": "2"}}],
        ),
        (
            "cc_model_filenames: {'7.5': a.plan, '8.0': [b.plan, c.plan]}",
            [{"7.5": "a.plan", "8.0": "b.plan"}, {"7.5": "a.plan", "8.0": "c.plan"}],
        ),
    ],
)  # fmt: skip
def test_a_value_that_fits_its_field_is_one_value_and_a_list_sweeps_otherwise(
    written: str, expected: list[Any]
) -> None:
    (values,) = alternatives(written).values()
    assert values == expected


def test_empty_parameters_have_no_fields() -> None:
    assert alternatives("{}") == {}


# ------------------------------------------------------------------------------ order and counts


def test_fields_keep_the_order_of_the_file_and_the_last_one_is_fastest() -> None:
    text = (
        "dynamic_batching: [{}, {max_queue_delay_microseconds: 100}]\n"
        "max_batch_size: [4, 8]\n"
        "instance_group: [{count: [1, 2], kind: KIND_CPU}]\n"
    )
    assert list(alternatives(text)) == ["dynamic_batching", "max_batch_size", "instance_group"]
    choices = [
        (batching.get("max_queue_delay_microseconds"), size, groups[0]["count"])
        for batching, size, groups in combinations(text)
    ]
    assert choices == [
        (None, 4, 1), (None, 4, 2), (None, 8, 1), (None, 8, 2),
        (100, 4, 1), (100, 4, 2), (100, 8, 1), (100, 8, 2),
    ]  # fmt: skip


def test_nested_alternatives_multiply_with_the_last_key_fastest() -> None:
    (choices,) = alternatives(
        "dynamic_batching:\n"
        "  preferred_batch_size: [[4], [8]]\n"
        "  max_queue_delay_microseconds: [100, 200]\n"
    ).values()
    assert choices == [
        {"preferred_batch_size": [4], "max_queue_delay_microseconds": 100},
        {"preferred_batch_size": [4], "max_queue_delay_microseconds": 200},
        {"preferred_batch_size": [8], "max_queue_delay_microseconds": 100},
        {"preferred_batch_size": [8], "max_queue_delay_microseconds": 200},
    ]


def test_two_swept_groups_give_every_pair_each_with_both_groups() -> None:
    (choices,) = alternatives(
        "instance_group:\n- {kind: KIND_GPU, count: [1, 2]}\n- {kind: KIND_CPU, count: [1, 2]}\n"
    ).values()
    assert [[(group["kind"], group["count"]) for group in groups] for groups in choices] == [
        [("KIND_GPU", 1), ("KIND_CPU", 1)],
        [("KIND_GPU", 1), ("KIND_CPU", 2)],
        [("KIND_GPU", 2), ("KIND_CPU", 1)],
        [("KIND_GPU", 2), ("KIND_CPU", 2)],
    ]


def test_alternatives_of_alternatives_are_all_listed() -> None:
    (choices,) = alternatives(
        "instance_group: [[{count: [1, 2]}], [{count: 5}, {count: [6, 7]}]]"
    ).values()
    counts = [[group["count"] for group in groups] for groups in choices]
    assert counts == [[1], [2], [5, 6], [5, 7]]


def test_a_worked_sweep_has_as_many_combinations_as_its_parts_multiply_to() -> None:
    text = (
        "max_batch_size: [1, 2, 4, 8]\n"
        "instance_group: [{kind: KIND_GPU, count: [1, 2, 3]}]\n"
        "dynamic_batching:\n"
        "  preferred_batch_size: [[2, 4], [8]]\n"
        "  max_queue_delay_microseconds: [50, 100, 200]\n"
    )
    assert [len(values) for values in alternatives(text).values()] == [4, 3, 6]
    assert len(combinations(text)) == prod((4, 3, 6))


# ------------------------------------------------------------------------------------ nothing


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("max_batch_size: ", [None]),
        ("max_batch_size: [null, 8]", [None, 8]),
        ("dynamic_batching: [null, {}]", [None, {}]),
        ("instance_group: [null, [{count: 2}]]", [None, [{"count": 2}]]),
        ("instance_group: [{count: 2, kind: null}]", [[{"count": 2}]]),
        (
            "dynamic_batching: {max_queue_delay_microseconds: [null, 100]}",
            [{}, {"max_queue_delay_microseconds": 100}],
        ),
    ],
)
def test_null_leaves_a_field_as_it_is(written: str, expected: list[Any]) -> None:
    (values,) = alternatives(written).values()
    assert values == expected


# ------------------------------------------------------------------------------ what is refused


@pytest.mark.parametrize(
    ("written", "where", "message", "hint"),
    [
        (
            "max_batch_sise: 1",
            "f.yaml:1:1", "ModelConfig has no field 'max_batch_sise'",
            "did you mean 'max_batch_size'?",
        ),
        (
            "instance_group: [{kind: KIND_GPU, conut: 1}]",
            "f.yaml:1:35", "ModelInstanceGroup has no field 'conut'",
            "did you mean 'count'?",
        ),
        (
            "instance_group: [{kind: KIND_GPUS}]",
            "f.yaml:1:25", "expected a ModelInstanceGroup.Kind, found 'KIND_GPUS'",
            "did you mean 'KIND_GPU'?",
        ),
        ("instance_group: [{count: -1}]", "f.yaml:1:26", "must be at least 0, found -1", ""),
        (
            "version_policy: {latest: {num_versions: 1}, specific: {versions: [1]}}",
            "f.yaml:1:45", "latest and specific exclude each other", "give one of them",
        ),
        (
            "model_warmup: [{inputs: {x: {zero_data: true, random_data: true}}}]",
            "f.yaml:1:47", "zero_data and random_data exclude each other", "give one of them",
        ),
        (
            "instance_group: [[{count: 1}], [{count: 1000000000}]]",
            "f.yaml:1:41", "must be at most 10000, found 1000000000",
            "",
        ),
        (
            "instance_group: {count: 1}",
            "f.yaml:1:17", "expected a list, found a mapping",
            "put it in [ ]",
        ),
        (
            "dynamic_batching: 3",
            "f.yaml:1:19", "expected a mapping of ModelDynamicBatching fields, found 3",
            "",
        ),
        (
            "max_batch_size: [4, many]",
            "f.yaml:1:21", f"{NOT_AN_INTEGER}, found 'many'",
            "",
        ),
        ("max_batch_size: -5", "f.yaml:1:17", "must be at least 0, found -5", ""),
        ("max_batch_size: [4, -1]", "f.yaml:1:21", "must be at least 0, found -1", ""),
        (
            "max_batch_size: [[4, 8]]",
            "f.yaml:1:18", f"{NOT_AN_INTEGER}, found a list",
            "",
        ),
        (
            "max_batch_size: {start: 1, stop: 4}",
            "f.yaml:1:17", f"{NOT_AN_INTEGER}, found a mapping",
            "",
        ),
        (
            "dynamic_batching: {preferred_batch_size: [4, [8]]}",
            "f.yaml:1:43", "expected a list, found 4",
            "put it in [ ]",
        ),
        (
            "parameters: [x]",
            "f.yaml:1:14", "expected a mapping, found 'x'",
            "",
        ),
        (
            "parameters: {THREADS: 4}",
            "f.yaml:1:23", "expected a mapping of ModelParameter fields, found 4",
            "",
        ),
        (
            "response_cache: {enable: maybe}",
            "f.yaml:1:26", "expected true or false, found 'maybe'",
            "",
        ),
    ],
)  # fmt: skip
def test_a_value_that_does_not_fit_is_refused_with_its_place(
    written: str, where: str, message: str, hint: str
) -> None:
    problem = parse_problem(ModelConfigParameters(), yaml(written))
    assert (problem.where, problem.message, problem.hint) == (where, message, hint)


@pytest.mark.parametrize("written", ["[max_batch_size]", "max_batch_size", "3"])
def test_parameters_are_a_mapping_of_fields(written: str) -> None:
    problem = parse_problem(ModelConfigParameters(), yaml(written))
    assert problem.message.startswith("expected a mapping of ModelConfig fields, found")


def test_everything_that_does_not_fit_is_reported_at_once() -> None:
    problems = parse_problems(
        ModelConfigParameters(),
        yaml(
            "max_batch_size: x\n"
            "dynamic_batching: {preserve_ordering: 7, priority: 1}\n"
            "backnd: python\n"
        ),
    )
    assert [problem.where for problem in problems] == ["f.yaml:1:17", "f.yaml:2:39", "f.yaml:2:42",
                                                       "f.yaml:3:1"]  # fmt: skip


def test_an_explosion_of_combinations_is_refused_where_it_happens() -> None:
    counts = ", ".join(map(str, range(1, 401)))
    problem = parse_problem(
        ModelConfigParameters(),
        yaml(f"instance_group: [{{count: [{counts}]}}, {{count: [{counts}]}}]"),
    )
    assert problem.where == "f.yaml:1:17"
    assert problem.message == "more than 100000 combinations"


# ------------------------------------------------------------------------------- the table itself


def test_every_type_that_a_field_may_have_is_explained() -> None:
    for message, fields in MESSAGES.items():
        for field, kind in fields.items():
            name = kind.strip("[]{}")
            is_explained = name in MESSAGES or name in ENUMS or name in SCALARS
            assert is_explained, f"{message}.{field} is a {kind}"


@pytest.mark.parametrize(
    "field",
    [
        "name", "platform", "backend", "runtime", "version_policy", "max_batch_size", "input",
        "output", "batch_input", "batch_output", "optimization", "dynamic_batching",
        "sequence_batching", "ensemble_scheduling", "instance_group", "default_model_filename",
        "cc_model_filenames", "metric_tags", "parameters", "model_warmup", "model_operations",
        "model_transaction_policy", "model_repository_agents", "response_cache",
    ],
)  # fmt: skip
def test_a_field_that_users_may_know_is_there(field: str) -> None:
    assert field in MESSAGES["ModelConfig"]


def test_lists_of_alternatives_are_limited_too() -> None:
    with pytest.raises(ConfigError, match="more than 100000 combinations"):
        ModelConfigParameters().parse(yaml("max_batch_size: [" + "1, " * 100_001 + "]"))


def test_aliases_do_not_multiply_beyond_the_limit() -> None:
    value = "[{count: 1}]"
    for level in range(7):
        value = f"[&l{level} {value}" + f", *l{level}" * 9 + "]"
    with pytest.raises(ConfigError, match="more than 100000 combinations"):
        ModelConfigParameters().parse(yaml(f"instance_group: {value}"))


def test_all_fields_together_are_limited() -> None:
    many = "[" + ", ".join(map(str, range(1000))) + "]"
    with pytest.raises(ConfigError, match="more than 100000 combinations"):
        ModelConfigParameters().parse(
            yaml(f"max_batch_size: {many}\ndefault_model_filename: {many}")
        )


@pytest.mark.parametrize(
    "text", ["max_batch_size: []", "dynamic_batching: {max_queue_delay_microseconds: []}"]
)
def test_an_empty_list_of_alternatives_is_a_mistake(text: str) -> None:
    with pytest.raises(ConfigError, match=NO_VALUES_TO_TRY):
        ModelConfigParameters().parse(yaml(text))


ROOT = Path(__file__).resolve().parents[3]


def test_the_table_of_fields_is_fresh() -> None:
    written = subprocess.run(
        [sys.executable, ROOT / "tools" / "model_config_fields.py"], check=True, capture_output=True
    ).stdout
    table = Path(model_config_fields.__file__)
    formatted = subprocess.run(
        [sys.executable, "-m", "ruff", "format", "--no-cache", "--stdin-filename", table, "-"],
        input=written,
        cwd=ROOT,
        check=True,
        capture_output=True,
    ).stdout
    assert formatted.decode() == table.read_text(encoding="utf-8")
