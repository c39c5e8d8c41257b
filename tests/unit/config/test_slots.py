# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Options of slots: on this machine by default, and from a file, a flag or a variable."""

from __future__ import annotations

import pytest

from model_analyzer.domain.settings import ExecutorKind, ExecutorSettings
from tests.unit.builders import profile_problems, settings

FILE = """
executor: ray
ray_address: head:6379
slots: 8
slot_gpus: 2
slot_cpus: 16
slot_label: [ray.io/accelerator-type=H100, rack=3]
slots_per_host: 2
"""


def test_trials_are_measured_on_this_machine_by_default() -> None:
    assert settings("").executor == ExecutorSettings(
        kind=ExecutorKind.LOCAL,
        address="auto",
        slots=None,
        gpus=None,
        cpus=None,
        labels=(),
        per_host=1,
    )


def test_slots_of_a_cluster() -> None:
    assert settings(FILE).executor == ExecutorSettings(
        kind=ExecutorKind.RAY,
        address="head:6379",
        slots=8,
        gpus=2,
        cpus=16,
        labels=("ray.io/accelerator-type=H100", "rack=3"),
        per_host=2,
    )


def test_words_for_all_that_there_is() -> None:
    executor = settings("slots: auto\nslot_cpus: all").executor
    assert (executor.slots, executor.cpus) == (None, None)


@pytest.mark.parametrize(
    "written",
    ["executor: dask", "slots: 0", "slot_gpus: 0.5", "slot_cpus: auto", "slot_label: H100"],
)
def test_values_that_make_no_sense_are_named_with_their_place(written: str) -> None:
    (problem,) = profile_problems(written)
    assert problem.startswith("f.yaml:1:")
