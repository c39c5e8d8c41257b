# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""YAML: what is read, where it stands, and how anything that is not plain YAML is refused; options
from environment variables: what is read, what wins, and what is told about it.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from model_analyzer.config.given_options import origins
from model_analyzer.config.kinds import Text
from model_analyzer.config.options import OPTIONS
from model_analyzer.config.resolve import resolve_profile, resolve_report
from model_analyzer.config.sources import misspelled, parse_yaml, read_environment, read_yaml
from model_analyzer.domain.settings import ProfileSettings
from model_analyzer.errors import ConfigError, Problem
from tests.phrases import GIVEN_TWICE, NOT_AN_INTEGER, REPLACES, UNSUPPORTED_TAG
from tests.unit.builders import known, on_line, plain, yaml


def problem_of(text: str) -> Problem:
    with pytest.raises(ConfigError) as raised:
        parse_yaml(text, "f.yaml")
    (problem,) = raised.value.problems
    return problem


def problem_of_file(path: Path) -> Problem:
    with pytest.raises(ConfigError) as raised:
        read_yaml(path)
    (problem,) = raised.value.problems
    return problem


# --------------------------------------------------------------------------------- what is read


def test_scalars_lists_and_mappings_are_read_with_their_types() -> None:
    text = "a: 1\nb: 2.5\nc: true\nd: null\ne: text\nf: [1, x]\ng: {h: {}}"
    assert plain(yaml(text)) == {
        "a": 1,
        "b": 2.5,
        "c": True,
        "d": None,
        "e": "text",
        "f": [1, "x"],
        "g": {"h": {}},
    }


def test_a_yaml_date_stays_text() -> None:
    assert plain(yaml("a: 2026-01-02")) == {"a": "2026-01-02"}


def test_keys_are_text_as_they_were_written() -> None:
    assert plain(yaml("1: a\nyes: b\n0x10: c")) == {"1": "a", "yes": "b", "0x10": "c"}


def test_every_value_and_every_key_knows_its_file_line_and_column() -> None:
    root = yaml("first: 1\nsecond:\n  - a\n  -   b\n")
    first, second = root.entries
    assert (root.where, first.where, first.node.where) == ("f.yaml:1:1", "f.yaml:1:1", "f.yaml:1:8")
    assert second.where == "f.yaml:2:1"
    assert [item.where for item in second.node.items] == ["f.yaml:3:5", "f.yaml:4:7"]


def test_the_last_of_equal_keys_wins() -> None:
    root = yaml("a: 1\nb: 2\na: 3")
    assert plain(root) == {"a": 3, "b": 2}
    assert {entry.key: entry.where for entry in root.entries}["a"] == "f.yaml:3:1"


def test_an_alias_has_the_value_of_its_anchor() -> None:
    assert plain(yaml("a: &x {n: [1, 2]}\nb: *x\nc: [*x]")) == {
        "a": {"n": [1, 2]},
        "b": {"n": [1, 2]},
        "c": [{"n": [1, 2]}],
    }


def test_own_keys_win_over_merged_ones() -> None:
    text = "base: &base {x: 1, y: 2}\none: {<<: *base, y: 3}\ntwo: {y: 3, <<: *base}"
    read = plain(yaml(text))
    assert read["one"] == {"x": 1, "y": 3}
    assert read["two"] == {"x": 1, "y": 3}


def test_a_repeated_key_wins_and_both_places_are_reported() -> None:
    root = yaml("a: {x: 1, y: 2, x: 3}\nb: 1\na: {z: {k: 1, k: 2}}")
    assert plain(root) == {"a": {"z": {"k": 2}}, "b": 1}
    assert root.repeated == (
        f"f.yaml:3:1: 'a' {REPLACES} f.yaml:1:1",
        f"f.yaml:1:17: 'x' {REPLACES} f.yaml:1:5",
        f"f.yaml:3:15: 'k' {REPLACES} f.yaml:3:9",
    )


