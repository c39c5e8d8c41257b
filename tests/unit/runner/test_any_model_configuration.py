# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Whatever config.pbtxt holds: it is planned with, or refused with its place.

`make fuzz` tries the same for much longer.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hypothesis import given

from tests.unit.runner.model_configurations import REPOSITORIES, is_planned_or_refused


@given(REPOSITORIES)
def test_any_model_configuration_is_planned_or_refused(example: Mapping[str, Any]) -> None:
    is_planned_or_refused(example)
