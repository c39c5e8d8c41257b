# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The real upstream reads what we write.

MODEL_ANALYZER_UPSTREAM names its executable. One is made in an environment of its own by
`pip install triton-model-analyzer==1.58.0 'numpy<2'`.
"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from model_analyzer.features.upstream.writer import write_upstream
from model_analyzer.state.checkpoint import load
from tests.sizes import small_and_full

UPSTREAM = os.environ.get("MODEL_ANALYZER_UPSTREAM")

pytestmark = pytest.mark.skipif(
    UPSTREAM is None, reason="MODEL_ANALYZER_UPSTREAM does not name upstream's executable"
)


def report(variants: str, checkpoints: Path, work: Path) -> subprocess.CompletedProcess[str]:
    """Upstream's `report`; it must not see our package."""
    assert UPSTREAM is not None
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    return subprocess.run(
        [UPSTREAM, "report", "--report-model-configs", variants,
         "--checkpoint-directory", str(checkpoints), "--export-path", str(work)],
        cwd=work, env=environment, text=True, timeout=180, check=False,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )  # fmt: skip


@small_and_full("model", "add_sub", "ensemble_chain", "bls_chain")
def test_upstream_reports_what_we_measured(scene, tmp_path: Path, model: str) -> None:
    calls = {"bls_composing_models": ["scale", "add_sub"]} if model == "bls_chain" else {}
    status, output = scene.profile(
        "--run-config-search-mode", "quick",
        profile_models={model: {"cpu_only": True}}, collect_cpu_metrics=True,
        run_config_search_max_instance_count=1, run_config_search_max_model_batch_size=2,
        run_config_search_max_concurrency=2, **calls,
    )  # fmt: skip
    assert status == 0, output
    profile = load(scene.directory / "checkpoints").profile
    (tmp_path / "theirs").mkdir()
    text = write_upstream(profile, seed=None).text
    (tmp_path / "theirs" / "0.ckpt").write_text(text)
    variants = list(dict.fromkeys(record.trial.variants for record in profile.measured))

    done = report(",".join(variants), tmp_path / "theirs", tmp_path)

    assert done.returncode == 0, done.stdout
    assert f"Loaded checkpoint from file {tmp_path / 'theirs' / '0.ckpt'}" in done.stdout
    for record in profile.measured:
        path = tmp_path / "reports" / "detailed" / record.trial.variants / "detailed_report.html"
        assert str(record.measurement.value("perf_throughput")) in path.read_text()
