# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The metrics to show during a run."""

from __future__ import annotations

from model_analyzer.domain.metrics import canonical
from model_analyzer.search.plan import Subject

_MOST = 3

_THROUGHPUT, _LATENCY = "perf_throughput", "perf_latency_p99"
_TOKENS, _FIRST_TOKEN = "output_token_throughput", "time_to_first_token_p99"


def shown_tags(subject: Subject) -> tuple[str, ...]:
    """The metrics to show: the first wish of the goal, the metrics of constraints, the other
    wishes, then throughput and latency (of tokens, for a language model).
    """
    of_tokens = any(model.times_tokens for model in subject.models)
    throughput, latency = (_TOKENS, _FIRST_TOKEN) if of_tokens else (_THROUGHPUT, _LATENCY)
    wishes = [*subject.goal.wishes]
    bounds = [canonical(bound.tag) for goal in subject.goal.models for bound in goal.constraints]
    if of_tokens and subject.goal.is_for_throughput:
        wishes.insert(0, _TOKENS)  # throughput is the default objective
    tags = [*wishes[:1], *bounds, *wishes[1:]]
    if throughput not in tags:
        tags.append(throughput)
    family = latency.rpartition("_")[0]
    if not any(tag.startswith(family) for tag in tags):
        tags.append(latency)
    return tuple(dict.fromkeys(tags))[:_MOST]
