# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The names of checkpoints on the overview of models."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from model_analyzer.app.fleet import source_names


@pytest.mark.parametrize(
    ("paths", "names"),
    [
        (["/runs/a"], [""]),
        (["/runs/a", "/runs/b"], ["a", "b"]),
        (["/runs/a/checkpoints", "/runs/b/checkpoints"], ["a", "b"]),
        (["/runs/a/x", "/other/b"], ["runs/a/x", "other/b"]),
        (["/a/1/x/c", "/a/2/y/c"], ["1/x", "2/y"]),
        (["/ab", "/ac"], ["ab", "ac"]),
        (["/x", "/x/x"], ["x", "x/x"]),
        (["/x", "/x/y"], ["x", "x/y"]),
    ],
)
def test_directories_are_named_by_what_tells_them_apart(
    paths: Sequence[str], names: Sequence[str]
) -> None:
    assert source_names(paths) == names
