# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Options from environment variables: what is read, what wins, and what is told about it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from model_analyzer.config.given_options import origins
from model_analyzer.config.options import OPTIONS
from model_analyzer.config.resolve import resolve_profile, resolve_report
from model_analyzer.config.sources import misspelled, read_environment
from model_analyzer.domain.settings import ProfileSettings
from model_analyzer.errors import ConfigError
from tests.phrases import GIVEN_TWICE, NOT_AN_INTEGER
from tests.unit.builders import on_line, yaml

CWD = Path("/work")
FILE = "model_repository: models\nprofile_models: m\n"


def resolved(variables: dict[str, str], text: str = "", **flags: str) -> ProfileSettings:
    environment = read_environment({f"MODEL_ANALYZER_{key}": v for key, v in variables.items()})
    return resolve_profile(
        on_line(**flags), yaml(FILE + text), CWD, environment=environment
    ).settings


def problems(variables: dict[str, str], text: str = "", **flags: str) -> list[str]:
    with pytest.raises(ConfigError) as raised:
        resolved(variables, text, **flags)
    return [str(problem) for problem in raised.value.problems]


def test_every_option_has_its_own_variable() -> None:
    variables = [option.variable for option in OPTIONS]

    assert len(set(variables)) == len(variables)
    assert "MODEL_ANALYZER_CHECKPOINT_DIRECTORY" in variables


def test_the_command_line_is_before_the_environment_and_that_before_the_file() -> None:
    variables = {"CHECKPOINT_DIRECTORY": "of-variable", "EXPORT_PATH": "of-variable"}

    settings = resolved(
        variables,
        "checkpoint_directory: of-file\nexport_path: of-file\ncheckpoint_prefix: of-file\n",
        export_path="of-line",
    )

    assert settings.export.path == CWD / "of-line"
    assert settings.checkpoint.directory == CWD / "of-variable"
    assert settings.checkpoint.prefix == "of-file"


@pytest.mark.parametrize(
    ("key", "text", "value"),
    [
        ("BATCH_SIZES", "1,2,4", (1, 2, 4)),
        ("CONCURRENCY", "1:9:2", (1, 3, 5, 7, 9)),
    ],
)
def test_the_text_is_that_of_the_flag(key: str, text: str, value: Any) -> None:
    (model,) = resolved({key: text}).models

    assert value in (model.batch_sizes, model.loads)


@pytest.mark.parametrize(("text", "value"), [("true", True), ("1", True), ("off", False)])
def test_a_flag_without_a_value_is_true_or_false(text: str, value: bool) -> None:
    assert resolved({"FRESH": text}, "fresh: true\n").checkpoint.fresh is value


def test_options_without_a_flag_are_yaml() -> None:
    settings = resolved({"CONSTRAINTS": "{perf_latency_p99: {max: 50}}"})

    (constraint,) = settings.models[0].goal.constraints
    assert (constraint.tag, constraint.maximum) == ("perf_latency_p99", 50)


def test_an_empty_variable_counts_as_not_set() -> None:
    assert resolved({"CHECKPOINT_PREFIX": "", "CONSTRAINTS": " "}).checkpoint.prefix == ""


def test_an_invalid_value_names_the_variable() -> None:
    messages = problems({"BATCH_SIZES": "many", "FRESH": "perhaps"})

    assert messages == [
        f"MODEL_ANALYZER_BATCH_SIZES: {NOT_AN_INTEGER}, found 'many'",
        "MODEL_ANALYZER_FRESH: expected true or false, found 'perhaps'",
    ]


def test_invalid_yaml_names_the_variable() -> None:
    (message,) = problems({"CONSTRAINTS": "{perf: ["})

    assert message.startswith("MODEL_ANALYZER_CONSTRAINTS:")
    assert "not valid YAML" in message


def test_rules_name_the_variable() -> None:
    (message,) = problems({"NO_CHECKPOINT": "1"}, fresh="true")

    assert message == "MODEL_ANALYZER_NO_CHECKPOINT: fresh and no_checkpoint cannot be combined"


def test_models_are_named_in_one_place() -> None:
    (message,) = problems({"PROFILE_MODELS": "a"})

    assert message.startswith(f"MODEL_ANALYZER_PROFILE_MODELS: {GIVEN_TWICE} ")


