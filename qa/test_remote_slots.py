# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Several remote servers as slots, without Ray: the same trials, whatever dies."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import pytest

pytestmark = pytest.mark.slow

Events = Sequence[dict[str, Any]]

SWEEP = {
    "sim_gpu": {
        "cpu_only": True,
        "parameters": {"concurrency": [4, 8]},
        "model_config_parameters": {"max_batch_size": [1, 2, 4, 8]},
    }
}


@pytest.fixture
def servers(remote) -> Callable[..., Sequence[Any]]:
    def start(count: int, mode: str = "explicit") -> Sequence[Any]:
        return [remote(mode) for _ in range(count)]

    return start


def reached(servers: Sequence[Any], **changes: Any) -> dict[str, Any]:
    """The options to reach all servers and search with brute force, with `changes`."""
    options = {
        "profile_models": SWEEP,
        "run_config_search_mode": "brute",
        "client_max_retries": 2,
        **servers[0].reached(),
    }
    for key in ("triton_http_endpoint", "triton_grpc_endpoint", "triton_metrics_url"):
        options[key] = [server.reached()[key] for server in servers]
    return {**options, **changes}


def names(servers: Sequence[Any]) -> list[str]:
    return [f"localhost:{server.grpc}" for server in servers]


def events_of(output: str, kind: str = "trial_finished") -> Events:
    events = [json.loads(line) for line in output.splitlines() if line.startswith("{")]
    return [event for event in events if event["event"] == kind]


def keys(events: Events) -> Counter[str]:
    return Counter(event["trial"] for event in events if not event.get("known"))


def end(process: Any) -> tuple[int, str]:
    output, _ = process.communicate(timeout=600)
    assert "Traceback" not in output, output
    return process.returncode, output


def test_two_servers_measure_the_trials_of_one(scene, servers) -> None:
    both = servers(2)
    both[0].load("add_sub")
    before = [server.loaded for server in both]
    alone = end(scene.start("--progress", "json", **reached(both[:1])))
    assert alone[0] == 0, alone[1]
    assert all("slot" not in event for event in events_of(alone[1]))

    status, output = end(
        scene.start("--progress", "json", **reached(both, checkpoint_directory="both"))
    )

    assert status == 0, output
    finished = events_of(output)
    assert keys(finished) == keys(events_of(alone[1]))
    assert set(keys(finished).values()) == {1}
    assert {event["slot"] for event in finished if not event["known"]} == set(names(both))
    [model] = events_of(output, "model_started")
    assert model["slots"] == names(both)
    assert f"{names(both)[0]} has other models loaded: add_sub" in output
    assert [server.loaded for server in both] == before

    status, output = end(scene.start("--progress", "json", **reached(both[1:])))
    assert status == 0, output
    assert not keys(events_of(output)), "one server measures again what two have measured"


def test_a_server_that_dies_loses_no_trial_and_is_named(scene, servers) -> None:
    three = servers(3)
    longer = {"sim_gpu": {**SWEEP["sim_gpu"], "parameters": {"concurrency": [1, 2, 4, 8, 16]}}}
    options = reached(three, profile_models=longer, client_max_retries=1)
    process = scene.start("--progress", "json", **options)
    scene.wait_until(lambda: len(scene.measuring) == 3)

    three[1].process.kill()

    status, output = end(process)
    assert status == 0, output
    finished = keys(events_of(output))
    assert set(finished.values()) == {1}
    (lost,) = events_of(output, "trial_lost")
    assert lost["slot"] == names(three)[1]
    assert finished[lost["trial"]] == 1
    assert f"{names(three)[1]} is not used any more (lost 3 times in a row" in output
    assert {event["slot"] for event in events_of(output)[-3:]} <= {
        names(three)[0],
        names(three)[2],
    }


@pytest.mark.parametrize("times", [1, 3])
def test_an_interrupt_keeps_what_is_measured(scene, servers, times: int) -> None:
    both = servers(2)
    process = scene.start("--progress", "json", **reached(both))
    scene.wait_until(lambda: len(scene.measuring) == 2)

    output = scene.interrupt(process, times)
    output += process.communicate(timeout=60)[0]

    assert process.returncode == 1
    assert "Traceback" not in output
    finished, started = events_of(output), events_of(output, "trial_started")
    if times == 1:
        assert keys(finished) == keys(started)
    assert len(finished) < 10
    assert not scene.measuring
    assert [server.loaded for server in both] == [{}, {}]


def test_servers_with_other_models_are_told_apart(scene, servers) -> None:
    (first,) = servers(1)
    first.load("sim_gpu")
    config = next((scene.models / "sim_gpu").glob("config.pbtxt"))
    config.write_text(config.read_text().replace("max_batch_size: ", "max_batch_size: 1"))
    (second,) = servers(1)
    options = reached([first, second])
    del scene.config["model_repository"]

    status, output = scene.profile(**options)

    assert status == 1
    last = output.splitlines()[-1]
    assert "the servers cannot be compared: max_batch_size of sim_gpu differs" in last
    assert all(name in last for name in names([first, second]))
    assert not scene.checkpoints


def test_a_server_that_is_not_there_is_named(scene, servers) -> None:
    both = servers(2)
    both[1].process.kill()
    both[1].process.wait()

    status, output = scene.profile(**reached(both))

    assert status == 1
    assert names(both)[1] in output.splitlines()[-1]


def test_more_servers_take_less_time(scene, servers) -> None:
    """With -s, it shows the seconds of measuring, which docs/guides/remote.md has."""
    three = servers(3)
    sizes = {"max_batch_size": [1, 2, 4, 8, 16, 32]}
    models = {"sim_gpu": {**SWEEP["sim_gpu"], "model_config_parameters": sizes}}
    seconds = {}
    for count in (1, 2, 3):
        options = reached(three[:count], profile_models=models, checkpoint_directory=f"c{count}")
        options["perf_analyzer_flags"] = {
            "measurement-mode": "time_windows",
            "measurement-interval": 1000,
            "stability-percentage": 999,
        }
        status, output = end(scene.start("--progress", "json", **options))
        assert status == 0, output
        (began,) = events_of(output, "model_started")
        (ended,) = events_of(output, "model_finished")
        seconds[count] = ended["elapsed_s"] - began["elapsed_s"]
        print(f"{count}: {seconds[count]:.0f} s, {len(keys(events_of(output)))} trials")

    assert seconds[2] <= 0.75 * seconds[1]
    assert seconds[3] <= seconds[2]
