# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Servers with OpenAI's API, measured by the real perf_analyzer."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from model_analyzer.domain.measurements import Values
from model_analyzer.state.checkpoint import load
from tests.fakes.openai_server import running

# It waits about 40 ms for the first token, and about 10 ms (8 to 12) for each other.
PACE = ("--first-ms", "40", "--gap-ms", "10", "--slots", "2")

Start = Callable[..., dict[str, object]]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """Starts a server; returns the options of a run on it."""
    with ExitStack() as stack:

        def started(*flags: str) -> dict[str, object]:
            place = tmp_path / "port"
            return {
                "triton_launch_mode": "remote",
                "endpoint": "openai",
                "triton_http_endpoint": stack.enter_context(running(place, *PACE, *flags)),
                "profile_models": {"chat": {"parameters": {"concurrency": [1, 4]}}},
                "perf_analyzer_flags": {"input-data": "in.json"},
            }

        yield started


@pytest.fixture
def openai_scene(scene):
    """A scene without a repository, and with a request for eight tokens."""
    scene.config.pop("model_repository")
    write_request(scene)
    return scene


def write_request(scene, **changes: object) -> None:
    asked = {"model": "chat", "stream": True, "max_tokens": 8, **changes}
    payload = {**asked, "messages": [{"role": "user", "content": "count"}]}
    (scene.directory / "in.json").write_text(json.dumps({"data": [{"payload": [payload]}]}))


def measured(scene) -> dict[int, Values]:
    """The values, by load."""
    records = load(scene.directory / "checkpoints").profile.measured
    return {
        record.trial.workloads[0].load.value: record.measurement.models[0].values
        for record in records
    }


def test_loads_are_swept_and_tokens_are_timed(openai_scene, start: Start) -> None:
    status, output = openai_scene.profile(
        **start(),
        objectives={"output_token_throughput": 1},
        constraints={"time_to_first_token_p90": {"max": 500}},
    )

    assert status == 0, output
    assert "outputs" not in output
    for users, values in measured(openai_scene).items():
        first, between = values["time_to_first_token_avg"], values["inter_token_latency_avg"]
        assert values["time_to_first_token_min"] >= 37
        assert between >= 8
        # the end of the stream comes a token later than the last token
        assert first + 8 * between == pytest.approx(values["perf_latency_avg"], rel=0.3)
        assert values["output_token_throughput"] == pytest.approx(
            8 * values["perf_throughput"], rel=0.4
        )
        assert (first > 80) is (users == 4)  # two of four wait for others
    for command in (["best", "-m", "chat"], ["explain", "-m", "chat"]):
        status, output = openai_scene.run(*command, "-s", "checkpoints")
        assert status == 0, output
    status, output = openai_scene.run("best", "-s", "checkpoints", "--format", "kubernetes")
    assert status == 1
    assert "chat was measured behind OpenAI's API" in output
    status, output = openai_scene.run("doctor", "-f", "config.yaml")
    assert "ok       model chat: loads, and answers a request" in output


def test_an_answer_that_fails_after_its_first_token_is_a_failure(
    openai_scene, start: Start
) -> None:
    status, output = openai_scene.profile("-c", "2", **start("--fail-every", "3"))

    assert status == 1, output
    assert "failed: out of memory" in output


@pytest.mark.slow
@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (("--refuse", "429"), "HTTP code 429"),
        (("--cut",), "broke it off (which perf_analyzer calls code 400)"),
    ],
)
def test_a_refusal_is_told_in_a_line(openai_scene, start: Start, flags, said: str) -> None:
    status, output = openai_scene.profile(**start(*flags))

    assert status == 1, output
    assert said in output
    assert "Traceback" not in output


@pytest.mark.slow
def test_users_arrive_at_random(openai_scene, start: Start) -> None:
    options = start("--slots", "8")
    options["profile_models"] = {"chat": {"load": {"arrivals": "poisson", "rate": [4, 8]}}}

    status, output = openai_scene.profile(**options)

    assert status == 0, output
    for rate, values in measured(openai_scene).items():
        assert values["perf_throughput"] == pytest.approx(rate, rel=0.35)


@pytest.mark.slow
@pytest.mark.parametrize(("version", "works"), [("2.41", False), ("2.44", True)])
def test_an_older_perf_analyzer_measures_or_is_refused(
    openai_scene, start: Start, version: str, works: bool
) -> None:
    install = [openai_scene.program, "runtime", "install", "--triton", version]
    subprocess.run(install, check=True, timeout=600)

    status, output = openai_scene.profile("--runtime-version", version, **start())

    assert status == (0 if works else 2), output
    if works:
        values = measured(openai_scene)[4]
        assert values["time_to_first_token_min"] >= 37
    else:
        assert "cannot measure OpenAI's API: 2.44 and newer can" in output


@pytest.mark.slow
def test_an_answer_that_is_no_stream_has_the_tokens_that_the_server_counts(
    openai_scene, start: Start
) -> None:
    write_request(openai_scene, stream=False)

    status, output = openai_scene.profile(**start())

    assert status == 0, output
    assert "in.json asks for no stream of chat in 1 of 1 payload" in output
    values = measured(openai_scene)[1]
    assert values["output_token_throughput"] == pytest.approx(8 * values["perf_throughput"])
