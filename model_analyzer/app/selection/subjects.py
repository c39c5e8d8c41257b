# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The subjects that a checkpoint has measurements of: models, and groups of models."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from model_analyzer.domain.model_names import group_members, group_name
from model_analyzer.errors import CheckpointError, UnusableCheckpoint, wrong
from model_analyzer.state.checkpoint import Checkpoint


def measured_subjects(checkpoint: Checkpoint) -> Mapping[str, int]:
    """The name of each subject with its number of models. If a group was measured in several
    orders, its last order counts.
    """
    last = {models: place for place, models in enumerate(checkpoint.records.models())}
    newest = {
        frozenset(group_members(models)): models for models in sorted(last, key=last.__getitem__)
    }
    subjects = dict.fromkeys(newest[frozenset(group_members(models))] for models in last)
    return {models: len(group_members(models)) for models in subjects}


def chosen_subjects(checkpoint: Checkpoint, model: str | None, *, several: bool) -> Sequence[str]:
    """The subject of the model, or all of them, where there may be `several`."""
    if model is not None:
        return [subject_of(checkpoint, model)]
    names = list(measured_subjects(checkpoint))
    if not names:
        raise CheckpointError(f"{checkpoint.path}: no measurements")
    if len(names) > 1 and not several:
        raise wrong("--model", f"several models were measured: choose one of {', '.join(names)}")
    return names


def subject_of(checkpoint: Checkpoint, model: str) -> str:
    """The subject with this name; or else the only subject that contains the model, in a group or
    as a composing model. Raises CheckpointError if there is none, or several.
    """
    subjects = measured_subjects(checkpoint)
    for name in (model, group_name([model])):
        if name in subjects:
            return name
    members = set(group_members(model))
    within = [name for name in subjects if members == set(group_members(name))]
    within = within or [name for name in subjects if members <= set(group_members(name))]
    within = within or [
        record.trial.models
        for record in checkpoint.profile.records
        for work in record.trial.workloads
        if model in {part.model for part in work.variant.with_parts()}
    ]
    match list(dict.fromkeys(within)):
        case [only]:
            return only
        case []:
            raise UnusableCheckpoint(
                f"{checkpoint.path}: model {model!r} was not measured;"
                f" measured: {', '.join(subjects)}"
            )
        case several:
            raise UnusableCheckpoint(
                f"{checkpoint.path}: model {model!r} was measured only in groups: choose one of"
                f" {', '.join(several)}"
            )
