# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Every measurement of upstream's checkpoints is a row of what the commands show."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., tuple[int, str, str]]

UPSTREAM = Path(__file__).parents[2] / "golden" / "upstream"
SAMPLES = sorted(path.stem for path in UPSTREAM.glob("*.ckpt"))

# Trials that the sample holds twice: they are one row, with the mean.
TWICE = {"two_addresses": 4, "raised_interval": 1}


def stored(sample: str) -> dict[str, Any]:
    """The measurements of a sample: models → variants → [run configuration, measurements]."""
    content = json.loads((UPSTREAM / f"{sample}.ckpt").read_text())
    results: dict[str, Any] = content["ResultManager.results"]["_results"]
    return results


def count(sample: str) -> int:
    return sum(len(pair[1]) for variants in stored(sample).values() for pair in variants.values())


def combinations(sample: str) -> int:
    """How many variants there are, with what they call."""
    return len(
        {
            (name, key.rsplit(" ", 1)[1] if "bls" in sample else "")
            for variants in stored(sample).values()
            for name, pair in variants.items()
            for key in pair[1]
        }
    )


@pytest.mark.parametrize("sample", SAMPLES)
def test_trials_shows_each_single_measurement(run: Run, sample: str) -> None:
    models = len(next(iter(stored(sample))).split(","))
    path = str(UPSTREAM / f"{sample}.ckpt")

    status, output, error = run("checkpoint", "trials", path, "--single")

    assert (status, error) == (0, "")
    assert output.splitlines()[0].startswith(f"{count(sample)} single measurement")
    assert len(output.strip().splitlines()) == 2 + models * count(sample)
    assert "None" not in output


@pytest.mark.parametrize("sample", SAMPLES)
def test_analyze_has_a_row_for_each(run: Run, tmp_path: Path, sample: str) -> None:
    models = next(iter(stored(sample)))
    together = ["--run-config-profile-models-concurrently-enable"] if "," in models else []

    status, output, _ = run(
        "analyze", "--profile-models", models, "--skip-detailed-reports", *together,
        "--checkpoint-load-file", str(UPSTREAM / f"{sample}.ckpt"), "-v", "-e", "out",
    )  # fmt: skip

    assert status == 0
    text = (tmp_path / "out" / "results" / "metrics-model-inference.csv").read_text()
    rows = list(csv.DictReader(io.StringIO(text)))
    assert len(rows) == count(sample) - TWICE.get(sample, 0)
    assert all("None" not in row.values() for row in rows)
    assert "None" not in output
    loads = {name for name in rows[0] if name.startswith(("Concurrency", "Request"))}
    assert loads == {
        "request_rate": {"Request Rate"},
        "request_intervals": {"Request Intervals"},
        "two_kinds": {"Concurrency", "Request Rate"},
    }.get(sample, {"Concurrency"})
    if sample == "bls_combinations":
        assert len({row["Model Config Path"] for row in rows}) == 8


@pytest.mark.parametrize("sample", SAMPLES)
def test_best_has_a_row_for_each_combination(run: Run, tmp_path: Path, sample: str) -> None:
    path = str(UPSTREAM / f"{sample}.ckpt")

    status, output, _ = run("checkpoint", "best", path, "--top-n", "99", "--output-dir", "deploy")

    assert status == 0
    said = " ".join(output.split())
    measured = count(sample) - TWICE.get(sample, 0)
    numbers = (
        f"({measured}|{count(sample)}) measurements? across {combinations(sample)} configuration"
    )
    assert re.search(rf"\b{numbers}", said)
    assert "None" not in output
    documents = list((tmp_path / "deploy").rglob("measurements.json"))
    models = len(next(iter(stored(sample))).split(","))
    kept = [json.loads(document.read_text()) for document in documents]
    if models == 1:
        assert len(kept) == combinations(sample)
        assert sum(len(model["measurements"]) for model in kept) == measured


def test_report_writes_every_combination_under_a_name(run: Run, tmp_path: Path) -> None:
    path = str(UPSTREAM / "bls_combinations.ckpt")

    status, _, _ = run(
        "report", "-n", "bls_chain_config_2", "--checkpoint-load-file", path,
        "--output-formats", "md",
    )  # fmt: skip

    assert status == 0
    assert {folder.name for folder in (tmp_path / "reports" / "detailed").iterdir()} == {
        f"bls_chain_config_2,scale_config_2,add_sub_config_{number}" for number in (1, 2, 3)
    }
