# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""How a reader of a page uses what it recommends, or another configuration."""

from __future__ import annotations

import shlex
from dataclasses import dataclass

from model_analyzer.domain.goals import ModelGoal


@dataclass(frozen=True, slots=True, kw_only=True)
class Deployment:
    """How to use the recommendation: its config.pbtxt (of each model, if there are several), their
    `difference` from those in the model repository, and the `command` that prints a Kubernetes
    manifest; `start` is how that begins, before goals. "" if unknown. `configurations` are the same
    texts of the best variants, in the order of the ranking.
    """

    configuration: str = ""
    difference: str = ""
    command: str = ""
    start: str = ""
    configurations: tuple[tuple[str, str], ...] = ()


def goal_flags(goal: ModelGoal, *, ends: bool = False) -> str:
    """The flags of `best` that stand for a goal. More constraints may follow, unless it `ends`."""
    weights = [f":{objective.weight:.15g}" for objective in goal.objectives]
    if len(weights) == 1:
        weights = [""]
    weighted = zip(goal.objectives, weights, strict=True)
    flags = ["--metric", ",".join(f"{objective.tag}{weight}" for objective, weight in weighted)]
    for bound in goal.constraints:
        if bound.minimum is not None:
            flags += ["--constraint", f"{bound.tag}>{bound.minimum:.15g}"]
        if bound.maximum is not None:
            flags += ["--constraint", f"{bound.tag}<{bound.maximum:.15g}"]
    if ends and not goal.constraints:
        flags += ["--constraint", "none"]
    return shlex.join(flags)
