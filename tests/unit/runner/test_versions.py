# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""What is said of a server's version, and what is refused before it is tried; what to do about an
error in the server's log.
"""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path

import pytest

from model_analyzer.runner.server.log import error_lines, hint
from model_analyzer.runner.versions import (
    DECOUPLED,
    FEATURES,
    PYTHONS,
    described,
    lacks,
    refusal,
    short,
)
from tools.versions import BEHAVIOURS

ROOT = Path(__file__).resolve().parents[3]


@pytest.mark.parametrize(
    ("version", "line"),
    [
        ("2.51.0", "Triton 2.51: supported (2.28 to 2.51 are tested)"),
        (
            "2.39.0",
            "Triton 2.39: supported (2.28 to 2.51 are tested); not available: reasons of failures",
        ),
        (
            "2.36.0",
            "Triton 2.36: supported (2.28 to 2.51 are tested); not available: pending requests,"
            " reasons of failures",
        ),
        ("2.68.0", "Triton 2.68: not tested (2.28 to 2.51 are tested)"),
        ("main", "Triton of unknown version (2.28 to 2.51 are tested)"),
    ],
)
def test_a_server_is_described_in_one_line(version: str, line: str) -> None:
    assert described(version) == line


def test_an_older_server_than_the_tested_ones_lacks_whatever_they_lack() -> None:
    line = described("2.20.0")

    assert line.startswith("Triton 2.20: not tested")
    assert DECOUPLED.name in line


@pytest.mark.parametrize(
    ("version", "over_grpc", "decoupled", "words"),
    [
        ("2.28.0", True, False, None),  # ignores what 2.33 refuses
        ("2.28.0", True, True, "decoupled models on Triton 2.28"),
        ("2.33.0", True, False, "refuses perf_analyzer's requests over gRPC"),
        ("2.33.0", False, False, None),
        ("2.33.0", True, True, "decoupled models on Triton 2.33"),
        ("2.36.0", True, True, None),
        ("9.99.0", True, True, None),
        ("main", True, True, None),
    ],
)
def test_what_the_version_foretells_is_refused(
    version: str, over_grpc: bool, decoupled: bool, words: str | None
) -> None:
    refused = refusal(version, over_grpc=over_grpc, decoupled=decoupled)

    assert (refused is None) is (words is None)
    assert words is None or (refused is not None and words in refused[0])


def test_every_feature_comes_with_a_server_that_was_tried() -> None:
    assert {each.since for each in FEATURES} <= set(PYTHONS)
    assert not [each.name for each in FEATURES if lacks("2.51.0", each)]


@pytest.mark.parametrize("text", ["2.36", "2.36.0"])
def test_versions_are_shown_without_their_last_number(text: str) -> None:
    assert short(text) == "2.36"
    assert re.fullmatch(r"\d+\.\d+", short(text))


@pytest.mark.parametrize(
    "text",
    [
        "Invalid argument: unable to find 'libtriton_nothing.so' for model 'm', searched: /a, /b",
        "Invalid argument: unable to find 'nothing/model.py' for model 'm', searched: /a",
        "Invalid argument: unable to find 'libtriton_nothing.so' or 'nothing/model.py' for model",
        "Invalid argument: unable to find backend library for backend 'nothing'",
    ],
    ids=["2.36", "2.39", "2.41", "2.44"],
)
def test_an_unknown_backend_is_known_by_the_text_of_each_version(text: str) -> None:
    assert hint(text) == "use a server that has this backend"


SHOWN = {each.shown_by for each in FEATURES} | {shown_by for *_, shown_by in BEHAVIOURS} - {""}


@pytest.mark.parametrize("shown_by", sorted(SHOWN))
def test_what_shows_a_behaviour_exists(shown_by: str) -> None:
    path, _, name = re.sub(r"::| ", " ", shown_by, count=1).partition(" ")
    text = (ROOT / path).read_text()

    if path == "qa/versions/run":
        assert f'"{name}"' in text
    elif name:
        assert f"def {name}(" in text or f'found["{name}"]' in text


def test_behaviours_on_which_nothing_relies_are_not_used() -> None:
    assert all("not" in why for _, _, why, shown_by in BEHAVIOURS if not shown_by)


def test_each_server_has_a_python_that_its_models_fit() -> None:
    """Later servers lose none that an earlier one had."""
    assert all({*earlier} <= {*later} for earlier, later in pairwise(PYTHONS.values()))
    assert all(pythons[0] in ("3.8", "3.11", "3.12") for pythons in PYTHONS.values())


@pytest.mark.parametrize(
    ("module", "package"), [("torch", "torch"), ("PIL", "pillow"), ("yaml.reader", "pyyaml")]
)
def test_a_missing_module_comes_with_the_command_that_installs_it(
    module: str, package: str
) -> None:
    advice = hint("m did not load", f"ModuleNotFoundError: No module named '{module}'")

    assert f"`model-analyzer runtime install --with {package} --unverified`" in advice


def test_a_flag_that_the_server_does_not_know_is_named_instead_of_the_end_of_its_help() -> None:
    refused = "/x/tritonserver: unrecognized option '--cache-config=local,size=9'"

    assert error_lines([refused, "Usage: tritonserver [options]", "\tlimit will not be set."]) == (
        refused,
    )


@pytest.mark.parametrize(
    ("written", "lines"),
    [
        ("Poll failed: no: Cannot find field.", "Poll failed: no: Cannot find field."),
        ('"Poll failed: no: Cannot find field."', "Poll failed: no: Cannot find field."),
        ('"ValueError: \\"no\\" \\n\\nAt:\\n  m.py(8)\\n"', 'ValueError: "no" |At:|  m.py(8)'),
        ('"cut off', '"cut off'),
    ],
)
def test_error_lines_are_without_the_quotes_of_newer_servers(written: str, lines: str) -> None:
    for time in ("E1129 08:13:13.213346", "2026-11-29T08:13:13Z E"):
        line = f"{time} 18115 model_repository_manager.cc:1371] {written}"

        assert "|".join(error_lines([line])) == lines


def test_an_unknown_error_has_no_advice() -> None:
    assert hint("something else") == ""


def test_a_correlation_id_that_is_text_is_named_as_what_the_backend_cannot_read() -> None:
    text = "unexpected number of string elements 2 for inference input 'CORRID', expecting 1"
    assert "TYPE_UINT64" in hint(text)
