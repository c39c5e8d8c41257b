# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Numbers in the evidence of causes."""

from __future__ import annotations

from model_analyzer.domain.numbers import number_text
from model_analyzer.domain.words import counted
from model_analyzer.results.explain.situation import Situation


def percent(share: float) -> str:
    """A share (0 to 1); measured shares may be a little above 1."""
    return f"{100 * min(share, 1.0):.0f} %"


def ms(time: float) -> str:
    """A time in ms."""
    return f"{number_text(time)} ms"


def instances(count: int) -> str:
    return counted(count, "instance")


def cpu_line(situation: Situation) -> str:
    """How busy the cores of a situation were."""
    others = f", other programs {percent(situation.others)}" if situation.others > 0.05 else ""
    return (
        f"server and client used {percent(situation.cpu or 0.0)} of {situation.cores} cores{others}"
    )


def gpu_line(situation: Situation) -> str:
    """How busy the GPUs of a situation were."""
    gpus = "the GPU was" if situation.gpus == 1 else "the GPUs were"
    return f"{gpus} busy {percent(situation.gpu_share or 0.0)} of the time"
