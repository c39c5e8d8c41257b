# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Costs by a file with prices: as goals, offline on an old checkpoint, and in every result."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import jsonschema
import pytest

from model_analyzer.domain.hardware import Device
from model_analyzer.domain.trials import ServerSetup
from model_analyzer.features.capacity.capacity_text import capacity_schema
from model_analyzer.reports.document import results_schema
from model_analyzer.state.profile_state import ProfileState
from tests.cli.conftest import error_of, output_of
from tests.features.capacity.replicas import open_load
from tests.unit.builders import measurement, trial, variant

USAGE = 2

Run = Callable[..., tuple[int, str, str]]

COMMANDS = [("best",), ("checkpoint", "best"), ("capacity", "--rate", "1")]

PRICES = "currency: EUR\ndate: 2026-11-25\ngpus: {NVIDIA L4: 0.60}\ncpu_core: 0.05\n"
ON_GPU = ServerSetup(version="2.51.0", devices=("NVIDIA L4",))
FAST = variant("m_config_1", max_batch_size=8)
SLOW = variant("m_config_2", max_batch_size=4)
L4 = Device(uuid="GPU-1", name="NVIDIA L4", memory=24_000)


@pytest.fixture
def prices(tmp_path: Path) -> Path:
    path = tmp_path / "prices.yaml"
    path.write_text(PRICES)
    return path


@pytest.fixture
def checkpoint(tmp_path: Path) -> Path:
    """A checkpoint that knows nothing of prices."""
    with ProfileState(tmp_path / "checkpoints") as state:
        state.describe(devices=(L4,), host={}, cores=8)
        state.record(trial(FAST, concurrency=8, setup=ON_GPU), measurement(300.0, 30.0))
        state.record(trial(FAST, concurrency=2, setup=ON_GPU), measurement(200.0, 8.0))
        state.record(trial(SLOW, concurrency=8, setup=ON_GPU), measurement(250.0, 15.0))
        state.save()
    return tmp_path / "checkpoints"


def test_the_cheapest_within_a_limit_is_one_command(
    run: Run, checkpoint: Path, prices: Path
) -> None:
    question = ("--metric", "cost_per_million_inferences", "--constraint", "perf_latency_p99<20")
    status, output, error = run("best", "-v", "--prices", str(prices), *question)

    assert status == 0, error
    assert "max_batch_size: 4" in output
    # 0.60 for the GPU and 8 x 0.05: an hour of 250 inferences/s
    assert (
        "Costs are in EUR, by prices of 2026-11-25: an hour of m_config_2 costs 1.00 EUR" in error
    )
    assert "(1 x NVIDIA L4 + 8 cores)" in error
    assert (
        "m_config_2 at concurrency 8 gives Cost Per Million Inferences 1.11 EUR, 250 infer/sec at"
        " p99 15.0 ms" in error
    )
    document = json.loads(run("best", "--prices", str(prices), *question, "--format", "json")[1])
    jsonschema.validate(document, results_schema())
    (model,) = document["models"]
    assert model["hourly_cost"] == {
        "amount": 1.0, "currency": "EUR", "date": "2026-11-25",
        "basis": "1 x NVIDIA L4 + 8 cores",
    }  # fmt: skip
    assert document["metrics"]["cost_per_million_inferences"]["unit"] == "EUR"
    cost = model["recommended"]["metrics"]["cost_per_million_inferences"]
    assert cost == pytest.approx(1e6 / 250 / 3600)


def test_a_limit_on_costs_is_a_constraint(run: Run, checkpoint: Path, prices: Path) -> None:
    limit = ("--constraint", "cost_per_million_inferences<1", "--prices", str(prices))

    assert "max_batch_size: 8" in run("best", *limit)[1]
    error = error_of(run("best", "--constraint", "cost_per_million_inferences<0.9", *limit[2:]), 1)
    assert "no configuration meets the constraints" in error


def test_the_best_of_a_checkpoint_shows_costs(run: Run, checkpoint: Path, prices: Path) -> None:
    output = output_of(run("checkpoint", "best", "--prices", str(prices)))

    assert "Cost/million" in output
    assert re.search(r"m_config_1 .* 0\.93\b", output)  # 1 EUR / (300 x 3600) x 10^6
    assert "Cost" not in run("checkpoint", "best")[1]


