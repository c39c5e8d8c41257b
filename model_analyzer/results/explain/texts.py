# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Numbers in the evidence of causes."""

from __future__ import annotations

from model_analyzer.domain.words import counted


def percent(share: float) -> str:
    """A share (0 to 1); measured shares may be a little above 1."""
    return f"{100 * min(share, 1.0):.0f} %"


def ms(time: float) -> str:
    """A time in ms, as exact as it is measured."""
    return f"{time:.0f} ms" if time >= 100 else f"{time:.3g} ms"


def instances(count: int) -> str:
    return counted(count, "instance")
