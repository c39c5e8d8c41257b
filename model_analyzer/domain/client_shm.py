# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Shared memory between clients and a server: newer servers allow it only if they are asked to.

Triton 2.68 (26.04) and later refuse regions of clients, unless they are started with a flag.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from model_analyzer.domain.flags import Flag

# The flag of tritonserver, and the sentence about it.
FLAG = "allow-client-shm"
NEEDS_FLAG = f"Triton from 26.04 (2.68) on allows that only if it is started with --{FLAG}=true"

_FIRST = (2, 68)


def shares_memory(flags: Mapping[str, Flag]) -> bool:
    """Whether perf_analyzer with these flags sends tensors through shared memory."""
    return flags.get("shared-memory", "none") != "none"


def needs_flag(version: str, *, unknown: bool) -> bool:
    """Whether a server of this version needs the flag; `unknown` if the version is not known."""
    numbers = re.match(r"(\d+)\.(\d+)", version)
    return unknown if numbers is None else (int(numbers[1]), int(numbers[2])) >= _FIRST
