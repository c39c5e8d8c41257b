# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Whatever a server answers: it is used, or an error says what is wrong with it.

`make fuzz` tries the same for much longer.
"""

from __future__ import annotations

from collections.abc import Mapping

from hypothesis import given

from tests.adapter.server_answers import (
    GRPC_ANSWERS,
    HTTP_ANSWERS,
    METRICS,
    grpc_is_used_or_refused,
    http_is_used_or_refused,
    metrics_are_used_or_left_out,
)


@given(HTTP_ANSWERS)
def test_any_answer_over_http_is_used_or_refused(example: Mapping[str, str]) -> None:
    http_is_used_or_refused(example)


@given(GRPC_ANSWERS)
def test_any_answer_over_grpc_is_used_or_refused(
    example: Mapping[str, tuple[int, str, str]],
) -> None:
    grpc_is_used_or_refused(example)


@given(METRICS)
def test_any_metrics_are_used_or_left_out(text: str) -> None:
    metrics_are_used_or_left_out(text)
