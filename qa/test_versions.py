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
    is_newer = version == "2.44"
    found = facts(version)
    assert found["unknown backend is recognised"]
    assert found["no instance_group"] is not lacks(version, PLACED)
    assert found["in place"]
    assert found["override stays"] is is_newer
    assert found["ensemble resets its parts"] is not is_newer
    statuses = [found[call] for call in ("error in execute", "unknown model", "refused load")]
    assert statuses == ([500, 404, 500] if is_newer else [400] * 3)
    for each in FEATURES:
        if each.name in found:
            assert found[each.name] is not lacks(version, each)


@pytest.mark.slow
@pytest.mark.parametrize("version", ["2.36", "2.48"])
def test_a_field_that_a_server_does_not_know_is_named(scene, version: str) -> None:
    install = [scene.program, "runtime", "install", "--triton", version]
    subprocess.run(install, check=True, timeout=600)
    tensor = {"data_type": "TYPE_FP32", "dims": [16]}
    inputs = [
        {"name": "INPUT0", "is_non_linear_format_io": True, **tensor},
        {"name": "INPUT1", **tensor},
    ]
    model = {"cpu_only": True, "model_config_parameters": {"input": [inputs]}}

    _, output = scene.profile(
        "--runtime-version", version, "-c", "1", profile_models={"add_sub": model}
    )

    (line,) = [line for line in output.splitlines() if "add_sub_config_0 did not load" in line]
    refusal = "Invalid config override: (input[0]) is_non_linear_format_io: Cannot find field."
    assert f"did not load: Poll failed for model directory 'add_sub': {refusal}" in line
