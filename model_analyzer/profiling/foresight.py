# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Trials that are not worth a try, because an earlier one has failed for the same reason."""

from __future__ import annotations

from dataclasses import replace

from model_analyzer.domain.measurements import Outcome
from model_analyzer.domain.models import instance_groups, kind_of_group
from model_analyzer.domain.trials import Failure, FailureReason, Trial


class Foresight:
    """Foresees failures on one kind of hardware: a variant that did not load does not load under
    another load, and a server without GPUs refuses every instance of KIND_GPU.
    """

    def __init__(self) -> None:
        self._failed: dict[str, Failure] = {}  # by content
        self._loaded: set[str] = set()
        self._lacks_gpus = False

    def add(self, trial: Trial, outcome: Outcome) -> None:
        if not isinstance(outcome, Failure):
            self._loaded.add(trial.content)
        elif outcome.is_of_variant:
            self._failed[trial.content] = outcome
            self._lacks_gpus |= outcome.lacks_gpus

    def failure_of(self, trial: Trial) -> Failure | None:
        """How a new trial would fail; None if nobody knows."""
        failed = self._failed.get(trial.content)
        if failed is not None and trial.content not in self._loaded:
            return replace(failed, duration_s=0.0)
        if self._lacks_gpus and _is_for_gpus(trial):
            return Failure(
                reason=FailureReason.MODEL_NOT_LOADED,
                message=f"{trial.variants} was not tried: the server has no GPU for its instances"
                " of KIND_GPU",
                hint="set `cpu_only: true` for the model",
            )
        return None


def _is_for_gpus(trial: Trial) -> bool:
    variants = [part for work in trial.workloads for part in work.variant.served]
    groups = [group for variant in variants for group in instance_groups(variant.config)]
    return any(kind_of_group(group) == "GPU" for group in groups)
