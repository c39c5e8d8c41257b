# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""`profile --executor ray` on a local Ray cluster: the same trials, whatever dies."""

from __future__ import annotations

import json
import signal
import subprocess
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import psutil
import pytest

from model_analyzer.state.contents import read_journal
from qa.cluster.local_cluster import raylets

pytestmark = pytest.mark.slow

# Ray itself must notice that a driver is dead.
GONE_WITH_DRIVER_S = 60

Events = Sequence[dict[str, Any]]


@pytest.fixture
def begin(scene, cluster: str) -> Callable[..., subprocess.Popen[str]]:
    """Starts a run of ten trials, on two slots if not told otherwise."""

    def start(*arguments: str, slots: int = 2, **changes: Any) -> subprocess.Popen[str]:
        options = {
            "run_config_search_mode": "brute",
            "profile_models": {
                "add_sub": {
                    "cpu_only": True,
                    "parameters": {"concurrency": [1, 2]},
                    "model_config_parameters": {"max_batch_size": [1, 2, 4, 8]},
                }
            },
            "executor": "ray",
            "ray_address": cluster,
            "slots": slots,
            "slots_per_host": 2,
            **changes,
        }
        return scene.start("--progress", "json", *arguments, **options)

    return start


@pytest.fixture
def under_way(scene, begin) -> Callable[..., subprocess.Popen[str]]:
    """Starts a run, and waits until it has tested the slots that share this machine."""
    journal = scene.directory / "checkpoints" / "journal"

    def is_tested() -> bool:
        return journal.exists() and "shared-host" in journal.read_text()

    def start(*arguments: str, **changes: Any) -> subprocess.Popen[str]:
        process = begin(*arguments, **changes)
        scene.wait_until(is_tested)
        return process

    return start


def end(process: subprocess.Popen[str]) -> tuple[int, str]:
    output, _ = process.communicate(timeout=600)
    assert "Traceback" not in output, output
    return process.returncode, output


def events_of(output: str, kind: str = "trial_finished") -> Events:
    events = [json.loads(line) for line in output.splitlines() if line.startswith("{")]
    return [event for event in events if event["event"] == kind]


def keys(events: Events) -> Counter[str]:
    """How often each trial was started, lost or measured; what was known before does not count."""
    return Counter(event["trial"] for event in events if not event.get("known"))


def keys_in(journal: Path) -> frozenset[str]:
    return read_journal(journal).records.keys()


def stored_by_nodes(directory: Path) -> frozenset[str]:
    """The trials whose outcomes are in the journals of nodes."""
    return frozenset().union(*map(keys_in, directory.glob("journal-*")))


def slot_of(process: psutil.Process) -> psutil.Process:
    """The process of the slot that has started a program."""
    return next(parent for parent in process.parents() if parent.cmdline()[0].startswith("ray::"))


def test_two_slots_measure_the_trials_of_this_machine(scene, begin) -> None:
    status, output = end(begin(executor="local", checkpoint_directory="local"))
    assert status == 0, output
    alone = events_of(output)
    assert all("slot" not in event for event in alone)

    status, output = end(begin())

    assert status == 0, output
    finished = events_of(output)
    assert keys(finished) == keys(alone)
    assert set(keys(finished).values()) == {1}
    [model] = events_of(output, "model_started")
    assert len(model["slots"]) == 2
    assert {event["slot"] for event in finished if not event["known"]} == set(model["slots"])


def test_a_slot_that_dies_loses_no_trial(scene, under_way) -> None:
    process = under_way()
    scene.wait_until(lambda: len(scene.measuring) == 2)

    slot_of(scene.held()).kill()

    status, output = end(process)
    assert status == 0, output
    [lost] = events_of(output, "trial_lost")
    finished = keys(events_of(output))
    assert finished[lost["trial"]] == 1
    assert set(finished.values()) == {1}
    assert len(finished) == len(keys(events_of(output, "trial_started")))


def test_a_driver_that_dies_loses_only_what_was_under_way(scene, begin) -> None:
    process = begin()
    lines = list[str]()
    while len(events_of("".join(lines))) < 3:
        line = process.stdout.readline()
        assert line, "".join(lines)
        lines.append(line)

    process.kill()
    lines.append(process.communicate()[0])
    scene.wait_until(scene.mark.gone, within_s=GONE_WITH_DRIVER_S)
    before = keys(events_of("".join(lines)))

    status, output = end(begin())

    assert status == 0, output
    finished = events_of(output)
    assert not before & keys(finished), "measured twice"
    assert set(keys(finished).values()) == {1}
    assert {event["trial"] for event in finished if event["known"]} >= set(before)


def test_an_outcome_of_a_slot_whose_driver_dies_is_known_to_the_next_run(scene, begin) -> None:
    """The driver is stopped first, so that it cannot get the outcome that it then dies without."""
    directory = scene.directory / "checkpoints"
    process = begin()
    load = scene.held()
    process.send_signal(signal.SIGSTOP)
    scene.wait_until(lambda: psutil.Process(process.pid).status() == psutil.STATUS_STOPPED)
    recorded = keys_in(directory / "journal")

    load.resume()
    scene.wait_until(lambda: stored_by_nodes(directory) - recorded)
    process.kill()
    output = process.communicate()[0]
    scene.wait_until(scene.mark.gone, within_s=GONE_WITH_DRIVER_S)
    stored = stored_by_nodes(directory) - recorded

    assert "The checkpoint directory is shared by 2 of 2 nodes" in output
    assert not stored & set(keys(events_of(output)))
    status, output = end(begin())
    assert status == 0, output
    finished = events_of(output)
    assert not stored & set(keys(finished)), "measured twice"
    assert {event["trial"] for event in finished if event["known"]} >= stored | recorded
    assert sorted(path.suffix for path in directory.iterdir()) == [".ckpt"]
    status, output = scene.run("checkpoint", "stats", "--json")
    assert status == 0, output
    nodes = json.loads(output)["nodes"].values()
    assert sum(node["outcomes"] for node in nodes) == len(finished)
    assert all(node["complete"] for node in nodes)


def test_an_interrupt_keeps_what_is_under_way(scene, begin, under_way) -> None:
    process = under_way()
    load = scene.held()

    output = scene.interrupt(process, 1)
    load.resume()
    output += process.communicate(timeout=600)[0]

    assert process.returncode == 1
    assert "Traceback" not in output
    assert keys(events_of(output)) == keys(events_of(output, "trial_started"))
    assert len(events_of(output)) < 8
    assert scene.checkpoints == ["0.ckpt"]

    status, output = end(begin(slots=1))
    assert status == 0, output
    assert any(event["known"] for event in events_of(output))


def test_a_third_interrupt_does_not_wait_for_slots(scene, under_way) -> None:
    process = under_way()
    load = scene.held()

    output = scene.interrupt(process, 3)
    output += process.communicate(timeout=600)[0]

    assert process.returncode == 1
    assert "Traceback" not in output
    scene.wait_until(lambda: not load.is_running(), within_s=GONE_WITH_DRIVER_S)


def test_a_run_right_after_the_death_of_a_node_takes_another(begin, cluster: str) -> None:
    raylets(cluster)[1].kill()  # Ray itself notices it some seconds later

    status, output = end(begin(slots=1))

    assert status == 0, output


def test_slots_that_do_not_fit_are_told(scene, begin) -> None:
    status, output = end(begin(slots=5))

    assert status == 1
    last = output.splitlines()[-1]
    assert "only 2 of 5 slots fit" in last
    assert "has 2 CPUs" in last
    assert not scene.checkpoints
