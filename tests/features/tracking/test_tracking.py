# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""`track`: runs in MLflow and Weights & Biases, read again with their own libraries."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import mlflow
import pytest

from model_analyzer.domain.measurements import Outcome
from model_analyzer.domain.trials import Trial
from model_analyzer.state.profile_state import ProfileState
from tests.unit.builders import failure, measurement, trial, variant

Run = Callable[..., tuple[int, str, str]]

DEFAULT = trial(variant("m_config_default", max_batch_size=1), concurrency=4)
BATCHING = trial(
    variant("m_config_0", max_batch_size=8, parameters={"api_token": {"string_value": "hush"}}),
    concurrency=4,
)


def stored(tmp_path: Path, *outcomes: tuple[Trial, Outcome]) -> None:
    with ProfileState(tmp_path / "checkpoints") as state:
        for each, outcome in outcomes:
            state.record(each, outcome)
        state.save()


class Store:
    """An MLflow store in a directory, to which a checkpoint is sent."""

    def __init__(self, run: Run, directory: Path) -> None:
        self._run, self._directory = run, directory
        self._uri = (directory / "store").as_uri()
        self.client = mlflow.MlflowClient(tracking_uri=self._uri)

    def after(self, *outcomes: tuple[Trial, Outcome]) -> dict[str, Any]:
        """Its runs, by name."""
        stored(self._directory, *outcomes)
        status, _, error = self._run("track", "--mlflow", self._uri)
        assert status == 0, error
        (place,) = self.client.search_experiments(filter_string="name = 'model-analyzer'")
        runs = self.client.search_runs([place.experiment_id])
        named = {each.info.run_name: each for each in runs}
        assert len(named) == len(runs)
        return named


@pytest.fixture
def store(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Store:
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")  # newer versions want a database
    return Store(run, tmp_path)


def test_each_trial_is_a_run_and_one_is_recommended(store: Store, tmp_path: Path) -> None:
    broken = trial(variant("m_config_1", max_batch_size=99), concurrency=4)
    runs = store.after(
        (DEFAULT, measurement(100, 40)), (BATCHING, measurement(500, 20)), (broken, failure())
    )

    best, default, failed = (
        runs[f"{name} concurrency 4"] for name in ("m_config_0", "m_config_default", "m_config_1")
    )
    assert best.data.metrics["perf_throughput"] == 500
    assert best.data.metrics["perf_latency_p99"] == 20
    assert best.data.params["config.max_batch_size"] == "8"
    assert best.data.params["concurrency"] == "4"
    assert best.data.tags["recommended"] == "yes"
    assert " at concurrency 4 gives 500 infer" in best.data.tags["answer"]
    assert (default.data.tags["recommended"], default.info.status) == ("no", "FINISHED")
    assert failed.info.status == "FAILED"
    assert "it did not load" in failed.data.tags["message"]
    assert not failed.data.metrics
    (config,) = (tmp_path / "store").rglob("config.pbtxt")
    assert "max_batch_size: 8" in config.read_text()
    sent = [path.read_text() for path in (tmp_path / "store").rglob("*") if path.is_file()]
    assert not any("hush" in text for text in sent)


def test_sending_again_changes_runs_and_makes_no_second_ones(store: Store) -> None:
    store.after((DEFAULT, measurement(100)), (BATCHING, measurement(90)))
    runs = store.after((replace(BATCHING, repetition=1), measurement(2000)))

    assert len(runs) == 2
    best = runs["m_config_0 concurrency 4"]
    assert (best.data.tags["recommended"], best.data.metrics["perf_throughput"]) == ("yes", 1045)
    default = runs["m_config_default concurrency 4"].data.tags
    assert (default["recommended"], "answer" in default) == ("no", False)
    for name, values in ("m_config_0", [90, 1045]), ("m_config_default", [100]):
        identity = runs[f"{name} concurrency 4"].info.run_id
        points = store.client.get_metric_history(identity, "perf_throughput")
        assert [point.value for point in points] == values


def test_weights_and_biases_keeps_runs_for_later(run: Run, tmp_path: Path) -> None:
    stored(tmp_path, (DEFAULT, measurement(100)), (BATCHING, measurement(500)))

    environment = {**os.environ, "WANDB_MODE": "offline", "HOME": str(tmp_path)}
    status, output, error = run(
        "track", "--wandb", "team/triton", env=environment, stdin=subprocess.DEVNULL
    )

    assert (status, output) == (0, "Weights & Biases has 2 runs\n"), error
    kept = [*(tmp_path / "checkpoints" / "wandb").glob("offline-run-*/*.wandb")]
    assert len(kept) == 2
    assert any(b"m_config_0 concurrency 4" in path.read_bytes() for path in kept)
    assert not any(b"hush" in path.read_bytes() for path in kept)


@pytest.mark.parametrize(
    ("options", "status", "said", "missing"),
    [
        ((), 2, "name a tracker: --mlflow URI or --wandb PROJECT", ""),
        (
            ("--mlflow", "http://user:hush@127.0.0.1:9"),
            1,
            "--mlflow http://******@127.0.0.1:9: cannot be reached: Connection refused: is the",
            "",
        ),
        (("--mlflow", "file:///tmp", "-m", "n"), 2, "model 'n' was not measured", ""),
        (("--mlflow", "x"), 2, "(pip install 'mlflow-skinny>=2.17')", "mlflow"),
        (("--wandb", "x"), 2, "(pip install 'wandb>=0.19')", "wandb"),
    ],
)
def test_what_is_wrong_is_one_line(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    options: Any, status: int, said: str, missing: str,
) -> None:  # fmt: skip
    monkeypatch.setenv("MLFLOW_HTTP_REQUEST_MAX_RETRIES", "0")
    if missing:
        monkeypatch.setitem(sys.modules, missing, None)
    stored(tmp_path, (DEFAULT, measurement(100)))

    found, output, error = run("track", *options)

    assert (found, output) == (status, "")
    assert said in error
    assert error.count("\n") == 1
    assert "hush" not in error
