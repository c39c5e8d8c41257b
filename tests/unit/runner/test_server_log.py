# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""What to do about an error in the server's log."""

from __future__ import annotations

import pytest

from model_analyzer.runner.server.log import hint


@pytest.mark.parametrize(
    ("module", "package"), [("torch", "torch"), ("PIL", "pillow"), ("yaml.reader", "pyyaml")]
)
def test_a_missing_module_comes_with_the_command_that_installs_it(
    module: str, package: str
) -> None:
    advice = hint("m did not load", f"ModuleNotFoundError: No module named '{module}'")

    assert f"`model-analyzer runtime install --with {package} --unverified`" in advice


def test_an_unknown_error_has_no_advice() -> None:
    assert hint("something else") == ""
