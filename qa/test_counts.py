# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""What is counted: responses that are tokens, requests of a number, and requests that fail."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from model_analyzer.domain.measurements import Values
from model_analyzer.domain.trials import Failure, FailureReason
from model_analyzer.state.checkpoint import load
from qa.test_rounds import SLEEPS
from tests.sizes import small_and_full

MODELS = Path(__file__).parent / "models"
NUMBER = '{ name: "NUMBER" data_type: TYPE_FP32 dims: [ 1 ] }'
TEXT = '{ name: "TEXT" data_type: TYPE_STRING dims: [ 1 ] }'
ONE = {"run_config_search_disable": True, "perf_analyzer_flags": {}}
FULL = "dynamic_batching { default_queue_policy { max_queue_size: 2 } }"
LATE = (
    "dynamic_batching { default_queue_policy"
    " { default_timeout_microseconds: 30000 timeout_action: REJECT } }"
)


def add_stream(scene, name: str, *outputs: str, ends: str, responses: int = 3) -> None:
    """Adds a model that streams so many responses, one every 10 ms."""
    directory = scene.models / name
    (directory / "1").mkdir(parents=True)
    (directory / "1" / "model.py").write_text((MODELS / "streamer.py").read_text())
    given = {"responses": responses, "ms": 10, "ends": ends}
    (directory / "config.pbtxt").write_text(
        f'name: "{name}"\nbackend: "python"\n'
        'input [ { name: "INPUT" data_type: TYPE_FP32 dims: [ 1 ] } ]\n'
        f"output [ {', '.join(outputs)} ]\n"
        "instance_group [ { kind: KIND_CPU } ]\n"
        "model_transaction_policy { decoupled: true }\n"
        + "".join(
            f'parameters {{ key: "{key}" value: {{ string_value: "{value}" }} }}\n'
            for key, value in given.items()
        )
    )


def values(scene) -> Sequence[Values]:
    """The values of each measured model, in the order of the run."""
    profile = load(scene.directory / "checkpoints").profile
    return [record.measurement.models[0].values for record in profile.measured]


def failures(scene) -> Sequence[Failure]:
    profile = load(scene.directory / "checkpoints").profile
    return [record.failure for record in profile.failed]


@pytest.mark.slow
def test_a_stream_of_three_numbers_has_three_tokens_however_it_ends(scene) -> None:
    add_stream(scene, "flag", NUMBER, ends="flag")
    add_stream(scene, "last", NUMBER, ends="last")
    add_stream(scene, "texts_and_numbers", TEXT, NUMBER, ends="flag")
    names = ["flag", "last", "texts_and_numbers"]

    status, output = scene.profile(
        **{**ONE, "model_type": "LLM", "profile_models": names, "concurrency": 1}
    )

    assert status == 0, output
    assert "responses for each" not in output  # the doubt about two counts of tokens
    assert len(values(scene)) == len(names)
    for name, own in zip(names, values(scene), strict=True):
        tokens = own["output_token_throughput"] / own["perf_throughput"]
        # with its end, a stream would have four, and gaps of 6.7 ms on average; a busy machine
        # answers few requests, of which some are counted in part
        assert tokens == pytest.approx(3, abs=0.5), name
        assert own["inter_token_latency_avg"] >= 8.5, name


@pytest.mark.slow
def test_a_model_that_streams_nothing_is_said_to_do_so_at_once(scene) -> None:
    add_stream(scene, "silent", NUMBER, ends="flag", responses=0)

    scene.profile(**{**ONE, "profile_models": ["silent"], "concurrency": 1})

    (failure,) = failures(scene)
    assert failure.reason is FailureReason.NO_REQUESTS
    assert "without a single response" in failure.message
    assert len(failure.commands) == 1
    assert failure.duration_s < 20


@small_and_full("size", 4, 200_000)  # the larger one is not exported
def test_a_number_of_requests_takes_as_long_as_it_takes(scene, size: int) -> None:
    """60 requests of 20 ms take 1.2 s at least: not 2 s, as in perf_analyzer's table."""
    scene.model("m", SLEEPS.format(seconds=0.02))
    config = scene.models / "m" / "config.pbtxt"
    config.write_text(config.read_text().replace("dims: [ 4 ]", f"dims: [ {size} ]"))
    flags = {"request-count": 60}

    status, output = scene.profile(
        **{**ONE, "profile_models": ["m"], "concurrency": 1, "perf_analyzer_flags": flags}
    )

    assert status == 0, output
    (own,) = values(scene)
    # one request at a time: throughput and latency say the same
    assert own["perf_throughput"] <= 52
    in_flight = own["perf_throughput"] * own["perf_latency_avg"] / 1000
    assert in_flight == pytest.approx(1, abs=0.25 if size == 4 else 0.4)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("code", "extra", "words", "hint"),
    [
        ("erring", "", "a request failed: out of luck", "the model answered a request"),
        ("slow", FULL, "since its queue was full: Exceeds maximum", "raise max_queue_size"),
        ("slow", LATE, "waited longer in the queue than it may", "default_timeout_microseconds"),
    ],
    ids=["error", "full queue", "timed out"],
)
def test_a_request_that_fails_is_told_by_its_kind(
    scene, code: str, extra: str, words: str, hint: str
) -> None:
    slow = SLEEPS.format(seconds=0.02)
    text = (MODELS / "erring.py").read_text() if code == "erring" else slow
    scene.model("m", text, max_batch_size=1, extra=extra)

    scene.profile(**{**ONE, "profile_models": ["m"], "concurrency": 8})

    (failure,) = failures(scene)
    assert failure.reason is FailureReason.REQUEST_FAILED
    assert words in failure.message
    assert hint in failure.hint
