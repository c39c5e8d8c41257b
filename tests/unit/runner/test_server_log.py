# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""What to do about an error in the server's log."""

from __future__ import annotations

import pytest

from model_analyzer.runner.server.log import error_lines, hint


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
    line = f"E1129 08:13:13.213346 18115 model_repository_manager.cc:1371] {written}"

    assert "|".join(error_lines([line])) == lines


def test_an_unknown_error_has_no_advice() -> None:
    assert hint("something else") == ""
