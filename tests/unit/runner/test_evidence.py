# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""What laws compare with the values of a measurement."""

from __future__ import annotations

import numpy as np
import pytest

from model_analyzer.domain.laws.case import ANSWERED, DUE, IMPOSSIBLE, RESPONSES, SENT
from model_analyzer.runner.load.evidence import evidence_of
from model_analyzer.runner.load.intended import Intended
from model_analyzer.runner.load.profile_export import Export, Request

S = 1_000_000_000


def moved(due: list[float], lag_s: float, latency_s: float, bounds: list[float]) -> Intended:
    """Requests that are due at these seconds, and sent and answered so much later; those that are
    answered in the windows.
    """
    answered = [each for each in due if each + lag_s + latency_s < bounds[-1]]
    requests = [
        Request(round(each * S), [], round((each + lag_s + latency_s) * S), []) for each in answered
    ]
    export = Export(requests, [round(each * S) for each in bounds])
    lags = np.full(len(requests), lag_s * 1000)
    return Intended(export, lags, np.array([round(each * S) for each in due], dtype=np.int64))


def test_without_an_export_nothing_is_known() -> None:
    assert evidence_of(None) == {}


def test_requests_that_cannot_have_been_so_are_a_share_of_all() -> None:
    export = Export([Request(0, [5], 5, [1])] * 3, [0, 10], impossible=1)

    assert evidence_of(export) == {IMPOSSIBLE: 0.25}


def test_responses_are_those_of_perf_analyzers_count() -> None:
    assert evidence_of(Export([Request(0, [5], 5, [1])], [0, 10], responses=3.0)) == {
        RESPONSES: 3.0
    }


def test_rates_are_those_within_the_windows() -> None:
    due = [each / 10 for each in range(40)]

    rates = evidence_of(moved(due, 0.0, 0.55, [0, 1, 2]).export, moved(due, 0.0, 0.55, [0, 1, 2]))

    assert rates == {DUE: 10, SENT: 7.5, ANSWERED: 7.5}


def test_a_whole_load_is_answered_from_its_first_answer_on() -> None:
    """A server that is too slow: the last of eleven is answered after 2 s, not 1 s."""
    due = [each / 10 for each in range(11)]
    whole = moved(due, 0.1, 0.0, [0, 9])
    slow = [
        Request(request.sent, [], round((2 * each + 0.2) * S), [])
        for request, each in zip(whole.export.requests, due, strict=True)
    ]
    late = Intended(Export(slow, whole.export.bounds), whole.lags, whole.due)

    rates = evidence_of(late.export, late)

    assert rates == {
        DUE: pytest.approx(10),
        SENT: pytest.approx(10),
        ANSWERED: pytest.approx(5),
    }


def test_a_single_request_has_no_rate() -> None:
    whole = moved([0.5], 0.0, 0.1, [0, 9])
    assert evidence_of(whole.export, whole) == {}
