# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""What the flags of perf_analyzer say."""

from __future__ import annotations

from model_analyzer.domain.flags import shapes_of


def test_sizes_come_from_the_flags_of_perf_analyzer() -> None:
    assert shapes_of({"shape": "IMAGE:3,224,224"}) == {"IMAGE": (3, 224, 224)}
    assert shapes_of({"shape": ("A:1", "B:x", "C:2,2")}) == {"A": (1,), "C": (2, 2)}
    assert shapes_of({}) == {}
