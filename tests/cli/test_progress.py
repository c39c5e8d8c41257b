# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""What `profile --progress` writes, and where; A run on a terminal, with its live display."""

from __future__ import annotations

import json
import os
import pty
import select
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest
import yaml


@pytest.fixture
def written(setting, run):
    """Runs `profile` with flags: status, standard output, standard error."""

    def call(*flags: str, **changes: Any) -> tuple[int, str, str]:
        path = setting.directory / "config.yaml"
        path.write_text(yaml.safe_dump({**setting.config, **changes}, sort_keys=False))
        return run("profile", "-f", str(path), *flags, env=setting.variables)

    return call


SMALL = {"run_config_search_disable": True, "concurrency": [1, 2]}


def test_json_is_all_there_is_on_standard_output(written) -> None:
    status, output, errors = written("--progress", "json", **SMALL)

    assert status == 0, errors
    events = [json.loads(line) for line in output.splitlines()]
    assert [event["event"] for event in events] == [
        "run_started",
        "phase",
        "model_started",
        "phase",
        "trial_started",
        "trial_finished",
        "best",
        "trial_started",
        "trial_finished",
        "best",
        "model_finished",
        "phase",
        "answer",
        "run_finished",
    ]
    finished = [event for event in events if event["event"] == "trial_finished"]
    assert [event["number"] for event in finished] == [1, 2]
    assert all(event["metrics"]["perf_throughput_infer_per_s"] > 0 for event in finished)
    assert finished[-1]["expected_trials"] == 2
    assert finished[0]["trial"] != finished[1]["trial"]
    assert finished[0]["workloads"][0]["concurrency"] == 1
    settings = finished[0]["workloads"][0]["settings"]["m_config_default"]
    assert settings["max_batch_size"] == 8
    assert not {"name", "input", "output"} & {*settings}
    assert events[2]["constraints"] == []
    answer = events[-2]
    assert (answer["model"], answer["verdict"], answer["is_unsure"]) == ("m", "keep", False)
    assert answer["sentence"].startswith("m_config_default at concurrency 2 gives ")
    assert answer["workloads"][0]["concurrency"] == 2
    assert answer["chance_of_better"] is None
    assert any(path.endswith("best/m/config.pbtxt") for path in answer["files"])
    assert all(Path(path).is_file() for path in answer["files"])
    assert events[-1]["exit_status"] == 0
    assert "Profile complete" in errors  # for people


def test_failures_are_told_in_json(written, setting) -> None:
    fails = {"fake": {"string_value": "fail"}}
    setting.config["profile_models"] = {
        "m": {"cpu_only": True, "model_config_parameters": {"parameters": [fails]}}
    }

    status, output, _ = written("--progress", "json", **{**SMALL, "concurrency": [1]})

    assert status == 0  # the default is measured
    events = [json.loads(line) for line in output.splitlines()]
    (failed,) = [event for event in events if event["event"] == "trial_failed"]
    assert failed["reason"] == "model_not_loaded"
    assert "No module named 'nosuch'" in failed["message"]
    assert failed["workloads"][0]["variant"] == "m_config_0"
    (finished,) = [event for event in events if event["event"] == "model_finished"]
    assert (finished["trials"], finished["failures"]) == (2, 1)
    assert events[-1] == {
        "event": "run_finished", "elapsed_s": events[-1]["elapsed_s"], "exit_status": 0,
    }  # fmt: skip


def test_without_a_terminal_there_are_lines(written) -> None:
    status, output, errors = written(**SMALL)

    assert status == 0, errors
    assert "Profiling m_config_default: concurrency=2" in output
    assert "(measurement 2 of about 2; best so far" in output
    assert errors == ""


def test_none_tells_only_the_answer(written) -> None:
    status, output, _ = written("--progress", "none", **SMALL)

    assert status == 0
    assert "Profiling m_config" not in output
    assert "best so far" not in output
    assert "Profile complete" in output


@pytest.mark.parametrize("mode", ["brute", "quick"])
def test_a_run_shows_itself_on_a_terminal_and_ends(setting, mode: str) -> None:
    path: Path = setting.directory / "config.yaml"
    path.write_text(
        yaml.safe_dump(
            {
                **setting.config,
                "run_config_search_mode": mode,
                "run_config_search_max_instance_count": 1,
            }
        )
    )
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [setting.program, "profile", "-f", str(path)],
        cwd=setting.directory,
        env={**setting.variables, "TERM": "xterm", "COLUMNS": "120", "CI": ""},
        stdout=theirs,
        stderr=theirs,
    )
    os.close(theirs)
    try:
        shown = read_all(ours)
        status = process.wait(timeout=60)
    finally:
        process.kill()
        os.close(ours)

    assert status == 0, shown
    for part in (
        "measuring",
        "best",
        "measurement 1 of about",
        "left",
        "trend",
        "infer/s",
        "Ctrl-C",
    ):
        assert part in shown, part
    assert "Profile complete" in shown
    assert "Profiling m_config" not in shown  # the view says it


def read_all(terminal: int, within_s: float = 180) -> str:
    """What is written until nobody writes any more, or time is up."""
    parts = []
    deadline = time.monotonic() + within_s
    while time.monotonic() < deadline:
        if select.select([terminal], [], [], 0.2)[0]:
            try:
                parts.append(os.read(terminal, 65536))
            except OSError:
                break
    return b"".join(parts).decode()
