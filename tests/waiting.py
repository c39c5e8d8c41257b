# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Waiting for what another thread or process does."""

from __future__ import annotations

import time
from collections.abc import Callable


def until(condition: Callable[[], object], why: str = "it did not happen in time") -> None:
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline, why
        time.sleep(0.01)
