# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Options with two names, such as `search` and `run_config_search_mode`, wherever they can be
given.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from model_analyzer.config.given_options import origins
from model_analyzer.config.nodes import Entry, Node
from model_analyzer.config.options import OPTIONS, json_schema
from model_analyzer.config.resolve import resolve_profile
from model_analyzer.config.sources import parse_yaml, read_environment
from model_analyzer.domain.settings import SearchMode
from model_analyzer.errors import ConfigError

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
