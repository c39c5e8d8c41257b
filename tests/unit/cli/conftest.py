# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""A terminal for one test: its log handler goes with it."""

from __future__ import annotations

import logging
from collections.abc import Iterator

import pytest


@pytest.fixture
def logger() -> Iterator[logging.Logger]:
    root = logging.getLogger("model_analyzer")
    before = (root.handlers, root.level, root.propagate)
    yield root
    root.handlers, root.propagate = before[0], before[2]
    root.setLevel(before[1])
