# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Laws of tokens: two counts of the same responses."""

from __future__ import annotations

from model_analyzer.domain.doubts import Doubt
from model_analyzer.domain.laws.case import RESPONSES, TOKENS, Case
from model_analyzer.domain.numbers import number_text

_NEAR = 0.1
_GROSS = 2.0


def tokens_are_responses(case: Case) -> Doubt | None:
    """tokens / requests = responses / requests by perf_analyzer's own count, in the windows that it
    reports, where a response is a token. Within 10 %; gross if there are twice as many.
    """
    evidence = case.model.evidence
    tokens, responses = evidence.get(TOKENS), evidence.get(RESPONSES)
    if not responses or tokens is None or abs(tokens / responses - 1) <= _NEAR:
        return None
    return Doubt(
        law="tokens are responses",
        text=f"{case.name}: a request has {number_text(tokens)} tokens, but perf_analyzer counted"
        f" {number_text(responses)} responses for each",
        hint=case.again,
        gross=tokens > _GROSS * responses,
    )
