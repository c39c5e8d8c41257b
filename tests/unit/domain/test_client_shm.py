# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Which servers allow shared memory of clients only if they are asked to; what the flags of
perf_analyzer say.
"""

from __future__ import annotations

import pytest

from model_analyzer.domain.flags import needs_client_shm, shapes_of, shares_memory


@pytest.mark.parametrize(
    ("version", "needs"),
    [("2.51.0", False), ("2.67.9", False), ("2.68.0", True), ("2.100", True), ("3.0.0", True)],
)
def test_servers_since_26_04_need_the_flag(version: str, needs: bool) -> None:
    assert needs_client_shm(version, unknown=not needs) is needs


def test_an_unknown_version_is_as_the_caller_wants() -> None:
    assert needs_client_shm("", unknown=True)
    assert not needs_client_shm("main", unknown=False)


def test_who_shares_memory() -> None:
    assert shares_memory({"shared-memory": "system"})
    assert not shares_memory({"shared-memory": "none"})
    assert not shares_memory({})


def test_sizes_come_from_the_flags_of_perf_analyzer() -> None:
    assert shapes_of({"shape": "IMAGE:3,224,224"}) == {"IMAGE": (3, 224, 224)}
    assert shapes_of({"shape": ("A:1", "B:x", "C:2,2")}) == {"A": (1,), "C": (2, 2)}
    assert shapes_of({}) == {}
