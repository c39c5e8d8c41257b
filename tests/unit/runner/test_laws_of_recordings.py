# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Recordings of perf_analyzer break no law, and the laws find faults that are put into them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import orjson
import pytest

from model_analyzer.domain.measurements import Doubt, Measurement
from model_analyzer.noise.laws.catalogue import doubts_of
from model_analyzer.runner.load.output import parse_counted, parse_table
from model_analyzer.runner.load.profile_export import Export, read_export
from model_analyzer.runner.load.sampling import evidence_of, sampled
from tests.unit.builders import trial, variant

_GOLDEN = Path(__file__).parents[2] / "golden" / "perf_analyzer"
_EXPORTS = sorted(path.stem for path in _GOLDEN.glob("*.json") if path.with_suffix(".csv").exists())


def recorded(name: str) -> tuple[dict[str, Any], str, str]:
    """The export, the table and the text of a recording."""
    path = _GOLDEN / name
    text = path.with_suffix(".txt")
    content: dict[str, Any] = orjson.loads(path.with_suffix(".json").read_bytes())
    table = path.with_suffix(".csv").read_text()
    return content, table, text.read_text() if text.exists() else ""


def doubts(export: Export, content: Mapping[str, Any], table: str) -> tuple[Doubt, ...]:
    """What the laws say about a round with this export and table."""
    (experiment,) = content["experiments"]
    in_flight = int(experiment["experiment"]["value"])
    has_streams = any(len(each["response_timestamps"]) > 1 for each in experiment["requests"])
    measured = sampled(export, in_flight=in_flight, batch_size=1, with_tokens=has_streams)
    assert measured is not None
    values = {**(parse_table(table) or {}), **measured.values}
    model = replace(measured, values=values, evidence=evidence_of(export))
    of = variant(model_transaction_policy={"decoupled": has_streams})
    return doubts_of(trial(of, concurrency=in_flight), Measurement(models=(model,)))


@pytest.mark.parametrize("name", _EXPORTS)
def test_a_recording_breaks_no_law(name: str) -> None:
    content, table, text = recorded(name)
    export = read_export([orjson.dumps(content).decode()], parse_counted(table, text))
    assert export is not None
    assert doubts(export, content, table) == ()


def test_flags_that_count_as_tokens_are_found() -> None:
    content, table, text = recorded("stream_flag")
    right = read_export([orjson.dumps(content).decode()], parse_counted(table, text))
    wrong = read_export(
        [orjson.dumps(content).decode()]
    )  # without that count, the flags are tokens
    assert right is not None
    assert wrong is not None
    (doubt,) = doubts(replace(wrong, responses=right.responses), content, table)
    assert doubt.law == "tokens are responses"


def test_answers_before_their_requests_are_found() -> None:
    content, table, _ = recorded("round")
    for request in content["experiments"][0]["requests"][::10]:
        request["response_timestamps"] = [request["timestamp"] - 1_000_000]
    export = read_export([orjson.dumps(content).decode()])
    assert export is not None
    (doubt, *_) = doubts(export, content, table)
    assert doubt.law == "answers follow requests"
    assert doubt.gross
