# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""How much there is to load for trials: 1 for one instance, a part of it for each other."""

from __future__ import annotations

from collections.abc import Sequence

from model_analyzer.domain.trials import Trial

# Every further instance takes so much of what the first one takes to load.
_FURTHER_INSTANCE = 0.5


def load_of(trial: Trial) -> float:
    """How much there is to load for a trial: 1 for one instance, half as much for each other."""
    return load_of_instances(instances_of(trial))


def instances_of(trial: Trial) -> int:
    """Of all models, on all GPUs."""
    return sum(
        count
        for work in trial.workloads
        for part in work.variant.served
        for count, _ in part.instances(gpus=max(len(trial.setup.devices), 1))
    )


def load_of_instances(instances: float) -> float:
    return 1 + _FURTHER_INSTANCE * max(instances - 1, 0)


def loads_of(trials: Sequence[Trial], loaded: str = "") -> Sequence[float]:
    """What is loaded for trials in their order, where the content `loaded` is in place."""
    befores = [loaded, *(trial.content for trial in trials)]
    return [
        load_of(trial)
        for before, trial in zip(befores, trials, strict=False)
        if trial.content != before
    ]
