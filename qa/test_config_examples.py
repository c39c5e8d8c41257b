# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Every file in config/ works as its first lines say."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

EXAMPLES = sorted((Path(__file__).parents[1] / "config").glob("*.yaml"))

# Those that run every day; `make qa` runs the others.
EVERYDAY = ("default-only", "manual-sweep", "request-rate", "remote")


@pytest.mark.parametrize(
    "path",
    [
        pytest.param(path, id=path.stem, marks=() if path.stem in EVERYDAY else (pytest.mark.slow,))
        for path in EXAMPLES
    ],
)
def test_an_example_runs(scene, remote, certificates, path: Path, request) -> None:
    if "triton_launch_mode: docker" in path.read_text():
        request.getfixturevalue("containers")
    assert scene.run("init", "quick-start")[0] == 0
    shutil.copytree(certificates.directory, scene.directory / "certificates")
    text = path.read_text()
    if "triton_launch_mode: remote" in text:
        server = remote("explicit")
        for usual, here in ((8000, server.http), (8001, server.grpc), (8002, server.metrics)):
            text = text.replace(f"localhost:{usual}", f"localhost:{here}")

    quick = scene.directory / path.name
    quick.write_text(re.sub(r"(measurement-interval:) \d+", r"\1 60", text))

    status, output = scene.run("profile", "-f", str(quick))

    assert status == 0, output
    assert scene.rows
    assert "WARNING" not in output, output
    if "report_model_configs" in quick.read_text():
        assert scene.run("report", "-f", str(quick))[0] == 0


def test_there_are_examples() -> None:
    assert len(EXAMPLES) >= 18
