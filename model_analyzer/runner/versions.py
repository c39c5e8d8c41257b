# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""What differs between versions of Triton and of perf_analyzer. Pure.

What is true of some versions only stands here; `tools/versions.py` makes docs/versions.md of it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

DEFAULT = "2.51"

_UP_TO_3_11 = ("3.11", "3.10", "3.9", "3.8")
_UP_TO_3_12 = ("3.12", *_UP_TO_3_11)

# The servers that can be installed, each with the Pythons for which it has a model process, the
# preferred one first. (Python 3.13 comes last: numpy 1 must be compiled for it.)
PYTHONS: Mapping[str, Sequence[str]] = {
    "2.28": ("3.8",),
    "2.33": ("3.8",),
    "2.36": _UP_TO_3_11,
    "2.39": _UP_TO_3_11,
    "2.41": _UP_TO_3_11,
    "2.44": _UP_TO_3_12,
    "2.48": _UP_TO_3_12,
    "2.50": _UP_TO_3_12,
    DEFAULT: (*_UP_TO_3_12, "3.13"),
}

# Flags of perf_analyzer: a run needs the first (from 2.39 on); without the second (from 2.50 on),
# only the first answers are left out.
EXPORT, WARM_UP = "profile-export-file", "warmup-request-count"


def short(version: str) -> str:
    """2.36 of 2.36.0; what is no version stays as it is."""
    match = re.match(r"v?(\d+\.\d+)(?:\.\d+)?$", version.strip())
    return match[1] if match else version
