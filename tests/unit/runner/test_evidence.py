# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Numbers of an export for the laws of a measurement."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from model_analyzer.noise.laws.case import ANSWERED, DUE, IMPOSSIBLE, RESPONSES, SENT, TOKENS
from model_analyzer.runner.load.intended import intended
from model_analyzer.runner.load.profile_export import Export
from model_analyzer.runner.load.requests import Request, Requests
from model_analyzer.runner.load.sampling import evidence_of, rates_of, whole_rate

MS = 10**6


def export(*sent_ms: float, takes_ms: int = 10, end_ms: int = 1000) -> Export:
    times = [round(ms * MS) for ms in sent_ms]
    requests = [Request(sent, [sent + takes_ms * MS], sent + takes_ms * MS, [1]) for sent in times]
    return Export(Requests.of(requests), [0, end_ms * MS])


def test_an_ordinary_export_has_nothing_to_tell() -> None:
    assert evidence_of(export(0, 10)) == {}


def test_impossible_requests_are_a_share() -> None:
    assert evidence_of(replace(export(0, 10, 20), impossible=1)) == {IMPOSSIBLE: 0.25}


def test_tokens_and_the_responses_that_perf_analyzer_counted() -> None:
    streamed = replace(export(0, 10), responses=3.0)
    assert evidence_of(streamed) == {TOKENS: 1.0, RESPONSES: 3.0}


def test_an_open_load_has_three_rates() -> None:
    due = np.arange(0, 1000 * MS, 10 * MS)  # 100 in a second
    late = export(*np.arange(0, 1000, 20))  # of which a slow client sends every other one
    rates = rates_of(late, intended(late, due), is_whole=False)
    assert rates == {DUE: 100.0, SENT: 50.0, ANSWERED: 50.0}


def test_a_whole_load_counts_from_its_first_request_to_the_last() -> None:
    due = np.array([0, 10, 50, 100]) * MS
    on_time = export(0, 10, 50, 100, end_ms=10_000)
    rates = rates_of(on_time, intended(on_time, due), is_whole=True)
    assert rates == pytest.approx({DUE: 30.0, SENT: 30.0, ANSWERED: 30.0})


def test_a_single_request_has_no_rate() -> None:
    assert whole_rate([np.array([5])]) == 0.0
