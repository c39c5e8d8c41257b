# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Whatever somebody writes: it resolves, or every problem with it is told.

`make fuzz` tries the same for much longer.
"""

from __future__ import annotations

from typing import Any

from hypothesis import given

from tests.unit.config.configurations import (
    CONFIGURATIONS,
    TREES,
    command_line_resolves_or_tells,
    command_lines,
    mutated_texts,
    text_resolves_or_tells,
    tree_resolves_or_tells,
)


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