def test_a_key_that_replaces_a_merged_key_is_not_repeated() -> None:
    text = "base: &base {x: 1}\none: &one {<<: *base, x: 3}\ntwo: {<<: [*base, *one], x: 4}"
    assert yaml(text).repeated == ()


def test_the_first_of_several_merged_mappings_wins() -> None:
    text = "a: &a {x: 1}\nb: &b {x: 2, y: 2}\nc: {<<: [*a, *b]}"
    assert plain(yaml(text))["c"] == {"x": 1, "y": 2}


def test_a_merge_of_a_merge_holds_everything() -> None:
    text = "a: &a {x: 1}\nb: &b {<<: *a, y: 2}\nc: {<<: *b, z: 3}"
    assert plain(yaml(text))["c"] == {"x": 1, "y": 2, "z": 3}


def test_a_byte_order_mark_is_not_part_of_the_first_key() -> None:
    assert plain(yaml("\ufeffa: 1")) == {"a": 1}


# -------------------------------------------------------------------------------- what is refused


def test_an_alias_that_contains_itself_is_refused_where_it_begins() -> None:
    problem = problem_of("ok: 1\nloop: &a [1, *a]")
    assert (problem.where, problem.message) == ("f.yaml:2:7", "an alias contains itself")


def test_a_syntax_error_is_shown_where_it_is() -> None:
    problem = problem_of("a: 1\nb: [1, 2\nc: 3\n")
    assert problem.where.startswith("f.yaml:3:")
    assert problem.message.startswith("not valid YAML: ")
    assert "\n" not in str(problem)


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ("a: 1\n  b: 2", "f.yaml:2:4"),
        ("a: 1\n\tb: 2", "f.yaml:2:1"),
        ("a: *nowhere", "f.yaml:1:4"),
        ("a: {<<: 3}", "f.yaml:1:9"),
        ("a: 1\n---\nb: 2", "f.yaml:2:1"),
        ("a: !!python/object/apply:os.system ls", "f.yaml:1:4"),
        ("a: !unknown 1", "f.yaml:1:4"),
        ("a: {[1]: 2}", "f.yaml:1:5"),
        ("? {a: 1}\n: 2", "f.yaml:1:3"),
    ],
)
def test_yaml_that_is_not_plain_is_refused_with_its_place(text: str, where: str) -> None:
    problem = problem_of(text)
    assert problem.where == where
    assert problem.message


@pytest.mark.parametrize("depth", [41, 1000])
@pytest.mark.parametrize(
    ("opening", "closing"), [("[", "]"), ("{a: ", "}"), ("- ", "")], ids=["list", "map", "block"]
)
def test_too_deep_nesting_is_refused(opening: str, closing: str, depth: int) -> None:
    problem = problem_of(opening * depth + "1" + closing * depth)
    assert problem.message == "nested too deeply"
    assert problem.where.startswith("f.yaml:1:")


def test_reasonable_nesting_is_valid() -> None:
    assert parse_yaml("[" * 40 + "1" + "]" * 40, "f.yaml") is not None


def test_control_characters_are_refused() -> None:
    problem = problem_of("ä: 1\nb: \x01")
    assert problem.where == "f.yaml:2:4"
    assert problem.message.startswith("not valid YAML")


# ---------------------------------------------------------------------------------------- files


def test_a_file_names_itself_in_every_place(tmp_path: Path) -> None:
    path = tmp_path / "config.yaml"
    path.write_text("a:\n  b: ä\n", encoding="utf-8")
    root = known(read_yaml(path))
    assert plain(root) == {"a": {"b": "ä"}}
    assert root.entries[0].node.entries[0].where == f"{path}:2:3"


@pytest.mark.parametrize("text", ["", "\n\n", "# nothing but remarks\n"])
def test_a_file_that_says_nothing_gives_nothing(tmp_path: Path, text: str) -> None:
    path = tmp_path / "empty.yaml"
    path.write_text(text)
    assert read_yaml(path) is None


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    problem = problem_of_file(tmp_path / "missing.yaml")
    assert problem.where == str(tmp_path / "missing.yaml")
    assert problem.message == "cannot be read: No such file or directory"
    assert problem.hint == "check the path"


