# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Servers with different GPUs: each kind is searched and answered alone."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from model_analyzer.domain.hardware import Machine
from model_analyzer.domain.trials import ServerSetup
from model_analyzer.state.profile_state import ProfileState
from tests.unit.builders import measurement, trial, variant

GPU = 'nv_gpu_memory_total_bytes{{gpu_uuid="GPU-{name}"}} {memory}\n'
SMALL, LARGE = "1 x GPU (17000 MB)", "1 x GPU (34000 MB)"


@pytest.fixture
def servers(setting, elsewhere) -> dict[str, Any]:
    """The options of a run on a server with a small GPU, and one with a large GPU."""
    small, large = (
        elsewhere(repository=["m"], metrics=GPU.format(name=name, memory=memory))
        for name, memory in (("small", 17_000_000_000), ("large", 34_000_000_000))
    )
    for key in ("model_repository", "triton_server_path"):
        setting.config.pop(key, None)
    return {
        "triton_launch_mode": "remote",
        "triton_http_endpoint": [small.http, large.http],
        "triton_grpc_endpoint": [small.grpc, large.grpc],
        "triton_metrics_url": [small.metrics, large.metrics],
        "run_config_search_max_instance_count": 1,
        "run_config_search_max_concurrency": 2,
    }


def test_one_run_answers_for_each_kind(setting, servers, pretend) -> None:
    output = setting.succeeds(**servers)

    assert "Which hardware for m:" in output
    for kind in (SMALL, LARGE):
        assert f"On {kind}: " in output
        assert f"to deploy m ({kind}) on Kubernetes: model-analyzer best -m m " in output
    # the same trials on both
    document = json.loads((setting.directory / "results" / "results.json").read_text())
    trials = {
        model["hardware"]["kind"]: sorted(
            (variant["variant"], measured["loads"][0]["value"])
            for variant in model["variants"]
            for measured in variant["measurements"]
        )
        for model in document["models"]
    }
    assert sorted(trials) == [SMALL, LARGE]
    assert trials[SMALL] == trials[LARGE]
    with (setting.directory / "results" / "metrics-model-inference.csv").open() as file:
        assert {row["Hardware"] for row in csv.DictReader(file)} == {SMALL, LARGE}
    best = setting.directory / "best"
    assert sorted(path.name for path in best.iterdir()) == ["1-x-GPU-17000-MB", "1-x-GPU-34000-MB"]
    text = (best / "1-x-GPU-34000-MB" / "m" / "config.pbtxt").read_text()
    assert text.startswith(f"# For {LARGE}\n")
    assert (setting.directory / "reports" / "summaries" / "m" / "result_summary.html").is_file()

    launched = len(pretend.launches)
    setting.succeeds(**servers)
    assert len(pretend.launches) == launched, "all of it is in the checkpoint"


def test_a_checkpoint_of_two_kinds_is_answered_by_every_command(
    setting, servers, run: Callable[..., tuple[int, str, str]]
) -> None:
    setting.profile(**servers, skip_summary_reports=True)

    status, output, _ = run("checkpoint", "best")
    assert (status, output.count("Which hardware for m:")) == (0, 1)
    _, output, _ = run("checkpoint", "show")
    assert "Conditions of m" in output

    status, _, error = run("best")
    assert status == 2
    assert "several kinds of hardware were measured: choose one of " in error
    number = error.partition(f" for {LARGE}")[0][-1]
    status, output, _ = run("best", "--conditions", number)
    assert (status, output.splitlines()[0]) == (0, f"# For {LARGE}")
    status, _, _ = run("best", "--output-dir", "deploy")
    manifest = setting.directory / "deploy" / "1-x-GPU-17000-MB" / "m" / "kubernetes.yaml"
    assert (status, f" on {SMALL}: " in manifest.read_text()) == (0, True)
    status, output, _ = run("best", "--format", "json")
    assert [model["hardware"]["kind"] for model in json.loads(output)["models"]] == [SMALL, LARGE]

    assert analyzed(setting, "report", report_model_configs=["m_config_0"]) == {
        "reports/detailed/1-x-GPU-17000-MB/m_config_0",
        "reports/detailed/1-x-GPU-34000-MB/m_config_0",
    }
    assert analyzed(setting, "analyze", profile_models=["m"]) == {"reports/summaries/m"}


def analyzed(setting, command: str, **settings: Any) -> set[str]:
    """The directories of the pages that a command writes."""
    setting.config = {"export_path": command, "skip_detailed_reports": True, **settings}
    setting.succeeds(command=command)
    target = setting.directory / command
    return {str(page.parent.relative_to(target)) for page in target.rglob("*.html")}


def test_a_later_run_on_one_kind_answers_for_both(setting, servers, pretend) -> None:
    setting.profile(**servers)
    alone = {
        name: value[1:] if isinstance(value, list) else value for name, value in servers.items()
    }
    launched = len(pretend.launches)

    output = setting.succeeds(**alone)

    assert len(pretend.launches) == launched
    for kind in (SMALL, LARGE):
        assert f"On {kind}: " in output


def test_merged_checkpoints_of_two_kinds_are_answered_together(
    run: Callable[..., tuple[int, str, str]], tmp_path: Path
) -> None:
    of = variant("m_config_default")
    for name, throughput in (("L4", 10.0), ("H100", 90.0)):
        with ProfileState(tmp_path / name) as state:
            machine = Machine(host=name.lower(), processor="X", cores=4)
            outcome = replace(measurement(throughput), machine=machine)
            state.record(trial(of, setup=ServerSetup(devices=(name,))), outcome)
            state.save()

    status, _, error = run("checkpoint", "merge", "L4", "H100", "--output-dir", "merged")

    assert status == 0, error
    _, output, _ = run("best", "-s", "merged", "--format", "json")
    answered = {
        model["hardware"]["kind"]: (
            model["recommended"]["metrics"]["perf_throughput"],
            model["hardware"]["machines"][0]["host"],
        )
        for model in json.loads(output)["models"]
    }
    assert answered == {"1 x L4": (10, "l4"), "1 x H100": (90, "h100")}