def test_reports_of_an_old_checkpoint_show_costs(
    run: Run, checkpoint: Path, prices: Path, tmp_path: Path
) -> None:
    output_of(
        run("report", "-n", "m_config_1", "-e", ".", "-o", "json,csv", "--prices", str(prices))
    )

    document = json.loads(next(tmp_path.rglob("measurements.json")).read_text())
    assert "cost_per_million_inferences" in document["measurements"][0]["metrics"]


def test_an_unknown_cost_is_unknown_and_says_why(run: Run, checkpoint: Path, prices: Path) -> None:
    prices.write_text(PRICES.replace("NVIDIA L4", "NVIDIA H100"))

    status, output, error = run("checkpoint", "best", "-v", "--prices", str(prices))

    assert status == 0
    assert "What m_config_1 costs is unknown: no price of NVIDIA L4." in output + error
    assert "Cost/million" not in output
    document = json.loads(run("best", "--prices", str(prices), "--format", "json")[1])
    assert document["models"][0]["hourly_cost"]["amount"] is None
    assert "cost_per" not in json.dumps(document["models"][0]["variants"])


@pytest.mark.parametrize(
    "command", [("best",), ("checkpoint", "best"), ("capacity", "--rate", "1")]
)
def test_costs_without_prices_are_refused(
    run: Run, checkpoint: Path, command: tuple[str, ...]
) -> None:
    error = error_of(run(*command, "--metric", "cost_per_million_inferences"), USAGE)

    assert "--prices: cost_per_million_inferences needs prices of the hardware" in error


@pytest.mark.parametrize(
    "command", [("best",), ("checkpoint", "best"), ("capacity", "--rate", "1")]
)
def test_a_placeholder_is_refused(
    run: Run, checkpoint: Path, prices: Path, command: tuple[str, ...]
) -> None:
    prices.write_text(PRICES.replace("0.60", "FILL_IN"))

    status, output, error = run(*command, "--prices", str(prices))

    assert (status, output) == (USAGE, "")
    assert f"{prices}:3:19: FILL_IN is a placeholder: replace it, or remove the line" in error


def test_replicas_have_a_cost(run: Run, tmp_path: Path, prices: Path) -> None:
    with ProfileState(tmp_path / "checkpoints") as state:
        state.describe(devices=(), host={}, cores=8)
        for record in (open_load(80, 20), open_load(100, 200)):
            state.record(record.trial, record.outcome)
        state.save()
    question = ("--rate", "500", "--constraint", "perf_latency_p99<50", "--prices", str(prices))

    output = output_of(run("capacity", *question))

    assert (
        "They cost 2.80 EUR an hour (7 x (8 cores); prices of 2026-11-25): 1.56 EUR for a million"
        " requests." in output
    )
    document = json.loads(run("capacity", *question, "--format", "json")[1])
    jsonschema.validate(document, capacity_schema())
    assert document["hardware"][0]["cost"]["per_hour"] == "2.80"
    assert document["cheapest"] == "no GPU"


def test_a_run_can_search_for_the_cheapest(setting, pretend, prices: Path) -> None:
    """The search is told costs, and the checkpoint does not have them."""
    output = setting.succeeds(
        "--search", "adaptive", "--prices", str(prices),
        objectives=["cost_per_million_inferences"], constraints={"perf_latency_p99": {"max": 50}},
    )  # fmt: skip

    results = json.loads((setting.directory / "results" / "results.json").read_text())
    jsonschema.validate(results, results_schema())
    (model,) = results["models"]
    assert model["unmeasured_objectives"] == []
    assert model["conclusion"] is not None
    assert "cost_per_million_inferences" in model["recommended"]["metrics"]
    text = next((setting.directory / "checkpoints").glob("*.ckpt")).read_text()
    assert '"cost_per_million_inferences":' not in text
    page = (setting.directory / "reports" / "summaries" / "m" / "result_summary.html").read_text()
    assert "Cost Per Million Inferences" in page
    assert "Costs are in EUR, by prices of 2026-11-25" in page
    assert f"--prices {prices.name}" in output


def test_a_run_that_looks_for_costs_needs_prices(setting) -> None:
    output = setting.fails(USAGE, objectives=["cost_per_million_tokens"])

    assert "cost_per_million_tokens needs prices of the hardware (give a file" in output
