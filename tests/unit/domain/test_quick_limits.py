# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The limits of a quick search that follow from the settings of a model."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from model_analyzer.domain.quick_limits import field_with_several_values, unsupported_loads
from model_analyzer.domain.settings import SearchMode
from model_analyzer.domain.trials import LoadKind
from tests.unit.builders import model_settings


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({}, []),
        ({"loads": (4,), "batch_sizes": (2,)}, []),
        ({"loads": (4, 8)}, ["supports one load, not 2"]),
        ({"batch_sizes": (1, 2, 4)}, ["supports one batch size, not 3"]),
        ({"load_kind": LoadKind.REQUEST_RATE}, ["not request rates"]),
        ({"load_kind": LoadKind.REQUEST_RATE, "loads": (10,)}, []),
    ],
)
def test_a_quick_search_takes_one_load_and_one_batch_size(
    changes: dict[str, Any], words: list[str]
) -> None:
    settings = replace(model_settings("profile_models: m"), **changes)
    limits = list(unsupported_loads(settings, SearchMode.QUICK))

    assert len(limits) == len(words)
    for (message, hint), text in zip(limits, words, strict=True):
        assert text in message
        assert "--search adaptive" in hint


@pytest.mark.parametrize(
    ("fields", "several"),
    [
        ({}, ""),
        ({"max_batch_size": (1, 2), "instance_group": (1, 2)}, ""),
        ({"dynamic_batching": ({},), "max_batch_size": (1, 2)}, ""),
        ({"max_batch_size": (1, 2), "dynamic_batching": ({}, None)}, "dynamic_batching"),
    ],
)
def test_a_field_that_is_not_varied_has_one_value(fields: Any, several: str) -> None:
    assert field_with_several_values(fields) == several
