# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Laws of counts: what the client counted, and what the server did for it."""

from __future__ import annotations

from model_analyzer.domain.measurements import Doubt
from model_analyzer.domain.models import is_cached
from model_analyzer.domain.numbers import number_text
from model_analyzer.domain.words import counted
from model_analyzer.noise.laws.case import RESPONSES, TOKENS, Case

# The server counts a request after its answer, so a reading may lack the last ones.
_LATE_SHARE, _LATE = 0.05, 2


def was_executed(case: Case) -> Doubt | None:
    """requests <= (inferences / batch size + cache hits) of the server, within 5 % or two requests
    for those that it counts late; and inferences > 0. What was not executed was not measured: a
    response cache answers in microseconds, whatever the variant.

    The server counts from the start of perf_analyzer to its end, the client only within windows: so
    it may count more, never less. (A server that counts nothing says nothing, and perf_analyzer
    refuses it.) Gross if nothing was executed, unless the variant is measured with its cache.
    """
    counts, requests = case.counts, case.model.requests
    if counts is None or counts.requests is None or not (requests and counts.requests.answered):
        return None
    hits = counts.requests.hits
    known = counts.inferences / case.work.load.batch_size + hits
    keeps_cache = not case.trial.setup.uncached and any(
        is_cached(part.config) for part in case.work.variant.with_parts()
    )
    if hits and not counts.inferences:
        return Doubt(
            law="executed",
            text=f"{case.name}: the model was not executed, since the response cache answered all"
            f" {counted(hits, 'request')}",
            hint="measure without the cache: `response_cache: off`, or a server that has none",
            gross=not keeps_cache,
        )
    if requests <= known * (1 + _LATE_SHARE) + _LATE:
        return None
    return Doubt(
        law="executed",
        text=f"{case.name}: {counted(requests, 'request')} were answered, but the server counted"
        f" only {counted(round(known), 'request')}",
        hint="something between perf_analyzer and the model answers, such as a proxy or another"
        " server: measure without it",
    )


def errors_agree(case: Case) -> Doubt | None:
    """Failed requests of the server = failed requests of the client, which are none:
    perf_analyzer stops at the first one. Others failed without its knowledge: requests of models
    that are called, whose errors the caller hides, or requests of other clients.
    """
    for part in case.work.variant.with_parts():
        counts = case.measurement.statistics.get(part.model)
        if counts is not None and counts.requests is not None and counts.requests.failed:
            failed = counts.requests.failed
            of_all = failed + counts.requests.answered
            cause = (
                "find out which other clients use the server, or whether it dropped sequences that"
                " waited for longer than max_sequence_idle_microseconds"
                if part.model == case.work.variant.model
                else f"the models that call it hide its errors: look into the log of {part.model}"
            )
            return Doubt(
                law="errors",
                text=f"{case.name}: {failed:,} of {counted(of_all, 'request')} to {part.model}"
                " failed on the server, and perf_analyzer got no error",
                hint=cause,
            )
    return None


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
