# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""What the driver checks of the slots of a cluster before the first trial."""

from __future__ import annotations

from dataclasses import replace

import pytest

from model_analyzer.domain.hardware import Machine
from model_analyzer.domain.models import ModelFacts
from model_analyzer.errors import ClusterError
from model_analyzer.features.cluster.cluster_bench import check_files
from model_analyzer.features.cluster.slot_worker import SlotFacts

PART = ModelFacts(name="part", config={}, files="1")
MODEL = ModelFacts(name="m", config={}, files="2", composing=(PART,))
SLOT = SlotFacts(
    machine=Machine(host="gpu1"), process=1, server="2.51.0", perf_analyzer="2.51.0",
    facts={"m": MODEL},
)  # fmt: skip


def test_equal_files_are_fine_whatever_a_server_has_completed() -> None:
    completed = replace(MODEL, config={"max_batch_size": 8})

    check_files({"m": MODEL}, {"gpu1": replace(SLOT, facts={"m": completed})})


@pytest.mark.parametrize(
    ("model", "different"),
    [
        (replace(MODEL, files="other"), "m"),
        (replace(MODEL, composing=(replace(PART, files="other"),)), "part"),
        (replace(MODEL, composing=()), "part"),
    ],
)
def test_other_files_than_those_of_the_driver_are_named(model: ModelFacts, different: str) -> None:
    with pytest.raises(ClusterError) as raised:
        check_files({"m": MODEL}, {"gpu1": SLOT, "gpu2": replace(SLOT, facts={"m": model})})

    assert str(raised.value) == (
        f"gpu2: its files of the model {different} are not those of the driver: give all nodes the"
        " same files, or a URL as --model-repository"
    )