def test_the_command_line_may_name_other_models_than_the_environment() -> None:
    environment = read_environment({"MODEL_ANALYZER_PROFILE_MODELS": "a"})

    settings = resolve_profile(
        on_line(profile_models="b", model_repository="models"), None, CWD, environment=environment
    ).settings

    assert [model.name for model in settings.models] == ["b"]


def test_report_reads_only_its_own_variables() -> None:
    environment = read_environment(
        {
            "MODEL_ANALYZER_REPORT_MODEL_CONFIGS": "m_config_1",
            "MODEL_ANALYZER_CHECKPOINT_DIRECTORY": "/there",
            "MODEL_ANALYZER_CONCURRENCY": "4",
        }
    )

    settings = resolve_report((), None, CWD, environment=environment).settings

    assert settings.variants == ("m_config_1",)
    assert settings.checkpoint_directory == Path("/there")


def test_a_variable_that_is_nearly_one_gets_a_remark() -> None:
    environment = {
        "MODEL_ANALYZER_CONCURENCY": "4",
        "MODEL_ANALYZER_TEST": "1",
        "MODEL_ANALYZER_CONTAINER": "{}",
        "MODEL_ANALYZER_UPSTREAM": "x",
        "MODEL_ANALYZER_PORT": "tcp://10.0.0.1:80",
        "MODEL_ANALYZER_SERVICE_HOST": "10.0.0.1",
        "CONCURENCY": "4",
    }

    assert list(misspelled(environment)) == [
        "MODEL_ANALYZER_CONCURENCY: unknown variable, ignored: did you mean"
        " MODEL_ANALYZER_CONCURRENCY?"
    ]


@pytest.mark.parametrize(
    ("name", "option"),
    [
        ("MODEL_REPO", "MODEL_REPOSITORY"),
        ("REPOSITORY", "MODEL_REPOSITORY"),
        ("LATENCY", "LATENCY_BUDGET"),
        ("MODELS", "PROFILE_MODELS"),
        ("CHECKPOINT_DIR", "CHECKPOINT_DIRECTORY"),
        ("HTTP_ENDPOINT", "TRITON_HTTP_ENDPOINT"),
        ("concurrency", "CONCURRENCY"),
    ],
)
def test_a_variable_that_is_part_of_one_gets_a_remark(name: str, option: str) -> None:
    (remark,) = misspelled({f"MODEL_ANALYZER_{name}": "1"})
    assert remark.endswith(f"did you mean MODEL_ANALYZER_{option}?")


def test_each_option_has_its_value_its_place_and_overridden_places() -> None:
    environment = read_environment(
        {
            "MODEL_ANALYZER_BATCH_SIZES": "4",
            "MODEL_ANALYZER_CHECKPOINT_STORAGE": "s3://user:word@bucket/x",
            "MODEL_ANALYZER_TRITON_SERVER_ENVIRONMENT": (
                "{API_KEY: x, MODE: fast, OMP_NUM_THREADS: '2'}"
            ),
        }
    )
    file = yaml("batch_sizes: 8\nconcurrency: [1, 2]\nexport_path:\n")

    listed = {
        origin.key: origin
        for origin in origins((environment, file.entries), OPTIONS, CWD, with_defaults=False)
    }

    assert list(listed) == [
        "batch_sizes", "concurrency", "triton_server_environment", "checkpoint_storage",
    ]  # fmt: skip
    assert listed["batch_sizes"].where == "MODEL_ANALYZER_BATCH_SIZES"
    assert listed["batch_sizes"].instead_of == (file.entries[0].node.where,)
    assert listed["concurrency"].value == [1, 2]
    assert listed["triton_server_environment"].value == {
        "API_KEY": "******",
        "MODE": "******",
        "OMP_NUM_THREADS": "2",
    }
    assert "word" not in listed["checkpoint_storage"].text


def test_defaults_are_listed_on_request() -> None:
    listed = {origin.key: origin for origin in origins((), OPTIONS, CWD, with_defaults=True)}

    assert listed["checkpoint_directory"].value == "checkpoints"
    assert listed["checkpoint_directory"].where == ""
    assert set(listed) == {option.setting for option in OPTIONS}
