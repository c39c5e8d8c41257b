# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Checkpoints, interrupts and sudden death on the real programs."""

from __future__ import annotations

import random
import re
import signal
import time

import pytest

from model_analyzer.state.checkpoint import load

PROFILING = re.compile("Profiling add_sub_")


@pytest.mark.slow
def test_one_model_makes_one_checkpoint_and_is_not_measured_again(scene) -> None:
    status, output = scene.profile("--run-config-search-disable", "-c", "4")
    assert status == 0, output
    assert scene.checkpoints == ["0.ckpt"]

    status, output = scene.profile("--run-config-search-disable", "-c", "4")
    assert status == 0, output
    assert scene.checkpoints == ["0.ckpt"]
    assert "Profiling " not in output


def test_an_interrupted_run_keeps_the_running_trial_and_resumes_later(scene) -> None:
    models = {"add_sub": {"parameters": {"concurrency": list(range(1, 9))}}}
    process = scene.start("--run-config-search-disable", profile_models=models)
    load = scene.held()

    output = scene.interrupt(process, 1)
    load.resume()
    output += process.communicate(timeout=600)[0]

    assert process.returncode == 1
    begun = len(PROFILING.findall(output))
    assert 1 <= begun < 8, "it is the first one, unless that was missed"
    assert scene.checkpoints == ["0.ckpt"]
    assert len(scene.rows) == begun

    status, output = scene.profile("--run-config-search-disable", profile_models=models)
    assert status == 0, output
    assert len(PROFILING.findall(output)) == 8 - begun
    assert len(scene.rows) == 8


def test_the_third_interrupt_is_out_within_two_seconds(scene) -> None:
    flags = {**scene.config["perf_analyzer_flags"], "measurement-interval": 60000}
    process = scene.start(perf_analyzer_flags=flags)
    scene.wait_until(lambda: scene.measuring)

    output = scene.interrupt(process, 3)
    began = time.monotonic()
    output += process.communicate(timeout=600)[0]

    assert time.monotonic() - began < 30  # to measure takes three minutes
    assert process.returncode == 1
    assert "Received SIGINT maximum number of times" in output
    assert scene.mark.gone()


def test_sigterm_finishes_the_trial(scene) -> None:
    process = scene.start()
    scene.wait_until(lambda: scene.measuring)

    process.send_signal(signal.SIGTERM)
    output, _ = process.communicate(timeout=600)

    assert process.returncode == 1, output
    assert scene.checkpoints == ["0.ckpt"]


def test_killing_us_under_load_leaves_nothing_and_loses_nothing(scene) -> None:
    """kill -9 at random moments while there is load, then a run to the end: no finished trial is
    lost or measured again, and the scene checks that no process and no shared memory is left."""
    moments = random.Random(11)
    limits = {"run_config_search_max_instance_count": 3, "run_config_search_max_concurrency": 4}

    def measured() -> int:
        # the default configuration and a variant that equals it are measured once
        return len({record.trial.key for record in load(scene.directory / "checkpoints").records})

    journal = scene.directory / "checkpoints" / "journal"
    finished = 0
    for _ in range(6):
        process = scene.start(**limits)
        scene.wait_until(lambda process=process: scene.measuring or process.poll() is not None)
        if not finished:  # there is to be something to lose
            scene.wait_until(lambda: journal.exists() and "measurement" in journal.read_text())
        time.sleep(moments.uniform(0, 1.5))
        process.kill()
        output, _ = process.communicate()
        assert measured() >= finished + output.count("(measurement ")
        assert scene.mark.gone()
        finished = measured()
    assert finished > 0

    status, output = scene.profile(**limits)
    assert status == 0, output
    assert measured() == finished + output.count("(measurement ")


@pytest.mark.slow
def test_a_report_is_made_without_a_server(scene) -> None:
    scene.profile("--run-config-search-disable", "-c", "1,2")

    status, output = scene.run("report", "-n", "add_sub_config_default", "-e", "again")

    assert status == 0, output
    page = scene.directory / "again" / "reports" / "detailed" / "add_sub_config_default"
    assert "p99 Latency (ms)" in (page / "detailed_report.html").read_text()
