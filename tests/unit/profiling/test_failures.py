# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Which trials fail for sure, by what failed before."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from model_analyzer.domain.models import VariantNames
from model_analyzer.domain.trials import Failure, FailureReason, Trial
from model_analyzer.profiling.loop import Foresight
from tests.unit.search.surfaces import measurement, model, subject

NO_GPU = (
    "load failed for model 'm': version 1 is at READY state: Invalid argument: instance group m_0"
    " of model m has kind KIND_GPU but no GPUs are available;"
)
NO_SUCH_GPU = (
    "instance group m_0 of model m specifies invalid or unsupported gpu id {}. GPUs with at least"
    " the minimum required CUDA compute compatibility of 6.000000 are: {};"
)


def trial(load: int = 1, **parameters: Any) -> Trial:
    target = subject()
    (searched,) = target.models
    return target.trial(
        searched.workload(VariantNames().variant(model(), parameters), load, batch_size=1)
    )


def groups(kind: str, count: int = 1) -> list[dict[str, Any]]:
    return [{"count": count, "kind": kind}]


def failed(reason: FailureReason, *log: str) -> Failure:
    return Failure(reason=reason, message="it failed", log=log, duration_s=3.0)


@pytest.mark.parametrize("reason", FailureReason)
def test_only_a_variant_that_did_not_load_is_not_tried_again(reason: FailureReason) -> None:
    foresight = Foresight()

    foresight.add(trial(1, max_batch_size=4), failed(reason))

    is_of_variant = reason in (FailureReason.MODEL_NOT_LOADED, FailureReason.LOAD_TIMEOUT)
    expected = replace(failed(reason), duration_s=0.0) if is_of_variant else None
    assert foresight.failure_of(trial(8, max_batch_size=4)) == expected
    # a failure of the smallest size says nothing about larger ones
    assert foresight.failure_of(trial(1, max_batch_size=8)) is None


def test_a_variant_that_has_loaded_once_is_tried_again() -> None:
    foresight = Foresight()

    foresight.add(trial(1), measurement(10))
    foresight.add(trial(2), failed(FailureReason.MODEL_NOT_LOADED))

    assert foresight.failure_of(trial(4)) is None


@pytest.mark.parametrize("text", [NO_GPU, NO_SUCH_GPU.format(0, "")])
def test_without_any_gpu_no_instances_on_gpus_are_tried(text: str) -> None:
    foresight = Foresight()

    foresight.add(
        trial(instance_group=groups("KIND_GPU")), failed(FailureReason.MODEL_NOT_LOADED, text)
    )

    foreseen = foresight.failure_of(trial(instance_group=groups("KIND_GPU", 2)))
    assert foreseen is not None
    assert "the server has no GPU" in foreseen.message
    assert "cpu_only: true" in foreseen.hint
    assert foresight.failure_of(trial(instance_group=groups("KIND_CPU", 2))) is None
    assert foresight.failure_of(trial()) is None


@pytest.mark.parametrize("text", [NO_SUCH_GPU.format(9, "0,1"), "out of memory"])
def test_other_refusals_concern_their_variant_only(text: str) -> None:
    foresight = Foresight()

    foresight.add(
        trial(instance_group=groups("KIND_GPU")), failed(FailureReason.MODEL_NOT_LOADED, text)
    )

    assert foresight.failure_of(trial(instance_group=groups("KIND_GPU", 2))) is None
