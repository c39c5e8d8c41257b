# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Names of slots for people, and names of their nodes in checkpoints and file names."""

from __future__ import annotations

from model_analyzer.features.cluster.cluster_bench import node_names, slot_names
from model_analyzer.features.cluster.slot_places import ClusterNode, SlotPlace


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