def test_a_directory_is_not_a_file(tmp_path: Path) -> None:
    problem = problem_of_file(tmp_path)
    assert (problem.where, problem.message) == (str(tmp_path), "cannot be read: Is a directory")


def test_a_file_in_another_encoding_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "latin.yaml"
    path.write_bytes("a: 1\nb: ä".encode("latin-1"))
    problem = problem_of_file(path)
    assert (problem.where, problem.message) == (f"{path}:2:4", "is not UTF-8 text")


def test_a_huge_file_is_not_even_read(tmp_path: Path) -> None:
    path = tmp_path / "huge.yaml"
    with path.open("wb") as file:
        file.truncate(16 * 2**20 + 1)
    assert problem_of_file(path).message == "larger than 16 MiB: not a configuration"


def test_values_without_end_are_refused_before_they_take_memory() -> None:
    listed = ",".join(["1"] * 200_001)
    assert problem_of(f"concurrency: [{listed}]").message == "more than 200000 values"


def test_a_file_that_blocks_or_never_ends_is_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", Path("/dev/zero")):
        assert problem_of_file(path).message == "cannot be read: Not a regular file"


def test_a_pipe_of_the_shell_is_a_configuration() -> None:
    reader, writer = os.pipe()
    os.write(writer, b"a: 1")
    os.close(writer)

    node = known(read_yaml(Path(f"/dev/fd/{reader}")))

    assert plain(node) == {"a": 1}
    os.close(reader)


@pytest.mark.parametrize("opening", ["[", "- ", "{a: "])
def test_nesting_without_end_is_refused_before_it_takes_the_stack(opening: str) -> None:
    with pytest.raises(ConfigError, match="nested too deeply|not valid YAML"):
        parse_yaml(opening * 50_000, "f.yaml")


@pytest.mark.parametrize("value", ["!!int ''", "!!int '-'", "!!float ''", "!!bool maybe"])
def test_a_value_that_is_not_what_its_tag_says_is_located(value: str) -> None:
    with pytest.raises(ConfigError, match=r"f.yaml:1:4: .* is not a valid (int|float|bool)"):
        parse_yaml(f"a: {value}", "f.yaml")


@pytest.mark.parametrize("value", ["!foo x", "!foo [x]", "!foo {x: 1}", "!!python/name:os.system"])
def test_a_tag_that_means_nothing_is_refused(value: str) -> None:
    with pytest.raises(ConfigError, match=UNSUPPORTED_TAG):
        parse_yaml(f"a: {value}", "f.yaml")


@pytest.mark.parametrize("value", ["1:10:2", "1:64", "2026-13-45", "2026-01-02"])
def test_ranges_and_dates_are_the_text_that_was_written(value: str) -> None:
    node = known(parse_yaml(f"a: {value}", "f.yaml"))
    assert node.entries[0].node.value == value


def test_a_file_with_nothing_but_a_document_mark_is_empty(tmp_path: Path) -> None:
    (tmp_path / "f.yaml").write_text("---\n")
    assert read_yaml(tmp_path / "f.yaml") is None


@pytest.mark.parametrize("written", ["1.10", "0x10", "1_000", "yes", "010", "2026-01-02", "1e3"])
def test_the_original_text_of_a_scalar_is_available(written: str) -> None:
    node = yaml(written)
    assert node.text == written
    assert Text().parse(node) == written


def test_nesting_by_aliases_is_nesting() -> None:
    def chain(length: int) -> str:
        links = [f"x{i}: &b{i} [*b{i - 1}]\n" for i in range(1, length)]
        return "".join(["x0: &b0 [1]\n", *links])

    assert parse_yaml(chain(38), "f.yaml")
    problem = problem_of(chain(3000))
    assert problem.message == "nested too deeply"
    assert problem.where.startswith("f.yaml:4")


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
    [("BATCH_SIZES", "1,2,4", (1, 2, 4)), ("CONCURRENCY", "1:9:2", (1, 3, 5, 7, 9))],
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
