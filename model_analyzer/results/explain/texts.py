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


def ms(time: float | None) -> str:
    """A time in ms."""
    return "unknown" if time is None else f"{number_text(time)} ms"


def instances(count: int) -> str:
    return counted(count, "instance")


def cpu_line(situation: Situation) -> str:
    """How busy the cores of a situation were."""
    if situation.cpu is None:
        return "the CPU time of server and client is unknown"
    others = f", other programs {percent(situation.others)}" if situation.others > 0.05 else ""
    return f"server and client used {percent(situation.cpu)} of {situation.cores} cores{others}"


def gpu_line(situation: Situation) -> str:
    """How busy the GPUs of a situation were."""
    if situation.gpu_share is None:
        return "how busy the GPUs were is unknown"
    gpus = "the GPU was" if situation.gpus == 1 else "the GPUs were"
    return f"{gpus} busy {percent(situation.gpu_share)} of the time"
