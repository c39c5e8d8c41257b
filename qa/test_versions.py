# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Two older servers: they behave as is known of their versions, and a run measures on them."""

from __future__ import annotations

import subprocess

import pytest

from model_analyzer.runner.versions import FEATURES, PLACED, lacks
from qa.versions.facts import facts


@pytest.mark.slow
@pytest.mark.parametrize("version", ["2.36", "2.44"])
def test_an_older_server_is_measured_and_behaves_as_is_known(scene, version: str) -> None:
    install = [scene.program, "runtime", "install", "--triton", version]
    subprocess.run(install, check=True, timeout=600)

    status, output = scene.profile("--runtime-version", version, run_config_search_disable=True)

    assert status == 0, output
    assert f"Triton {version}: supported" in output
    status, output = scene.run("doctor", "-f", "config.yaml", "--runtime-version", version)
    assert status == 0, output  # it sends the first request with the perf_analyzer of that time
    found = facts(version)
    assert found["unknown backend is recognised"]
    assert found["no instance_group"] is not lacks(version, PLACED)
    assert found["in place"]
    assert found["override stays"] is (version == "2.44")
    for each in FEATURES:
        if each.name in found:
            assert found[each.name] is not lacks(version, each)
