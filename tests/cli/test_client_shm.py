# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Shared memory of clients: our servers allow it where they have to be asked."""

from __future__ import annotations

from typing import Any

import pytest

FLAG = "--allow-client-shm"


@pytest.mark.parametrize(
    ("knows", "changes", "is_given"),
    [
        ([FLAG[2:]], {"perf_analyzer_flags": {"shared-memory": "system"}}, True),
        ([FLAG[2:]], {}, False),
        ([], {"perf_analyzer_flags": {"shared-memory": "system"}}, False),
    ],
)
def test_a_server_that_we_start_allows_it(
    setting, pretend, knows: list[str], changes: dict[str, Any], is_given: bool
) -> None:
    setting.config["triton_server_path"] = str(pretend.tritonserver(knows=knows))

    status, output = setting.profile("--run-config-search-disable", **changes)

    assert status == 0, output
    (start,) = [call for call in pretend.server_calls if call.startswith("start")]
    assert (f"{FLAG}=true" in start) is is_given


def test_the_users_flag_counts(setting, pretend) -> None:
    setting.config["triton_server_path"] = str(pretend.tritonserver(knows=[FLAG[2:]]))

    status, output = setting.profile(
        "--run-config-search-disable",
        perf_analyzer_flags={"shared-memory": "system"},
        triton_server_flags={"allow-client-shm": False},
    )

    assert status == 0, output
    assert "is unknown" not in output
    (start,) = [call for call in pretend.server_calls if call.startswith("start")]
    assert f"{FLAG}=false" in start
