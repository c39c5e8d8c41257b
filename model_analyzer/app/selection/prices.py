# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Costs of what a checkpoint has, by prices that the user gives."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from model_analyzer.config.price_files import read_prices
from model_analyzer.domain.goals import GoalOverride
from model_analyzer.domain.metrics import Source, metric_of
from model_analyzer.domain.profiles import Profile
from model_analyzer.errors import wrong


def priced(profile: Profile, path: Path | None, asked: GoalOverride) -> Profile:
    """The profile with the prices in a file, if there is one. Raises ConfigError for a file that is
    not valid, or if a goal that is `asked` for is about costs, and there are no prices.
    """
    if path is not None:
        return replace(profile, prices=read_prices(path))
    tags = [each.tag for each in asked.objectives or ()]
    tags += [each.tag for each in (*(asked.constraints or ()), *asked.bounds)]
    costs = [tag for tag in tags if metric_of(tag).source is Source.PRICES]
    if costs:
        raise wrong("--prices", f"{costs[0]} needs prices of the hardware: give a file with them")
    return profile
