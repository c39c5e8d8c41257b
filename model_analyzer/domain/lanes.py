# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Lanes: a search runs once for each kind of hardware, and each of these runs is a lane."""

from __future__ import annotations

from typing import NamedTuple

from model_analyzer.domain.hardware import WITHOUT_GPU


class Lane(NamedTuple):
    """The search for a subject (the name of a model, or of a group of models) on one kind of
    hardware (see `kind_text`).
    """

    subject: str
    kind: str = WITHOUT_GPU
