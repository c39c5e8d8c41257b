# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""How much is loaded for a trial: 1 for one instance, and less for each further one."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from itertools import groupby

from model_analyzer.domain.trials import Trial

# The time to load a further instance, relative to the first one.
_FURTHER_INSTANCE = 0.5


def load_of(trial: Trial) -> float:
    """How much is loaded for a trial."""
    return load_of_instances(instances_of(trial))


def instances_of(trial: Trial) -> int:
    """The instances of all models on all GPUs."""
    return sum(
        count
        for work in trial.workloads
        for part in work.variant.served
        for count, _ in part.instances(gpus=max(len(trial.setup.devices), 1))
    )


def load_of_instances(instances: float) -> float:
    return 1 + _FURTHER_INSTANCE * max(instances - 1, 0)


def loads_of(trials: Iterable[Trial], loaded: Collection[str] = ()) -> Sequence[float]:
    """How much is loaded for trials in this order; one number for each change of content.

    The contents in `loaded` are loaded in as many slots. They need no loading if they come first.
    """
    first_of_each = [next(group) for _, group in groupby(trials, lambda trial: trial.content)]
    return [
        load_of(trial)
        for index, trial in enumerate(first_of_each)
        if index >= len(loaded) or trial.content not in loaded
    ]
