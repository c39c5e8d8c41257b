# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Whatever is in a log: it is read, or refused with a problem that says why.

`make fuzz` tries the same for much longer.
"""

from __future__ import annotations

from hypothesis import given

from tests.unit.reading.logs import LOGS, is_read_or_refused


@given(LOGS)
def test_any_log_is_read_or_refused(example: dict[str, str]) -> None:
    is_read_or_refused(example)
