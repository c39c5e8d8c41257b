# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""What the driver checks of the slots of a cluster before the first trial, their names, and the
nodes that share the checkpoint directory.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from model_analyzer.domain.hardware import Machine
from model_analyzer.domain.models import ModelFacts
from model_analyzer.domain.slots import Slot
from model_analyzer.errors import ClusterError
from model_analyzer.features.cluster.cluster_bench import (
    check_files,
    node_names,
    sharing_nodes,
    slot_names,
)
from model_analyzer.features.cluster.slot_places import ClusterNode, SlotPlace
from model_analyzer.features.cluster.slot_worker import SlotFacts
from model_analyzer.state.format.layout import Layout

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


def places(*hosts: str) -> list[SlotPlace]:
    return [
        SlotPlace(node=ClusterNode(id=str(number), host=host, resources={}), bundle={})
        for number, host in enumerate(hosts)
    ]


def test_each_further_slot_of_a_host_has_a_number() -> None:
    several = places("gpu1", "gpu2", "gpu1", "gpu1")

    assert slot_names(several) == ["gpu1", "gpu2", "gpu1 #2", "gpu1 #3"]
    assert node_names(several) == ["gpu1", "gpu2", "gpu1#2", "gpu1#3"]


def test_names_of_nodes_are_different_and_parts_of_file_names() -> None:
    names = node_names(places("a.b-c", "a/b", "a b", "../a", "a#2", "a_2"))

    assert names == ["a.b-c", "a_b", "a_b#2", ".._a", "a_2", "a_2#2"]


SLOTS = [
    Slot(name=name, node=node, host=str(number))
    for number, (name, node) in enumerate(
        [("gpu1", "gpu1"), ("gpu1 #2", "gpu1#2"), ("gpu2", "gpu2")]
    )
]


def asking(*names: str) -> Callable[[Mapping[str, Callable[[], None]], float], None]:
    """Only these slots see the directory."""

    def ask(questions: Mapping[str, Callable[[], None]], timeout_s: float) -> None:
        assert set(questions) == {slot.name for slot in SLOTS}
        for name in names:
            questions[name]()

    return ask


@pytest.mark.parametrize(
    ("names", "remark"),
    [
        (["gpu1", "gpu1 #2", "gpu2"], "3 of 3 nodes"),
        (["gpu1", "gpu1 #2"], "2 of 3 nodes (not by gpu2)"),
        ([], "0 of 3 nodes (not by gpu1, gpu1#2, gpu2)"),
    ],
)
def test_nodes_that_share_the_directory_are_found_and_logged(
    tmp_path: Path, names: list[str], remark: str, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.INFO):
        nodes = sharing_nodes(SLOTS, Layout(tmp_path), asking(*names))

    assert nodes == {slot.name: slot.node for slot in SLOTS if slot.name in names}
    assert caplog.messages == [f"The checkpoint directory is shared by {remark}"]
    assert not [*tmp_path.iterdir()]


def test_a_directory_that_cannot_be_written_to_is_shared_by_none(tmp_path: Path, caplog) -> None:
    missing = tmp_path / "missing"

    assert sharing_nodes(SLOTS, Layout(missing), asking("gpu1")) == {}

    assert f"{missing}: cannot be written to: No such file or directory" in caplog.messages
