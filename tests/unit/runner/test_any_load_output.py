# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Whatever perf_analyzer leaves behind: it is a measurement, or a failure that says why.

`make fuzz` tries the same for much longer.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hypothesis import given

from tests.unit.runner.load_outputs import OUTPUTS, is_measured_or_failed


@given(OUTPUTS)
def test_any_output_is_a_measurement_or_a_failure(example: Mapping[str, Any]) -> None:
    is_measured_or_failed(example)
