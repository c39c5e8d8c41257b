# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The nodes of a cluster that share the checkpoint directory, as a run finds and logs them."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from model_analyzer.domain.slots import Slot
from model_analyzer.features.cluster.cluster_bench import sharing_nodes
from model_analyzer.state.format.layout import Layout

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


def test_a_directory_that_cannot_be_written_to_is_shared_by_none(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    missing = tmp_path / "missing"

    assert sharing_nodes(SLOTS, Layout(missing), asking("gpu1")) == {}

    assert f"{missing}: cannot be written to: No such file or directory" in caplog.messages
