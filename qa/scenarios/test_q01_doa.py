# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Q1: without arguments the program says how it is used."""


def test_no_arguments_print_the_help(scene) -> None:
    status, output = scene.run()

    assert status == 0
    assert "Usage: model-analyzer" in output
    for command in ("profile", "analyze", "report"):
        assert f"  {command} " in output
