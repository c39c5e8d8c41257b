# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Detects GPU instances on a machine without GPUs, where the server refuses to load them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from model_analyzer.domain.models import ModelFacts
from model_analyzer.domain.settings import ModelSettings, SearchSettings
from model_analyzer.domain.words import counted
from model_analyzer.errors import Problem

_GROUPS = "instance_group"
_PARAMETERS = "model_config_parameters"
_HINT = "use KIND_CPU, or remove kind to let the server choose"

# Returns the place of an option of the model.
Place = Callable[[str], str]


def without_any(
    model: ModelSettings, facts: ModelFacts, *, search: SearchSettings, place: Place
) -> Iterator[Problem]:
    """A problem if no variant of the model can run on a machine without a GPU."""
    original = facts.config.get(_GROUPS)
    if not _on_gpu(original):
        return
    if not model.parameters and not search.disable:
        return  # the search itself sets instances, on CPUs
    listed = model.parameters.get(_GROUPS, (None,))
    if all(_on_gpu(original if groups is None else groups) for groups in listed):
        yield Problem(
            where=place(_PARAMETERS),
            message=f"model {model.name}: all its instances are KIND_GPU, and this machine has no"
            " GPU",
            hint=_HINT,
        )


def without_some(model: ModelSettings, facts: ModelFacts, *, place: Place) -> Iterator[Problem]:
    """Variants of the model that cannot run on a machine without a GPU."""
    listed = model.parameters.get(_GROUPS, ())
    refused = sum(map(_on_gpu, listed))
    if refused:
        yield Problem(
            where=place(_PARAMETERS),
            message=f"model {model.name}: {refused} of {counted(len(listed), 'instance_group')} to"
            " try have KIND_GPU, and this machine has no GPU: the server will refuse them",
            hint=_HINT,
        )
    for part in facts.with_parts():
        if _on_gpu(part.config.get(_GROUPS)):
            yield Problem(
                where=place(""),
                message=f"model {part.name}: its config.pbtxt has instances of KIND_GPU, and this"
                " machine has no GPU: the server will refuse this configuration",
                hint=_HINT,
            )


def _on_gpu(groups: Sequence[Mapping[str, Any]] | None) -> bool:
    return any(group.get("kind") == "KIND_GPU" for group in groups or ())
