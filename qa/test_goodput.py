# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Goodput on the real programs, compared with a count in perf_analyzer's own export."""

from __future__ import annotations

import json
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from model_analyzer.domain.measurements import Measurement
from model_analyzer.runner.runtime import find_perf_analyzer
from model_analyzer.state.checkpoint import load

# A limit is exact to the width of a bin.
BIN = 1.0101


class Answered(NamedTuple):
    """A request in an export, in ms: its latency, and the times to the first token and, as their
    mean, between tokens.
    """

    latency: float
    first_token: float
    between_tokens: float


@pytest.fixture
def exports(scene) -> Path:
    """Where every export of perf_analyzer is kept; the program removes its own."""
    kept = scene.directory / "exports"
    kept.mkdir()
    real = find_perf_analyzer(None, scene.mark.environment)
    command = ["env", *(f"{name}={value}" for name, value in real.environment.items()), real.path]
    wrapper = scene.directory / "perf_analyzer.sh"
    wrapper.write_text(
        f'#!/bin/sh\n{shlex.join(map(str, command))} "$@"\nstatus=$?\n'
        f"test -s export.json && cp export.json {kept}/$$.json\nexit $status\n"
    )
    wrapper.chmod(0o755)
    scene.config["perf_analyzer_path"] = str(wrapper)
    return kept


def counted(exports: Path, in_flight: int, requests: int) -> Sequence[Answered]:
    """The requests of the only round: in the windows, after the first ones in flight."""
    for path in exports.iterdir():
        experiment = json.loads(path.read_text())["experiments"][0]
        begin, *_, end = experiment["window_boundaries"]
        entries = sorted(experiment["requests"], key=lambda each: each["response_timestamps"][-1])
        ended = [each for each in entries if begin <= each["response_timestamps"][-1] < end]
        if len(ended) - in_flight == requests:
            return [_answered(entry) for entry in ended[in_flight:]]
    raise AssertionError("no export has the requests of the measurement")


def _answered(entry: dict[str, Any]) -> Answered:
    sent: int = entry["timestamp"]
    came: list[int] = entry["response_timestamps"]
    between = (came[-1] - came[0]) / max(len(came) - 1, 1)
    return Answered(*(time / 1e6 for time in (came[-1] - sent, came[0] - sent, between)))


def profiled(scene, **changes: Any) -> Measurement:
    """The only measurement of a run whose objective is goodput, as it is stored."""
    status, output = scene.profile(
        "--run-config-search-disable", **{"perf_analyzer_flags": {}, **changes}
    )
    assert status == 0, output
    (record,) = load(scene.directory / "checkpoints").profile.records
    assert isinstance(record.outcome, Measurement)
    return record.outcome


def ranked(scene, *constraints: str) -> dict[str, float]:
    """The metrics of the best configuration by these constraints."""
    options = [word for text in constraints for word in ("--constraint", text)]
    status, output = scene.run("best", "--metric", "perf_goodput", *options, "--format", "json")
    assert status == 0, output
    answer = json.loads(output[output.index("{") :])
    metrics: dict[str, float] = answer["models"][0]["recommended"]["metrics"]
    return metrics


def test_goodput_counts_the_requests_within_the_limit(scene, exports: Path) -> None:
    measured = profiled(
        scene,
        profile_models=["sim_gpu"],
        concurrency=3,
        objectives=["perf_goodput"],
        constraints={"perf_latency_p99": {"max": 60_000}},
    )
    model = measured.models[0]
    requests = counted(exports, 3, model.requests or 0)

    (loose,) = json.loads((scene.directory / "results" / "results.json").read_text())["models"]
    metrics = loose["recommended"]["metrics"]
    assert metrics["perf_goodput"] == metrics["perf_throughput"]

    limit = sorted(request.latency for request in requests)[len(requests) * 2 // 3]
    metrics = ranked(scene, f"perf_latency_p50<{limit}")
    good = metrics["perf_goodput"] * model.seconds
    low, high = (
        sum(request.latency <= limit * factor for request in requests) for factor in (1 / BIN, BIN)
    )
    assert low - 0.01 <= good <= high + 0.01
    assert metrics["perf_goodput"] < metrics["perf_throughput"]


@pytest.mark.slow
def test_a_request_to_a_language_model_has_to_meet_both_limits(scene, exports: Path) -> None:
    measured = profiled(
        scene,
        profile_models=["sim_llm"],
        model_type="LLM",
        concurrency=3,
        objectives=["perf_goodput"],
        constraints={"time_to_first_token_p99": {"max": 60_000}},
    )
    model = measured.models[0]
    requests = counted(exports, 3, model.requests or 0)
    middle = len(requests) // 2
    first = sorted(request.first_token for request in requests)[middle]
    between = sorted(request.between_tokens for request in requests)[middle]

    metrics = ranked(
        scene, f"time_to_first_token_p25<{first}", f"inter_token_latency_p25<{between}"
    )
    good = metrics["perf_goodput"] * model.seconds

    low, high = (
        sum(
            request.first_token <= first * factor and request.between_tokens <= between * factor
            for request in requests
        )
        for factor in (1 / BIN, BIN)
    )
    assert low - 0.01 <= good <= high + 0.01
    assert metrics["perf_goodput"] < metrics["perf_throughput"]


@pytest.mark.slow
def test_goodput_under_poisson_arrivals(scene) -> None:
    measured = profiled(
        scene,
        profile_models=["sim_gpu"],
        load={"arrivals": "poisson", "rate": 60},
        objectives=["perf_goodput"],
        constraints={"perf_latency_p50": {"max": 60_000}},
    )
    limit = measured.models[0].histograms["perf_latency"].quantile(0.75)

    metrics = ranked(scene, f"perf_latency_p50<{limit}")

    assert metrics["perf_goodput"] == pytest.approx(0.75 * metrics["perf_throughput"], rel=0.1)
