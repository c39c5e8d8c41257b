# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Laws of tokens."""

from __future__ import annotations

from model_analyzer.noise.laws.case import RESPONSES, TOKENS
from tests.unit.builders import measurement, trial
from tests.unit.noise.laws.cases import doubt_of, with_evidence


def test_a_token_is_a_response() -> None:
    tokens = with_evidence(measurement(11, requests=200), TOKENS, 3.0)
    assert doubt_of(trial(), with_evidence(tokens, RESPONSES, 3.0)) is None
    assert doubt_of(trial(), tokens) is None


def test_an_empty_answer_at_the_end_is_no_token() -> None:
    """Found by models that stream numbers: 43.7 tokens/sec instead of 32.8."""
    tokens = with_evidence(measurement(10.93, requests=200), TOKENS, 4.0)
    doubt = doubt_of(trial(), with_evidence(tokens, RESPONSES, 3.0))
    assert doubt is not None
    assert doubt.text == (
        "m_config_0 at concurrency 1: a request has 4.00 tokens, but perf_analyzer counted"
        " 3.00 responses for each"
    )
