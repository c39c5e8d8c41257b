# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Laws of counts."""

from __future__ import annotations

from dataclasses import replace

import pytest

from model_analyzer.domain.measurements import Measurement
from model_analyzer.domain.statistics import ModelStatistics, RequestCounts
from model_analyzer.domain.trials import Failure, FailureReason, ServerSetup, Trial
from model_analyzer.noise.laws.catalogue import judged
from tests.unit.builders import measurement, trial, variant
from tests.unit.noise.laws.cases import doubt_of

_CACHED = variant(response_cache={"enable": True})


def served(
    requests: int | None, inferences: int, *, failed: int = 0, hits: int = 0, part_failed: int = 0
) -> Measurement:
    """So many requests by the client, and what the server counted for it."""
    own = RequestCounts(answered=inferences + hits, failed=failed, hits=hits)
    parts = RequestCounts(answered=99, failed=part_failed)
    return replace(
        measurement(100, 9, requests=requests),
        statistics={
            "m": ModelStatistics(inferences=inferences, executions=1, requests=own),
            "part": ModelStatistics(inferences=99, executions=99, requests=parts),
        },
    )


@pytest.mark.parametrize(
    ("requests", "inferences", "batch_size"),
    [(100, 100, 1), (100, 130, 1), (100, 97, 1), (2, 0, 1), (50, 400, 8), (None, 5, 1)],
)
def test_what_was_executed_at_least_so_often_as_answered_is_believed(
    requests: int | None, inferences: int, batch_size: int
) -> None:
    """The server counts longer than the client, and the last ones late."""
    of = trial(batch_size=batch_size)
    assert doubt_of(of, served(requests, inferences)) is None


def test_a_variant_that_the_cache_answered_is_a_failure() -> None:
    outcome = judged(trial(), served(1000, 0, hits=1003))

    assert isinstance(outcome, Failure)
    assert outcome.reason is FailureReason.IMPOSSIBLE_VALUES
    assert outcome.message == (
        "m_config_0 at concurrency 1: the model was not executed, since the response cache"
        " answered all 1,003 requests"
    )
    assert "response_cache: off" in outcome.hint


def test_a_variant_that_was_to_keep_its_cache_is_doubtful_if_it_was_not_executed() -> None:
    doubt = doubt_of(trial(_CACHED), served(1000, 0, hits=1000))
    assert doubt is not None
    assert not doubt.gross
    assert doubt_of(trial(_CACHED), served(1000, 10, hits=990)) is None


def test_a_cache_that_was_to_be_off_is_no_excuse() -> None:
    off: Trial = trial(_CACHED, setup=ServerSetup(uncached=True))
    assert isinstance(judged(off, served(1000, 0, hits=1000)), Failure)


def test_answers_that_the_server_knows_nothing_of_are_doubtful() -> None:
    doubt = doubt_of(trial(), served(1000, 400))
    assert doubt is not None
    assert not doubt.gross
    assert "1,000 requests were answered, but the server counted only 400 requests" in doubt.text


def test_a_server_that_counts_nothing_says_nothing() -> None:
    assert doubt_of(trial(), served(1000, 0)) is None


def test_inferences_are_compared_as_requests() -> None:
    assert doubt_of(trial(batch_size=8), served(1000, 1000)) is not None


def test_counts_of_earlier_versions_are_unknown() -> None:
    unknown = replace(
        measurement(100, 9, requests=1000),
        statistics={"m": ModelStatistics(inferences=1, executions=1)},
    )
    assert doubt_of(trial(), unknown) is None


def test_failures_that_the_client_did_not_see_are_doubtful() -> None:
    doubt = doubt_of(trial(), served(100, 100, failed=5))
    assert doubt is not None
    assert doubt.sentence == (
        "Doubtful: m_config_0 at concurrency 1: 5 of 105 requests to m failed on the"
        " server, and perf_analyzer got no error; find out which other clients use the server,"
        " or whether it dropped sequences that waited for longer than"
        " max_sequence_idle_microseconds."
    )


def test_failures_of_a_called_model_are_named() -> None:
    whole = variant(composing=[variant("part_config_0", model="part")])
    doubt = doubt_of(trial(whole), served(100, 100, part_failed=1))
    assert doubt is not None
    assert "1 of 100 requests to part failed on the server" in doubt.text
    assert "hide its errors" in doubt.hint
