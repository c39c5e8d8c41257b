# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Laws of tokens: two counts of the same responses."""

from __future__ import annotations

from model_analyzer.domain.doubts import Doubt
from model_analyzer.domain.laws.case import RESPONSES, Case
from model_analyzer.domain.numbers import number_text

_NEAR = 0.1
_GROSS = 2.0


def tokens_are_responses(case: Case) -> Doubt | None:
    """tokens / requests = responses / requests by perf_analyzer's own count, where a response is a
    token.

    Within 10 % and twice the edge, since the counts begin and end at other requests. Gross if there
    are twice as many.
    """
    responses = case.model.evidence.get(RESPONSES)
    values = case.model.values
    tokens, throughput = values.get("output_token_throughput"), values.get("perf_throughput")
    if not responses or not tokens or not throughput:
        return None
    per_request = tokens / (throughput / case.work.load.batch_size)
    share, slack = per_request / responses, _NEAR + 2 * case.edge
    if 1 - slack <= share <= 1 + slack:
        return None
    return Doubt(
        law="tokens are responses",
        text=f"{case.name}: a request has {number_text(per_request)} tokens, but perf_analyzer"
        f" counted {number_text(responses)} responses for each",
        hint=case.again,
        gross=share > _GROSS + 2 * case.edge,
    )
